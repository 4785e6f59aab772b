//! Rows that are written, and recognised when they are read, for every family of stores.

use std::ops::ControlFlow;

use embermark_engines::document::{
    CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Order, Value,
};
use embermark_engines::kv::{Pairs, Range, TableDef};
use embermark_engines::series::{FieldValue, Point, TagValue};
use embermark_engines::sql::{self, Nullable, ResultRow, SqlType};
use embermark_engines::{Result, Scope, Store};

/// Number of rows before the check.
pub const ROWS: u64 = 20_000;

const KEYED: TableDef<'_> = TableDef { key_length: Some(8), ..TableDef::named("t") };

const TABLE: sql::TableDef = sql::TableDef {
    name: "t",
    columns: &[("id", SqlType::Int, Nullable::No), ("words", SqlType::Text, Nullable::No)],
    key: &["id"],
};

static NOTES: CollectionDef =
    CollectionDef { name: "notes", key: &["id"], indexes: &[&["words"]], fields: &["words"] };

/// Returns the text of a row, which does not compress: numbers of Marsaglia's xorshift.
fn words(n: u64) -> String {
    let mut state = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut part = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        format!("{state:016x}")
    };
    (0..6).map(|_| part()).collect()
}

struct Rows {
    next: u64,
    end: u64,
    pair: (Vec<u8>, String),
}

impl Rows {
    fn between(from: u64, end: u64) -> Self {
        Self { next: from, end, pair: Default::default() }
    }
}

impl Pairs for Rows {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let n = self.next;
        self.next += 1;
        self.pair = (n.to_be_bytes().to_vec(), words(n));
        (n < self.end).then_some((&self.pair.0, self.pair.1.as_bytes()))
    }
}

/// The parts of documents, all made before they are passed on.
struct Listed<'a>(std::slice::Iter<'a, ([Value<'a>; 1], [Field<'a>; 1])>);

impl Documents for Listed<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        self.0.next().map(|(key, fields)| Document { key, fields })
    }
}

/// The rows of a table, all made before they are passed on.
struct Made<'a>(std::slice::Iter<'a, [sql::Param<'a>; 2]>);

impl sql::Rows for Made<'_> {
    fn next(&mut self) -> Option<&[sql::Param<'_>]> {
        self.0.next().map(|row| &row[..])
    }
}

fn load(store: &mut dyn DocumentStore, from: u64, end: u64) -> Result<()> {
    let notes = store.collection(&NOTES)?;
    let texts: Vec<_> = (from..end).map(words).collect();
    let documents = (from..).zip(&texts);
    let documents =
        documents.map(|(n, text)| ([Value::Int(n as i64)], [("words", Value::Text(text))]));
    let documents: Vec<_> = documents.collect();
    store.bulk(notes, &mut Listed(documents.iter())).map(drop)
}

/// Makes a table, with an index if the engine has indexes, and rows in it.
pub fn fill(store: &mut Store) -> Result<()> {
    match store {
        Store::Sql(store) => {
            let table = store.dialect().create_table(&TABLE);
            store.batch(&table)?;
            let texts: Vec<_> = (0..ROWS).map(words).collect();
            let rows =
                (0..).zip(&texts).map(|(n, text)| [sql::Param::Int(n), sql::Param::Text(text)]);
            let rows: Vec<_> = rows.collect();
            store.bulk_insert(&TABLE, &mut Made(rows.iter()))?;
        }
        Store::Kv(store) => {
            let table = store.table(&KEYED)?;
            store.bulk(table, &mut Rows::between(0, ROWS))?;
        }
        Store::Document(store) => {
            store.create(&NOTES)?;
            load(store.as_mut(), 0, ROWS)?;
        }
        Store::Series(_) => add(store, 0, ROWS)?,
    }
    store.lifecycle().maintain()
}

/// Adds rows, in one transaction if the engine has transactions.
pub fn add(store: &mut Store, from: u64, end: u64) -> Result<()> {
    match store {
        Store::Sql(store) => store.within(Scope::Batch, |store| {
            let (first, second) = (store.dialect().placeholder(1), store.dialect().placeholder(2));
            let insert = format!("INSERT INTO t (id, words) VALUES ({first}, {second})");
            let insert = store.prepare(&insert)?;
            for n in from..end {
                store.run(insert, &[sql::Param::Int(n as i64), sql::Param::Text(&words(n))])?;
            }
            Ok(())
        }),
        Store::Kv(store) => {
            let table = store.table(&KEYED)?;
            store.within(Scope::Batch, |batch| {
                let mut rows = Rows::between(from, end);
                while let Some((key, value)) = Pairs::next(&mut rows) {
                    batch.put(table, key, value)?;
                }
                Ok(())
            })
        }
        Store::Document(store) => load(store.as_mut(), from, end),
        Store::Series(store) => {
            for n in from..end.min(from + 100) {
                let (tags, words) = ([("of", TagValue::Int(1))], words(n));
                let fields = [("words", FieldValue::Text(&words))];
                store.write("t", &Point { tags: &tags, fields: &fields, time_ns: n as i64 })?;
            }
            store.flush()
        }
    }
}

/// Reads every row and compares it with what was written. Returns how many there are, or which one
/// differs.
pub fn read(store: &mut Store) -> Result<std::result::Result<u64, String>> {
    let (mut rows, mut wrong) = (0, None);
    let mut see = |n: u64, found: &[u8]| {
        rows += 1;
        if words(n).as_bytes() != found {
            wrong.get_or_insert(format!("row {n} is not what was written"));
        }
    };
    let mut of_row = |row: &dyn ResultRow| {
        let n = row.int(0)?.unwrap_or(-1) as u64;
        see(n, row.text(1)?.unwrap_or_default().as_bytes());
        Ok(())
    };
    match store {
        Store::Sql(store) => {
            let statement = store.prepare("SELECT id, words FROM t")?;
            store.query(statement, &[], &mut of_row)?;
        }
        Store::Kv(store) => {
            let table = store.table(&KEYED)?;
            store.within(Scope::Snapshot, |snapshot| {
                snapshot.scan(table, Range::default(), &mut |key, value| {
                    let key = <[u8; 8]>::try_from(key).map_or(u64::MAX, u64::from_be_bytes);
                    see(key, value);
                    ControlFlow::Continue(())
                })
            })?;
        }
        Store::Document(store) => read_notes(store.as_mut(), &mut of_row)?,
        Store::Series(_) => {}
    }
    Ok(wrong.map_or(Ok(rows), Err))
}

fn read_notes(
    store: &mut dyn DocumentStore,
    visit: &mut dyn FnMut(&dyn ResultRow) -> Result<()>,
) -> Result<()> {
    let notes = store.collection(&NOTES)?;
    let (filter, order, columns) = (Filter::All, Order::Any, &["id", "words"]);
    store.find(notes, &Find { filter, order, limit: None, columns }, visit)
}
