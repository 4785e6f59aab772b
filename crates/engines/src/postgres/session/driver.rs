//! The SQL store's connection to PostgreSQL.

use std::fs::File;

use super::Session;
use crate::postgres::connection::Connection;
use crate::postgres::copy::{Copy, send_file, unread};
use crate::postgres::features::Feature;
use crate::postgres::statement::Prepared;
use crate::postgres::{NAME, check, reader, settings};
use crate::server::{self, Server};
use crate::sql::{Access, CsvFile, Dialect, Param, Rows, TableDef, Visit};
use crate::sql_driver::{Driver, Stopped, in_transaction, one_by_one};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Limits, Result,
};

/// Bytes of rows above which preparing a table for a load saves more than it costs.
const LARGE: usize = 1024 * 1024;

impl Driver for Session {
    type Prepared = Prepared;

    fn name(&self) -> &'static str {
        NAME
    }

    fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.ask(sql).map(drop)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.statements += 1;
        let prepared = Prepared::new(&mut self.connection, self.statements, sql);
        prepared.map_err(|e| e.while_doing(format!("prepare `{sql}`")))
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Prepared> {
        self.statements += 1;
        reader::allow(self)?;
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => reader::connect(self)?,
        };
        reader::prepare(self.reader.insert(reader), self.statements, sql)
    }

    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        let connection = match (&mut self.reader, statement.is_untrusted) {
            (Some(reader), true) => reader,
            _ => &mut self.connection,
        };
        statement.run(connection, params, visit)
    }

    fn run_each(&mut self, statement: &mut Prepared, params: &mut dyn Rows) -> Result<u64> {
        match self.pipelines() {
            true => statement.run_each(&mut self.connection, params),
            false => one_by_one(self, statement, params),
        }
    }

    fn pipelines(&self) -> bool {
        self.features.has(Feature::Pipeline) && self.connection.library.pipelines.is_some()
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.exec(match access {
            // At the default level every statement has its own snapshot.
            Access::Read if self.features.has(Feature::Snapshot) => {
                c"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            }
            Access::Read if !self.features.has(Feature::SessionSnapshot) => {
                let what = "a transaction that reads one state, on this server";
                return Err(EngineError::unsupported(NAME, what));
            }
            _ => c"BEGIN",
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.exec(c"COMMIT")
    }

    fn roll_back(&mut self) -> Result<()> {
        self.exec(c"ROLLBACK")
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        if !self.features.has(Feature::Copy) {
            return self.insert(table, rows);
        }
        let mut rows = Copy::new(table, rows);
        match rows.fill(LARGE)? {
            true => rows.send(&mut self.connection, ""),
            false => self.fill(table, |connection, options| rows.send(connection, options)),
        }
    }

    /// A few rows are one COPY, which is its own transaction.
    fn load_alone(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        if !self.features.has(Feature::Copy) {
            return in_transaction(self, |session| session.insert(table, rows));
        }
        let mut rows = Copy::new(table, rows);
        match rows.fill(LARGE)? {
            true => rows.send(&mut self.connection, ""),
            false => in_transaction(self, |session| {
                session.fill(table, |connection, options| rows.send(connection, options))
            }),
        }
    }

    fn loads_csv(&self) -> bool {
        self.features.has(Feature::CopyCsv)
    }

    /// A file of few rows is one COPY, like rows.
    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        let mut open = File::open(file.path).map_err(|e| unread(file, e))?;
        let size = open.metadata().map_err(|e| unread(file, e))?.len();
        let mut send = |connection: &mut Connection, options: &str| {
            send_file(table, (file, &mut open), connection, options)
        };
        match size < LARGE as u64 {
            true => send(&mut self.connection, ""),
            false => in_transaction(self, |session| session.fill(table, send)),
        }
    }

    fn maintain(&mut self) -> Result<()> {
        // With names, because otherwise VACUUM processes every table of the database.
        let tables = self.tables()?;
        if !tables.is_empty()
            && !self.is_taken(&format!("VACUUM (ANALYZE) {}", tables.join(", ")))?
        {
            for table in tables {
                self.is_taken(&format!("ANALYZE {table}"))?;
            }
        }
        self.is_taken("CHECKPOINT").map(drop)
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(self.checkpoint_counts()?.map(|[checkpoints, _]| checkpoints))
    }

    /// Reads the server's statistics and its list of processes. Adds nothing if a given server
    /// refuses.
    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'";
        let Some([checkpoints, pages]) = self.checkpoint_counts()? else { return Ok(()) };
        let vacuums: Option<u64> =
            self.ask_if_known(sql)?.and_then(|found| found.first()?.parse().ok());
        let Some(vacuums) = vacuums else { return Ok(()) };
        into.extend([
            Background::count("checkpoints", checkpoints),
            Background::count("pages written by checkpoints", pages),
            Background::state("autovacuum workers", vacuums),
        ]);
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            columns: Some(1_600),
            key_columns: Some(32),
            // A page of 8 KiB without the headers of the page and the row.
            row_bytes: Some(8_136),
            manual: "https://www.postgresql.org/docs/current/limits.html",
            ..Limits::default()
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        settings::of_tier(self)
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let settings = self.settings.clone().unwrap_or_default();
        Ok(vec![("conninfo", self.place.clone()), ("settings", settings)])
    }

    fn join(&self) -> Join {
        Join::At(self.at())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let (at, durability) = (self.at(), self.durability);
        Ok(ClientOpener::new(move || Self::join(&at, durability).map(Self::into_store)))
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        Some(self.renew())
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Err(server::no_log(NAME))
    }

    fn check(&mut self) -> Result<Checked> {
        check::tables(self)
    }

    fn close(mut self) -> Result<()> {
        let (dropped, server) = (self.drop_schema(), self.server.take());
        drop(self);
        server.map_or(Ok(()), Server::stop).and(dropped)
    }
}
