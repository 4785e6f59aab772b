//! Opening a database again that is there, as a program does that starts anew.

use crate::{Engine, OpenOptions, Result, Store};

/// Ends an open store and opens its database again.
pub struct Reopener(Box<dyn Fn(Store) -> Result<Store>>);

impl Reopener {
    /// Of a database that `engine` opened with `options`: it is closed and opened again; a client of
    /// a server connects again.
    pub fn of(engine: &'static dyn Engine, options: OpenOptions) -> Self {
        Self::new(move |mut store| {
            if let Some(connected) = store.lifecycle().reconnect() {
                return connected.map(|()| store);
            }
            store.close()?;
            engine.open(&options).map(|opened| opened.store)
        })
    }

    /// By a function of its own.
    pub fn new(reopen: impl Fn(Store) -> Result<Store> + 'static) -> Self {
        Self(Box::new(reopen))
    }

    /// Closes a store and opens its database again; what was stored is there. Statements have to be
    /// prepared anew, and tables asked for; a client that connects again keeps its collections.
    ///
    /// # Errors
    /// When the engine reports one.
    pub fn reopen(&self, store: Store) -> Result<Store> {
        (self.0)(store)
    }
}
