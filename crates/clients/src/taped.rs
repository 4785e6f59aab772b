//! A store of any family whose calls go through a tape.

use embermark_contract::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits,
    Reopener, Result, Store, delegate,
};

use crate::document::TapedDocuments;
use crate::kv::TapedPairs;
use crate::sql::TapedSql;
use crate::tape::Tape;

/// A store whose calls go through a tape.
pub(crate) struct Taped<S: ?Sized, N> {
    pub store: Box<S>,
    pub tape: Tape,
    /// What its statements, tables or collections are recorded by, by their numbers.
    pub named: Vec<N>,
}

impl<S: ?Sized, N: Clone + Default> Taped<S, N> {
    fn new(store: Box<S>, tape: Tape) -> Self {
        Self { store, tape, named: Vec::new() }
    }

    /// Notes what a number is recorded by.
    pub fn name(&mut self, number: usize, name: N) {
        if self.named.len() <= number {
            self.named.resize(number + 1, N::default());
        }
        self.named[number] = name;
    }
}

impl<S: Lifecycle + ?Sized, N> Lifecycle for Taped<S, N> {
    delegate! {
        store:
        fn maintain(&mut self) -> Result<()>;
        fn upkeep(&mut self) -> Result<()>;
        fn limits(&self) -> Limits;
        fn tier_settings(&mut self) -> Result<Vec<(String, String)>>;
        fn join(&self) -> Join;
        fn connection(&mut self) -> Result<ConnectionParameters>;
        fn reconnect(&mut self) -> Option<Result<()>>;
        fn connects_by_request(&self) -> bool;
        fn background(&mut self, into: &mut Vec<Background>) -> Result<()>;
        fn check(&mut self) -> Result<Checked>;
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        Err(EngineError::impossible("one client in another language works at a time"))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.tape.close();
        self.store.close()
    }
}

impl Tape {
    /// Returns a store whose calls go through this tape.
    ///
    /// # Errors
    /// Unsupported if no program in another language supports the family.
    pub fn wrap(&self, store: Store) -> Result<Store> {
        let tape = self.clone();
        match store {
            Store::Sql(store) => Ok(Store::Sql(Box::new(TapedSql::new(store, tape)))),
            Store::Kv(store) => Ok(Store::Kv(Box::new(TapedPairs::new(store, tape)))),
            Store::Document(store) => {
                Ok(Store::Document(Box::new(TapedDocuments::new(store, tape))))
            }
            Store::Series(_) => Err(EngineError::impossible(
                "no client in another language is written for stores of series yet",
            )),
        }
    }

    /// Returns the reopener for such a store's database.
    #[must_use]
    pub fn reopener(&self, plain: Reopener) -> Reopener {
        let tape = self.clone();
        Reopener::new(move |store, meanwhile| {
            let opened = plain.reopen_after(store, meanwhile)?;
            // A store that has only reconnected is the same store, with the tape before it.
            let is_another = tape.take_closed();
            if is_another { tape.wrap(opened) } else { Ok(opened) }
        })
    }
}
