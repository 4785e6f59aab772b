//! Removing a range of keys, in every key-value engine and tier, and what engines report about
//! their background work.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::scopes::{Alone, all, get};
use crate::stores::{Model, Offer, bulk, numbered, offers, open, some_offers};
use embermark_engines::kv::{KvStore, Table, TableDef};
use embermark_engines::{
    Background, DataModel, Engine, Info, Kind, OpenOptions, Scope, Store, registry,
};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled};

#[test]
fn a_range_of_keys_goes_and_nothing_beside_it() {
    for (engine, tier, _) in offers() {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(engine, tier, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        let other = store.table(&TableDef::named("other")).unwrap();
        // More than a batch of the default implementation has.
        let mut model = numbered(2_600, 9);
        bulk(store.as_mut(), table, &model);
        store.put(other, &5_000_u64.to_be_bytes(), b"beside").unwrap();
        let key = |n: u64| n.to_be_bytes();
        // Between existing keys, between missing keys, an empty range, a reversed range, and beyond
        // the last key.
        let ranges = [
            (1_000, 23_000),
            (23_005, 24_995),
            (24_991, 24_999),
            (25_500, 25_400),
            (25_700, 99_999),
        ];
        for (from, to) in ranges {
            store.delete_range(table, &key(from), &key(to)).unwrap();
            model.retain(|at, _| !(key(from)[..] <= at[..] && at[..] < key(to)[..]));
            assert_eq!(all(store.as_mut(), table).len(), model.len(), "{name}: {from} to {to}");
            assert_eq!(all(store.as_mut(), table), Vec::from_iter(model.clone()), "{name}");
        }
        assert_eq!(get(store.as_mut(), table, &key(1_000)), None, "{name}");
        assert!(get(store.as_mut(), table, &key(23_000)).is_some(), "{name}: the end is not meant");
        assert!(get(store.as_mut(), other, &key(5_000)).is_some(), "{name}: another table");
        // What was removed can be stored again.
        store.put(table, &key(1_010), b"again").unwrap();
        model.insert(key(1_010).to_vec(), b"again".to_vec());
        store.maintain().unwrap();
        assert_eq!(all(store.as_mut(), table), Vec::from_iter(model), "{name}");
        assert!(!store.deletes_range(table).is_empty());
        // Every key, after which the table can be used again.
        store.delete_range(table, &key(0), &key(u64::MAX)).unwrap();
        assert_eq!(all(store.as_mut(), table), [], "{name}");
        store.put(table, &key(7), b"again").unwrap();
        assert_eq!(all(store.as_mut(), table).len(), 1, "{name}");
        store.close().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Another client counts the keys all the while. An engine without such an operation reports that
/// it deletes by a scan.
#[test]
fn a_range_goes_at_once_where_the_engine_has_an_operation_for_it() {
    const ROWS: u64 = 50_000;
    const LEFT: u64 = 1_000;
    fn count(store: &mut dyn KvStore, table: Table) -> u64 {
        store.within(Scope::Snapshot, |snapshot| Ok(all(snapshot, table).len() as u64)).unwrap()
    }
    for &engine in registry::ENGINES {
        let Info { id, kind, family, .. } = engine.info();
        if (kind, family) != (Kind::Embedded, DataModel::KeyValue) || !is_here(engine) {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(engine, Durability::Process, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        if store.deletes_range(table).starts_with("a scan ") {
            store.close().unwrap();
            continue;
        }
        bulk(store.as_mut(), table, &numbered(ROWS, 9));
        let (opener, (ready, begun)) = (store.open_client().unwrap(), mpsc::channel());
        thread::scope(|threads| {
            let counts = threads.spawn(move || {
                let Store::Kv(mut other) = opener.open().unwrap() else { panic!("{id}") };
                let table = other.table(&TableDef::named("t")).unwrap();
                let mut counts = vec![count(&mut *other, table)];
                ready.send(()).unwrap();
                let began = Instant::now();
                while counts.last() != Some(&LEFT) && began.elapsed() < Duration::from_secs(60) {
                    counts.push(count(&mut *other, table));
                }
                other.close().unwrap();
                counts
            });
            begun.recv().unwrap();
            let [from, to] = [LEFT * 10, ROWS * 10].map(u64::to_be_bytes);
            store.delete_range(table, &from, &to).unwrap();
            let mut counts = counts.join().unwrap();
            counts.dedup();
            assert_eq!(counts, [ROWS, LEFT], "{id}: {}", store.deletes_range(table));
        });
        store.close().unwrap();
    }
}

/// 300 MB of changes of the same thousand keys, with the calls that the manual leaves to the
/// program.
#[test]
fn a_log_that_a_program_has_to_keep_short_is_kept_short() {
    let ids = ["berkeleydb", "hybrid-bdb", "wiredtiger"];
    // A build may not have it.
    let engines = ids.into_iter().filter_map(|id| registry::find(id).ok());
    for engine in sampled(engines.filter(|engine| is_here(*engine)), 1) {
        let id = engine.info().id;
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(engine, Durability::Process, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        let mut most = 0;
        for round in 0..300_u64 {
            let value = [round as u8; 500];
            let put = |batch: &mut dyn embermark_engines::kv::Operations| {
                (0..1_000_u64).try_for_each(|key| batch.put(table, &key.to_be_bytes(), &value))
            };
            store.within(Scope::Batch, put).unwrap();
            store.upkeep().unwrap();
            most = most.max(logs(dir.path()));
        }
        assert!(most > 32 << 20, "{id}: its log is looked for in the wrong place: {most}");
        assert!(most < 192 << 20, "{id}: {most} bytes of log");
        store.close().unwrap();
    }
}

/// Returns the bytes of the files of a log below a folder.
fn logs(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path());
    let bytes = |path: PathBuf| match path.is_dir() {
        true => logs(&path),
        false => {
            let name = path.file_name().unwrap().to_string_lossy();
            let is_log = name.starts_with("log.") || name.starts_with("WiredTigerLog.");
            fs::metadata(&path).map_or(0, |meta| if is_log { meta.len() } else { 0 })
        }
    };
    entries.map(bytes).sum()
}

#[test]
fn a_range_that_went_is_gone_after_the_database_was_opened_again() {
    let is_kept =
        |(engine, tier, _): &Offer| engine.info().id != "memory" && *tier > Durability::None;
    for (engine, tier, _) in some_offers(3, is_kept) {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let model: Model = numbered(300, 9);
        let mut store = open(engine, tier, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        bulk(store.as_mut(), table, &model);
        store.delete_range(table, &500_u64.to_be_bytes(), &2_000_u64.to_be_bytes()).unwrap();
        store.close().unwrap();
        let mut store = open(engine, tier, dir.path());
        let table = store.table(&TableDef::named("t")).unwrap();
        assert_eq!(all(store.as_mut(), table).len(), 150, "{name}");
        store.close().unwrap();
    }
}

fn background_figures(store: &mut Store) -> Vec<Background> {
    let mut figures = Vec::new();
    store.lifecycle().background(&mut figures).unwrap();
    figures
}

fn opened(id: &str) -> Option<(tempfile::TempDir, Store)> {
    let engine: &dyn Engine = registry::find(id).ok().filter(|engine| is_here(*engine))?;
    let dir = tempfile::tempdir().unwrap();
    let options = OpenOptions::new(dir.path(), Durability::Process, 8 << 20);
    Some((dir, engine.open(&options).unwrap().store))
}

fn value(figures: &[Background], name: &str) -> u64 {
    figures.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no {name}")).value
}

/// Engines that report their background work.
const REPORTING: [&str; 6] = ["sqlite", "rocksdb", "wiredtiger", "postgres", "mariadb", "mongodb"];

#[test]
fn engines_that_tell_of_their_background_tell_the_same_each_time() {
    let ids = registry::all().iter().map(|engine| engine.info().id).filter(|id| *id != "null");
    let here = |id: &&str| registry::find(id).is_ok_and(is_here);
    let (reporting, others): (Vec<&str>, Vec<&str>) =
        ids.filter(here).partition(|id| REPORTING.contains(id));
    for id in [sampled(reporting, 2), sampled(others, 4)].concat() {
        let Some((_dir, mut store)) = opened(id) else { continue };
        let names =
            |figures: Vec<Background>| figures.iter().map(|one| one.name).collect::<Vec<_>>();
        let (before, after) =
            (names(background_figures(&mut store)), names(background_figures(&mut store)));
        assert_eq!(before, after, "{id}");
        // A store without a table has nothing to report yet.
        assert!(
            id == "rocksdb" || before.is_empty() != REPORTING.contains(&id),
            "{id}: {before:?}"
        );
        store.close().unwrap();
    }
}

/// Writes a megabyte at a time into SQLite's log, which SQLite checkpoints after four.
#[test]
fn sqlite_tells_of_checkpoints_that_it_took_by_itself() {
    let Some((_dir, mut store)) = opened("sqlite") else { return };
    let before = value(&background_figures(&mut store), "checkpoints");
    let Store::Sql(sql) = &mut store else { panic!() };
    sql.batch("CREATE TABLE t (v BLOB)").unwrap();
    for _ in 0..20 {
        sql.batch("INSERT INTO t VALUES (randomblob(1000000))").unwrap();
    }
    let after = value(&background_figures(&mut store), "checkpoints");
    assert!((2..=20).contains(&(after - before)), "{before}, then {after}");
    store.close().unwrap();
}

#[test]
fn rocksdb_tells_of_flushes_and_compactions() {
    let Some((_dir, mut store)) = opened("rocksdb") else { return };
    let Store::Kv(kv) = &mut store else { panic!() };
    let table = kv.table(&TableDef::named("t")).unwrap();
    kv.within(embermark_engines::Scope::PerOperation, |each| each.put(table, b"key", b"value"))
        .unwrap();
    const ENDED: &str = "memtables filled, flushes and compactions ended";
    let before = value(&background_figures(&mut store), ENDED);
    assert_eq!(value(&background_figures(&mut store), ENDED), before, "nothing went on");
    store.lifecycle().maintain().unwrap();
    let after = background_figures(&mut store);
    assert!(value(&after, ENDED) > before, "{after:?}");
    assert_eq!(value(&after, "writes stopped"), 0);
    store.close().unwrap();
}

/// A requested checkpoint is counted, at once or when the server has written its statistics.
#[test]
fn servers_tell_of_checkpoints() {
    let here = |id: &&str| registry::find(id).is_ok_and(is_here);
    for id in sampled(["postgres", "mongodb"].into_iter().filter(here), 1) {
        let Some((_dir, mut store)) = opened(id) else { continue };
        let before = value(&background_figures(&mut store), "checkpoints");
        let began = Instant::now();
        let mut after = before;
        while after == before && began.elapsed() < Duration::from_secs(300) {
            store.lifecycle().maintain().unwrap();
            after = value(&background_figures(&mut store), "checkpoints");
            // What a server counts it may write once a second.
            thread::sleep(Duration::from_millis(20));
        }
        assert!(after > before, "{id}: {before}, then {after}");
        store.close().unwrap();
    }
}
