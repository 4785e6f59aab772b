//! Writes and counts rows in an open database of any family.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use embermark_engines::document::{
    CollectionDef, Document, DocumentStore, Filter, Find, Order, Value,
};
use embermark_engines::kv::TableDef;
use embermark_engines::series::{FieldValue, Point, TagValue};
use embermark_engines::sql::{ResultRow, SqlType};
use embermark_engines::{Join, Link, OpenOptions, Result, Scope, Store};
use embermark_model::Durability;

/// Environment variable with the request to a helper process, one item per line.
pub const REQUEST_VARIABLE: &str = "EMBERMARK_TEST_JOIN";

static NOTES: CollectionDef = CollectionDef {
    name: "notes",
    key: &["id"],
    indexes: &[],
    fields: &["n", "samples", "absent"],
};

const TABLE: TableDef<'_> = TableDef { key_length: Some(8), ..TableDef::named("t") };

pub fn options(dir: &Path, durability: Durability, link: Link) -> OpenOptions {
    // A private server may run as another user.
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    OpenOptions { link, shared: true, ..OpenOptions::new(dir, durability, 64 << 20) }
}

/// Creates the table or collection that [`write`] uses.
pub fn create(store: &mut Store) -> Result<()> {
    match store {
        Store::Sql(store) => {
            let text = store.dialect().type_name(SqlType::Text);
            store.batch(&format!("CREATE TABLE t (n BIGINT, words {text})"))
        }
        Store::Kv(store) => store.table(&TABLE).map(drop),
        Store::Document(store) => store.create(&NOTES).map(drop),
        Store::Series(_) => Ok(()),
    }
}

/// Commits one more row, the `n`th, with `bytes` bytes of text.
pub fn write(store: &mut Store, n: i64, bytes: usize) -> Result<()> {
    let words = "x".repeat(bytes);
    match store {
        Store::Sql(store) => store.batch(&format!("INSERT INTO t VALUES ({n}, '{words}')")),
        Store::Kv(store) => {
            let table = store.table(&TABLE)?;
            store.within(Scope::PerOperation, |each| {
                each.put(table, &n.to_be_bytes(), words.as_bytes())
            })
        }
        Store::Document(store) => {
            let notes = store.collection(&NOTES)?;
            let (key, number) = ([Value::Int(n)], [Value::Int(n), Value::Int(-n)]);
            let samples = [Value::List(&number), Value::List(&number)];
            let fields = [("n", Value::Text(&words)), ("samples", Value::List(&samples))];
            store.insert(notes, &Document { key: &key, fields: &fields })
        }
        Store::Series(store) => {
            let tags = [("s", TagValue::Int(1))];
            let fields = [("n", FieldValue::Int(n)), ("words", FieldValue::Text(&words))];
            store.write("t", &Point { tags: &tags, fields: &fields, time_ns: n })?;
            store.flush()
        }
    }
}

/// Returns the number of rows.
pub fn count(store: &mut Store) -> Result<i64> {
    let mut found = 0;
    let mut first = |row: &dyn ResultRow| {
        found = row.int(0)?.unwrap_or_default();
        Ok(())
    };
    match store {
        Store::Sql(store) => {
            let statement = store.prepare("SELECT COUNT(*) FROM t")?;
            store.within(Scope::Snapshot, |store| store.query(statement, &[], &mut first))?;
        }
        Store::Kv(store) => {
            let table = store.table(&TABLE)?;
            found = store.within(Scope::Snapshot, |snapshot| {
                let mut n = 1_i64;
                while snapshot.get(table, &n.to_be_bytes())?.is_some() {
                    n += 1;
                }
                Ok(n - 1)
            })?;
        }
        Store::Document(store) => found = samples(store.as_mut())?,
        Store::Series(store) => store.query("SELECT COUNT(n) AS n FROM t", &["n"], &mut first)?,
    }
    Ok(found)
}

/// Returns the number of documents, each with the list of lists that was written.
fn samples(store: &mut dyn DocumentStore) -> Result<i64> {
    let (notes, mut found) = (store.collection(&NOTES)?, 0);
    let columns = &["id", "samples", "absent"];
    let find = Find { filter: Filter::All, order: Order::Any, limit: None, columns };
    store.find(notes, &find, &mut |row| {
        let (n, mut seen) = (row.int(0)?, Vec::new());
        let is_there = row.list(1, &mut |items| {
            seen.push((items.int(0)?, items.int(1)?));
            assert!(items.int(2).is_err(), "a column beyond the last");
            Ok(())
        })?;
        let pair = (n, n.map(|n| -n));
        assert_eq!((is_there, seen), (true, vec![pair, pair]));
        assert!(!row.list(2, &mut |_| Ok(()))?, "an absent field is no list");
        assert!(row.list(0, &mut |_| Ok(())).is_err(), "a number is no list");
        found += 1;
        Ok(())
    })?;
    Ok(found)
}

pub fn join(store: &Store) -> Join {
    match store {
        Store::Sql(store) => store.join(),
        Store::Kv(store) => store.join(),
        Store::Document(store) => store.join(),
        Store::Series(store) => store.join(),
    }
}

pub fn close(store: Store) -> Result<()> {
    match store {
        Store::Sql(store) => store.close(),
        Store::Kv(store) => store.close(),
        Store::Document(store) => store.close(),
        Store::Series(store) => store.close(),
    }
}
