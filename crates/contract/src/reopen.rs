//! Opening a database again that is there, as a program does that starts anew.

use crate::{Engine, EngineError, OpenOptions, Result, Store};

/// Ends an open store and opens its database again.
pub struct Reopener {
    warm: Box<Reopen>,
    cold: Option<Box<Reopen>>,
}

type Reopen = dyn Fn(Store) -> Result<Store>;

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
        Self { warm: Box::new(reopen), cold: None }
    }

    /// With a function that opens the database again when nothing of it is in memory any more.
    #[must_use]
    pub fn with_cold(self, reopen: impl Fn(Store) -> Result<Store> + 'static) -> Self {
        Self { cold: Some(Box::new(reopen)), ..self }
    }

    /// The same with `dress` around every store that is opened.
    #[must_use]
    pub fn dressed(self, dress: fn(Store) -> Store) -> Self {
        let Self { warm, cold } = self;
        let around = |reopen: Box<Reopen>| -> Box<Reopen> {
            Box::new(move |store| reopen(store).map(dress))
        };
        Self { warm: around(warm), cold: cold.map(around) }
    }

    /// Whether reads are to be cold: phases that read begin with [`reopen_cold`](Self::reopen_cold).
    pub const fn is_cold(&self) -> bool {
        self.cold.is_some()
    }

    /// Closes a store and opens its database again; what was stored is there. Statements have to be
    /// prepared anew, and tables asked for; a client that connects again keeps its collections.
    ///
    /// # Errors
    /// When the engine reports one.
    pub fn reopen(&self, store: Store) -> Result<Store> {
        (self.warm)(store)
    }

    /// The same, with nothing of the database in the engine's memory nor in the page cache when it is
    /// opened.
    ///
    /// # Errors
    /// When the engine reports one, or there is no such way.
    pub fn reopen_cold(&self, store: Store) -> Result<Store> {
        let none = || EngineError::unsupported("this database", "to be opened again cold");
        (self.cold.as_ref().ok_or_else(none)?)(store)
    }
}
