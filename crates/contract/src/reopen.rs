//! Opening a database again that is there, as a program does that starts anew.

use crate::{Engine, OpenOptions, Result, Store};

/// What is done while a database is closed.
pub type Meanwhile<'a> = dyn FnMut() -> Result<()> + 'a;

/// Ends an open store and opens its database again.
pub struct Reopener(Box<Reopen>);

type Reopen = dyn Fn(Store, &mut Meanwhile<'_>) -> Result<Store>;

impl Reopener {
    /// Of a database that `engine` opened with `options`: it is closed and opened again; a client of
    /// a server connects again.
    pub fn of(engine: &'static dyn Engine, options: OpenOptions) -> Self {
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

    /// By a function of its own, which is given what to do before it opens the database.
    pub fn new(reopen: impl Fn(Store, &mut Meanwhile<'_>) -> Result<Store> + 'static) -> Self {
        Self(Box::new(reopen))
    }

    /// Closes a store and opens its database again; what was stored is there. Statements have to be
    /// prepared anew, and tables asked for; a client that connects again keeps its collections.
    ///
    /// # Errors
    /// When the engine reports one.
    pub fn reopen(&self, store: Store) -> Result<Store> {
        self.reopen_after(store, &mut || Ok(()))
    }

    /// The same, with something done in between, while another process may have the database alone. (A
    /// server's stays open.)
    ///
    /// # Errors
    /// When the engine reports one, or that of `meanwhile`: the database is then not opened again.
    pub fn reopen_after(&self, store: Store, meanwhile: &mut Meanwhile<'_>) -> Result<Store> {
        (self.0)(store, meanwhile)
    }
}
