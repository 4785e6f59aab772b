//! The database: its tables, and their changes.

use std::path::Path;

use super::folder::{Folder, Part};
use super::table::{NEW, Table};
use super::{COMPRESSION, FILES, ID, ROW_GROUP_SIZE, SETTINGS};
use crate::duckdb::{self, check_no_pattern, quoted};
use crate::sql::{Access, Dialect, Param, QueryKind, Rows, SqlStore, Statement, TableDef, Visit};
use crate::{
    Checked, Engine as _, EngineError, Join, Lifecycle, Limits, OpenOptions, Opened, Result, Store,
    as_set,
};
use embermark_model::Durability;

/// Why rows cannot be changed.
const APPENDS: &str =
    "to change or delete rows: files are added to a folder, and what is in one stays as it is";
/// Bytes from which a file is not merged with others.
const LARGE: u64 = 128 << 20;

pub(super) fn open(options: &OpenOptions, &syncs: &bool) -> Result<Opened> {
    check_no_pattern(ID, &options.dir)?;
    let folder = Folder { dir: options.dir.clone(), syncs };
    let is_duckdb_s = |(name, _): &&(String, String)| SETTINGS.find(name).is_none();
    let settings = options.settings.iter().filter(is_duckdb_s).cloned().collect();
    let (dir, durability) = (folder.scratch()?, Durability::None);
    let own = OpenOptions { dir, durability, settings, ..options.clone() };
    let Opened { store, version, mut settings, .. } = duckdb::ENGINE.open(&own)?;
    let mut duckdb = store.into_sql(ID, "open DuckDB")?;
    // Also for a query of a workload file, which cannot read any other files.
    let ours = quoted(&options.dir.join(""));
    duckdb.batch(&format!(
        "SET GLOBAL allowed_directories = [{ours}]; SET GLOBAL parquet_metadata_cache = true"
    ))?;
    let set = |name, ours: &'static str| options.setting(name).unwrap_or(ours);
    let (compression, group) = (set(COMPRESSION, "snappy"), set(ROW_GROUP_SIZE, "122880"));
    let most = options.number(ID, FILES)?.unwrap_or(100);
    let mut add = |name: &str, value: String| settings.push((name.to_owned(), value));
    add("fsync", as_set(if syncs { "on" } else { "off" }));
    add(COMPRESSION, as_set(compression));
    add(ROW_GROUP_SIZE, as_set(group));
    add(FILES, as_set(most));
    let how = format!("FORMAT parquet, {COMPRESSION} {compression}, {ROW_GROUP_SIZE} {group}");
    let (tables, inserts) = (Vec::new(), Vec::new());
    let mut files =
        Files { duckdb, tables, inserts, writes: false, changed: None, folder, how, most };
    for (name, parts) in files.folder.tables()? {
        let file = quoted(&files.folder.file(&name, parts[0]));
        files.duckdb.batch(&format!("CREATE TABLE {name}{NEW} AS FROM {file} LIMIT 0"))?;
        files.add(name, parts)?;
    }
    Ok(Opened { store: Store::Sql(Box::new(files)), version, settings, server: None })
}

/// A statement that inserts into a table, and the number of that table unless it was dropped.
struct Insert {
    name: String,
    table: Option<usize>,
}

struct Files {
    duckdb: Box<dyn SqlStore>,
    tables: Vec<Table>,
    /// Statements that insert, by the statement's number.
    inserts: Vec<Option<Insert>>,
    /// Whether a transaction is open, and the table that it has changed.
    writes: bool,
    changed: Option<usize>,
    folder: Folder,
    /// Options of COPY.
    how: String,
    /// Most commits with their own file.
    most: usize,
}

impl Files {
    fn number(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    /// Adds a table with an existing folder and an existing table for new rows.
    fn add(&mut self, name: String, parts: Vec<Part>) -> Result<()> {
        let is_new = parts.is_empty();
        let mut table = Table::new(name, parts, &mut *self.duckdb, &self.folder, &self.how)?;
        if is_new {
            // Empty, because it defines the columns.
            table.write(&mut *self.duckdb, &self.folder)?;
        }
        table.create_view(&mut *self.duckdb, &self.folder)?;
        self.tables.push(table);
        self.find_inserted_tables();
        Ok(())
    }

    /// Finds the tables of the statements that insert, after a table was created or dropped.
    fn find_inserted_tables(&mut self) {
        for insert in self.inserts.iter_mut().flatten() {
            insert.table = self.tables.iter().position(|table| table.name == insert.name);
        }
    }

    /// Does `work`, which changes a table, in the open transaction, or in its own.
    fn change<T>(
        &mut self,
        table: usize,
        work: impl FnOnce(&mut dyn SqlStore, &Table) -> Result<T>,
    ) -> Result<T> {
        let is_alone = !self.writes;
        if is_alone {
            self.begin(Access::Write)?;
        }
        if self.changed.replace(table).is_some_and(|other| other != table) {
            let what = "to change two tables in one transaction: each has a file of its own";
            return Err(EngineError::unsupported(ID, what));
        }
        match work(&mut *self.duckdb, &self.tables[table]) {
            Ok(done) if is_alone => self.commit().map(|()| done),
            Ok(done) => Ok(done),
            Err(error) => {
                // DuckDB has rolled the transaction back.
                (self.writes, self.changed) = (false, None);
                Err(error)
            }
        }
    }
}

impl Lifecycle for Files {
    fn maintain(&mut self) -> Result<()> {
        let is_small = |file: &Path, _| file.metadata().is_ok_and(|file| file.len() < LARGE);
        let Self { duckdb, tables, folder, how, .. } = self;
        tables.iter_mut().try_for_each(|table| table.merge(&mut **duckdb, folder, how, is_small))
    }

    fn limits(&self) -> Limits {
        self.duckdb.limits()
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "one process names the files of a folder, and this adapter does not see another's files",
        )
    }

    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery: it has no log to recover, and opens the same whatever came before";
        Err(EngineError::unsupported(ID, what))
    }

    fn check(&mut self) -> Result<Checked> {
        let what =
            "a check of its files: DuckDB has none, and compares no checksums of their pages";
        Err(EngineError::unsupported(ID, what))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.duckdb.close()
    }
}

impl SqlStore for Files {
    fn dialect(&self) -> &'static dyn Dialect {
        self.duckdb.dialect()
    }

    /// Creates and drops tables in the folder as well. Instead of indexes every row group has its
    /// columns' least and greatest values.
    fn batch(&mut self, sql: &str) -> Result<()> {
        if let Some(name) = sql.strip_prefix("DROP TABLE IF EXISTS ") {
            let Some(table) = self.number(name) else { return Ok(()) };
            self.duckdb.batch(&format!("DROP VIEW {name}; DROP TABLE {name}{NEW}"))?;
            self.tables.remove(table);
            self.find_inserted_tables();
            return self.folder.remove_table(name);
        }
        if let Some(made) = sql.strip_prefix("CREATE TABLE ")
            && let Some((name, columns)) = made.split_once(' ')
        {
            let keyless = columns.rsplit_once(", PRIMARY KEY (");
            let columns = keyless.map_or(columns.to_owned(), |(columns, _)| format!("{columns})"));
            self.duckdb.batch(&format!("CREATE TABLE {name}{NEW} {columns}"))?;
            self.folder.make(name)?;
            return self.add(name.to_owned(), Vec::new());
        }
        if sql.starts_with("INSERT INTO ") {
            let insert = self.prepare(sql)?;
            return self.run(insert, &[]).map(drop);
        }
        if sql.starts_with("CREATE INDEX ") { Ok(()) } else { self.duckdb.batch(sql) }
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let is = |word| sql.starts_with(word);
        if is("UPDATE ") || is("DELETE ") || sql.contains(" ON CONFLICT ") {
            return Err(EngineError::unsupported(ID, APPENDS));
        }
        let inserted = sql.strip_prefix("INSERT INTO ").and_then(|rest| rest.split_once(' '));
        let Some((name, rest)) = inserted else { return self.duckdb.prepare(sql) };
        let statement = self.duckdb.prepare(&format!("INSERT INTO {name}{NEW} {rest}"))?;
        self.inserts.resize_with(statement.0 + 1, || None);
        self.inserts[statement.0] =
            Some(Insert { name: name.to_owned(), table: self.number(name) });
        Ok(statement)
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Statement> {
        self.duckdb.prepare_untrusted(sql)
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        let Some(insert) = self.inserts.get(statement.0).and_then(Option::as_ref) else {
            return self.duckdb.run(statement, params);
        };
        let Some(table) = insert.table else {
            let doing = format!("insert into {}", insert.name);
            return Err(EngineError::failed(ID, doing, "it was dropped"));
        };
        self.change(table, |duckdb, _| duckdb.run(statement, params))
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.duckdb.query(statement, params, visit)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.duckdb.begin(access)?;
        (self.writes, self.changed) = (true, None);
        Ok(())
    }

    /// Writes the new rows to a file, and removes them from DuckDB, whose own file does not have
    /// them.
    fn commit(&mut self) -> Result<()> {
        self.writes = false;
        let Some(table) = self.changed.take() else { return self.duckdb.commit() };
        let Self { duckdb, tables, folder, how, .. } = self;
        let table = &mut tables[table];
        let written = table.write(&mut **duckdb, folder);
        // Also if they could not be written: the next transaction could not begin otherwise.
        let ended = duckdb.roll_back();
        written.and(ended)?;
        if table.parts.iter().rev().take_while(|part| part.is_commit()).count() > self.most {
            table.merge(&mut **duckdb, folder, how, |_, part| part.is_commit())?;
        }
        Ok(())
    }

    fn roll_back(&mut self) -> Result<()> {
        (self.writes, self.changed) = (false, None);
        self.duckdb.roll_back()
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let Some(number) = self.number(table.name) else {
            return Err(EngineError::failed(ID, format!("load {}", table.name), "no such table"));
        };
        self.change(number, |duckdb, files| {
            duckdb.bulk_insert(&TableDef { name: files.new, ..*table }, rows)
        })
    }

    fn plan(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Option<String>> {
        self.duckdb.plan(sql, params)
    }

    fn data_changed(&mut self) {
        self.duckdb.data_changed();
    }

    fn expect(&mut self, step: QueryKind) -> Result<()> {
        self.duckdb.expect(step)
    }
}
