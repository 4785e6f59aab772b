//! The log in a store of any family.

use embermark_contract::{EngineError, Reopener, Store};

use super::document::DocumentLog;
use super::kv::KvLog;
use super::port::SensorLog;
use super::series::SeriesLog;
use super::sql::SqlLog;
use crate::reopenable::Reopenable;

/// The sensors' log in a store of any family, empty, which `reopener` opens again. Its
/// `last_readings` will be asked for `newest` sensors.
pub(super) fn open(
    store: Store,
    reopener: Reopener,
    newest: usize,
) -> Result<Box<dyn SensorLog>, EngineError> {
    let mut log: Box<dyn SensorLog> = match store {
        Store::Sql(store) => Box::new(SqlLog::new(Reopenable::new(store, reopener), newest)),
        Store::Kv(store) => Box::new(KvLog::new(Reopenable::new(store, reopener))?),
        Store::Document(store) => Box::new(DocumentLog::new(Reopenable::new(store, reopener))?),
        Store::Series(store) => Box::new(SeriesLog::new(Reopenable::new(store, reopener))),
    };
    log.clear()?;
    Ok(log)
}

/// The same log for a further client, as it is.
pub(super) fn attach(store: Store, newest: usize) -> Result<Box<dyn SensorLog>, EngineError> {
    Ok(match store {
        Store::Sql(store) => Box::new(SqlLog::new(Reopenable::never(store), newest)),
        Store::Kv(store) => Box::new(KvLog::new(Reopenable::never(store))?),
        Store::Document(store) => Box::new(DocumentLog::attach(Reopenable::never(store))?),
        Store::Series(store) => Box::new(SeriesLog::new(Reopenable::never(store))),
    })
}
