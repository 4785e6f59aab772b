//! The log in a store of any family.

use embermark_contract::{EngineError, Store};

use super::document::DocumentLog;
use super::kv::KvLog;
use super::port::SensorLog;
use super::series::SeriesLog;
use super::sql::SqlLog;

/// The sensors' log in a store of any family, empty. Its `last_readings` will be asked for
/// `newest` sensors.
pub(super) fn open(store: Store, newest: usize) -> Result<Box<dyn SensorLog>, EngineError> {
    let mut log: Box<dyn SensorLog> = match store {
        Store::Sql(store) => Box::new(SqlLog::new(store, newest)),
        Store::Kv(store) => Box::new(KvLog::new(store)?),
        Store::Document(store) => Box::new(DocumentLog::new(store)?),
        Store::Series(store) => Box::new(SeriesLog::new(store)),
    };
    log.clear()?;
    Ok(log)
}

/// The same log for a further client, as it is.
pub(super) fn attach(store: Store, newest: usize) -> Result<Box<dyn SensorLog>, EngineError> {
    Ok(match store {
        Store::Sql(store) => Box::new(SqlLog::new(store, newest)),
        Store::Kv(store) => Box::new(KvLog::new(store)?),
        Store::Document(store) => Box::new(DocumentLog::attach(store)?),
        Store::Series(store) => Box::new(SeriesLog::new(store)),
    })
}
