//! A table with a key of two numbers and a value of a number and a text, over real engines.

#![allow(dead_code, reason = "each test uses part of this module")]
#![allow(clippy::unwrap_used, reason = "a test fails at an error")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::kv::{KvStore, Pairs, Range, Table, TableDef};
use embermark_contract::sql::{self, Nullable, Param, SqlType};
use embermark_contract::{ClientOpener, OpenOptions, Result, Scope, Store};
use embermark_engines::registry;
use embermark_hybrid::{Hybrid, OpenMirror, Options};
use embermark_model::Durability;

/// Rows: group and place are the key. An amount, which may be NULL, and a word are the value.
pub static THINGS: sql::TableDef = sql::TableDef {
    name: "things",
    columns: &[
        ("grp", SqlType::Int, Nullable::No),
        ("place", SqlType::Big, Nullable::No),
        ("amount", SqlType::Big, Nullable::Yes),
        ("word", SqlType::Text, Nullable::No),
    ],
    key: &["grp", "place"],
};

/// The table of their pairs.
const TABLE: TableDef<'_> = TableDef { key_length: Some(6), ..TableDef::named("things") };

pub struct Things;

impl Decode for Things {
    fn rows(&self) -> &sql::TableDef {
        &THINGS
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let (group, place) = decode_key(key)?;
        row.extend([Param::Int(group.into()), Param::Int(place.into())]);
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let (amount, word) = value.split_first_chunk()?;
        let amount = i64::from_le_bytes(*amount);
        row.push(if amount == 0 { Param::Null } else { Param::Int(amount) });
        row.push(Param::Text(str::from_utf8(word).ok()?));
        Some(())
    }
}

pub fn key(group: u16, place: u32) -> Vec<u8> {
    [&group.to_be_bytes()[..], &place.to_be_bytes()].concat()
}

pub fn decode_key(key: &[u8]) -> Option<(u16, u32)> {
    let (group, place) = key.split_first_chunk()?;
    Some((u16::from_be_bytes(*group), u32::from_be_bytes(place.try_into().ok()?)))
}

pub fn value(amount: i64, word: &str) -> Vec<u8> {
    [&amount.to_le_bytes()[..], word.as_bytes()].concat()
}

/// Pairs of group 1, from places in order.
pub struct BulkPairs(std::ops::Range<u32>, (Vec<u8>, Vec<u8>));

impl BulkPairs {
    /// Makes pairs of the first places, with an amount of 1 and the word `bulk`.
    pub fn new(count: u32) -> Self {
        Self(0..count, Default::default())
    }

    /// Returns them as rows.
    pub fn rows(count: u32) -> impl Iterator<Item = ((u16, u32), (i64, String))> {
        (0..count).map(|place| ((1, place), (1, "bulk".to_owned())))
    }
}

impl Pairs for BulkPairs {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        self.1 = (key(1, self.0.next()?), value(1, "bulk"));
        Some((&self.1.0, &self.1.1))
    }
}

/// Opens `engine` as a front in a folder.
pub fn front(engine: &str, folder: &Path) -> Box<dyn KvStore> {
    let folder = folder.join("front");
    std::fs::create_dir_all(&folder).unwrap();
    let options = OpenOptions::new(folder, Durability::Process, 16 << 20);
    match registry::find(engine).unwrap().open(&options).unwrap().store {
        Store::Kv(store) => store,
        _ => panic!("no key-value store"),
    }
}

/// Opens DuckDB in a folder.
pub fn mirror() -> OpenMirror {
    Arc::new(|folder| {
        let mut options = OpenOptions::new(folder, Durability::None, 16 << 20);
        options.clients = 2;
        match registry::find("duckdb").unwrap().open(&options)?.store {
            Store::Sql(store) => Ok(store),
            _ => panic!("no SQL database"),
        }
    })
}

pub fn options(folder: &Path) -> Options {
    Options::new(folder.join("mirror"), mirror())
}

/// Options that keep the reported lines.
pub fn collecting_events(folder: &Path) -> (Options, Arc<Mutex<Vec<String>>>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&events);
    let on_event = Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned()));
    (Options { on_event, ..options(folder) }, events)
}

/// Options for random operations, which are followed by a model. An odd seed has a short log of
/// changes.
pub fn options_of_seed(folder: &Path, seed: u64, background: bool) -> Options {
    let mut options = options(folder);
    options.write_after = 20;
    options.log_limit = if seed.is_multiple_of(2) { 1 << 20 } else { 500 };
    if background {
        options.refresh_every = Some(Duration::from_millis(1));
    }
    options
}

/// Opens a hybrid over LMDB with its table open and shown.
pub fn open(folder: &Path, options: Options) -> (Hybrid, Table) {
    open_over("lmdb", folder, options)
}

pub fn open_over(engine: &str, folder: &Path, options: Options) -> (Hybrid, Table) {
    let mut hybrid = Hybrid::open(front(engine, folder), options).unwrap();
    let table = show(&mut hybrid);
    (hybrid, table)
}

/// Opens another client of a hybrid, with its table.
pub fn open_client(opener: ClientOpener) -> (Box<dyn KvStore>, Table) {
    let Store::Kv(mut store) = opener.open().unwrap() else { panic!("no key-value store") };
    let table = store.table(&TABLE).unwrap();
    (store, table)
}

pub fn show(hybrid: &mut Hybrid) -> Table {
    let table = hybrid.table(&TABLE).unwrap();
    hybrid.mirror().unwrap().show(table, Arc::new(Things)).unwrap();
    table
}

pub fn as_store(hybrid: &mut Hybrid) -> &mut dyn KvStore {
    hybrid
}

pub fn put(hybrid: &mut Hybrid, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
    as_store(hybrid).within(Scope::PerOperation, |each| each.put(table, key, value))
}

/// Every row of the mirror, by its key.
pub type Rows = BTreeMap<(u16, u32), (i64, String)>;

pub fn rows(hybrid: &mut Hybrid) -> Rows {
    let (sql, _) = hybrid.mirror().unwrap().sql().unwrap();
    let all = sql.prepare("SELECT grp, place, amount, word FROM things").unwrap();
    let mut rows = Rows::new();
    sql.query(all, &[], &mut |row| {
        let key = (row.int(0)?.unwrap() as u16, row.int(1)?.unwrap() as u32);
        let value = (row.int(2)?.unwrap_or(0), row.text(3)?.unwrap().to_owned());
        assert_eq!(rows.insert(key, value), None, "{key:?} is there twice");
        Ok(())
    })
    .unwrap();
    rows
}

/// Returns every pair of the front, as a row.
pub fn pairs(hybrid: &mut Hybrid, table: Table) -> Rows {
    let mut pairs = Rows::new();
    as_store(hybrid)
        .within(Scope::Snapshot, |snapshot| {
            snapshot.scan(table, Range::default(), &mut |key, value| {
                let (amount, word) = value.split_first_chunk().unwrap();
                let word = String::from_utf8(word.to_vec()).unwrap();
                pairs.insert(decode_key(key).unwrap(), (i64::from_le_bytes(*amount), word));
                ControlFlow::Continue(())
            })
        })
        .unwrap();
    pairs
}

pub fn close(hybrid: Hybrid) {
    Store::Kv(Box::new(hybrid)).close().unwrap();
}
