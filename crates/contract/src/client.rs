//! Further clients of a database that this process has open, each on a thread of its own.

use crate::{Result, Store};

/// The way in for one further client, made by
/// [`Lifecycle::sibling`](crate::Lifecycle::sibling). It goes to the client's thread, and is entered
/// there: a [`Store`] stays on the thread that opened it.
pub struct Door(Box<dyn FnOnce() -> Result<Store> + Send>);

impl Door {
    /// A way in that opens the store when it is entered.
    pub fn new(enter: impl FnOnce() -> Result<Store> + Send + 'static) -> Self {
        Self(Box::new(enter))
    }

    /// Opens the client's store, on this thread.
    ///
    /// # Errors
    /// When the engine reports one.
    pub fn enter(self) -> Result<Store> {
        (self.0)()
    }
}
