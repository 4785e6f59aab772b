//! WiredTiger, MongoDB's storage engine, from a library loaded at run time, and a small C shim.
//!
//! There is one connection with a session per client, and a B-tree per table with keys compared as
//! bytes.

use embermark_contract::ReadBack;
use embermark_model::Durability;
use embermark_model::explained::{CostAnomaly, Explained};

use crate::{Candidate, Embedded, Info, Setting, SettingValues, Settings, TierSetting, TierTable};
use library::LIBRARY;

mod library;
mod shim;
mod store;

const ID: &str = "wiredtiger";

/// Parts of the connection's configuration.
type Parts = &'static [ReadBack];

const TIERS: TierTable<Parts> = TierTable {
    none: row(
        Durability::None,
        &[UNSYNCED, ("log", &["(enabled=false)"])],
        "log=(enabled=false): changes stay in the process's cache until a checkpoint, at \
         maintenance and at close",
    )
    .reads(&[UNSYNCED, (LOG_ENABLED, &["false"])])
    // It has nothing weaker.
    .or_at_least(&[EITHER]),
    process: row(
        Durability::Process,
        &[UNSYNCED, LOG, ("transaction_sync", &["(enabled=true,method=none)"])],
        "transaction_sync=(enabled=true,method=none), checkpoint_sync=false: a commit writes its \
         log record to the operating system, without a sync",
    )
    .reads(&[UNSYNCED, LOGGED, AT_COMMIT, (SYNC_METHOD, &["none"])])
    .or_at_least(&[EITHER, LOGGED, AT_COMMIT, (SYNC_METHOD, &["none", "fsync", "dsync"])]),
    power: row(
        Durability::Power,
        &[SYNCED, LOG, ("transaction_sync", &["(enabled=true,method=fsync)"])],
        "transaction_sync=(enabled=true,method=fsync): a commit writes and syncs the log",
    )
    .reads(&[SYNCED, LOGGED, AT_COMMIT, (SYNC_METHOD, &["fsync"])])
    .or_at_least(&[SYNCED, LOGGED, AT_COMMIT, (SYNC_METHOD, &["fsync", "dsync"])]),
};
const UNSYNCED: ReadBack = ("checkpoint_sync", &["false"]);
const SYNCED: ReadBack = ("checkpoint_sync", &["true"]);
const EITHER: ReadBack = ("checkpoint_sync", &["false", "true"]);
const LOGGED: ReadBack = (LOG_ENABLED, &["true"]);
const AT_COMMIT: ReadBack = (SYNC_ENABLED, &["true"]);
/// Its files are created in advance with a default of 100 MB each, which would look like the size
/// of a small database.
const LOG: ReadBack = ("log", &["(enabled=true,file_max=16MB)"]);

const fn row(keeps: Durability, set: Parts, words: &'static str) -> TierSetting<Parts> {
    TierSetting::new(keeps, set, words, DURABILITY)
}

/// Parts of settings that decide what a commit survives. The other parts of `log`, such as
/// `zero_fill`, decide its cost.
const LOG_ENABLED: &str = "log.enabled";
const SYNC_ENABLED: &str = "transaction_sync.enabled";
const SYNC_METHOD: &str = "transaction_sync.method";

/// These parts with the library's defaults (<https://source.wiredtiger.com/11.3.1/group__wt.html>,
/// `wiredtiger_open`).
const DURABLE_PARTS: [(&str, &str); 3] =
    [(LOG_ENABLED, "false"), (SYNC_ENABLED, "false"), (SYNC_METHOD, "fsync")];

/// Bytes of a leaf page, the only setting of tables here.
const LEAF_PAGE: &str = "leaf_page_max";

/// Limits of the cache's share of updates. 3.2.1 does not have them.
const UPDATES_TARGET: &str = "eviction_updates_target";
const UPDATES_TRIGGER: &str = "eviction_updates_trigger";

const EXPLAINED: &[Explained] = &[Explained {
    how: CostAnomaly::Lag,
    counts: &[],
    phases: &["insert_count"],
    why: "a bulk load makes the table anew and ends in a checkpoint, for one row too",
    evidence: "--show explain of one row: 4 syncs and 36 kB written, where a commit is one write",
    section: "docs/engines/wiredtiger.md#what-measurements-show",
}];

/// The configuration of a connection (<https://source.wiredtiger.com/11.3.1/group__wt.html>,
/// `wiredtiger_open`).
const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("cache_size", SettingValues::Any).by_default("100MB"),
        Setting::new("checkpoint_sync", SettingValues::Any).by_default("true"),
        Setting::new("log", SettingValues::Any).by_default("(enabled=false)"),
        Setting::new("transaction_sync", SettingValues::Any).by_default("(enabled=false)"),
        Setting::new(LEAF_PAGE, SettingValues::Number).by_default("32768"),
        Setting::new(UPDATES_TARGET, SettingValues::Any).engine_default(),
        Setting::new(UPDATES_TRIGGER, SettingValues::Any).engine_default(),
    ],
    others: Some("the configuration of wiredtiger_open"),
    reserved: &[
        ("create", "every trial creates its database"),
        ("in_memory", "embermark opens its files again"),
        ("readonly", "it is written"),
        ("exclusive", "embermark opens a database again"),
    ],
    candidates: CANDIDATES,
    written: |set| {
        let of = |of_tables: bool| -> String {
            let set = set.iter().filter(|(name, _)| (*name == LEAF_PAGE) == of_tables);
            set.map(|(name, value)| format!(",{name}={value}")).collect()
        };
        let calls =
            [("wiredtiger_open", "create", of(false)), ("WT_SESSION::create", "", of(true))];
        let calls = calls.iter().filter(|(.., set)| !set.is_empty());
        calls
            .map(|(call, before, set)| {
                format!("{call}: \"{}\"", format!("{before}{set}").trim_start_matches(','))
            })
            .collect()
    },
};

const OPEN: &str = "https://source.wiredtiger.com/11.3.1/group__wt.html";
const PAGES: &str = "https://source.wiredtiger.com/11.3.1/tune_page_size_and_comp.html";
/// Its section "Flush call configuration" says what a commit keeps.
const DURABILITY: &str = "https://source.wiredtiger.com/11.3.1/tune_durability.html";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(
        &[("log", "(enabled=true,file_max=16MB,zero_fill=true)")],
        "a new log is written once before it is used",
        OPEN,
    ),
    Candidate::new(
        &[("log", "(enabled=true,file_max=16MB,prealloc=false)")],
        "a new log file is created when it is needed",
        OPEN,
    ),
    Candidate::new(&[("leaf_page_max", "4096")], "a larger tree", PAGES),
    Candidate::new(&[("leaf_page_max", "16384")], "a point read takes more bytes", PAGES),
    Candidate::new(&[("leaf_page_max", "65536")], "a point read takes more bytes", PAGES),
    Candidate::new(
        &[("eviction", "(threads_min=1,threads_max=1)")],
        "a commit may have to write pages of the cache itself",
        "https://source.wiredtiger.com/11.3.1/tune_cache.html",
    ),
    Candidate::new(
        &[("transaction_sync", "(enabled=true,method=dsync)")],
        "its authors found it slower than a sync on most systems",
        DURABILITY,
    ),
    Candidate::new(
        &[("transaction_sync", "(enabled=true,method=none)")],
        "a power cut loses the last commits",
        DURABILITY,
    )
    .keeping(Durability::Process),
];

pub(crate) static ENGINE: Embedded<Parts> = Embedded {
    library: Some(library::VARIABLE),
    origin: || LIBRARY.origin(library::VARIABLE),
    system: Some(library::system),
    settings: SETTINGS,
    explained: EXPLAINED,
    ..Embedded::new(
        Info::key_value(ID, "WiredTiger", "GPL-2.0 or GPL-3.0"),
        || TIERS,
        || LIBRARY.availability(|library| library.version.clone()),
        store::open,
    )
};
