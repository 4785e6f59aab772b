//! HarperDB beyond what every server and every document engine must do: its numbers, its template,
//! and the user's own server.

use std::fs;
use std::os::unix::fs::MetadataExt;

use embermark_engines::document::{
    Collection, CollectionDef, Document, DocumentStore, Filter, Find, Language, Order, Value,
};
use embermark_engines::sql::ResultRow;
use embermark_engines::{EngineError, OpenOptions, Result, Store};
use embermark_model::Durability;
use embermark_skips::skipped;

use crate::server::owner::Owner;
use crate::server::{ServerEngine, documents, given, options, setting};

const HARPERDB: ServerEngine = ServerEngine("harperdb");

/// The URL of a server on which the test of `--url` may make a database.
const GIVEN: &str = "EMBERMARK_TEST_HARPERDB_URL";

static READINGS: CollectionDef = CollectionDef {
    name: "readings",
    key: &["sensor", "ts"],
    indexes: &[&["tag"]],
    fields: &["temperature", "tag"],
};

static NUMBERED: CollectionDef =
    CollectionDef { name: "numbered", key: &["n"], indexes: &[], fields: &["what"] };

fn insert(store: &mut dyn DocumentStore, to: Collection, sensor: i64, ts: i64) -> Result<()> {
    let key = [Value::Int(sensor), Value::Int(ts)];
    let fields = [("temperature", Value::Float(ts as f64 / 8.0)), ("tag", Value::Text("a"))];
    store.insert(to, &Document { key: &key, fields: &fields })
}

/// Makes a collection with `count` documents of one sensor.
fn filled(store: &mut dyn DocumentStore, count: i64) -> Collection {
    let readings = store.create(&READINGS).unwrap();
    (0..count).for_each(|ts| insert(store, readings, 1, ts).unwrap());
    readings
}

fn count(store: &mut dyn DocumentStore, of: &CollectionDef, collection: Collection) -> Option<i64> {
    let Language::Sql(dialect) = store.language() else { panic!("no SQL") };
    let question = format!("SELECT COUNT(*) AS documents FROM {}", dialect.table(of.name));
    let mut found = None;
    let visit = &mut |row: &dyn ResultRow| {
        found = row.int(0)?;
        Ok(())
    };
    store.query(collection, &question, &["documents"], visit).unwrap();
    found
}

#[test]
fn numbers_are_exact_or_refused() {
    const EXACT: i64 = 1 << 53;
    let Some((_dir, mut store)) = HARPERDB.documents(Durability::None) else { return };
    let numbered = store.create(&NUMBERED).unwrap();
    for n in [EXACT, -EXACT, 10, 9, -1] {
        let what = [("what", Value::Int(n))];
        store.insert(numbered, &Document { key: &[Value::Int(n)], fields: &what }).unwrap();
    }
    let refused: [EngineError; 2] = [EXACT + 1, i64::MIN].map(|n| {
        let what = [("what", Value::Int(n))];
        store.insert(numbered, &Document { key: &[Value::Int(1)], fields: &what }).unwrap_err()
    });
    assert!(refused.iter().all(EngineError::is_unsupported), "{refused:?}");
    let mut found = Vec::new();
    let find = |filter, order| Find { filter, order, limit: None, columns: &["n", "what"] };
    store
        .find(numbered, &find(Filter::All, Order::KeyDescending), &mut |row| {
            found.push((row.int(0)?.unwrap(), row.int(1)?.unwrap()));
            Ok(())
        })
        .unwrap();
    assert_eq!(found, [EXACT, 10, 9, -1, -EXACT].map(|n| (n, n)));
    // A collection with a key of one field stores no extra field, and refuses a change of it.
    let change = store.update(numbered, &Filter::All, &[("n", Value::Int(1))]);
    assert!(change.unwrap_err().is_unsupported());
    assert_eq!(store.delete(numbered, &Filter::Key(&[Value::Int(9)])).unwrap(), 1);
    assert_eq!(count(&mut *store, &NUMBERED, numbered), Some(4));
    store.close().unwrap();
}

static TAGGED: CollectionDef = CollectionDef {
    name: "tagged",
    key: &["id"],
    indexes: &[&["tag"], &["n"]],
    fields: &["tag", "n"],
};

fn tag(store: &mut dyn DocumentStore, to: Collection, id: &str, n: i64) -> Result<()> {
    let fields = [("tag", Value::Text("a")), ("n", Value::Int(n))];
    store.insert(to, &Document { key: &[Value::Text(id)], fields: &fields })
}

/// Returns the keys and numbers of a tag.
fn tagged(store: &mut dyn DocumentStore, collection: Collection) -> Vec<(String, i64)> {
    let filter = Filter::Equal("tag", Value::Text("a"));
    let find = Find { filter, order: Order::Key, limit: None, columns: &["id", "n"] };
    let mut found = Vec::new();
    let visit = &mut |row: &dyn ResultRow| {
        found.push((row.text(0)?.unwrap().to_owned(), row.int(1)?.unwrap()));
        Ok(())
    };
    store.find(collection, &find, visit).unwrap();
    found
}

#[test]
fn a_table_whose_every_attribute_is_indexed_is_indexed_by_itself() {
    let Some((_dir, mut store)) = HARPERDB.documents(Durability::None) else { return };
    let all = store.create(&TAGGED).unwrap();
    // The table has none of its attributes until they are stored, but has times of its own.
    let times = ["__createdtime__", "__updatedtime__"];
    let indexed = |store: &mut dyn DocumentStore| {
        let mut fields = store.indexed_fields(all).unwrap();
        fields.sort();
        fields
    };
    assert_eq!(indexed(&mut *store), times);
    tag(&mut *store, all, "x", 1).unwrap();
    assert_eq!(indexed(&mut *store), [times[0], times[1], "n", "tag"]);
    assert_eq!(tagged(&mut *store, all), [("x".to_owned(), 1)]);
    let some = store.create(&READINGS).unwrap();
    assert_eq!(store.indexed_fields(some).unwrap(), ["tag"]);
    store.close().unwrap();
}

#[test]
fn rows_inserted_by_the_rest_interface_exist_after_reopening() {
    if !HARPERDB.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let settings = vec![("interface".to_owned(), "rest".to_owned())];
    let options = OpenOptions { settings, ..options(dir.path(), Durability::Process) };
    let opened = HARPERDB.open(&options);
    assert!(setting(&opened, "http.port").ends_with("/rest-server"));
    let mut store = documents(opened.store);
    let all = store.create(&TAGGED).unwrap();
    for (n, id) in (1..).zip(["a b", "a/b?", "é%#", "plain"]) {
        tag(&mut *store, all, id, n).unwrap();
    }
    // It is put, not inserted: what exists is replaced.
    tag(&mut *store, all, "plain", 9).unwrap();
    let mut indexed = store.indexed_fields(all).unwrap();
    indexed.sort();
    assert_eq!(indexed, ["n", "tag"]);
    let Store::Document(mut other) = store.open_client().unwrap().open().unwrap() else {
        panic!("no document store")
    };
    let again = other.collection(&TAGGED).unwrap();
    tag(&mut *other, again, "q", 5).unwrap();
    other.close().unwrap();
    let expected = [("a b", 1), ("a/b?", 2), ("plain", 9), ("q", 5), ("é%#", 3)];
    let expected = expected.map(|(id, n)| (id.to_owned(), n));
    assert_eq!(tagged(&mut *store, all), expected);
    store.close().unwrap();

    let mut store = documents(HARPERDB.open(&options).store);
    let all = store.collection(&TAGGED).unwrap();
    tag(&mut *store, all, "r", 6).unwrap();
    assert_eq!(count(&mut *store, &TAGGED, all), Some(6));
    store.close().unwrap();
    // Without the setting the interface is off.
    let options = OpenOptions { settings: Vec::new(), ..options };
    let opened = HARPERDB.open(&options);
    assert_eq!(setting(&opened, "http.port"), "null");
    opened.store.close().unwrap();
}

#[test]
fn a_database_on_a_given_server_is_made_and_dropped() {
    let Ok(url) = std::env::var(GIVEN) else {
        return skipped("given server", format!("{GIVEN} names none"));
    };
    let given = given(&url, Durability::Power);
    let opened = HARPERDB.open(&given);
    assert_eq!(opened.server, None);
    let mut store = documents(opened.store);
    let readings = filled(&mut *store, 5);
    assert_eq!(count(&mut *store, &READINGS, readings), Some(5));
    let Language::Sql(dialect) = store.language() else { panic!("no SQL") };
    let table = dialect.table(READINGS.name);
    assert!(table.starts_with("embermark_"), "{table}");
    store.close().unwrap();
    let mut again = documents(HARPERDB.open(&given).store);
    let readings = again.create(&READINGS).unwrap();
    let question = format!("SELECT sensor FROM {table}");
    let error = again.query(readings, &question, &["sensor"], &mut |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
    again.close().unwrap();
}

#[test]
fn a_template_is_made_once_with_private_permissions_and_without_paths() {
    if !HARPERDB.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let templates = cache.join("embermark/templates");
    let start_and_kill = |name: &str| {
        let variables = [("XDG_CACHE_HOME", cache.as_path())];
        Owner::start(HARPERDB, &dir.path().join(name), None, &variables).kill();
    };
    let made = || {
        let mut all = fs::read_dir(&templates).unwrap().flatten().map(|entry| entry.path());
        (all.next().unwrap(), all.next())
    };
    start_and_kill("first");
    let (template, None) = made() else { panic!("more than one template") };
    let password = template.join("password");
    let (kept, modes) = (password.metadata().unwrap().ino(), [&template, &password]);
    assert_eq!(modes.map(|path| path.metadata().unwrap().mode() & 0o777), [0o700, 0o600]);
    start_and_kill("second");
    assert_eq!(made(), (template.clone(), None));
    assert_eq!(password.metadata().unwrap().ino(), kept);
    let data = dir.path().join("second/server/data");
    assert_eq!(fs::read(data.join("password")).unwrap(), fs::read(password).unwrap());
    for file in ["root/harperdb-config.yaml", "home/.harperdb/hdb_boot_properties.file"] {
        let [kept, used] = [&template, &data].map(|at| fs::read_to_string(at.join(file)).unwrap());
        let place = dir.path().to_str().unwrap();
        assert!(!kept.contains(place) && !kept.contains("/proc/"), "{kept}");
        assert!(!used.contains("/first") && !used.contains("cache/embermark"), "{used}");
        assert!(used.contains("/proc/self/fd/"), "{used}");
    }
}
