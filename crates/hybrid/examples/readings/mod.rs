//! A table of sensor readings over LMDB and DuckDB, which the examples share.
//!
//! To adapt it, replace [`Readings`], which defines the meaning of the pairs, and [`open`], which
//! chooses the engines. It works with any ordered key-value store and DuckDB.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::kv::{KvStore, Table, TableDef};
use embermark_contract::sql::{self, Nullable, Param, SqlType};
use embermark_contract::{EngineError, OpenOptions, Result};
use embermark_engines::registry;
use embermark_hybrid::{Hybrid, OpenMirror, Options};
use embermark_model::Durability;

/// A reading's key is its sensor and its time, both big-endian, so that a sensor's readings are
/// adjacent in order of time. Its value is a double.
pub struct Readings;

static READINGS: sql::TableDef = sql::TableDef {
    name: "readings",
    columns: &[
        ("sensor", SqlType::Int, Nullable::No),
        ("ts", SqlType::Big, Nullable::No),
        ("value", SqlType::Double, Nullable::No),
    ],
    key: &["sensor", "ts"],
};

impl Decode for Readings {
    fn rows(&self) -> &sql::TableDef {
        &READINGS
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let (sensor, time) = key.split_first_chunk()?;
        row.push(Param::Int(u16::from_be_bytes(*sensor).into()));
        row.push(Param::Int(i64::from_be_bytes(time.try_into().ok()?)));
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        row.push(Param::Float(f64::from_le_bytes(value.try_into().ok()?)));
        Some(())
    }
}

/// Makes the key of a reading.
pub fn key(sensor: u16, time: i64) -> Vec<u8> {
    [&sensor.to_be_bytes()[..], &time.to_be_bytes()].concat()
}

/// Runs a call and returns its result and its milliseconds.
pub fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let began = Instant::now();
    work().map(|done| (done, began.elapsed().as_secs_f64() * 1000.0))
}

/// Memory in bytes.
#[derive(Clone, Copy)]
pub struct Memory {
    /// DuckDB's cache.
    pub cache: u64,
    /// Limit of the process and the page cache of its files together, if any.
    pub limit: Option<u64>,
}

/// Opens LMDB for the pairs, whose commits survive the process, and DuckDB for the queries. The
/// mirror is refreshed in the background at this interval, or only by queries.
pub fn open(
    folder: &Path,
    memory: Memory,
    refresh_every: Option<Duration>,
) -> Result<(Hybrid, Table)> {
    let engine = |name: &'static str| {
        let found = registry::find(name);
        found.map_err(|error| EngineError::failed("logger", "find an engine", error))
    };
    let front = folder.join("front");
    std::fs::create_dir_all(&front).map_err(|e| EngineError::file("logger", "make", &front, e))?;
    let mut options = OpenOptions::new(front, Durability::Process, memory.cache);
    options.limit = memory.limit;
    // With a writable map a full disk is a bus error, which ends the process. With write calls it is
    // an error.
    options.settings.push(("MDB_WRITEMAP".to_owned(), "OFF".to_owned()));
    let front = engine("lmdb")?.open(&options)?.store.into_kv("logger", "open LMDB")?;
    let mirror: OpenMirror = Arc::new(move |folder| {
        let mut options = OpenOptions::new(folder, Durability::None, memory.cache);
        options.limit = memory.limit;
        // This client, and the one that refreshes in the background.
        options.clients = 2;
        engine("duckdb")?.open(&options)?.store.into_sql("logger", "open DuckDB")
    });
    let mut options = Options::new(folder.join("mirror"), mirror);
    options.refresh_every = refresh_every;
    if memory.limit.is_some() {
        // Rows are in memory until the mirror's file is written.
        options.write_after = 100_000;
    }
    options.on_event = Arc::new(|what| eprintln!("{what}"));
    let mut hybrid = Hybrid::open(front, options)?;
    let def = TableDef { key_length: Some(10), ..TableDef::named("readings") };
    let table = hybrid.table(&def)?;
    hybrid.show(table, Arc::new(Readings))?;
    Ok((hybrid, table))
}
