//! What the workload needs of a store, in its own words.

use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Lifecycle, Meanwhile, Result};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;
use embermark_model::fingerprint::Fingerprint;
use embermark_model::result::Execution;

use crate::Strategy;

/// The table of dogs.
pub(super) const TABLE: &str = "dog";

/// An attribute that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    Name,
    Age,
    Breed,
}

impl Attribute {
    /// In the order of the columns.
    pub(super) const ALL: [Self; 3] = [Self::Name, Self::Age, Self::Breed];

    /// Its column.
    pub(super) const fn column(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Age => "age",
            Self::Breed => "breed",
        }
    }

    /// The name of its index, where names are given.
    pub(super) fn index(self) -> String {
        format!("{TABLE}_{}", self.column())
    }

    /// Whether two dogs are of one value.
    pub(super) fn same(self, a: &Dog, b: &Dog) -> bool {
        match self {
            Self::Name => a.name == b.name,
            Self::Age => a.age == b.age,
            Self::Breed => a.breed == b.breed,
        }
    }
}

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

    /// Binds all of its columns together.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::default().text(self.id).text(self.name).int(self.age).text(self.breed)
    }
}

/// A row of id, name, age and breed.
pub(super) fn stored(row: &dyn ResultRow) -> Result<Stored<'_>> {
    Ok(Stored {
        id: row.text(0)?.ok_or_else(null)?,
        name: row.text(1)?.ok_or_else(null)?,
        age: row.int(2)?.ok_or_else(null)?,
        breed: row.text(3)?.ok_or_else(null)?,
    })
}

/// That a column has no value.
pub(super) fn null() -> EngineError {
    EngineError::failed("the engine", "give back a dog", "a column is NULL")
}

/// Receives dogs.
pub(super) type Visit<'a> = dyn FnMut(&Stored<'_>) + 'a;

/// A table of dogs in a store. Inserting and counting are timed.
pub(super) trait Dogs {
    /// Who inserts and counts: the engine, or code of ours over its rows.
    fn counts(&self) -> Execution {
        Execution::Native
    }

    /// The same since the table was made [ready](Self::ready), where its store has two copies of the rows
    /// that can be counted.
    fn answered_by(&self) -> Option<Execution> {
        None
    }

    /// Makes the table anew, empty, and its indexes.
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
    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()>;

    /// Those of the attributes that have an index, as the engine itself tells.
    fn indexed(&mut self) -> Result<Vec<Attribute>>;

    /// Visits the rows that have an attribute as this dog has it, where it is indexed.
    fn find(&mut self, by: Attribute, dog: &Dog, visit: &mut Visit<'_>) -> Result<()>;

    /// Does something while another process may have the database alone.
    fn while_closed(&mut self, work: &mut Meanwhile<'_>) -> Result<()> {
        work()
    }

    /// The store.
    fn store(&mut self) -> &mut dyn Lifecycle;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}
