//! The SQL store's driver for a session.

use std::rc::Rc;

use super::dialect::{INDEXED, MariaSql};
use super::load::{load, load_file};
use super::statement::Prepared;
use super::tier::TIERS;
use super::{NAME, failed, reader};
use crate::server::{self, Server};
use crate::sql::{Access, CsvFile, Dialect, Param, Rows, TableDef, Visit};
use crate::sql_driver::{Driver, Stopped};
use crate::{Background, Checked, ClientOpener, ConnectionParameters, Join, Limits, Result};

use super::session::Session;

impl Driver for Session {
    type Prepared = Prepared;

    fn name(&self) -> &'static str {
        NAME
    }

    /// InnoDB stores rows in the order of the primary key. In that order each is appended.
    fn bulk_sorted(&self) -> bool {
        true
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &MariaSql
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.send(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let prepared = Prepared::new(&self.connection, sql);
        prepared.map_err(|e| failed(format!("prepare `{sql}`"), &e))
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Prepared> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => Rc::new(reader::connect(self)?),
        };
        reader::prepare(self.reader.insert(reader), sql)
    }

    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        statement.run(params, visit)
    }

    fn run_each(&mut self, statement: &mut Prepared, params: &mut dyn Rows) -> Result<u64> {
        statement.run_each(self.largest_packet, params)
    }

    fn pipelines(&self) -> bool {
        true
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        // REPEATABLE READ, the default: one snapshot from the first read on.
        self.batch(match access {
            Access::Read => "START TRANSACTION READ ONLY",
            Access::Write => "START TRANSACTION READ WRITE",
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) -> Result<()> {
        self.batch("ROLLBACK")
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        load(&self.connection, self.largest_packet, table, rows)
    }

    /// Only a private server, which runs as this user: it reads the file itself, and no connection
    /// needs to be able to send files.
    fn loads_csv(&self) -> bool {
        self.server.is_some()
    }

    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        load_file(&self.connection, table, file)
    }

    fn maintain(&mut self) -> Result<()> {
        let tables = self.tables()?.join(", ");
        if !tables.is_empty() {
            // First, because it leaves old versions of its own rows.
            self.analyze(&tables)?;
        }
        if self.server.is_some() {
            // Waits until old versions of changed rows are gone. If other clients have open
            // snapshots, as on a given server, it would not end.
            self.send("SET GLOBAL innodb_max_purge_lag_wait = 0")?;
        }
        if tables.is_empty() { Ok(()) } else { self.flush(&tables) }
    }

    /// Only on a private server, where the counter is on. By default it is off
    /// (<https://mariadb.com/kb/en/information-schema-innodb_metrics-table/>).
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        if self.server.is_none() {
            return Ok(None);
        }
        let sql =
            "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'log_checkpoints'";
        let rows = self.rows("count its checkpoints", sql)?;
        Ok(rows.first().and_then(|[count]| count.parse().ok()))
    }

    /// Only on a private server, like [`checkpoints`](Driver::checkpoints).
    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        let Some(checkpoints) = self.checkpoints()? else { return Ok(()) };
        let sql = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
                   WHERE VARIABLE_NAME IN ('INNODB_BUFFER_POOL_PAGES_FLUSHED', 'INNODB_LOG_WAITS')";
        let rows = self.rows("read its status", sql)?;
        let value = |name: &str| {
            let row = rows.iter().find(|[of, _]| of.eq_ignore_ascii_case(name));
            row.and_then(|[_, value]| value.parse().ok()).unwrap_or(0)
        };
        into.extend([
            Background::count("checkpoints", checkpoints),
            Background::count("pages flushed", value("Innodb_buffer_pool_pages_flushed")),
            Background::count("waits for room in the log", value("Innodb_log_waits")),
        ]);
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            columns: Some(1_017),
            indexes: Some(64),
            key_columns: Some(32),
            // Half a page of 16 KiB, without the overhead of a page and a row.
            row_bytes: Some(8_100),
            key_text: Some(INDEXED),
            index_text: Some(INDEXED),
            in_characters: true,
            manual: "https://mariadb.com/kb/en/innodb-limitations/",
            ..Limits::default()
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let names: Vec<&str> = TIERS.power.read_back.iter().map(|(name, _)| *name).collect();
        let names = names.join("', '");
        let sql = format!("SHOW VARIABLES WHERE Variable_name IN ('{names}')");
        let rows = self.rows("read its settings back", &sql)?;
        Ok(rows.into_iter().map(<[String; 2]>::into).collect())
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let database = ("database", self.database.clone());
        Ok(vec![self.for_others.parameter(), database, ("settings", Self::settings())])
    }

    fn join(&self) -> Join {
        Join::At(self.at())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let at = self.at();
        Ok(ClientOpener::new(move || Self::join(&at).map(Self::into_store)))
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        Some(self.renew())
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Err(server::no_log(NAME))
    }

    /// Checks every table and its indexes (<https://mariadb.com/kb/en/check-table/>).
    fn check(&mut self) -> Result<Checked> {
        let mut checked = Checked::new("CHECK TABLE … EXTENDED");
        let tables = self.tables()?.join(", ");
        if tables.is_empty() {
            return Ok(checked);
        }
        let sql = format!("CHECK TABLE {tables} EXTENDED");
        // Table, operation, kind of message, message. The last row of a table is its status.
        for [table, _, kind, said] in self.rows(&format!("run `{sql}`"), &sql)? {
            let is_status = kind.eq_ignore_ascii_case("status");
            if !(is_status && said == "OK" || kind.eq_ignore_ascii_case("note")) {
                checked.found(format!("{table}: {kind}: {said}"));
            }
        }
        Ok(checked)
    }

    fn close(mut self) -> Result<()> {
        let (dropped, server) = (self.drop_database(), self.server.take());
        drop(self);
        server.map_or(Ok(()), Server::stop).and(dropped)
    }
}
