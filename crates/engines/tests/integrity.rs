//! Every engine's own check: of a sound database it finds nothing, of a damaged one it says so.

#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::fs::{self, OpenOptions as Files};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use embermark_engines::document::{
    CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Order, Value,
};
use embermark_engines::kv::{self, Pairs, TableDef};
use embermark_engines::registry::{self, ENGINES};
use embermark_engines::series::{FieldValue, Point, TagValue};
use embermark_engines::sql::{self, Nullable, ResultRow, SqlType};
use embermark_engines::{Checked, Engine, Kind, OpenOptions, Result, Scope, Store, Tier};
use embermark_model::Durability;
use embermark_skips::{is_here, skipped};

/// Engines without a check that a client can reach.
const WITHOUT: [&str; 6] = ["duckdb", "zen", "influxdb", "harperdb", "memory", "null"];

/// Engines whose pages have no checksums: what is wrong within a value cannot be seen.
const WITHOUT_CHECKSUMS: [&str; 3] = ["sqlite", "berkeleydb", "lmdb"];

/// Rows before the check.
const ROWS: u64 = 20_000;

const KEYED: TableDef<'_> = TableDef { key_length: Some(8), ..TableDef::named("t") };

const TABLE: sql::TableDef = sql::TableDef {
    name: "t",
    columns: &[("id", SqlType::Int, Nullable::No), ("words", SqlType::Text, Nullable::No)],
    key: &["id"],
};

static NOTES: CollectionDef =
    CollectionDef { name: "notes", key: &["id"], indexes: &[&["words"]], fields: &["words"] };

/// What the test passes to itself in a process of its own: engine, tier, folder, and what to do.
const TOLD: &str = "EMBERMARK_TEST_INTEGRITY";

/// What that process says begins so, among what the test program itself prints.
const SAYS: &str = "it says ";

/// How what was not said by the engine begins: it gave something else than was written, or died.
const UNTOLD: &str = "nothing";

fn options(dir: &Path, tier: Durability) -> OpenOptions {
    // A private server may run as another user.
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    OpenOptions::new(dir, tier, 64 << 20)
}

/// The engines that can run here, with the tiers they offer.
fn offers() -> impl Iterator<Item = (&'static dyn Engine, Durability)> {
    let here = ENGINES.iter().copied().filter(|engine| is_here(*engine));
    here.flat_map(|engine| Durability::ALL.map(|tier| (engine, tier)))
        .filter(|(engine, tier)| matches!(engine.tier(*tier), Tier::Offered { .. }))
}

/// The text of a row, which does not compress: numbers of Marsaglia's xorshift.
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
    fn of(from: u64, end: u64) -> Self {
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

/// The parts of documents, each made before they are given.
struct Listed<'a>(std::slice::Iter<'a, ([Value<'a>; 1], [Field<'a>; 1])>);

impl Documents for Listed<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        self.0.next().map(|(key, fields)| Document { key, fields })
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

/// Makes a table with an index, where the engine has some, and rows in it.
fn fill(store: &mut Store) -> Result<()> {
    match store {
        Store::Sql(store) => {
            let table = store.dialect().create_table(&TABLE);
            store.batch(&table)?;
        }
        Store::Kv(store) => {
            let table = store.table(&KEYED)?;
            store.bulk(table, &mut Rows::of(0, ROWS))?;
        }
        Store::Document(store) => {
            store.create(&NOTES)?;
            load(store.as_mut(), 0, ROWS)?;
        }
        Store::Series(_) => {}
    }
    if !matches!(store, Store::Kv(_) | Store::Document(_)) {
        add(store, 0, ROWS)?;
    }
    store.lifecycle().maintain()
}

/// Adds rows, in one transaction where there are some.
fn add(store: &mut Store, from: u64, end: u64) -> Result<()> {
    match store {
        Store::Sql(store) => store.within(Scope::Batch, |store| {
            for rows in (from..end).collect::<Vec<_>>().chunks(500) {
                let rows: Vec<_> = rows.iter().map(|&n| format!("({n}, '{}')", words(n))).collect();
                store.batch(&format!("INSERT INTO t VALUES {}", rows.join(", ")))?;
            }
            Ok(())
        }),
        Store::Kv(store) => {
            let table = store.table(&KEYED)?;
            store.within(Scope::Batch, |batch| {
                let mut rows = Rows::of(from, end);
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

/// Reads every row and compares it with what was written; how many there are, or which differs.
fn read(store: &mut Store) -> Result<std::result::Result<u64, String>> {
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
                snapshot.scan(table, kv::Range::default(), &mut |key, value| {
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

/// Whether the check found nothing; false where the engine has none, which has to be said.
fn is_sound(store: &mut Store, id: &str) -> bool {
    match store.lifecycle().check() {
        Ok(Checked { by, findings }) => {
            assert!(!WITHOUT.contains(&id), "{id} has a check: {by}");
            assert!(!by.is_empty(), "{id}");
            println!("{id}: nothing found by {by}");
            assert_eq!(findings, Vec::<String>::new(), "{id}, {by}");
            true
        }
        Err(error) => {
            assert!(error.is_unsupported(), "{id}: {error}");
            println!("{error}");
            // The extension of PostgreSQL's that checks is a package of its own.
            if !WITHOUT.contains(&id) {
                assert!(id == "postgres" && error.to_string().contains("amcheck"), "{error}");
                skipped("amcheck", error);
            }
            false
        }
    }
}

#[test]
fn a_sound_database_is_found_sound_and_is_used_as_before() {
    let (mut checked, mut there) = (0, 0);
    for (engine, tier) in offers() {
        let (id, kind) = (engine.info().id, engine.info().kind);
        // The tiers of a server differ by what it does at a commit.
        if kind == Kind::Server && tier != Durability::Process || id == "null" {
            continue;
        }
        let name = format!("{id} ({tier})");
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path(), tier);
        let mut store = engine.open(&options).unwrap().store;
        is_sound(&mut store, id);
        fill(&mut store).unwrap_or_else(|e| panic!("{name}: {e}"));
        there += usize::from(!WITHOUT.contains(&id));
        checked += usize::from(is_sound(&mut store, id));
        // Changes that no maintenance has seen, then the same tables as before.
        for n in 0..2 {
            let from = ROWS + n * 1000;
            add(&mut store, from, from + 1000).unwrap_or_else(|e| panic!("{name}: {e}"));
            is_sound(&mut store, id);
            let rows = read(&mut store).unwrap_or_else(|e| panic!("{name}: {e}")).unwrap();
            if !matches!(store, Store::Series(_)) {
                assert_eq!(rows, from + 1000, "{name}");
            }
        }
        store.close().unwrap_or_else(|e| panic!("{name}: {e}"));
        // And as it is opened again, after a close and, where that can be had, after a crash.
        let again = if kind == Kind::Embedded && id != "memory" { 2 } else { 0 };
        for rows in [ROWS + 2000, ROWS + 3000].into_iter().take(again) {
            let mut store = engine.open(&options).unwrap().store;
            is_sound(&mut store, id);
            assert_eq!(read(&mut store).unwrap(), Ok(rows), "{name}");
            add(&mut store, rows, rows + 1000).unwrap();
            if let Err(error) = store.lifecycle().crash_on_close() {
                assert!(error.is_unsupported(), "{name}: {error}");
            }
            store.close().unwrap();
        }
    }
    assert!(there == 0 || checked > 0, "none of {there} engines was checked");
}

#[test]
fn a_row_that_an_index_of_postgres_lacks_is_found() {
    let Ok(engine) = registry::find("postgres") else { return };
    if !is_here(engine) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut store = engine.open(&options(folder.path(), Durability::Process)).unwrap().store;
    fill(&mut store).unwrap();
    if is_sound(&mut store, "postgres") {
        let Store::Sql(sql) = &mut store else { panic!("it answers SQL") };
        let ready =
            |is| format!("UPDATE pg_index SET indisready = {is} WHERE indrelid = 't'::regclass");
        // An index that is not ready is left alone by an insertion.
        for change in [&*ready(false), "INSERT INTO t VALUES (-1, 'x')", &*ready(true)] {
            sql.batch(change).unwrap();
        }
        let found = store.lifecycle().check().unwrap().findings;
        assert!(found.len() == 1 && found[0].contains("lacks matching index tuple"), "{found:?}");
    }
    store.close().unwrap();
}

/// The largest file of a database that is no log, and as far as it is written: LMDB's is longer than
/// that.
fn largest(dir: &Path) -> (PathBuf, u64) {
    let mut found = (PathBuf::new(), 0);
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let (entry, path) =
                entry.map(|entry| (entry.metadata().unwrap(), entry.path())).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().to_lowercase();
            let written = entry.len().min(entry.blocks() * 512);
            if entry.is_dir() {
                folders.push(path);
            } else if written > found.1 && !name.contains("log") && !name.ends_with(".wal") {
                found = (path, written);
            }
        }
    }
    found
}

/// What is inverted of a page.
const PAGE: Range = 0..4096;
/// A few bytes of its middle, which are a value's in most engines' pages.
const VALUE: Range = 2048..2064;

type Range = std::ops::Range<u64>;

/// Inverts those bytes of eight pages of 4 KiB, spread over the middle half of a file.
fn damage(file: &Path, written: u64, bytes: &Range) {
    let opened = Files::new().read(true).write(true).open(file).unwrap();
    for part in 4..12 {
        let at = written * part / 16 / PAGE.end * PAGE.end + bytes.start;
        let mut page = vec![0; (bytes.end - bytes.start) as usize];
        opened.read_exact_at(&mut page, at).unwrap();
        page.iter_mut().for_each(|byte| *byte = !*byte);
        opened.write_all_at(&page, at).unwrap();
    }
}

/// Opens a database in a process of its own, which a damaged one may take with it, and reads or
/// checks it; what that process says of faults, with how it died.
fn faults(id: &str, tier: Durability, dir: &Path, doing: &str) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["meets_damage", "--exact", "--ignored", "--nocapture"]);
    let told = format!("{id}\n{tier}\n{}\n{doing}", dir.display());
    let output = command.env(TOLD, told).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said.lines().filter_map(|line| Some(line.split_once(SAYS)?.1));
    let mut said: Vec<_> = said.map(str::to_owned).collect();
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        said.push(format!("{UNTOLD} more, and died: {}: {words}", output.status));
    }
    said
}

/// What is said of a database with those bytes of its pages inverted, by reading all of it and by the
/// engine's own check.
fn damaged(engine: &dyn Engine, bytes: &Range) -> [Vec<String>; 2] {
    let (id, tier) = (engine.info().id, Durability::Power);
    let folder = tempfile::tempdir().unwrap();
    let mut store = engine.open(&options(folder.path(), tier)).unwrap().store;
    fill(&mut store).unwrap();
    store.close().unwrap();
    let all = || ["read", "check"].map(|doing| faults(id, tier, folder.path(), doing));
    assert_eq!(all(), [const { Vec::<String>::new() }; 2], "{id}: sound");
    let (file, written) = largest(folder.path());
    assert!(written > ROWS * 64, "{id}: {} has {written} bytes", file.display());
    damage(&file, written, bytes);
    let said = all();
    println!(
        "{id}, with bytes {bytes:?} of pages inverted, by reading and by its check: {said:#?}"
    );
    said
}

/// The engines whose files stay where they are: a private server is made anew with every opening.
fn on_disk() -> impl Iterator<Item = &'static dyn Engine> {
    let power = offers().filter(|(_, tier)| *tier == Durability::Power).map(|(engine, _)| engine);
    power.filter(|engine| engine.info().kind == Kind::Embedded && engine.info().id != "zen")
}

#[test]
fn pages_that_are_none_are_told_of() {
    for engine in on_disk() {
        let (id, [by_reading, by_check]) = (engine.info().id, damaged(engine, &PAGE));
        assert!(!by_reading.is_empty() || !by_check.is_empty(), "{id} was silent");
        assert!(WITHOUT.contains(&id) || !by_check.is_empty(), "{id}: its check found nothing");
    }
}

#[test]
fn changed_values_are_told_of_where_there_are_checksums() {
    for engine in on_disk() {
        let (id, [by_reading, by_check]) = (engine.info().id, damaged(engine, &VALUE));
        if WITHOUT_CHECKSUMS.contains(&id) {
            // What was done to the values is there to be seen, by who knows them.
            assert!(!by_reading.is_empty(), "{id}");
            continue;
        }
        let by_engine = |said: &&String| !said.starts_with(UNTOLD);
        assert!(by_reading.iter().chain(&by_check).any(|said| by_engine(&said)), "{id} was silent");
        assert!(WITHOUT.contains(&id) || by_check.iter().any(|said| by_engine(&said)), "{id}");
    }
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn meets_damage() {
    let told = std::env::var(TOLD).unwrap();
    let [id, tier, dir, doing] = told.splitn(4, '\n').collect::<Vec<_>>().try_into().unwrap();
    let options = OpenOptions::new(dir, tier.parse().unwrap(), 64 << 20);
    let mut store = match registry::find(id).unwrap().open(&options) {
        Ok(opened) => opened.store,
        Err(error) => return println!("{SAYS}when it is opened: {error}"),
    };
    if doing == "read" {
        match read(&mut store) {
            Ok(Ok(ROWS)) => {}
            Ok(Ok(rows)) => println!("{SAYS}{UNTOLD}, and gives {rows} rows"),
            Ok(Err(wrong)) => println!("{SAYS}{UNTOLD}, and {wrong}"),
            Err(error) => println!("{SAYS}when it is read: {error}"),
        }
    } else {
        match store.lifecycle().check() {
            Ok(checked) => checked.findings.iter().for_each(|found| println!("{SAYS}{found}")),
            Err(error) if error.is_unsupported() => {}
            Err(error) => println!("{SAYS}when it is checked: {error}"),
        }
    }
    // A panicked library may not close; that is told of above.
    drop(store);
}
