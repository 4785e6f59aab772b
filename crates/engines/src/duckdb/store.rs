//! An open DuckDB database.

use std::rc::Rc;

use super::dialect::DuckDialect;
use super::statement::Prepared;
use super::tier::{Log, tiers};
use super::{
    BLOCK_SIZE, DatabaseConfig, FILE, NAME, appender, memory_limit, quoted, read_back, untrusted,
};
use crate::log_files::log_files;
use crate::sql::{Access, CsvFile, Dialect, Param, QueryKind, Rows, TableDef, Visit};
use crate::sql_driver::{Connected, Driver, Stopped};
use crate::{
    Checked, ClientOpener, ConnectionParameters, EngineError, Join, Limits, Result, Store,
};
use embermark_libraries::duckdb::connection::Connection;

/// Rows per commit of a bulk load: ten [row
/// groups](https://duckdb.org/docs/stable/internals/storage), in which DuckDB writes a table, so
/// that none is written partly and again by the next commit.
pub(super) const COMMIT_ROWS: u64 = 10 * 122_880;

/// A connection in this process. The statements of its transactions are dropped first.
pub(super) struct Session {
    begin: Prepared,
    commit: Prepared,
    rollback: Prepared,
    /// Number of data changes, counted by calls.
    changes: u64,
    connection: Rc<Connection>,
    config: DatabaseConfig,
}

impl Session {
    pub(super) fn store(connection: Rc<Connection>, config: DatabaseConfig) -> Result<Store> {
        let prepare = |sql| Prepared::new(&connection, sql, 0);
        let [begin, commit, rollback] =
            [prepare("BEGIN TRANSACTION")?, prepare("COMMIT")?, prepare("ROLLBACK")?];
        let session = Self { begin, commit, rollback, changes: 0, connection, config };
        Ok(Store::Sql(Connected::new(session)))
    }

    /// Fails in a tier without a log.
    fn require_log(&self) -> Result<()> {
        let what = "recovery in the tier `none`: it writes no log, so what was committed since the \
                    last checkpoint would be lost";
        let is_logged = self.config.log != Log::None;
        if is_logged { Ok(()) } else { Err(EngineError::unsupported(NAME, what)) }
    }
}

impl Driver for Session {
    type Prepared = Prepared;

    fn name(&self) -> &'static str {
        NAME
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &DuckDialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.changes += 1;
        self.connection.batch(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        Prepared::new(&self.connection, sql, self.changes)
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Prepared> {
        let configured = self.config.options.configured().map(|(name, _)| name);
        untrusted::prepare(&self.connection, sql, self.changes, configured)
    }

    /// Runs a statement. One without parameters is prepared again when data has changed since.
    /// DuckDB 1.5 keeps the plan of such a statement with the statistics of that time, and its
    /// answers are wrong once they no longer hold (<https://github.com/duckdb/duckdb/pull/24696>,
    /// fixed after it). One with parameters is planned at every execution.
    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        let Some(visit) = visit else {
            self.changes += 1;
            return statement.run(params).map_err(conflict);
        };
        if statement.is_stale(self.changes) {
            let prepared = Prepared::new(&self.connection, &statement.sql, self.changes);
            *statement = prepared.map_err(Stopped::Engine)?;
        }
        statement.query(params, visit).map(|()| 0)
    }

    fn begin(&mut self, _: Access) -> Result<()> {
        self.begin.run(&[]).map(drop)
    }

    fn commit(&mut self) -> Result<()> {
        self.commit.run(&[]).map(drop).map_err(|error| conflict(error).into_error())
    }

    fn roll_back(&mut self) -> Result<()> {
        self.rollback.run(&[]).map(drop)
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        self.changes += 1;
        appender::append(&self.connection, table, rows, u64::MAX).map_err(with_memory_advice)
    }

    /// Commits every [`COMMIT_ROWS`] rows with a checkpoint after each. What a transaction has
    /// inserted into the key's index cannot be evicted before a checkpoint has written it, so 10
    /// million rows in one transaction do not fit into 64 MiB plus the memory of two threads.
    fn load_alone(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let mut total = 0;
        loop {
            self.changes += 1;
            self.begin(Access::Write)?;
            let appended = appender::append(&self.connection, table, rows, COMMIT_ROWS);
            let appended = appended.map_err(with_memory_advice)?;
            self.commit()?;
            total += appended;
            if appended < COMMIT_ROWS {
                return Ok(total);
            }
            self.connection.batch("CHECKPOINT")?;
        }
    }

    fn loads_csv(&self) -> bool {
        true
    }

    /// Uses one COPY (<https://duckdb.org/docs/stable/sql/statements/copy>). It specifies
    /// everything that COPY would otherwise detect in the file.
    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        self.changes += 1;
        let (name, columns, path) = (table.name, file.columns.join(", "), quoted(file.path));
        let copy = format!(
            "COPY {name} ({columns}) FROM {path} \
             (FORMAT csv, HEADER true, DELIMITER ',', NULLSTR '', AUTO_DETECT false)"
        );
        Prepared::new(&self.connection, &copy, self.changes)?.run(&[]).map_err(with_memory_advice)
    }

    /// Makes plans stale, as its own changes do: see [`run`](Self::run).
    fn data_changed(&mut self) {
        self.changes += 1;
    }

    fn expect(&mut self, step: QueryKind) -> Result<()> {
        match self.config.threads_for(step) {
            "" => Ok(()),
            set => self.batch(set),
        }
    }

    /// For each column an appender needs blocks of 16 KiB, a vector of 2,048 numbers, and the
    /// flushed data. All of it must fit into `memory_limit`.
    fn limits(&self) -> Limits {
        let columns = memory_limit(&self.config.options) / (3 * u64::from(BLOCK_SIZE.1));
        Limits {
            columns: usize::try_from(columns).ok(),
            manual: "https://duckdb.org/docs/stable/operations_manual/limits",
            ..Limits::default()
        }
    }

    fn maintain(&mut self) -> Result<()> {
        self.batch("ANALYZE; CHECKPOINT")
    }

    /// Leaves the log as the commits left it, with `PRAGMA disable_checkpoint_on_shutdown`
    /// (<https://duckdb.org/docs/stable/configuration/pragmas>). Opening replays it. From 2.0 on
    /// a locked configuration refuses this and allows no exception for it.
    fn crash_on_close(&mut self) -> Result<()> {
        self.require_log()?;
        let done = self.connection.batch("PRAGMA disable_checkpoint_on_shutdown");
        let what = "recovery after a query of a workload file: its configuration is then locked, \
                    and closing takes a checkpoint";
        done.map_err(|error| match error.to_string().contains("has been locked") {
            true => EngineError::unsupported(NAME, what),
            false => error,
        })
    }

    /// Sets `wal_autocheckpoint`, the size at which a commit takes a checkpoint
    /// (<https://duckdb.org/docs/stable/configuration/overview>), a setting of the open database.
    fn suspend_checkpoints(&mut self, _: u64) -> Result<()> {
        self.require_log()?;
        self.connection.batch("SET GLOBAL wal_autocheckpoint = '1TB'")
    }

    fn log_bytes(&mut self) -> Result<u64> {
        log_files(NAME, &self.config.options.dir, |name| name == format!("{FILE}.wal"))
    }

    fn check(&mut self) -> Result<Checked> {
        let what = "a check of a database: it has no pragma for one \
                    (https://duckdb.org/docs/stable/configuration/pragmas); it compares each \
                    block's checksum when it reads the block";
        Err(EngineError::unsupported(NAME, what))
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        Ok(self.config.connection())
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let settings = read_back(&self.connection, &self.config.options)?;
        let tiers = tiers(Some(self.config.library));
        Ok(tiers.for_tier(self.config.options.durability).filter_settings(settings))
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "one process can both read and write a database; several only if all of them open it to read \
             (https://duckdb.org/docs/stable/connect/concurrency)",
        )
    }

    /// Opens another connection to the database in this process. One thread at a time uses each
    /// (<https://duckdb.org/docs/stable/connect/concurrency>).
    fn open_client(&mut self) -> Result<ClientOpener> {
        let config = self.config.clone();
        let connection = SendConnection(self.connection.open_another()?);
        Ok(ClientOpener::new(move || {
            // A closure that takes only the field would not be `Send`.
            let sent = connection;
            let connection = sent.0;
            if config.log == Log::None {
                // It is attached explicitly, so connections do not begin in it.
                connection.batch("USE embermark")?;
            }
            config.configure(&connection)?;
            Self::store(Rc::new(connection), config)
        }))
    }

    /// Dropping closes the statements first, then the connection, then the database, which writes
    /// its checkpoint.
    fn close(self) -> Result<()> {
        Ok(())
    }
}

/// A connection that moves to another thread.
struct SendConnection(Connection);

// SAFETY: a separate connection, which only the other thread will use.
unsafe impl Send for SendConnection {}

/// Returns [`Stopped::Conflict`] if a change was rolled back because of another client's change.
/// The manual asks the client to repeat it (<https://duckdb.org/docs/stable/connect/concurrency>,
/// "optimistic concurrency control").
#[cold]
fn conflict(error: EngineError) -> Stopped {
    if is_out_of_memory(&error) {
        return Stopped::Engine(with_memory_advice(error));
    }
    match error.to_string().contains("TransactionContext Error") {
        true => Stopped::Conflict(error),
        false => Stopped::Engine(error),
    }
}

/// Returns whether an error is out of memory, by the message of the [buffer
/// manager](https://duckdb.org/docs/stable/guides/troubleshooting/oom_errors), which a commit
/// returns as an error of the transaction.
fn is_out_of_memory(error: &EngineError) -> bool {
    let text = error.to_string();
    let words = ["Out of Memory Error", "failed to pin block", "could not allocate block"];
    words.iter().any(|words| text.contains(words))
}

/// Returns the error of a change. If the memory is used up, adds advice.
#[cold]
fn with_memory_advice(error: EngineError) -> EngineError {
    if !is_out_of_memory(&error) {
        return error;
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    EngineError::transaction_too_large(NAME, "continue the transaction", first, "its memory_limit")
}
