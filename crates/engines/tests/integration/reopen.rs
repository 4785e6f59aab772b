//! Opening a database again and again leaves nothing behind. This is a separate program with one
//! test, because open files and threads belong to a process.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_engines::document::{CollectionDef, Document, Filter, Find, Order, Value};
use embermark_engines::kv::TableDef;
use embermark_engines::registry::ENGINES;
use embermark_engines::series::{FieldValue, Point, TagValue};
use embermark_engines::{OpenOptions, Reopener, Result, Scope, Store, Tier};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled};

const TIMES: usize = 50;

const KEYED: TableDef<'_> = TableDef { key_length: Some(8), ..TableDef::named("t") };

static NOTES: CollectionDef =
    CollectionDef { name: "notes", key: &["id"], indexes: &[], fields: &["n"] };

/// Returns the open files and threads of this process.
fn held() -> (usize, usize) {
    let entries = |dir: &str| fs::read_dir(dir).unwrap().count();
    (entries("/proc/self/fd"), entries("/proc/self/task"))
}

/// Stores one row.
fn fill(store: &mut Store) -> Result<()> {
    match store {
        Store::Sql(store) => {
            store.batch("CREATE TABLE t (n INTEGER)")?;
            store.batch("INSERT INTO t VALUES (7)")
        }
        Store::Kv(store) => {
            let table = store.table(&KEYED)?;
            store.within(Scope::PerOperation, |each| each.put(table, b"a key of", b"7"))
        }
        Store::Document(store) => {
            let collection = store.create(&NOTES)?;
            let document = Document { key: &[Value::Int(1)], fields: &[("n", Value::Int(7))] };
            store.insert(collection, &document)
        }
        Store::Series(store) => {
            let (tags, fields) = ([("of", TagValue::Int(1))], [("n", FieldValue::Int(7))]);
            store.write("t", &Point { tags: &tags, fields: &fields, time_ns: 1 })
        }
    }
}

/// Opens the store again and reads the row.
fn reopen(reopener: &Reopener, store: Store) -> Result<Store> {
    let mut store = reopener.reopen(store)?;
    let mut found = false;
    let mut see = |row: &dyn embermark_engines::sql::ResultRow| {
        found = row.int(0)? == Some(7);
        Ok(())
    };
    match &mut store {
        Store::Sql(store) => {
            let statement = store.prepare("SELECT n FROM t")?;
            store.query(statement, &[], &mut see)?;
        }
        Store::Kv(store) => {
            let table = store.table(&KEYED)?;
            found = store.within(Scope::Snapshot, |s| Ok(s.get(table, b"a key of")?.is_some()))?;
        }
        Store::Document(store) => {
            let (filter, order) = (Filter::Key(&[Value::Int(1)]), Order::Any);
            let find = Find { filter, order, limit: None, columns: &["n"] };
            let collection = store.collection(&NOTES)?;
            store.find(collection, &find, &mut see)?;
        }
        Store::Series(store) => {
            store.query("SELECT n FROM t", &["n"], &mut see)?;
        }
    }
    assert!(found, "its row is there");
    Ok(store)
}

#[test]
fn opening_again_fifty_times_leaves_no_file_and_no_thread_behind() {
    for engine in sampled(ENGINES.iter().filter(|engine| is_here(**engine)), 3) {
        let id = engine.info().id;
        let offered = |tier: &Durability| matches!(engine.tier(*tier), Tier::Offered { .. });
        for tier in sampled(Durability::ALL.into_iter().filter(offered), 1) {
            let folder = tempfile::tempdir().unwrap();
            // A private server may run as another user.
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let open = fs::Permissions::from_mode(0o755);
                fs::set_permissions(folder.path(), open).unwrap();
            }
            let dir = folder.path().to_owned();
            let options = OpenOptions::new(dir, tier, 64 << 20);
            let reopener = Reopener::for_engine(*engine, options.clone());
            let mut store = engine.open(&options).unwrap().store;
            fill(&mut store).unwrap();
            // What a library keeps for the whole process exists after a few rounds.
            for _ in 0..3 {
                store = reopen(&reopener, store).unwrap_or_else(|e| panic!("{id} ({tier}): {e}"));
            }
            let before = held();
            for _ in 0..TIMES {
                store = reopen(&reopener, store).unwrap_or_else(|e| panic!("{id} ({tier}): {e}"));
            }
            // A thread that was asked to end may need a moment to do so, and a library may start a
            // thread late that it keeps for the process. Anything left behind every time would add
            // up to more.
            let few =
                |now: (usize, usize)| now.0 < before.0 + TIMES / 5 && now.1 < before.1 + TIMES / 5;
            let deadline = Instant::now() + Duration::from_secs(300);
            while !few(held()) && Instant::now() < deadline {
                sleep(Duration::from_millis(10));
            }
            assert!(few(held()), "{id} ({tier}): {before:?} files and threads, now {:?}", held());
            store.close().unwrap();
        }
    }
}
