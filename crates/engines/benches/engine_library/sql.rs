//! Calls of an SQL store.

use std::hint::black_box;
use std::time::Instant;

use embermark_engines::registry::find;
use embermark_engines::sql::{
    Access, Nullable, Param, QueryKind, ResultRow, Rows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_engines::{OpenOptions, Result, Store};
use embermark_model::Durability;

use super::turns::{compare, measure_library};

const ROWS: i64 = 100_000;
const CALLS: i64 = 100_000;
const SCANS: i64 = 100;

const TABLE: TableDef = TableDef {
    name: "readings",
    columns: &[
        ("id", SqlType::Big, Nullable::No),
        ("a", SqlType::Double, Nullable::No),
        ("b", SqlType::Double, Nullable::No),
        ("c", SqlType::Double, Nullable::No),
        ("d", SqlType::Double, Nullable::No),
    ],
    key: &["id"],
};

/// Existing rows, and as many more to load.
struct Numbered {
    next: i64,
    end: i64,
    row: [Param<'static>; 5],
}

impl Numbered {
    fn between(next: i64, end: i64) -> Self {
        Self { next, end, row: [Param::Float(7.5); 5] }
    }
}

impl Rows for Numbered {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.row[0] = Param::Int(self.next);
        self.next += 1;
        (self.next <= self.end).then_some(&self.row)
    }
}

struct Opened {
    store: Box<dyn SqlStore>,
    select: Statement,
    all: Statement,
    update: Statement,
    loaded: i64,
    _dir: tempfile::TempDir,
}

/// Makes some calls in a transaction and returns how many.
type Calls = fn(&mut Opened) -> Result<i64>;

fn take(row: &dyn ResultRow) -> Result<()> {
    for column in 0..4 {
        black_box(row.float(column)?);
    }
    Ok(())
}

/// Returns one of the existing keys, another each time.
fn key(call: i64) -> Param<'static> {
    Param::Int(call * 7_919 % ROWS)
}

fn selects(opened: &mut Opened) -> Result<i64> {
    for call in 0..CALLS {
        opened.store.query(opened.select, black_box(&[key(call)]), &mut take)?;
    }
    Ok(CALLS)
}

fn updates(opened: &mut Opened) -> Result<i64> {
    for call in 0..CALLS {
        let changes = [Param::Float(8.5), key(call)];
        black_box(opened.store.run(opened.update, black_box(&changes))?);
    }
    Ok(CALLS)
}

fn rows_of_scans(opened: &mut Opened) -> Result<i64> {
    for _ in 0..SCANS {
        opened.store.query(opened.all, &[], &mut take)?;
    }
    Ok(SCANS * 1000)
}

fn loaded_rows(opened: &mut Opened) -> Result<i64> {
    let from = opened.loaded;
    opened.loaded += CALLS;
    opened.store.bulk_insert(&TABLE, &mut Numbered::between(from, opened.loaded))?;
    Ok(CALLS)
}

impl Opened {
    fn open(id: &str) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let options = OpenOptions::new(dir.path(), Durability::None, 128 << 20);
        let Store::Sql(mut store) = find(id).unwrap().open(&options).unwrap().store else {
            panic!("{id} is not an SQL engine")
        };
        let dialect = store.dialect();
        store.batch(&dialect.create_table(&TABLE)).unwrap();
        store.bulk_insert(&TABLE, &mut Numbered::between(0, ROWS)).unwrap();
        store.maintain().unwrap();
        store.expect(QueryKind::Point).unwrap();
        let [one, two] = [1, 2].map(|n| dialect.placeholder(n));
        let select = format!("SELECT a, b, c, d FROM readings WHERE id = {one}");
        let all = "SELECT a, b, c, d FROM readings LIMIT 1000 -- all";
        let update = format!("UPDATE readings SET a = {one} WHERE id = {two}");
        let [select, all, update] = [&select, all, &update].map(|sql| store.prepare(sql).unwrap());
        Self { store, select, all, update, loaded: ROWS, _dir: dir }
    }

    /// Returns the time of a call in a transaction, in ns.
    fn time(&mut self, calls: Calls) -> f64 {
        self.store.begin(Access::Write).unwrap();
        let time = self.time_without_transaction(calls);
        self.store.commit().unwrap();
        time
    }

    /// Returns the time of a call without a transaction, in ns.
    fn time_without_transaction(&mut self, calls: Calls) -> f64 {
        let began = Instant::now();
        let calls = calls(self).unwrap();
        began.elapsed().as_nanos() as f64 / calls as f64
    }
}

/// Prints the times of the calls on the engine that does nothing, and on SQLite if it is present.
pub fn measure(has_sqlite: bool) {
    const CALLED: [(&str, Calls); 3] = [
        ("a query of a row", selects),
        ("a row of a query of 1,000", rows_of_scans),
        ("an update", updates),
    ];
    let mut null = Opened::open("null-sql");
    for (called, calls) in CALLED {
        measure_library(&format!("{called} of null-sql"), &mut || null.time(calls));
    }
    measure_library("a loaded row of null-sql", &mut || null.time_without_transaction(loaded_rows));
    null.store.close().unwrap();
    if !has_sqlite {
        return;
    }
    let [mut ours, mut theirs] = ["sqlite", "sqlite-library"].map(Opened::open);
    for (called, calls) in CALLED {
        let called = format!("{called} of sqlite");
        compare(&called, [&mut || ours.time(calls), &mut || theirs.time(calls)]);
    }
    let both: [&mut dyn FnMut() -> f64; 2] =
        [&mut || ours.time_without_transaction(loaded_rows), &mut || {
            theirs.time_without_transaction(loaded_rows)
        }];
    compare("a loaded row of sqlite", both);
    ours.store.close().unwrap();
    theirs.store.close().unwrap();
}
