//! Settings of fjall that a configuration can change.

use std::fmt::Display;
use std::num::ParseIntError;
use std::ops::RangeInclusive;
use std::str::FromStr;

use ::fjall::config::{BlockSizePolicy, CompressionPolicy};
use ::fjall::{CompressionType, Database, KeyspaceCreateOptions};

use super::{ID, failed};
use crate::settings::{SWITCH, is_on, lines};
use crate::{Candidate, EngineError, OpenOptions, Result, Setting, SettingValues, Settings};

pub(super) const MEMTABLE: &str = "max_memtable_size";
const JOURNALS: &str = "max_journaling_size";
const JOURNAL_COMPRESSION: &str = "journal_compression";
const BLOCK_SIZE: &str = "data_block_size";
const BLOCK_COMPRESSION: &str = "data_block_compression";
const POINT_HITS: &str = "expect_point_read_hits";
const WORKERS: &str = "worker_threads";
/// Least size of all journals, and the bounds of a block and of the number of threads. The crate
/// panics at other values, and starts as many threads as it is told to.
const LEAST_JOURNALS: u64 = 64 << 20;
const BLOCKS: RangeInclusive<u32> = 1 << 10..=1 << 20;
const THREADS: RangeInclusive<usize> = 1..=256;

/// Settings of its two builders (<https://docs.rs/fjall/3/fjall/struct.DatabaseBuilder.html>,
/// <https://docs.rs/fjall/3/fjall/struct.KeyspaceCreateOptions.html>).
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("cache_size", SettingValues::Number).by_default("33554432"),
        Setting::new(MEMTABLE, SettingValues::Number).by_default("67108864"),
        Setting::new(JOURNALS, SettingValues::Number),
        Setting::new(JOURNAL_COMPRESSION, COMPRESSION),
        Setting::new(BLOCK_SIZE, SettingValues::Number),
        Setting::new(BLOCK_COMPRESSION, COMPRESSION),
        Setting::new(POINT_HITS, SWITCH),
        Setting::new(WORKERS, SettingValues::Number),
    ],
    others: None,
    reserved: &[("manual_journal_persist", "--tier sets how each change is persisted")],
    candidates: CANDIDATES,
    written: |set| {
        let place = "// of Database::builder, and of KeyspaceCreateOptions; not among them: \
                         Database::persist(PersistMode::SyncData) after each change, to survive a \
                         power cut";
        lines(place, set, |name, value| match name {
            BLOCK_SIZE => format!(".{name}_policy(BlockSizePolicy::all({value}))"),
            BLOCK_COMPRESSION => {
                format!(
                    ".{name}_policy(CompressionPolicy::all(CompressionType::{:?}))",
                    compression(value)
                )
            }
            JOURNAL_COMPRESSION => {
                format!(".{name}(CompressionType::{:?})", compression(value))
            }
            POINT_HITS => format!(".{name}({})", is_on(value)),
            _ => format!(".{name}({value})"),
        })
    },
};

/// Values of [`CompressionType`].
const COMPRESSION: SettingValues = SettingValues::Word(&["None", "Lz4"]);

const BUILDER: &str = "https://docs.rs/fjall/3/fjall/struct.DatabaseBuilder.html";
const TABLES: &str = "https://docs.rs/fjall/3/fjall/struct.KeyspaceCreateOptions.html";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[(BLOCK_SIZE, "1024")], "a larger index", TABLES),
    Candidate::new(&[(BLOCK_SIZE, "8192")], "a point read takes more bytes", TABLES),
    Candidate::new(&[(BLOCK_SIZE, "16384")], "a point read takes more bytes", TABLES),
    Candidate::new(&[(BLOCK_COMPRESSION, "None")], "more bytes on disk", TABLES),
    Candidate::new(&[(BLOCK_COMPRESSION, "Lz4")], "processor time for fewer bytes", TABLES),
    Candidate::new(
        &[(JOURNAL_COMPRESSION, "None")],
        "more bytes of journal for large values",
        BUILDER,
    ),
    Candidate::new(&[(JOURNALS, "67108864")], "memory is written to tables more often", BUILDER),
    Candidate::new(
        &[(POINT_HITS, "ON")],
        "a read of a missing key reads a block, because the last level has no filter",
        TABLES,
    ),
    Candidate::new(&[(WORKERS, "1")], "merging falls behind sooner", BUILDER),
    Candidate::new(
        &[("max_memtable_size", "1048576")],
        "smaller files, merged more often; at least 8 MiB is recommended",
        TABLES,
    ),
    Candidate::new(&[("max_memtable_size", "33554432")], "more memory, and a longer log", TABLES),
];

/// Opens or creates a database with a cache of this many bytes.
pub(super) fn open(options: &OpenOptions, cache: u64) -> Result<Database> {
    let mut builder = Database::builder(&options.dir).cache_size(cache);
    if let Some(most) = bounded(options, JOURNALS, LEAST_JOURNALS..=u64::MAX)? {
        builder = builder.max_journaling_size(most);
    }
    if let Some(by) = options.setting(JOURNAL_COMPRESSION) {
        builder = builder.journal_compression(compression(by));
    }
    if let Some(threads) = bounded(options, WORKERS, THREADS)? {
        builder = builder.worker_threads(threads);
    }
    builder.open().map_err(failed("open the database"))
}

pub(super) fn table_options(options: &OpenOptions) -> Result<KeyspaceCreateOptions> {
    let mut tables = KeyspaceCreateOptions::default();
    if let Some(block) = bounded(options, BLOCK_SIZE, BLOCKS)? {
        tables = tables.data_block_size_policy(BlockSizePolicy::all(block));
    }
    if let Some(by) = options.setting(BLOCK_COMPRESSION) {
        tables = tables.data_block_compression_policy(CompressionPolicy::all(compression(by)));
    }
    if let Some(expects) = options.switch(POINT_HITS) {
        tables = tables.expect_point_read_hits(expects);
    }
    Ok(tables)
}

/// Returns a number within the crate's bounds.
fn bounded<T: Copy + PartialOrd + Display + FromStr<Err = ParseIntError>>(
    options: &OpenOptions,
    name: &'static str,
    bounds: RangeInclusive<T>,
) -> Result<Option<T>> {
    match options.number(ID, name)? {
        Some(value) if !bounds.contains(&value) => {
            let (least, most) = (bounds.start(), bounds.end());
            let why = format!("{name}={value} is outside of {least} to {most}");
            Err(EngineError::failed(ID, "apply its configuration", why))
        }
        value => Ok(value),
    }
}

/// Returns one of [`COMPRESSION`], by its name or its number.
fn compression(value: &str) -> CompressionType {
    match value == "1" || value.eq_ignore_ascii_case("lz4") {
        true => CompressionType::Lz4,
        false => CompressionType::None,
    }
}
