//! A client of an SQL library as a connection.

use embermark_abi as abi;

use super::api::Sql;
use super::description::EngineDescription;
use super::handle::{Handle, Prepared};
use super::row::Row;
use crate::sql::{Access, Dialect, Param, Rows, TableDef, Visit};
use crate::sql_driver::value_errors::check_width;
use crate::sql_driver::{Connected, Driver, Stopped};
use crate::{Checked, ClientOpener, Join, Result, Store};

pub(super) struct Session {
    pub handle: Handle<Sql>,
    pub about: &'static EngineDescription,
}

impl Session {
    pub fn store(self) -> Store {
        Store::Sql(Connected::new(self))
    }

    /// Inserts rows one by one, if the library has no bulk function.
    fn insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let names: Vec<&str> = table.columns.iter().map(|(name, ..)| *name).collect();
        let insert = self.dialect().insert_rows(table.name, &names, 1);
        let (insert, mut count) = (self.handle.prepare(&insert)?, 0);
        while let Some(row) = rows.next() {
            check_width(self.name(), table, row)?;
            self.handle.execute(&insert, row).map_err(Stopped::into_error)?;
            count += 1;
        }
        Ok(count)
    }
}

impl Driver for Session {
    type Prepared = Prepared;

    fn name(&self) -> &'static str {
        self.handle.id
    }

    fn bulk_sorted(&self) -> bool {
        self.handle.functions.raw.wants & abi::BULK_SORTED != 0
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &self.handle.functions.dialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.handle.script(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.handle.prepare(sql)
    }

    #[inline]
    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        let Some(visit) = visit else { return self.handle.execute(statement, params) };
        let id = self.handle.id;
        self.handle.query(statement, params, |values| visit(&Row { id, values })).map(|()| 0)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.handle.begin(match access {
            Access::Read => abi::SNAPSHOT,
            Access::Write => abi::BATCH,
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.handle.commit()
    }

    fn roll_back(&mut self) -> Result<()> {
        self.handle.undo()
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        match self.handle.functions.raw.bulk {
            Some(bulk) => self.handle.load(bulk, table, rows),
            None => self.insert(table, rows),
        }
    }

    fn maintain(&mut self) -> Result<()> {
        self.handle.maintain()
    }

    fn join(&self) -> Join {
        Join::Exclusive(self.about.why_exclusive())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let (handle, about) = (self.handle.open_client()?, self.about);
        Ok(ClientOpener::new(move || Ok(Self { handle, about }.store())))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        self.handle.crash_on_close()
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        self.handle.suspend_checkpoints(bytes)
    }

    fn log_bytes(&mut self) -> Result<u64> {
        self.handle.log_bytes()
    }

    fn check(&mut self) -> Result<Checked> {
        self.handle.check(self.about.check_name())
    }

    fn close(self) -> Result<()> {
        self.handle.close()
    }
}
