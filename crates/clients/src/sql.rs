//! A tape between a workload and an SQL store.

use embermark_contract::row::Visit;
use embermark_contract::sql::{
    Access, CsvFile, Dialect, Param, QueryKind, Rows, SqlStore, Statement, TableDef,
};
use embermark_contract::{EngineError, Result};

use crate::operations::{Code, Operations};
use crate::tape::Mode;
use crate::taped::Taped;

/// An SQL store whose calls go through a tape. Its statements are recorded by their texts.
pub(crate) type TapedSql = Taped<dyn SqlStore, String>;

impl TapedSql {
    /// Records a call, if calls are recorded.
    fn record(&self, code: Code, text: &str, params: &[Param<'_>]) {
        self.tape.note(|operations| {
            let statement = operations.statement(text);
            operations.call(code, statement, params.iter().copied());
        });
    }

    /// Returns the number of rows that a call has changed, as the program reports.
    fn run_played(&self) -> Result<u64> {
        self.tape.answer(|answers| answers.changed(Code::Run))
    }
}

impl SqlStore for TapedSql {
    fn dialect(&self) -> &'static dyn Dialect {
        self.store.dialect()
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        match self.tape.mode() {
            Mode::Through => self.store.batch(sql),
            Mode::Record => {
                self.record(Code::Run, sql, &[]);
                Ok(())
            }
            Mode::Play => self.run_played().map(drop),
        }
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let statement = self.store.prepare(sql)?;
        self.name(statement.0, sql.to_owned());
        Ok(statement)
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Statement> {
        let statement = self.store.prepare_untrusted(sql)?;
        self.name(statement.0, sql.to_owned());
        Ok(statement)
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        match self.tape.mode() {
            Mode::Through => self.store.run(statement, params),
            Mode::Record => {
                self.record(Code::Run, &self.named[statement.0], params);
                Ok(1)
            }
            Mode::Play => self.run_played(),
        }
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        match self.tape.mode() {
            Mode::Play => self.tape.answer(|answers| answers.rows(Code::Query, visit)),
            mode => {
                if mode == Mode::Record {
                    self.record(Code::Query, &self.named[statement.0], params);
                }
                self.store.query(statement, params, visit)
            }
        }
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        if self.tape.mode() == Mode::Through {
            return self.store.begin(access);
        }
        self.tape.note(|operations| operations.begin(access == Access::Write));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if self.tape.mode() == Mode::Through {
            return self.store.commit();
        }
        self.tape.note(Operations::commit);
        Ok(())
    }

    fn roll_back(&mut self) -> Result<()> {
        if self.tape.mode() == Mode::Through { self.store.roll_back() } else { Ok(()) }
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let mode = self.tape.mode();
        if mode == Mode::Through {
            return self.store.bulk_insert(table, rows);
        }
        let names: Vec<&str> = table.columns.iter().map(|(name, ..)| *name).collect();
        self.tape.load(|operations| {
            let Some(row) = rows.next() else { return false };
            if let Some(operations) = operations {
                let number = operations.table(table.name, &names);
                operations.call(Code::Bulk, number, row.iter().copied());
            }
            true
        })
    }

    fn bulk_sorted(&self) -> bool {
        self.store.bulk_sorted()
    }

    fn loads_csv(&self) -> bool {
        self.store.loads_csv()
    }

    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        if self.tape.mode() == Mode::Through {
            return self.store.load_csv(table, file);
        }
        Err(EngineError::impossible("no client in another language loads a CSV file"))
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        self.store.checkpoints()
    }

    fn plan(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Option<String>> {
        self.store.plan(sql, params)
    }

    fn data_changed(&mut self) {
        self.store.data_changed();
    }

    fn expect(&mut self, step: QueryKind) -> Result<()> {
        self.tape.expect(step);
        self.store.expect(step)
    }
}
