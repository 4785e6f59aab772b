//! Further clients of a database that this process has open, each on a thread of its own.

use crate::kv::KvStore;
use crate::{Result, Store};

/// The way in for one further client, made by
/// [`Lifecycle::open_client`](crate::Lifecycle::open_client). It goes to the client's thread, and is used
/// there: a [`Store`] stays on the thread that opened it.
pub struct ClientOpener(Box<dyn FnOnce() -> Result<Store> + Send>);

impl ClientOpener {
    /// A way in that opens the store when it is used.
    pub fn new(open: impl FnOnce() -> Result<Store> + Send + 'static) -> Self {
        Self(Box::new(open))
    }

    /// A way in to a key-value store.
    pub fn kv<T: KvStore + 'static>(open: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        Self::new(move || Ok(Store::Kv(Box::new(open()?))))
    }

    /// Opens the client's store, on this thread.
    ///
    /// # Errors
    /// When the engine reports one.
    pub fn open(self) -> Result<Store> {
        (self.0)()
    }
}
