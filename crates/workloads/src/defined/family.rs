//! Opens the tables of a workload file in a store of any family.

use std::sync::Arc;

use embermark_contract::kv::Indexed;
use embermark_contract::{EngineError, Reopener, Result, Store};

use super::document::DocumentTables;
use super::kv::KvTables;
use super::series::SeriesTables;
use super::sql::SqlTables;
use super::{Cell, Database, limits};
use crate::reopenable::Reopenable;

/// Opens the tables in a store that can be reopened.
///
/// # Errors
/// Fails when the family cannot store them, or the engine refuses.
pub(super) fn open(
    mut store: Store,
    reopener: Reopener,
    cell: Arc<Cell>,
) -> Result<Box<dyn Database>> {
    limits::check(&store.lifecycle().limits(), &cell)?;
    Ok(match store {
        Store::Sql(store) => Box::new(SqlTables::new(Reopenable::new(store, reopener), cell)?),
        Store::Kv(store) => {
            let keeps_indexes = store.keeps_indexes();
            let plain = cell.tables.iter().all(|rows| rows.table.indexes.is_empty());
            let store = if plain || keeps_indexes {
                Reopenable::new(store, reopener)
            } else {
                Reopenable::new(Indexed::new(store), Indexed::reopener(reopener))
            };
            Box::new(KvTables::new(store, cell, keeps_indexes)?)
        }
        Store::Document(store) => {
            Box::new(DocumentTables::new(Reopenable::new(store, reopener), cell)?)
        }
        Store::Series(store) => Box::new(SeriesTables::new(Reopenable::new(store, reopener), cell)),
    })
}

/// Opens the existing tables in the store of a further client.
///
/// # Errors
/// Returns the engine's error.
pub(super) fn attach(store: Store, cell: Arc<Cell>) -> Result<Box<dyn Database>> {
    let never = Reopener::new(|_, _| {
        Err(EngineError::unsupported("a further client", "to be opened again"))
    });
    open(store, never, cell)
}
