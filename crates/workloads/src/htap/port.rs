//! What the workload needs of a store, in its own words.

use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Result};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;
use embermark_model::result::Execution;

use crate::Strategy;

/// A dog as a store gives it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub age: i64,
    pub breed: &'a str,
}

impl<'a> Stored<'a> {
    /// What a store must give back of a dog.
    pub(super) fn of(dog: &'a Dog) -> Self {
        Self { id: &dog.id, name: dog.name, age: dog.age, breed: dog.breed }
    }
}

/// A row of id, name, age and breed.
pub(super) fn stored(row: &dyn ResultRow) -> Result<Stored<'_>> {
    let null = || EngineError::failed("the engine", "give back a dog", "a column is NULL");
    Ok(Stored {
        id: row.text(0)?.ok_or_else(null)?,
        name: row.text(1)?.ok_or_else(null)?,
        age: row.int(2)?.ok_or_else(null)?,
        breed: row.text(3)?.ok_or_else(null)?,
    })
}

/// A table of dogs in a store. Inserting and counting are timed.
pub(super) trait Dogs {
    /// Who counts: the engine, or code of ours over its rows.
    fn counts(&self) -> Execution {
        Execution::Native
    }

    /// Makes the table anew, empty.
    fn clear(&mut self) -> Result<()>;

    /// Prepares what can be before the clock starts.
    fn ready(&mut self, _by: Strategy) -> Result<()> {
        Ok(())
    }

    /// Inserts, counting operations with the meter.
    fn insert(&mut self, dogs: &[Dog], by: Strategy, meter: &mut Meter) -> Result<()>;

    /// The number of rows, as a query finds it.
    fn count(&mut self) -> Result<u64>;

    /// Visits every row, in any order.
    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()>;

    /// Runs the engine's maintenance: its checkpoint or compaction.
    fn maintain(&mut self) -> Result<()>;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}
