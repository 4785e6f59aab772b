//! Opens an existing database again, like a program that restarts.

use crate::{Engine, OpenOptions, Result, Store};

/// Work to do while a database is closed.
pub type OfflineTask<'a> = dyn FnMut() -> Result<()> + 'a;

/// Closes an open store and opens its database again.
pub struct Reopener(Box<Reopen>);

type Reopen = dyn Fn(Store, &mut OfflineTask<'_>) -> Result<Store>;

impl Reopener {
    /// Makes a reopener for a database that `engine` opened with `options`. It closes the database
    /// and opens it again. A client of a server connects again.
    pub fn for_engine(engine: &'static dyn Engine, options: OpenOptions) -> Self {
        Self::new(move |mut store, meanwhile| {
            if let Some(connected) = store.lifecycle().reconnect() {
                connected?;
                return meanwhile().map(|()| store);
            }
            store.close()?;
            meanwhile()?;
            engine.open(&options).map(|opened| opened.store)
        })
    }

    /// Makes a reopener from a function, which is given what to do before it opens the database.
    pub fn new(reopen: impl Fn(Store, &mut OfflineTask<'_>) -> Result<Store> + 'static) -> Self {
        Self(Box::new(reopen))
    }

    /// Closes a store and opens its database again, with what was stored. Statements must be
    /// prepared again and tables opened again. A client that connects again keeps its collections.
    ///
    /// # Errors
    /// The engine's error.
    pub fn reopen(&self, store: Store) -> Result<Store> {
        self.reopen_after(store, &mut || Ok(()))
    }

    /// Closes a store, calls `meanwhile`, and opens its database again. While `meanwhile` runs,
    /// another process may have exclusive access to the database. A server's database stays open.
    ///
    /// # Errors
    /// The engine's error, or that of `meanwhile`. After the latter the database is not opened
    /// again.
    pub fn reopen_after(&self, store: Store, meanwhile: &mut OfflineTask<'_>) -> Result<Store> {
        (self.0)(store, meanwhile)
    }
}
