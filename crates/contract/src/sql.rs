//! The SQL family: statements, rows, and the dialects between engines.

mod dialect;

use std::path::Path;

use crate::{EngineError, Lifecycle, Result, Scope};

pub use crate::row::{ResultRow, Visit};
pub use dialect::{Dialect, Explain, RangePartitions};

/// A prepared statement of a [`SqlStore`], as that store numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement(pub usize);

/// A parameter of a statement, or a value of a row to insert.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    /// NULL.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Float(f64),
    /// A string.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// What an adapter that cannot tell a query from a program says of the queries of a workload file.
pub const CANNOT_DECIDE: &str =
    "SQL of a workload file: it has no means to decide that a statement only reads its tables";

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlType {
    /// 32 bits, signed.
    Int,
    /// 64 bits, signed.
    Big,
    /// Double precision.
    Double,
    /// A string, compared byte by byte.
    Text,
    /// Bytes, compared one by one.
    Bytes,
}

/// A table: what every engine needs to create it and to load it in bulk.
#[derive(Clone, Copy, Debug)]
pub struct TableDef {
    /// Its name.
    pub name: &'static str,
    /// Columns in order: name, type, whether NULL may stand in it.
    pub columns: &'static [(&'static str, SqlType, Nullable)],
    /// The columns of the primary key; none: the table has no such key.
    pub key: &'static [&'static str],
}

/// Whether NULL may stand in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nullable {
    /// It may.
    Yes,
    /// It may not.
    No,
}

/// Gives the rows of a bulk load, or the parameters of a statement that runs many times, one at a time; `None` ends it.
pub trait Rows {
    /// The next row, its values in the order of the table's columns or of the parameters, valid until the next call.
    fn next(&mut self) -> Option<&[Param<'_>]>;
}

/// A CSV file: a line of names, then a line a row that ends in a line feed, commas between and no quotes.
/// An empty field is NULL.
#[derive(Clone, Copy, Debug)]
pub struct CsvFile<'a> {
    /// Where it is; absolute.
    pub path: &'a Path,
    /// The table's columns in the order of the file's: every one of them, none a text.
    pub columns: &'a [&'a str],
}

/// What the next statements will be, so that an engine can set what its manual advises for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// Many short statements, one row each.
    Point,
    /// Few statements over many rows.
    Analytic,
}

/// What a transaction will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only read: one snapshot for all of it.
    Read,
    /// Read and write.
    Write,
}

/// A database that answers SQL. A statement outside of a transaction is one of its own, committed at
/// the tier's durability before it returns. Workloads enter a [scope](#method.within). One
/// connection.
///
/// # Errors
/// Of every call the engine's message, where it was given SQL with the statement; of one that visits
/// rows also the first error of `visit`.
pub trait SqlStore: Lifecycle {
    /// How this engine writes what SQL leaves open.
    fn dialect(&self) -> &'static dyn Dialect;

    /// Runs statements without parameters or results.
    fn batch(&mut self, sql: &str) -> Result<()>;

    /// Prepares a statement, once; the store keeps it.
    fn prepare(&mut self, sql: &str) -> Result<Statement>;

    /// Prepares a query that a workload file holds, of which nothing is trusted. The engine's own parser or
    /// authorizer decides that it is one SELECT (WITH and VALUES included) that changes nothing and
    /// reaches nothing but the tables of this database. Outside the clock: running it costs what
    /// running any query costs.
    ///
    /// # Errors
    /// Unsupported where it is anything else, or where the engine cannot decide it.
    fn prepare_untrusted(&mut self, _sql: &str) -> Result<Statement> {
        Err(EngineError::unsupported("this engine's adapter", CANNOT_DECIDE))
    }

    /// Runs a prepared statement that returns no rows; the number of rows it changed.
    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64>;

    /// Runs a prepared statement that returns no rows once with each of these parameters, inside the transaction that
    /// is open; how many rows all of them changed. By default one after the other.
    fn run_each(&mut self, statement: Statement, params: &mut dyn Rows) -> Result<u64> {
        let mut changed = 0;
        while let Some(params) = params.next() {
            changed += self.run(statement, params)?;
        }
        Ok(changed)
    }

    /// Whether [`run_each`](Self::run_each) sends many statements without waiting for the answer to each.
    fn pipelines(&self) -> bool {
        false
    }

    /// Runs a prepared statement and visits every row of its result.
    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()>;

    /// Begins a transaction.
    fn begin(&mut self, access: Access) -> Result<()>;

    /// Commits it.
    fn commit(&mut self) -> Result<()>;

    /// Undoes it.
    fn roll_back(&mut self) -> Result<()>;

    /// Loads rows by the engine's fastest documented path (COPY, appender, …), as one commit, or in
    /// several where its manual advises so for many, and returns how many. The table is empty, or holds no row of these keys.
    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64>;

    /// Whether the bulk path wants its rows in primary-key order.
    fn bulk_sorted(&self) -> bool {
        false
    }

    /// Whether a statement of the engine's own loads a file: [`load_csv`](Self::load_csv).
    fn loads_csv(&self) -> bool {
        false
    }

    /// Loads a file by a statement of the engine's own, as one commit outside of any transaction, and
    /// returns how many rows. The table is empty.
    ///
    /// # Errors
    /// Unsupported where it has none.
    fn load_csv(&mut self, _table: &TableDef, _file: &CsvFile<'_>) -> Result<u64> {
        Err(EngineError::unsupported("this engine", "to load a CSV file by itself"))
    }

    /// The plan that the engine has for a query with these parameters, as it tells it, line by line; `None`, the default,
    /// where it tells none. Outside the clock.
    fn plan(&mut self, _sql: &str, _params: &[Param<'_>]) -> Result<Option<String>> {
        Ok(None)
    }

    /// Checkpoints that the engine has begun on its own or was asked for, since it counts them, by its
    /// own statistics. `None`, the default, where it counts none. Outside the clock.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Told that another client has changed the data, where an engine has to know.
    fn data_changed(&mut self) {}

    /// Says what the next statements will be. Outside the clock.
    fn expect(&mut self, _step: QueryKind) -> Result<()> {
        Ok(())
    }
}

impl dyn SqlStore + '_ {
    /// Does `work` in a scope and returns what it returns: between [`begin`](SqlStore::begin) and
    /// [`commit`](SqlStore::commit), or, where it fails, [`roll_back`](SqlStore::roll_back).
    ///
    /// # Errors
    /// The engine's message, or the errors of `work`.
    pub fn within<T>(
        &mut self,
        scope: Scope,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        match scope {
            Scope::PerOperation => return work(self),
            Scope::Snapshot => self.begin(Access::Read)?,
            Scope::Batch => self.begin(Access::Write)?,
        }
        match work(self) {
            Ok(done) => self.commit().map(|()| done),
            Err(error) => {
                // The error that led here is the one to tell; a connection that is lost undoes.
                let _ = self.roll_back();
                Err(error)
            }
        }
    }
}
