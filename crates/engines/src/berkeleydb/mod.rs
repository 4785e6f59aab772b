//! Berkeley DB, through Debian's library and a small C shim.
//!
//! One environment is private to the process and has no locking, because one thread uses it. Each
//! table is a B-tree file whose keys are compared as bytes (the default). A secondary index is its
//! own B-tree file with duplicates, which the library maintains
//! (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/am_second.html>).

use embermark_contract::ReadBack;
use embermark_model::Durability;
use embermark_model::explained::{CostAnomaly, Explained};
use embermark_model::result::Counts;

use crate::settings::{SWITCH, is_on, lines};
use crate::{Candidate, Embedded, Info, Setting, SettingValues, Settings, TierSetting, TierTable};

#[cfg_attr(not(berkeleydb_linked), path = "../missing_library.rs")]
mod store;

const ID: &str = "berkeleydb";
#[cfg(not(berkeleydb_linked))]
const REMEDY: &str = "apt-get install libdb5.3-dev, then build again";

/// With transactions or without, and with `DB_TXN_WRITE_NOSYNC` or without.
const TIERS: TierTable<(bool, bool)> = TierTable {
    none: TierSetting::new(
        Durability::None,
        (false, false),
        "no transactions, no log: changes stay in the process's cache until it is full or the \
         database is closed, and a batch that fails is not undone",
        "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envopen.html",
    )
    .reads(&[(INIT_TXN, &["off"]), ("DB_INIT_LOG", &["off"])])
    .or_at_least(&[(INIT_TXN, &["off", "on"])]),
    process: TierSetting::new(
        Durability::Process,
        (true, true),
        "DB_TXN_WRITE_NOSYNC: a commit writes the log to the operating system, without a sync",
        MANUAL,
    )
    .reads(&[TXN, SYNCS, ("DB_TXN_WRITE_NOSYNC", &["on"])])
    .or_at_least(&[TXN, SYNCS]),
    power: TierSetting::new(
        Durability::Power,
        (true, false),
        "DB_TXN_SYNC (default): a commit writes and syncs the log",
        MANUAL,
    )
    .reads(&[TXN, SYNCS, ("DB_TXN_WRITE_NOSYNC", &["off"])]),
};
const TXN: ReadBack = (INIT_TXN, &["on"]);
const SYNCS: ReadBack = ("DB_TXN_NOSYNC", &["off"]);
const MANUAL: &str = "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envset_flags.html";

const EXPLAINED: &[Explained] = &[Explained {
    how: CostAnomaly::Lag,
    counts: &[Counts::Start],
    phases: &[],
    why: "opening runs recovery, which fills its log file of 10 MB with zeros",
    evidence: "--show explain: 2,436 writes and 10 MB an opening",
    section: "docs/engines/berkeleydb.md#what-measurements-show",
}];

/// Whether it has transactions and a log. This flag can only be set when opening, not in DB_CONFIG.
const INIT_TXN: &str = "DB_INIT_TXN";
/// Bytes of a page of a new table. It cannot be set in DB_CONFIG either.
const PAGE_SIZE: &str = "set_pagesize";
/// The cache: gigabytes, further bytes, and the number of its regions.
const CACHE_SIZE: &str = "set_cachesize";

/// Lines of its file DB_CONFIG, which override what a program sets
/// (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/env_db_config.html>), and its
/// flags by name.
const SETTINGS: Settings = Settings {
    known: &[
        Setting::new(INIT_TXN, SWITCH),
        Setting::new("DB_TXN_NOSYNC", SWITCH),
        Setting::new("DB_TXN_WRITE_NOSYNC", SWITCH).by_default("OFF"),
        Setting::new("DB_LOG_AUTO_REMOVE", SWITCH).by_default("OFF"),
        Setting::new("DB_LOG_DSYNC", SWITCH),
        Setting::new("DB_LOG_ZERO", SWITCH),
        Setting::new(PAGE_SIZE, SettingValues::Number),
        Setting::new(CACHE_SIZE, SettingValues::Any).by_default("0 262144 1"),
        Setting::new("set_lg_bsize", SettingValues::Number).by_default("32768"),
        Setting::new("set_lg_max", SettingValues::Number),
        Setting::new("set_mp_mmapsize", SettingValues::Number),
        Setting::new("set_mp_max_openfd", SettingValues::Number),
        Setting::new("set_mp_max_write", SettingValues::Any),
    ],
    others: None,
    reserved: &[
        ("set_data_dir", "its files lie in its folder"),
        ("set_lg_dir", "its files lie in its folder"),
        ("set_tmp_dir", "its files lie in its folder"),
    ],
    candidates: CANDIDATES,
    written: |set| {
        let place = "# the file DB_CONFIG in the folder of the environment; not in it: pages no \
                     larger than what the device writes at once (DB->set_pagesize), to survive a \
                     power cut";
        lines(place, set, line)
    },
};

/// Returns the line of DB_CONFIG that sets a value, or a comment for what cannot be set there.
fn line(name: &str, value: &str) -> String {
    let on = if is_on(value) { "on" } else { "off" };
    match name {
        PAGE_SIZE => format!("# before DB->open: db->set_pagesize(db, {value})"),
        INIT_TXN => format!("# {INIT_TXN} {on}: a flag of DB_ENV->open"),
        _ if name.starts_with("DB_LOG_") => format!("log_set_config {name} {on}"),
        "DB_TXN_NOSYNC" | "DB_TXN_WRITE_NOSYNC" => format!("set_flags {name} {on}"),
        _ => format!("{name} {value}"),
    }
}

const RECOVERABILITY: &str =
    "https://docs.oracle.com/cd/E17276_01/html/programmer_reference/transapp_reclimit.html";
const LOGGING: &str =
    "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envlog_set_config.html";
const LOG_FILE: &str =
    "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envset_lg_max.html";

const CANDIDATES: &[Candidate] = &[
    // The smallest, which every device writes at once.
    Candidate::new(
        &[(PAGE_SIZE, "512")],
        "more pages, each with its header",
        "https://docs.oracle.com/cd/E17276_01/html/programmer_reference/general_am_conf.html",
    ),
    Candidate::new(
        &[(PAGE_SIZE, "1024")],
        "a power cut may tear a page that is larger than what the device writes at once",
        RECOVERABILITY,
    )
    .keeping(Durability::Process),
    Candidate::new(
        &[(PAGE_SIZE, "8192")],
        "a power cut may tear a page that is larger than what the device writes at once",
        RECOVERABILITY,
    )
    .keeping(Durability::Process),
    Candidate::new(&[("DB_LOG_ZERO", "ON")], "each log file is written twice", LOGGING),
    Candidate::new(&[("DB_LOG_DSYNC", "ON")], "each write of the log is synced", LOGGING),
    Candidate::new(
        &[("set_lg_bsize", "32768")],
        "a large transaction writes its log in parts",
        "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envset_lg_bsize.html",
    ),
    Candidate::new(&[("set_lg_max", "1048576")], "more files of the log", LOG_FILE),
    Candidate::new(&[("set_lg_max", "67108864")], "the log takes up to 64 MB more", LOG_FILE),
    Candidate::new(
        &[("set_mp_mmapsize", "0")],
        "none that its manual names",
        "https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envset_mp_mmapsize.html",
    ),
    Candidate::new(&[("DB_LOG_AUTO_REMOVE", "OFF")], "the log grows until it is removed", LOGGING),
    Candidate::new(&[("DB_TXN_WRITE_NOSYNC", "ON")], "a power cut takes the last commits", MANUAL)
        .keeping(Durability::Process),
    Candidate::new(&[("DB_TXN_NOSYNC", "ON")], "a killed program loses the last commits", MANUAL)
        .keeping(Durability::None),
];

pub(crate) static ENGINE: Embedded<(bool, bool)> = Embedded {
    origin: store::origin,
    settings: SETTINGS,
    explained: EXPLAINED,
    ..Embedded::new(
        Info::key_value(ID, "Berkeley DB", "Sleepycat (AGPL from release 6 on)"),
        || TIERS,
        store::availability,
        store::open,
    )
};
