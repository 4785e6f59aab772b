//! The work's table in a database, of every family that has transactions.

mod kv;
mod sql;

use embermark_contract::{EngineError, Lifecycle, Result, Store};

use crate::oracle::Found;
use crate::work::Commit;

/// The work's table.
pub(crate) trait Ledger {
    /// Does what a commit does, as one commit; by the bulk path where it says so. The table itself is
    /// made by [`open`].
    fn commit(&mut self, commit: &Commit) -> Result<()>;

    /// Reads every row, and checks each against what its commit wrote.
    fn found(&mut self) -> Result<Found>;

    /// What every store has.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}

/// The table in an open database, made where it is not there.
pub(crate) fn open(store: Store) -> Result<Box<dyn Ledger>> {
    match store {
        Store::Kv(store) => Ok(Box::new(kv::KvLedger::new(store)?)),
        Store::Sql(store) => Ok(Box::new(sql::SqlLedger::new(store)?)),
        Store::Document(_) | Store::Series(_) => {
            Err(EngineError::unsupported("this family", "the work of this experiment"))
        }
    }
}
