//! What every adapter of an SQL engine does alike: statements by their numbers, and transactions.
//!
//! A statement that fails inside a transaction ends it: the transaction is rolled back, so that no half
//! of one is ever kept and the connection can be used again.

#[allow(dead_code, reason = "each engine needs its part of it")]
pub(crate) mod misfit;
#[cfg(any(feature = "duckdb", feature = "firebird", feature = "postgres"))]
pub(crate) mod times;

use crate::clients::again_if;
use crate::sql::{
    Access, CANNOT_DECIDE, CsvFile, Dialect, Explain, Param, QueryKind, Rows, SqlStore, Statement,
    TableDef, Visit,
};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits,
    Result, no_client,
};

/// Why a statement was not run to its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The engine's error.
    Engine(EngineError),
    /// The engine's error that asks to try again, for the sake of another client's change. No row was
    /// visited.
    #[allow(dead_code, reason = "used by engines that refuse; a build may have none")]
    Conflict(EngineError),
    /// The visitor's error. The engine did nothing wrong: a transaction goes on.
    Visitor(EngineError),
}

impl Stopped {
    /// The error that stopped it. (No `From`: a second one for [`EngineError`] would leave `?` without
    /// a type wherever an error is generic.)
    pub fn into_error(self) -> EngineError {
        match self {
            Self::Engine(error) | Self::Conflict(error) | Self::Visitor(error) => error,
        }
    }
}

/// A connection, by its engine's own client library.
pub(crate) trait Driver: Sized + 'static {
    /// A prepared statement. Dropped before the connection.
    type Prepared;

    /// The engine, for errors.
    fn name(&self) -> &'static str;

    /// [`SqlStore::bulk_sorted`].
    fn bulk_sorted(&self) -> bool {
        false
    }

    fn dialect(&self) -> &'static dyn Dialect;

    /// Runs statements without parameters or results.
    fn batch(&mut self, sql: &str) -> Result<()>;

    fn prepare(&mut self, sql: &str) -> Result<Self::Prepared>;

    /// [`SqlStore::prepare_untrusted`].
    fn prepare_untrusted(&mut self, _sql: &str) -> Result<Self::Prepared> {
        Err(EngineError::unsupported(self.name(), CANNOT_DECIDE))
    }

    /// Runs a statement: with a visitor for its rows, else for the number of rows it changes.
    fn run(
        &mut self,
        statement: &mut Self::Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped>;

    /// [`SqlStore::run_each`].
    fn run_each(&mut self, statement: &mut Self::Prepared, params: &mut dyn Rows) -> Result<u64> {
        one_by_one(self, statement, params)
    }

    /// [`SqlStore::pipelines`].
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
        self.begin(Access::Write)?;
        let count = self.load(table, rows)?;
        self.commit().map(|()| count)
    }

    /// [`SqlStore::loads_csv`].
    fn loads_csv(&self) -> bool {
        false
    }

    /// [`SqlStore::load_csv`]. After an error a transaction that it has begun is undone.
    fn load_csv(&mut self, _: &TableDef, _: &CsvFile<'_>) -> Result<u64> {
        Err(EngineError::unsupported(self.name(), "to load a CSV file by itself"))
    }

    /// [`SqlStore::data_changed`].
    fn data_changed(&mut self) {}

    /// [`SqlStore::plan`], of an engine that tells it by another way than a query.
    fn plan(&mut self, _sql: &str) -> Result<Option<String>> {
        Ok(None)
    }

    /// [`SqlStore::expect`].
    fn expect(&mut self, _: QueryKind) -> Result<()> {
        Ok(())
    }

    /// [`Lifecycle::maintain`].
    fn maintain(&mut self) -> Result<()>;

    /// [`Lifecycle::limits`].
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// [`Lifecycle::tier_settings`].
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// [`SqlStore::checkpoints`].
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// [`Lifecycle::background`].
    fn background(&mut self, _into: &mut Vec<Background>) -> Result<()> {
        Ok(())
    }

    /// [`Lifecycle::join`].
    fn join(&self) -> Join;

    /// [`Lifecycle::open_client`].
    fn open_client(&mut self) -> Result<ClientOpener>;

    /// [`Lifecycle::reconnect`].
    fn reconnect(&mut self) -> Option<Result<()>> {
        None
    }

    /// [`Lifecycle::connection`].
    fn connection(&mut self) -> Result<ConnectionParameters> {
        Err(no_client())
    }

    /// [`Lifecycle::crash_on_close`].
    fn crash_on_close(&mut self) -> Result<()>;

    /// [`Lifecycle::suspend_checkpoints`].
    fn suspend_checkpoints(&mut self, _bytes: u64) -> Result<()> {
        Err(EngineError::unsupported(self.name(), "to keep every change in a log"))
    }

    /// [`Lifecycle::log_bytes`].
    fn log_bytes(&mut self) -> Result<u64> {
        Err(EngineError::unsupported(self.name(), "the size of a log of its own"))
    }

    /// [`Lifecycle::check`].
    fn check(&mut self) -> Result<Checked>;

    /// [`Lifecycle::close`].
    fn close(self) -> Result<()>;
}

/// Runs a statement with each of these parameters, and waits for every answer; how many rows were changed.
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

/// The store over a driver. Fields are dropped in order.
pub(crate) struct Connected<D: Driver> {
    prepared: Vec<D::Prepared>,
    driver: D,
    in_transaction: bool,
}

/// A query of a workload file that its engine refused.
#[allow(dead_code, reason = "used by engines that decide it; a build may have none")]
pub(crate) fn refused(engine: &str, sql: &str, why: impl std::fmt::Display) -> EngineError {
    EngineError::impossible(format!(
        "{engine} refuses `{sql}`: {why}; a query of a workload file is one SELECT over the file's tables"
    ))
}

impl<D: Driver> Connected<D> {
    /// Keeps a prepared statement, by its number.
    fn keep(&mut self, prepared: Result<D::Prepared>) -> Result<Statement> {
        let prepared = self.ending(prepared)?;
        self.prepared.push(prepared);
        Ok(Statement(self.prepared.len() - 1))
    }

    /// A store without statements yet.
    pub fn new(driver: D) -> Box<Self> {
        Box::new(Self { prepared: Vec::new(), driver, in_transaction: false })
    }

    /// Passes a result on; an error ends the transaction it came in.
    #[inline]
    fn ending<T>(&mut self, done: Result<T>) -> Result<T> {
        if done.is_err() && self.in_transaction {
            self.undo();
        }
        done
    }

    /// Refuses what has to be outside of a transaction.
    fn apart(&self, doing: &str) -> Result<()> {
        let why = "a transaction is open; end it first";
        if self.in_transaction {
            Err(EngineError::failed(self.driver.name(), doing, why))
        } else {
            Ok(())
        }
    }

    #[cold]
    fn undo(&mut self) {
        self.in_transaction = false;
        // The first error is the one to tell; a lost connection shows in the next call too.
        let _ = self.driver.roll_back();
    }

    #[inline]
    fn execute(
        &mut self,
        Statement(number): Statement,
        params: &[Param<'_>],
        mut visit: Option<&mut Visit<'_>>,
    ) -> Result<u64> {
        let Self { prepared, driver, in_transaction } = self;
        let alone = !*in_transaction;
        let Some(prepared) = prepared.get_mut(number) else {
            return Err(never_prepared(driver.name(), number));
        };
        let refused = |stopped: &Stopped| alone && matches!(stopped, Stopped::Conflict(_));
        let run = || driver.run(prepared, params, visit.as_deref_mut());
        match again_if(refused, run) {
            Ok(count) => Ok(count),
            Err(Stopped::Visitor(error)) => Err(error),
            Err(stopped) => self.ending(Err(stopped.into_error())),
        }
    }
}

#[cold]
fn never_prepared(engine: &'static str, number: usize) -> EngineError {
    EngineError::failed(engine, format!("run statement {number}"), "it was never prepared")
}

impl<D: Driver> Lifecycle for Connected<D> {
    fn maintain(&mut self) -> Result<()> {
        self.apart("do its maintenance")?;
        self.driver.maintain()
    }

    fn limits(&self) -> Limits {
        self.driver.limits()
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        self.driver.tier_settings()
    }

    fn join(&self) -> Join {
        self.driver.join()
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        self.driver.open_client()
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        self.driver.connection()
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        let connected = self.driver.reconnect()?;
        self.prepared.clear();
        self.in_transaction = false;
        Some(connected)
    }

    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        self.driver.background(into)
    }

    fn crash_on_close(&mut self) -> Result<()> {
        self.driver.crash_on_close()
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        self.apart("suspend its checkpoints")?;
        self.driver.suspend_checkpoints(bytes)
    }

    fn log_bytes(&mut self) -> Result<u64> {
        self.driver.log_bytes()
    }

    fn check(&mut self) -> Result<Checked> {
        self.apart("check the database")?;
        self.driver.check()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { prepared, driver, .. } = *self;
        drop(prepared);
        driver.close()
    }
}

impl<D: Driver> SqlStore for Connected<D> {
    fn dialect(&self) -> &'static dyn Dialect {
        self.driver.dialect()
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        let done = self.driver.batch(sql);
        self.ending(done)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let prepared = self.driver.prepare(sql);
        self.keep(prepared)
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Statement> {
        let prepared = self.driver.prepare_untrusted(sql);
        self.keep(prepared)
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        self.execute(statement, params, None)
    }

    fn run_each(&mut self, Statement(number): Statement, params: &mut dyn Rows) -> Result<u64> {
        let Self { prepared, driver, in_transaction } = self;
        let doing = || format!("run statement {number} many times");
        if !*in_transaction {
            let why = "no transaction is open; begin one first";
            return Err(EngineError::failed(driver.name(), doing(), why));
        }
        let Some(prepared) = prepared.get_mut(number) else {
            return Err(never_prepared(driver.name(), number));
        };
        let done = driver.run_each(prepared, params);
        self.ending(done)
    }

    fn pipelines(&self) -> bool {
        self.driver.pipelines()
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.execute(statement, params, Some(visit)).map(drop)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.driver.begin(access)?;
        self.in_transaction = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let done = self.driver.commit();
        self.ending(done)?;
        self.in_transaction = false;
        Ok(())
    }

    fn roll_back(&mut self) -> Result<()> {
        match std::mem::take(&mut self.in_transaction) {
            true => self.driver.roll_back(),
            false => Ok(()),
        }
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let done = match self.in_transaction {
            true => self.driver.load(table, rows),
            false => self.driver.load_alone(table, rows),
        };
        if done.is_err() {
            self.undo();
        }
        done
    }

    fn bulk_sorted(&self) -> bool {
        self.driver.bulk_sorted()
    }

    fn loads_csv(&self) -> bool {
        self.driver.loads_csv()
    }

    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        self.apart("load a CSV file")?;
        let done = self.driver.load_csv(table, file);
        if done.is_err() {
            self.undo();
        }
        done
    }

    fn data_changed(&mut self) {
        self.driver.data_changed();
    }

    fn expect(&mut self, step: QueryKind) -> Result<()> {
        self.driver.expect(step)
    }

    fn plan(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Option<String>> {
        let Some(Explain { prefix, read }) = self.driver.dialect().explain() else {
            return self.driver.plan(sql);
        };
        let (explain, mut plan) = (self.prepare(&format!("{prefix} {sql}"))?, String::new());
        self.query(explain, params, &mut |row| read(row, &mut plan))?;
        Ok(Some(plan))
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        self.driver.checkpoints()
    }
}
