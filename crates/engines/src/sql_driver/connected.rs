//! The store over a driver: statements by their numbers, and transactions.

use super::{Driver, Stopped};
use crate::sql::{
    Access, CsvFile, Dialect, Explain, Param, QueryKind, Rows, SqlStore, Statement, TableDef, Visit,
};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits,
    Result, retry_if,
};

/// The store over a driver. The fields are dropped in order.
pub(crate) struct Connected<D: Driver> {
    prepared: Vec<D::Prepared>,
    driver: D,
    in_transaction: bool,
}

impl<D: Driver> Connected<D> {
    /// Keeps a prepared statement and returns its number.
    fn add_statement(&mut self, prepared: Result<D::Prepared>) -> Result<Statement> {
        let prepared = self.abort_on_error(prepared)?;
        self.prepared.push(prepared);
        Ok(Statement(self.prepared.len() - 1))
    }

    /// Makes a store without statements.
    pub fn new(driver: D) -> Box<Self> {
        Box::new(Self { prepared: Vec::new(), driver, in_transaction: false })
    }

    /// Passes a result through; an error ends the open transaction.
    #[inline]
    fn abort_on_error<T>(&mut self, done: Result<T>) -> Result<T> {
        if done.is_err() && self.in_transaction {
            self.abort_transaction();
        }
        done
    }

    /// Refuses what must be outside a transaction.
    fn refuse_in_transaction(&self, doing: &str) -> Result<()> {
        let why = "a transaction is open; end it first";
        if self.in_transaction {
            Err(EngineError::failed(self.driver.name(), doing, why))
        } else {
            Ok(())
        }
    }

    #[cold]
    fn abort_transaction(&mut self) {
        self.in_transaction = false;
        // The first error is the one to report; a lost connection also shows in the next call.
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
        match retry_if(refused, run) {
            Ok(count) => Ok(count),
            Err(Stopped::Visitor(error)) => Err(error),
            Err(stopped) => self.abort_on_error(Err(stopped.into_error())),
        }
    }
}

#[cold]
fn never_prepared(engine: &'static str, number: usize) -> EngineError {
    EngineError::failed(engine, format!("run statement {number}"), "it was never prepared")
}

impl<D: Driver> Lifecycle for Connected<D> {
    embermark_contract::delegate! {
        driver:
        fn limits(&self) -> Limits;
        fn tier_settings(&mut self) -> Result<Vec<(String, String)>>;
        fn join(&self) -> Join;
        fn open_client(&mut self) -> Result<ClientOpener>;
        fn connection(&mut self) -> Result<ConnectionParameters>;
        fn background(&mut self, into: &mut Vec<Background>) -> Result<()>;
        fn crash_on_close(&mut self) -> Result<()>;
        fn log_bytes(&mut self) -> Result<u64>;
    }

    fn maintain(&mut self) -> Result<()> {
        self.refuse_in_transaction("do its maintenance")?;
        self.driver.maintain()
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        let connected = self.driver.reconnect()?;
        self.prepared.clear();
        self.in_transaction = false;
        Some(connected)
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        self.refuse_in_transaction("suspend its checkpoints")?;
        self.driver.suspend_checkpoints(bytes)
    }

    fn check(&mut self) -> Result<Checked> {
        self.refuse_in_transaction("check the database")?;
        self.driver.check()
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { prepared, driver, .. } = *self;
        drop(prepared);
        driver.close()
    }
}

impl<D: Driver> SqlStore for Connected<D> {
    embermark_contract::delegate! {
        driver:
        fn dialect(&self) -> &'static dyn Dialect;
        fn pipelines(&self) -> bool;
        fn bulk_sorted(&self) -> bool;
        fn loads_csv(&self) -> bool;
        fn expect(&mut self, step: QueryKind) -> Result<()>;
        fn checkpoints(&mut self) -> Result<Option<u64>>;
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        let done = self.driver.batch(sql);
        self.abort_on_error(done)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let prepared = self.driver.prepare(sql);
        self.add_statement(prepared)
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Statement> {
        let prepared = self.driver.prepare_untrusted(sql);
        self.add_statement(prepared)
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
        self.abort_on_error(done)
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
        self.abort_on_error(done)?;
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
            self.abort_transaction();
        }
        done
    }

    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        self.refuse_in_transaction("load a CSV file")?;
        let done = self.driver.load_csv(table, file);
        if done.is_err() {
            self.abort_transaction();
        }
        done
    }

    fn data_changed(&mut self) {
        self.driver.data_changed();
    }

    fn plan(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Option<String>> {
        let Some(Explain { prefix, read }) = self.driver.dialect().explain() else {
            return self.driver.plan(sql);
        };
        let (explain, mut plan) = (self.prepare(&format!("{prefix} {sql}"))?, String::new());
        self.query(explain, params, &mut |row| read(row, &mut plan))?;
        Ok(Some(plan))
    }
}
