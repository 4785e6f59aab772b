//! A tape between a workload and its store, for each family.

use embermark_contract::document::DocumentStore;
use embermark_contract::kv::KvStore;
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Reopener, Result, Store};

use crate::document::TapedDocuments;
use crate::kv::TapedPairs;
use crate::sql::TapedSql;
use crate::tape::Tape;

impl Tape {
    /// Returns a store whose calls go through this tape.
    ///
    /// # Errors
    /// Unsupported if no program in another language supports the family.
    pub fn wrap(&self, store: Store) -> Result<Store> {
        match store {
            Store::Sql(store) => {
                Ok(Store::Sql(Box::new(TapedSql::new(store, self.clone())) as Box<dyn SqlStore>))
            }
            Store::Kv(store) => {
                Ok(Store::Kv(Box::new(TapedPairs::new(store, self.clone())) as Box<dyn KvStore>))
            }
            Store::Document(store) => {
                let taped = TapedDocuments::new(store, self.clone());
                Ok(Store::Document(Box::new(taped) as Box<dyn DocumentStore>))
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
