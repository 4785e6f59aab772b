//! Further clients of a database that this process has open, each on its own thread.

use crate::kv::KvStore;
use crate::{Result, Store};

/// Opens the store of one further client. [`Lifecycle::open_client`](crate::Lifecycle::open_client)
/// makes it. It is sent to the client's thread and used there, because a [`Store`] stays on the
/// thread that opened it.
pub struct ClientOpener(Box<dyn FnOnce() -> Result<Store> + Send>);

impl ClientOpener {
    /// Makes an opener that opens the store when it is used.
    pub fn new(open: impl FnOnce() -> Result<Store> + Send + 'static) -> Self {
        Self(Box::new(open))
    }

    /// Makes an opener for a key-value store.
    pub fn kv<T: KvStore + 'static>(open: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        Self::new(move || Ok(Store::Kv(Box::new(open()?))))
    }

    /// Opens the client's store on this thread.
    ///
    /// # Errors
    /// The engine's error.
    pub fn open(self) -> Result<Store> {
        (self.0)()
    }
}
