//! An open SQLite database.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, ffi};

use super::dialect::SqliteDialect;
use super::statement::Prepared;
use super::{
    Client, FILE, LOCKED, NAME, authorizer, bulk, connect, has_log, is_locked, pragmas, read_all,
    tier::TIERS,
};
use crate::log_files::log_files;
use crate::sql::{Access, Dialect, Param, Rows, TableDef, Visit};
use crate::sql_driver::{Connected, Driver, Stopped};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Limits,
    OpenOptions, Result, Store,
};

const NO_LOG: &str = "recovery without journal_mode=WAL, as in the tier `none`: it has no log to \
                      recover";

/// Bytes of the log's header, and the offset of the checkpoint sequence number in it
/// (<https://www.sqlite.org/fileformat2.html#walformat>). It increases each time the log restarts
/// after a complete checkpoint.
const HEADER: usize = 32;
const SEQUENCE: std::ops::Range<usize> = 12..16;

/// A connection in this process, and the statements of its transactions.
pub(super) struct Session {
    begin_read: Prepared,
    begin_write: Prepared,
    commit: Prepared,
    rollback: Prepared,
    connection: Rc<Connection>,
    options: OpenOptions,
}

impl Session {
    pub(super) fn store(connection: Rc<Connection>, options: &OpenOptions) -> Result<Store> {
        let prepare = |sql| Prepared::new(&connection, sql);
        Ok(Store::Sql(Connected::new(Self {
            begin_read: prepare("BEGIN")?,
            begin_write: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            connection,
            options: options.clone(),
        })))
    }

    /// Returns the number of rows changed since the connection was opened.
    fn changes(&self) -> i64 {
        // SAFETY: the connection is open.
        unsafe { ffi::sqlite3_total_changes64(self.connection.handle()) }
    }
}

impl Driver for Session {
    type Prepared = Prepared;

    fn name(&self) -> &'static str {
        NAME
    }

    /// A table is stored in key order: a million sorted rows load in a tenth of the time.
    fn bulk_sorted(&self) -> bool {
        true
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &SqliteDialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        let done = self.connection.execute_batch(sql);
        done.map_err(|e| EngineError::failed(NAME, format!("run `{sql}`"), e))
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        Prepared::new(&self.connection, sql)
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Prepared> {
        authorizer::prepare(&self.connection, sql)
    }

    #[inline]
    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        if let Some(visit) = visit {
            return statement.query(params, visit).map(|()| 0);
        }
        let before = self.changes();
        statement.run(params.iter().copied()).map_err(Stopped::Engine)?;
        Ok((self.changes() - before).unsigned_abs())
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Read => self.begin_read.run([].into_iter()),
            Access::Write => self.begin_write.run([].into_iter()),
        }
    }

    fn commit(&mut self) -> Result<()> {
        self.commit.run([].into_iter())
    }

    /// Some errors have already ended the transaction.
    fn roll_back(&mut self) -> Result<()> {
        match self.connection.is_autocommit() {
            true => Ok(()),
            false => self.rollback.run([].into_iter()),
        }
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        bulk::insert(&self.connection, table, rows)
    }

    fn maintain(&mut self) -> Result<()> {
        // Statistics first, so that they are in the file too. If something kept the checkpoint from
        // finishing, its result says so, and it is not an error.
        self.batch("ANALYZE")?;
        let doing = "checkpoint its log";
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = self.connection.query_row(checkpoint, [], |row| row.get::<_, i64>(0));
        if busy.map_err(|e| EngineError::failed(NAME, doing, e))? != 0 {
            return Err(EngineError::failed(NAME, doing, "another connection is using it"));
        }
        Ok(())
    }

    /// Leaves the write-ahead log as the commits left it, with `SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE`
    /// (<https://www.sqlite.org/c3ref/c_dbconfig_defensive.html>). The first statement that reads
    /// recovers it.
    fn crash_on_close(&mut self) -> Result<()> {
        if !has_log(&self.options) {
            return Err(EngineError::unsupported(NAME, NO_LOG));
        }
        let set = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        set.map_err(|e| EngineError::failed(NAME, "leave its log as it is", e)).map(drop)
    }

    /// Sets `wal_autocheckpoint` (<https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint>),
    /// a setting of the connection.
    fn suspend_checkpoints(&mut self, _: u64) -> Result<()> {
        if !has_log(&self.options) {
            return Err(EngineError::unsupported(NAME, NO_LOG));
        }
        let set = self.connection.pragma_update(None, "wal_autocheckpoint", 0);
        set.map_err(|e| EngineError::failed(NAME, "suspend its checkpoints", e))
    }

    fn log_bytes(&mut self) -> Result<u64> {
        log_files(NAME, &self.options.dir, |name| name == format!("{FILE}-wal"))
    }

    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        match has_log(&self.options) {
            true => checkpoints(&self.options.dir).map(|count| into.push(count)),
            false => Ok(()),
        }
    }

    fn check(&mut self) -> Result<Checked> {
        check(&self.connection)
    }

    fn limits(&self) -> Limits {
        // SAFETY: the connection is open; -1 only reads the limit.
        let columns =
            unsafe { ffi::sqlite3_limit(self.connection.handle(), ffi::SQLITE_LIMIT_COLUMN, -1) };
        Limits {
            columns: usize::try_from(columns).ok(),
            reserved_prefix: Some("sqlite_"),
            manual: "https://www.sqlite.org/limits.html",
            ..Limits::default()
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let settings = read_all(&self.connection, &self.options)?;
        Ok(TIERS.for_tier(self.options.durability).filter_settings(settings))
    }

    fn join(&self) -> Join {
        match is_locked(&self.options) {
            true => Join::Exclusive(LOCKED),
            false => Join::At(self.options.dir.join(FILE).display().to_string()),
        }
    }

    /// Opens another connection to the same file. If the file is locked for writing, it waits in
    /// SQLite's busy handler (<https://www.sqlite.org/c3ref/busy_timeout.html>), which sleeps 1 ms
    /// at first and up to 100 ms later.
    fn open_client(&mut self) -> Result<ClientOpener> {
        if is_locked(&self.options) {
            return Err(EngineError::unsupported(NAME, format!("a second connection: {LOCKED}")));
        }
        let options = self.options.clone();
        Ok(ClientOpener::new(move || Self::store(connect(&options, Client::Further)?, &options)))
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let pragmas: Vec<String> = pragmas(&self.options, Client::First)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let file = self.options.dir.join(FILE).display().to_string();
        Ok(vec![("file", file), ("pragmas", pragmas.join("; "))])
    }

    fn close(self) -> Result<()> {
        let Self { begin_read, begin_write, commit, rollback, connection, .. } = self;
        // A connection with living statements cannot be closed.
        drop((begin_read, begin_write, commit, rollback));
        let doing = "close the database";
        let connection = Rc::into_inner(connection)
            .ok_or_else(|| EngineError::failed(NAME, doing, "a statement is still in use"))?;
        connection.close().map_err(|(_, e)| EngineError::failed(NAME, doing, e))
    }
}

/// Returns the number of checkpoints after which the log restarted, from the log's file. SQLite
/// takes them itself, in the commit that makes the log longer than `wal_autocheckpoint` pages.
/// Closing the log's file releases no locks of SQLite, which are on the database and on the shared
/// memory.
fn checkpoints(dir: &Path) -> Result<Background> {
    let path = dir.join(format!("{FILE}-wal"));
    let mut header = [0; HEADER];
    let read = File::open(&path).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Ok(()) => {}
        // Before the first commit the file is missing or empty.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {}
        Err(error) => return Err(EngineError::file(NAME, "read the log", &path, error)),
    }
    let mut sequence = [0; 4];
    sequence.copy_from_slice(&header[SEQUENCE]);
    Ok(Background::count("checkpoints", u64::from(u32::from_be_bytes(sequence))))
}

/// Checks every page of every table and index, and that each row is in its indexes
/// (<https://www.sqlite.org/pragma.html#pragma_integrity_check>). Pages have no checksums, so it
/// does not detect a changed byte of a value.
fn check(connection: &Connection) -> Result<Checked> {
    const PRAGMA: &str = "PRAGMA integrity_check";
    let mut checked = Checked::new(PRAGMA);
    let read = connection.prepare(PRAGMA).and_then(|mut statement| {
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match row.get_ref(0)?.as_str()? {
                // One row if nothing is wrong.
                "ok" => {}
                said => checked.found(said),
            }
        }
        Ok(())
    });
    let is_damage = |error: &rusqlite::Error| {
        let code = error.sqlite_error_code();
        matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    };
    match read {
        // Damage that it cannot get past.
        Err(error) if is_damage(&error) => checked.found(error.to_string()),
        Err(error) => return Err(EngineError::failed(NAME, "check the database", error)),
        Ok(()) => {}
    }
    Ok(checked)
}
