//! An open DuckDB database.

use std::rc::Rc;

use super::dialect::DuckDialect;
use super::statement::Prepared;
use super::tier::{Log, tiers};
use super::{BLOCK_SIZE, FILE, NAME, Place, appender, memory_limit, quoted, read_back, untrusted};
use crate::clients::Moved;
use crate::log_files::log_files;
use crate::sql::{Access, CsvFile, Dialect, Param, QueryKind, Rows, TableDef, Visit};
use crate::sql_driver::{Connected, Driver, Stopped};
use crate::{
    Checked, ClientOpener, ConnectionParameters, EngineError, Join, Limits, Result, Store,
};
use embermark_libraries::duckdb::connection::Connection;

/// Rows of a bulk load's commit: ten of the [row groups](https://duckdb.org/docs/stable/internals/storage)
/// in which DuckDB writes a table, so that none is written in part and again by the next commit.
pub(super) const COMMIT_ROWS: u64 = 10 * 122_880;

/// A connection in this process, and the statements of its transactions, which are dropped first.
pub(super) struct Session {
    begin: Prepared,
    commit: Prepared,
    rollback: Prepared,
    /// Changes of data there have been, counted by calls.
    changes: u64,
    connection: Rc<Connection>,
    place: Place,
}

impl Session {
    /// The store of a connection.
    pub(super) fn store(connection: Rc<Connection>, place: Place) -> Result<Store> {
        let prepare = |sql| Prepared::new(&connection, sql, 0);
        let [begin, commit, rollback] =
            [prepare("BEGIN TRANSACTION")?, prepare("COMMIT")?, prepare("ROLLBACK")?];
        let session = Self { begin, commit, rollback, changes: 0, connection, place };
        Ok(Store::Sql(Connected::new(session)))
    }

    /// Refuses what needs a log in a tier without.
    fn logged(&self) -> Result<()> {
        let what = "recovery in the tier `none`: it writes no log, so what was committed since the \
                    last checkpoint would be lost";
        let is_logged = self.place.log != Log::None;
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
        self.connection.batch(sql).map(drop)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        Prepared::new(&self.connection, sql, self.changes)
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Prepared> {
        let configured = self.place.options.configured().map(|(name, _)| name);
        untrusted::prepare(&self.connection, sql, self.changes, configured)
    }

    /// Prepares a statement without parameters again when data has changed since. DuckDB 1.5 keeps
    /// the plan of such a one with what the statistics said of the data then, and answers wrongly
    /// when they say it no more (<https://github.com/duckdb/duckdb/pull/24696>, mended after it);
    /// one with parameters it plans at every execution.
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
            let again = Prepared::new(&self.connection, statement.sql(), self.changes);
            *statement = again.map_err(Stopped::Engine)?;
        }
        statement.query(params, visit).map(|()| 0)
    }

    fn begin(&mut self, _: Access) -> Result<()> {
        self.begin.run(&[]).map(drop)
    }

    fn commit(&mut self) -> Result<()> {
        self.commit.run(&[]).map(drop).map_err(explained)
    }

    fn roll_back(&mut self) -> Result<()> {
        self.rollback.run(&[]).map(drop)
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        self.changes += 1;
        appender::append(&self.connection, table, rows, u64::MAX).map_err(explained)
    }

    /// In commits of [`COMMIT_ROWS`] with a checkpoint after each: what a transaction has put into
    /// the index of the key stays in memory until a checkpoint has written it, and not before that
    /// can be evicted, so 10 million rows in one do not fit 64 MiB and the memory of two threads.
    fn load_alone(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let mut total = 0;
        loop {
            self.changes += 1;
            self.begin(Access::Write)?;
            let appended = appender::append(&self.connection, table, rows, COMMIT_ROWS);
            let appended = appended.map_err(explained)?;
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

    /// By one COPY (<https://duckdb.org/docs/stable/sql/statements/copy>), which is told what it would
    /// look for in the file.
    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        self.changes += 1;
        let (name, columns, path) = (table.name, file.columns.join(", "), quoted(file.path));
        let copy = format!(
            "COPY {name} ({columns}) FROM {path} \
             (FORMAT csv, HEADER true, DELIMITER ',', NULLSTR '', AUTO_DETECT false)"
        );
        Prepared::new(&self.connection, &copy, self.changes)?.run(&[]).map_err(explained)
    }

    /// As a change of its own does, it makes plans stale: [`run`](Self::run).
    fn data_changed(&mut self) {
        self.changes += 1;
    }

    /// A short statement runs fastest on one thread, without handing work over; a long one on all.
    fn expect(&mut self, step: QueryKind) -> Result<()> {
        self.batch(match step {
            QueryKind::Point => "SET threads = 1",
            QueryKind::Analytic => "RESET threads",
        })
    }

    /// An appender holds blocks of 16 KiB of each column, a vector of 2,048 numbers and what is flushed of it,
    /// within `memory_limit`.
    fn limits(&self) -> Limits {
        let columns = memory_limit(&self.place.options) / (3 * u64::from(BLOCK_SIZE.1));
        Limits {
            columns: usize::try_from(columns).ok(),
            manual: "https://duckdb.org/docs/stable/operations_manual/limits",
            ..Limits::default()
        }
    }

    fn maintain(&mut self) -> Result<()> {
        self.batch("ANALYZE; CHECKPOINT")
    }

    /// The log stays as commits left it, by `PRAGMA disable_checkpoint_on_shutdown`
    /// (<https://duckdb.org/docs/stable/configuration/pragmas>), and is replayed when it is opened.
    /// From 2.0 on a locked configuration refuses that, and can make no exception of it.
    fn crash_on_close(&mut self) -> Result<()> {
        self.logged()?;
        let done = self.connection.batch("PRAGMA disable_checkpoint_on_shutdown").map(drop);
        done.map_err(|error| match error.to_string().contains("has been locked") {
            true => EngineError::unsupported(
                NAME,
                "recovery after a query of a workload file: its configuration is locked then, and \
                 closing takes a checkpoint",
            ),
            false => error,
        })
    }

    /// By `wal_autocheckpoint`, the size at which a commit takes a checkpoint
    /// (<https://duckdb.org/docs/stable/configuration/overview>), a setting of the open database.
    fn suspend_checkpoints(&mut self, _: u64) -> Result<()> {
        self.logged()?;
        self.connection.batch("SET GLOBAL wal_autocheckpoint = '1TB'").map(drop)
    }

    fn log_bytes(&mut self) -> Result<u64> {
        log_files(NAME, &self.place.options.dir, |name| name == format!("{FILE}.wal"))
    }

    fn check(&mut self) -> Result<Checked> {
        let what = "a check of a database: none of its pragmas does it \
                    (https://duckdb.org/docs/stable/configuration/pragmas); it compares each \
                    block's checksum when it reads the block";
        Err(EngineError::unsupported(NAME, what))
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        Ok(self.place.connection())
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let settings = read_back(&self.connection, &self.place.options)?;
        let tiers = tiers(Some(self.place.library));
        Ok(tiers.of(self.place.options.durability).of_settings(settings))
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "one process can both read and write a database; several only if all of them open it to read \
             (https://duckdb.org/docs/stable/connect/concurrency)",
        )
    }

    /// Another connection to the database in this process; each is used by one thread at a time
    /// (<https://duckdb.org/docs/stable/connect/concurrency>).
    fn open_client(&mut self) -> Result<ClientOpener> {
        let place = self.place.clone();
        // SAFETY: a connection of its own, which the other thread alone will use.
        let connection = unsafe { Moved::new(self.connection.another()?) };
        Ok(ClientOpener::new(move || {
            let connection = connection.take();
            if place.log == Log::None {
                // Attached by hand, so that no connection begins in it.
                connection.batch("USE embermark")?;
            }
            place.configure(&connection)?;
            Self::store(Rc::new(connection), place)
        }))
    }

    /// Dropping closes: the statements first, then the connection, then the database, which writes
    /// its checkpoint.
    fn close(self) -> Result<()> {
        Ok(())
    }
}

/// Whether a change was undone for the sake of another client's, and is to be made again, as the manual
/// has it (<https://duckdb.org/docs/stable/connect/concurrency>, "optimistic concurrency control").
#[cold]
fn conflict(error: EngineError) -> Stopped {
    if is_out_of_memory(&error) {
        return Stopped::Engine(explained(error));
    }
    match error.to_string().contains("TransactionContext Error") {
        true => Stopped::Conflict(error),
        false => Stopped::Engine(error),
    }
}

/// By the words of its [buffer manager](https://duckdb.org/docs/stable/guides/troubleshooting/oom_errors),
/// which a commit hands on as an error of the transaction.
fn is_out_of_memory(error: &EngineError) -> bool {
    let text = error.to_string();
    let words = ["Out of Memory Error", "failed to pin block", "could not allocate block"];
    words.iter().any(|words| text.contains(words))
}

/// An error of a change, with what to do where the memory is used up.
#[cold]
fn explained(error: EngineError) -> EngineError {
    if !is_out_of_memory(&error) {
        return error;
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    EngineError::outgrown(NAME, "go on with it", first, "its memory_limit")
}
