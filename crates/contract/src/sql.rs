//! The SQL family: statements, rows, and dialects of engines.

mod dialect;

use std::path::Path;

use crate::{EngineError, Lifecycle, Result, Scope};

pub use crate::row::{ResultRow, Visit};
pub use dialect::{Dialect, Explain, RangePartitions};
/// A parameter of a statement, or a value of a row to insert.
pub use embermark_model::table::Value as Param;

/// Number of a prepared statement in its [`SqlStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement(pub usize);

/// Reason of an adapter that cannot decide whether a workload file's query only reads.
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
    /// Columns in order: name, type, and whether NULL is allowed.
    pub columns: &'static [(&'static str, SqlType, Nullable)],
    /// Columns of the primary key. Empty if the table has none.
    pub key: &'static [&'static str],
}

impl TableDef {
    /// Returns the names of the columns, in order.
    pub fn column_names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, ..)| *name).collect()
    }
}

/// Whether a column allows NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nullable {
    /// NULL is allowed.
    Yes,
    /// NULL is not allowed.
    No,
}

/// Supplies the rows of a bulk load, or the parameters of a statement that runs many times, one at
/// a time. `None` ends the supply.
pub trait Rows {
    /// Returns the next row, valid until the next call. Its values are in the order of the table's
    /// columns or of the parameters.
    fn next(&mut self) -> Option<&[Param<'_>]>;
}

/// A CSV file: a line of names, then one line per row. Lines end in a line feed, commas separate
/// fields, and there are no quotes. An empty field is NULL.
#[derive(Clone, Copy, Debug)]
pub struct CsvFile<'a> {
    /// Absolute path.
    pub path: &'a Path,
    /// The table's columns in the order of the file. All of them are present, and none is a text.
    pub columns: &'a [&'a str],
}

/// The kind of the next statements, so that an engine can apply the settings that its manual
/// advises.
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
    /// Only read: one snapshot for all reads.
    Read,
    /// Read and write.
    Write,
}

/// A database that answers SQL. A statement outside of a transaction is its own transaction,
/// committed at the tier's durability before it returns. Workloads enter a [scope](#method.within).
/// One connection.
///
/// # Errors
/// Every call fails with the engine's message, and with the statement if it was given SQL. A call
/// that visits rows also fails with the first error of `visit`.
pub trait SqlStore: Lifecycle {
    /// Returns the engine's dialect: how it writes what SQL leaves open.
    fn dialect(&self) -> &'static dyn Dialect;

    /// Runs statements without parameters or results.
    fn batch(&mut self, sql: &str) -> Result<()>;

    /// Prepares a statement once. The store keeps it.
    fn prepare(&mut self, sql: &str) -> Result<Statement>;

    /// Prepares an untrusted query of a workload file. The engine's own parser or authorizer
    /// decides that it is one SELECT (including WITH and VALUES) that changes nothing and reaches
    /// only the tables of this database. Outside the clock: running it costs as much as any query.
    ///
    /// # Errors
    /// Unsupported if it is anything else, or if the engine cannot decide.
    fn prepare_untrusted(&mut self, _sql: &str) -> Result<Statement> {
        Err(EngineError::unsupported("this engine's adapter", CANNOT_DECIDE))
    }

    /// Runs a prepared statement that returns no rows, and returns the number of rows that it
    /// changed.
    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64>;

    /// Runs a prepared statement that returns no rows once for each set of parameters, inside the
    /// open transaction. Returns the total number of rows changed. The default runs them one after
    /// the other.
    fn run_each(&mut self, statement: Statement, params: &mut dyn Rows) -> Result<u64> {
        let mut changed = 0;
        while let Some(params) = params.next() {
            changed += self.run(statement, params)?;
        }
        Ok(changed)
    }

    /// Whether [`run_each`](Self::run_each) sends many statements without waiting for each answer.
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

    /// Commits the transaction.
    fn commit(&mut self) -> Result<()>;

    /// Rolls the transaction back.
    fn roll_back(&mut self) -> Result<()>;

    /// Loads rows by the engine's fastest documented path (COPY, appender, …) and returns their
    /// number. It is one commit, or several if the manual advises that for many rows. The table is
    /// empty or has no row with these keys.
    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64>;

    /// Whether the bulk path needs its rows in primary-key order.
    fn bulk_sorted(&self) -> bool {
        false
    }

    /// Whether the engine has a statement that loads a file ([`load_csv`](Self::load_csv)).
    fn loads_csv(&self) -> bool {
        false
    }

    /// Loads a file by the engine's own statement, as one commit outside of any transaction, and
    /// returns the number of rows. The table is empty.
    ///
    /// # Errors
    /// Unsupported if the engine has no such statement.
    fn load_csv(&mut self, _table: &TableDef, _file: &CsvFile<'_>) -> Result<u64> {
        Err(EngineError::unsupported("this engine", "to load a CSV file by itself"))
    }

    /// Returns the engine's plan for a query with these parameters, line by line. `None`, the
    /// default, if the engine shows none. Outside the clock.
    fn plan(&mut self, _sql: &str, _params: &[Param<'_>]) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns the number of checkpoints that the engine has begun, by itself or on request, since
    /// its own statistics began. `None`, the default, if it counts none. Outside the clock.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Notes that another client has changed the data, for an engine that needs to know.
    fn data_changed(&mut self) {}

    /// Announces the kind of the next statements. Outside the clock.
    fn expect(&mut self, _step: QueryKind) -> Result<()> {
        Ok(())
    }
}

impl dyn SqlStore + '_ {
    /// Runs `work` in a scope and returns its result: between [`begin`](SqlStore::begin) and
    /// [`commit`](SqlStore::commit), or [`roll_back`](SqlStore::roll_back) if it fails.
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
                // The error that led here is the one to report. A lost connection rolls back by
                // itself.
                let _ = self.roll_back();
                Err(error)
            }
        }
    }
}
