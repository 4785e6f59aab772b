//! The log in a store of any family.

use embermark_contract::{EngineError, Reopener, Store};

use super::document::DocumentLog;
use super::kv::KvLog;
use super::port::SensorLog;
use super::series::SeriesLog;
use super::sql::SqlLog;
use crate::reopenable::Reopenable;

/// The sensors' log in a store of any family, empty, which `reopener` opens again. Its
/// `last_readings` and the questions of one sensor will be asked for `asked`.
pub(super) fn open(
    store: Store,
    reopener: Reopener,
    asked: &[u16],
) -> Result<Box<dyn SensorLog>, EngineError> {
    let mut log: Box<dyn SensorLog> = match store {
        Store::Sql(store) => Box::new(SqlLog::new(Reopenable::new(store, reopener), asked.len())),
        Store::Kv(store) => Box::new(KvLog::new(Reopenable::new(store, reopener))?),
        Store::Document(store) => {
            Box::new(DocumentLog::new(Reopenable::new(store, reopener), asked)?)
        }
        Store::Series(store) => Box::new(SeriesLog::new(Reopenable::new(store, reopener))),
    };
    log.clear()?;
    Ok(log)
}

/// The same log for a further client, as it is, which asks for no sensors.
pub(super) fn attach(store: Store) -> Result<Box<dyn SensorLog>, EngineError> {
    Ok(match store {
        Store::Sql(store) => Box::new(SqlLog::new(Reopenable::never(store), 0)),
        Store::Kv(store) => Box::new(KvLog::new(Reopenable::never(store))?),
        Store::Document(store) => Box::new(DocumentLog::attach(Reopenable::never(store))?),
        Store::Series(store) => Box::new(SeriesLog::new(Reopenable::never(store))),
    })
}
