//! A store whose database can be reopened.

use std::ops::{Deref, DerefMut};

use embermark_contract::document::DocumentStore;
use embermark_contract::kv::KvStore;
use embermark_contract::series::SeriesStore;
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, OfflineTask, Reopener, Result, Store};

/// A store of one family with the means to reopen its database. It dereferences to the store.
pub(crate) struct Reopenable<S: ?Sized> {
    /// `None` only after a failed opening, which ends the trial.
    store: Option<Box<S>>,
    reopener: Reopener,
}

impl<S: Family + ?Sized> Reopenable<S> {
    pub(crate) const fn new(store: Box<S>, reopener: Reopener) -> Self {
        Self { store: Some(store), reopener }
    }

    /// Closes the store and reopens its database, as a newly started program does. `meanwhile` runs
    /// in between, while another process can have exclusive access.
    pub(crate) fn reopen_after(&mut self, meanwhile: &mut OfflineTask<'_>) -> Result<()> {
        if let Some(store) = self.store.take() {
            let opened = self.reopener.reopen_after(store.into_store(), meanwhile)?;
            self.store = Some(S::from_store(opened).ok_or_else(|| {
                EngineError::failed("the engine", "open its database again", "of another family")
            })?);
        }
        Ok(())
    }

    pub(crate) fn close(self) -> Result<()> {
        self.store.map_or(Ok(()), |store| store.into_store().close())
    }
}

#[allow(clippy::expect_used, reason = "a reopening that failed ended the trial")]
impl<S: ?Sized> Deref for Reopenable<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        self.store.as_deref().expect("the database is open")
    }
}

#[allow(clippy::expect_used, reason = "a reopening that failed ended the trial")]
impl<S: ?Sized> DerefMut for Reopenable<S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut S {
        self.store.as_deref_mut().expect("the database is open")
    }
}

/// A family of stores.
pub(crate) trait Family {
    fn from_store(store: Store) -> Option<Box<Self>>;
    fn into_store(self: Box<Self>) -> Store;
}

macro_rules! family {
    ($store:ident, $variant:ident) => {
        impl Family for dyn $store {
            fn from_store(store: Store) -> Option<Box<Self>> {
                if let Store::$variant(store) = store { Some(store) } else { None }
            }

            fn into_store(self: Box<Self>) -> Store {
                Store::$variant(self)
            }
        }
    };
}

family!(SqlStore, Sql);
family!(KvStore, Kv);
family!(DocumentStore, Document);
family!(SeriesStore, Series);
