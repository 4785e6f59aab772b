//! Pragmas that a configuration can set (<https://www.sqlite.org/pragma.html>).

use embermark_model::Durability;

use crate::settings::{SWITCH, lines};
use crate::{Candidate, Setting, SettingValues, Settings};

/// In the order in which they are set: those of a new file first, then the lock before the journal,
/// because a log that is opened unlocked has its index in shared memory.
///
/// SQLite ignores unknown pragmas and values silently, so they are listed here.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("page_size", SettingValues::Number),
        Setting::new("auto_vacuum", SettingValues::Word(&["NONE", "FULL", "INCREMENTAL"])),
        Setting::new("synchronous", SettingValues::Word(&["OFF", "NORMAL", "FULL", "EXTRA"]))
            .by_default("FULL"),
        Setting::new("locking_mode", SettingValues::Word(&["NORMAL", "EXCLUSIVE"]))
            .by_default("NORMAL"),
        Setting::new("cache_size", SettingValues::Number).by_default("-2000"),
        // Not OFF, under which ROLLBACK is undefined.
        Setting::new(
            "journal_mode",
            SettingValues::Word(&["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL"]),
        )
        .by_default("DELETE"),
        Setting::new("wal_autocheckpoint", SettingValues::Number),
        Setting::new("journal_size_limit", SettingValues::Number),
        Setting::new("mmap_size", SettingValues::Number),
        Setting::new("cache_spill", SettingValues::Number),
        Setting::new("temp_store", SettingValues::Word(&["DEFAULT", "FILE", "MEMORY"])),
        Setting::new("secure_delete", SettingValues::Word(&["OFF", "ON", "FAST"])),
        Setting::new("automatic_index", SWITCH),
        Setting::new("cell_size_check", SWITCH),
        Setting::new("fullfsync", SWITCH),
        Setting::new("checkpoint_fullfsync", SWITCH),
        Setting::new("threads", SettingValues::Number),
    ],
    others: None,
    reserved: &[],
    candidates: CANDIDATES,
    written: |set| {
        lines("-- on each connection, before anything else", set, |name, value| {
            format!("PRAGMA {name} = {value};")
        })
    },
};

const PAGE_SIZE: &str = "https://www.sqlite.org/pragma.html#pragma_page_size";
const AUTO_CHECKPOINT: &str = "https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint";
const JOURNAL_MODE: &str = "https://www.sqlite.org/pragma.html#pragma_journal_mode";
const SYNCHRONOUS: &str = "https://www.sqlite.org/pragma.html#pragma_synchronous";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[("page_size", "1024")], "more pages, each with its header", PAGE_SIZE),
    Candidate::new(&[("page_size", "8192")], "a change of a row writes more", PAGE_SIZE),
    Candidate::new(&[("page_size", "16384")], "a change of a row writes more", PAGE_SIZE),
    Candidate::new(
        &[("wal_autocheckpoint", "100")],
        "more checkpoints, each with a sync",
        AUTO_CHECKPOINT,
    ),
    Candidate::new(
        &[("wal_autocheckpoint", "10000")],
        "a log of up to ten thousand pages next to the database",
        AUTO_CHECKPOINT,
    ),
    Candidate::new(
        &[("mmap_size", "268435456")],
        "an error of the disk ends the program by a signal",
        "https://www.sqlite.org/pragma.html#pragma_mmap_size",
    ),
    Candidate::new(
        &[("journal_mode", "WAL")],
        "one more file beside the database while it is open, two without locking_mode=EXCLUSIVE",
        "https://www.sqlite.org/wal.html",
    ),
    Candidate::new(&[("journal_mode", "TRUNCATE")], "a reader waits for the writer", JOURNAL_MODE),
    Candidate::new(&[("journal_mode", "PERSIST")], "a reader waits for the writer", JOURNAL_MODE),
    Candidate::new(
        &[("synchronous", "NORMAL")],
        "a power cut takes the commits since the last checkpoint",
        SYNCHRONOUS,
    )
    .keeping(Durability::Process),
    Candidate::new(&[("synchronous", "OFF")], "a power cut may damage the file", SYNCHRONOUS)
        .keeping(Durability::Process),
    Candidate::new(
        &[("temp_store", "MEMORY")],
        "sorting takes memory",
        "https://www.sqlite.org/pragma.html#pragma_temp_store",
    ),
    Candidate::new(
        &[("cache_spill", "0")],
        "a large transaction stays in memory",
        "https://www.sqlite.org/pragma.html#pragma_cache_spill",
    ),
];

/// Pragmas stored in the file.
pub(super) const IN_THE_FILE: [&str; 3] = ["page_size", "auto_vacuum", "journal_mode"];
