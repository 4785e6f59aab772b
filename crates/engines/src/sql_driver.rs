//! The part that all adapters of SQL engines share: a driver is a connection, and [`Connected`] is
//! the store over it.
//!
//! A statement that fails inside a transaction ends it: the transaction is rolled back, so that no
//! half of one is kept and the connection can be used again.

mod connected;
#[cfg(any(feature = "duckdb", feature = "firebird", feature = "postgres"))]
pub(crate) mod times;
#[allow(dead_code, reason = "each engine needs a part of it")]
pub(crate) mod value_errors;

pub(crate) use connected::Connected;

use crate::sql::{
    Access, CANNOT_DECIDE, CsvFile, Dialect, Param, QueryKind, Rows, TableDef, Visit,
};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Limits, Result,
    no_client,
};

/// Why a statement did not run to its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    Engine(EngineError),
    /// The engine's error that asks to retry because of another client's change. No row was
    /// visited.
    #[allow(dead_code, reason = "used by engines that refuse; a build may have none")]
    Conflict(EngineError),
    /// The visitor's error. The engine did nothing wrong, so a transaction continues.
    Visitor(EngineError),
}

impl Stopped {
    /// Returns the error that stopped the statement. (There is no `From`, because a second one for
    /// [`EngineError`] would make the type of `?` ambiguous where an error is generic.)
    pub fn into_error(self) -> EngineError {
        match self {
            Self::Conflict(error) => error.into_conflict(),
            Self::Engine(error) | Self::Visitor(error) => error,
        }
    }
}

/// A connection through the engine's own client library. [`SqlStore`](crate::sql::SqlStore) and
/// [`Lifecycle`](crate::Lifecycle) describe the methods that they have too.
pub(crate) trait Driver: Sized + 'static {
    /// A prepared statement. Dropped before the connection.
    type Prepared;

    /// The engine's name, for errors.
    fn name(&self) -> &'static str;

    fn bulk_sorted(&self) -> bool {
        false
    }

    fn dialect(&self) -> &'static dyn Dialect;

    fn batch(&mut self, sql: &str) -> Result<()>;

    fn prepare(&mut self, sql: &str) -> Result<Self::Prepared>;

    fn prepare_untrusted(&mut self, _sql: &str) -> Result<Self::Prepared> {
        Err(EngineError::unsupported(self.name(), CANNOT_DECIDE))
    }

    /// Runs a statement. Passes its rows to the visitor, or returns the number of rows it changed.
    fn run(
        &mut self,
        statement: &mut Self::Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped>;

    fn run_each(&mut self, statement: &mut Self::Prepared, params: &mut dyn Rows) -> Result<u64> {
        one_by_one(self, statement, params)
    }

    fn pipelines(&self) -> bool {
        false
    }

    fn begin(&mut self, access: Access) -> Result<()>;

    fn commit(&mut self) -> Result<()>;

    fn roll_back(&mut self) -> Result<()>;

    /// Loads rows in bulk, inside the transaction that is open.
    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64>;

    /// Loads rows in bulk, outside of a transaction.
    fn load_alone(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        in_transaction(self, |driver| driver.load(table, rows))
    }

    fn loads_csv(&self) -> bool {
        false
    }

    /// After an error, a transaction that it has begun is rolled back.
    fn load_csv(&mut self, _: &TableDef, _: &CsvFile<'_>) -> Result<u64> {
        Err(EngineError::unsupported(self.name(), "to load a CSV file by itself"))
    }

    fn data_changed(&mut self) {}

    /// For an engine that reports it by other means than a query.
    fn plan(&mut self, _sql: &str) -> Result<Option<String>> {
        Ok(None)
    }

    fn expect(&mut self, _: QueryKind) -> Result<()> {
        Ok(())
    }

    fn maintain(&mut self) -> Result<()>;

    fn limits(&self) -> Limits {
        Limits::default()
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    fn background(&mut self, _into: &mut Vec<Background>) -> Result<()> {
        Ok(())
    }

    fn join(&self) -> Join;

    fn open_client(&mut self) -> Result<ClientOpener>;

    fn reconnect(&mut self) -> Option<Result<()>> {
        None
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        Err(no_client())
    }

    fn crash_on_close(&mut self) -> Result<()>;

    fn suspend_checkpoints(&mut self, _bytes: u64) -> Result<()> {
        Err(EngineError::unsupported(self.name(), "to keep every change in a log"))
    }

    fn log_bytes(&mut self) -> Result<u64> {
        Err(EngineError::unsupported(self.name(), "the size of a log of its own"))
    }

    fn check(&mut self) -> Result<Checked>;

    fn close(self) -> Result<()>;
}

/// Loads rows in a transaction of its own. After an error it is still open.
pub(crate) fn in_transaction<D: Driver>(
    driver: &mut D,
    load: impl FnOnce(&mut D) -> Result<u64>,
) -> Result<u64> {
    driver.begin(Access::Write)?;
    let count = load(driver)?;
    driver.commit().map(|()| count)
}

/// Runs a statement with each of these parameters and waits for every answer. Returns the number of
/// changed rows.
pub(crate) fn one_by_one<D: Driver>(
    driver: &mut D,
    statement: &mut D::Prepared,
    params: &mut dyn Rows,
) -> Result<u64> {
    let mut changed = 0;
    while let Some(params) = params.next() {
        changed += driver.run(statement, params, None).map_err(Stopped::into_error)?;
    }
    Ok(changed)
}

/// The error for a query of a workload file that its engine refused.
#[allow(dead_code, reason = "used by engines that decide it; a build may have none")]
pub(crate) fn refused(engine: &str, sql: &str, why: impl std::fmt::Display) -> EngineError {
    EngineError::impossible(format!(
        "{engine} refuses `{sql}`: {why}; a query of a workload file is one SELECT over the file's tables"
    ))
}
