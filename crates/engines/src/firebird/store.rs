//! An open Firebird database.

use std::rc::Rc;

use super::config::{DatabaseConfig, OpenMode};
use super::connection::{Connection, FbResult};
use super::dialect::{BYTES, COLLATIONS, FirebirdSql, INDEXED};
use super::settings::INFO_ITEMS;
use super::statement::Prepared;
use super::tier::tiers;
use super::{NAME, check, failed, load};
use crate::sql::{Access, Dialect, Param, Rows, TableDef, Visit};
use crate::sql_driver::{Connected, Driver, Stopped, refused};
use crate::{Checked, ClientOpener, EngineError, Join, Limits, Result, Store, TextOrder};

/// Reason that only one process can open a database.
const EXCLUSIVE: &str = "in the server mode Super, which a library has as shipped, the engine has exclusive access to each database file \
     (https://www.firebirdsql.org/file/documentation/html/en/refdocs/fbconf/firebird-configuration-reference.html#fbconf-conf-server-mode)";

/// A connection in this process.
pub(super) struct Session {
    /// Character set of columns with bytes.
    bytes: u32,
    connection: Rc<Connection>,
    config: DatabaseConfig,
}

impl Session {
    /// Opens the database, and creates a missing one.
    pub fn open(config: DatabaseConfig) -> Result<Self> {
        let mode = if config.file().exists() { OpenMode::Existing } else { OpenMode::New };
        let connection = Connection::open(&config, mode)?;
        if mode == OpenMode::New {
            config.sync_new_files()?;
        }
        let ready = ready(&connection);
        let bytes = ready.map_err(|e| failed("make its collations", &e))?;
        Ok(Self { bytes, connection, config })
    }

    /// Opens a further client of an open database. It has its own connection, and shares the cache
    /// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fbconf/firebird-configuration-reference.html#fbconf-conf-server-mode>).
    fn join(config: DatabaseConfig) -> Result<Self> {
        let connection = Connection::open(&config, OpenMode::Existing)?;
        let bytes = collation(&connection).map_err(|e| failed("find its collations", &e))?;
        let bytes = bytes.ok_or_else(|| {
            EngineError::failed(NAME, "find its collations", format!("there is no {BYTES}"))
        })?;
        Ok(Self { bytes, connection, config })
    }

    /// Reads back the settings that matter.
    pub fn settings(&self) -> Result<Vec<(String, String)>> {
        let items = INFO_ITEMS.map(|(item, _)| item);
        let numbers = self.connection.numbers(&items);
        let numbers = numbers.map_err(|e| failed("read its settings", &e))?;
        let named = INFO_ITEMS.iter().filter_map(|(item, name)| {
            let (_, number) = numbers.iter().find(|(known, _)| known == item)?;
            Some(((*name).to_owned(), number.to_string()))
        });
        Ok(named.collect())
    }

    /// Returns the names that a query of the catalog finds.
    fn names(&mut self, sql: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        self.query(sql, &mut |row| {
            names.extend(row.text(0)?.map(str::to_owned));
            Ok(())
        })?;
        Ok(names)
    }

    /// Runs a query without parameters.
    fn query(&mut self, sql: &str, visit: &mut Visit<'_>) -> Result<()> {
        self.prepare(sql)?.run(&[], Some(visit)).map(drop).map_err(Stopped::into_error)
    }

    /// Ends the transactions in which it reads, because they keep old versions of rows.
    fn end_reads(&self) -> Result<()> {
        self.connection.end_statement_transactions().map_err(|e| failed("end its transactions", &e))
    }

    /// Ends the engine's garbage collector thread, by closing and reopening the database. If the
    /// thread is working in a table that is dropped, it fails with "bad pointer page" in
    /// firebird.log, and ends while holding that page's latch, so the next user of the page waits
    /// forever (5.0.4, seen with a debugger; `Database::garbage_collector` in its vio.cpp releases
    /// no latch after an error). If another client has the database open, the thread continues.
    fn end_garbage_collection(&self) -> Result<()> {
        let reopened = self
            .connection
            .detach()
            .and_then(|()| self.connection.attach(&self.config, OpenMode::Existing));
        reopened.map_err(|e| failed("open the database again before a table is dropped", &e))
    }

    pub fn into_store(self) -> Store {
        Store::Sql(Connected::new(self))
    }
}

/// Creates the two collations, if they are missing. Returns the character set of bytes.
fn ready(connection: &Rc<Connection>) -> FbResult<u32> {
    if let Some(bytes) = collation(connection)? {
        return Ok(bytes);
    }
    COLLATIONS.iter().try_for_each(|sql| connection.batch(sql))?;
    collation(connection)?.ok_or_else(|| super::Failure::new("they are missing"))
}

/// Returns the character set and collation of columns with bytes.
fn collation(connection: &Rc<Connection>) -> FbResult<Option<u32>> {
    let sql = format!(
        "SELECT c.RDB$CHARACTER_SET_ID + 256 * c.RDB$COLLATION_ID FROM RDB$COLLATIONS c \
         WHERE c.RDB$COLLATION_NAME = '{BYTES}'"
    );
    let mut found = None;
    let mut visit = |row: &dyn crate::sql::ResultRow| {
        found = row.int(0)?.and_then(|number| u32::try_from(number).ok());
        Ok(())
    };
    match Prepared::new(connection, &sql, 0)?.run(&[], Some(&mut visit)) {
        Ok(_) => Ok(found),
        Err(stopped) => Err(super::Failure::new(&stopped.into_error().to_string())),
    }
}

impl Driver for Session {
    type Prepared = Prepared;

    fn name(&self) -> &'static str {
        NAME
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &FirebirdSql
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        if sql.contains("DROP TABLE") && !self.connection.has_begun() {
            self.end_garbage_collection()?;
        }
        self.connection.batch(sql).map_err(|e| failed(format!("run `{sql}`"), &e))
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let prepared = Prepared::new(&self.connection, sql, self.bytes);
        prepared.map_err(|e| failed(format!("prepare `{sql}`"), &e))
    }

    /// The parser accepts one statement, and in EXISTS only a query: not EXECUTE BLOCK, which also
    /// returns rows. Outside of a transaction a query runs in one that only reads.
    fn prepare_untrusted(&mut self, sql: &str) -> Result<Prepared> {
        let nested = format!("SELECT 1 FROM RDB$DATABASE WHERE EXISTS (\n{sql}\n)");
        let prepared = Prepared::new(&self.connection, &nested, self.bytes)
            .and_then(|_| Prepared::new(&self.connection, sql, self.bytes))
            .map_err(|e| refused(NAME, sql, e))?;
        match prepared.is_select() {
            true => Ok(prepared),
            false => Err(refused(NAME, sql, "it is not a SELECT")),
        }
    }

    #[inline]
    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        statement.run(params, visit)
    }

    fn plan(&mut self, sql: &str) -> Result<Option<String>> {
        let plan = Prepared::new(&self.connection, sql, self.bytes).and_then(|query| query.plan());
        plan.map(Some).map_err(|e| failed(format!("explain `{sql}`"), &e))
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.connection.begin(access).map_err(|e| failed("begin a transaction", &e))
    }

    fn commit(&mut self) -> Result<()> {
        self.connection.commit().map_err(|e| failed("commit", &e))
    }

    fn roll_back(&mut self) -> Result<()> {
        self.connection.roll_back().map_err(|e| failed("roll back", &e))
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        load::insert(&self.connection, table, rows)
    }

    /// Updates the selectivities of indexes, as is advised after many changes
    /// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-ddl-index-setstat>),
    /// and reads every row, which removes versions of rows that no transaction sees
    /// (<https://www.firebirdsql.org/file/documentation/html/en/firebirddocs/gfix/firebird-gfix.html#gfix-housekeeping>).
    /// A sweep would do this too, but can restore rows of an interrupted transaction
    /// ([`SWEEP_INTERVAL`](super::config)).
    fn maintain(&mut self) -> Result<()> {
        let indexes = "SELECT TRIM(RDB$INDEX_NAME) FROM RDB$INDICES WHERE RDB$SYSTEM_FLAG = 0";
        for name in self.names(indexes)? {
            self.batch(&format!("SET STATISTICS INDEX \"{name}\""))?;
        }
        self.end_reads()?;
        let tables = "SELECT TRIM(RDB$RELATION_NAME) FROM RDB$RELATIONS WHERE RDB$SYSTEM_FLAG = 0";
        for name in self.names(tables)? {
            self.query(&format!("SELECT COUNT(*) FROM \"{name}\""), &mut |_| Ok(()))?;
        }
        self.end_reads()
    }

    fn limits(&self) -> Limits {
        Limits {
            key_columns: Some(16),
            row_bytes: Some(65_535),
            marks_every_column: true,
            key_text: Some(INDEXED),
            index_text: Some(INDEXED),
            // Seen, although the collation is NO PAD: docs/engines/firebird.md.
            text_order: TextOrder::WithoutBlanks,
            manual: "https://www.firebirdsql.org/en/firebird-technical-specifications/",
            ..Limits::default()
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        Ok(tiers().for_tier(self.config.options.durability).filter_settings(self.settings()?))
    }

    fn join(&self) -> Join {
        Join::Exclusive(EXCLUSIVE)
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let config = self.config.clone();
        Ok(ClientOpener::new(move || Ok(Self::join(config)?.into_store())))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery from a log: it has none, and a commit writes the pages themselves";
        Err(EngineError::unsupported(NAME, what))
    }

    fn check(&mut self) -> Result<Checked> {
        self.connection.detach().map_err(|e| failed("close the database for a check", &e))?;
        let checked = check::validate(&self.config);
        let again = self.connection.attach(&self.config, OpenMode::Existing);
        again.map_err(|e| failed("open the database after a check", &e))?;
        checked
    }

    fn close(self) -> Result<()> {
        self.connection.detach().map_err(|e| failed("close the database", &e))
    }
}
