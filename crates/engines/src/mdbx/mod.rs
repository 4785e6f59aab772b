//! libmdbx, through the functions of `signet-mdbx-sys`: LMDB's design with a file that grows and
//! shrinks by itself, its own record of free pages, and more ways to sync.
//!
//! As with LMDB, the map is written through (`MDBX_WRITEMAP`) where no commit syncs. In the tier
//! `power` pages are written by calls, so a full disk is then an error. A key has up to half a
//! page.

use embermark_model::result::Counts;
use embermark_model::{CostAnomaly, Durability, Explained};

use crate::mapped::{self, library::Library};
use crate::settings::SWITCH;
use crate::{Availability, Candidate, Embedded, Info, Setting, Settings, TierSetting, TierTable};

mod ffi;

use ffi::Mdbx;

const ID: &str = "mdbx";
/// The manual's page of sync modes.
const MANUAL: &str = "https://libmdbx.dqdkfa.ru/group__sync__modes.html";
const FLAGS: &str = "https://libmdbx.dqdkfa.ru/group__c__opening.html";

/// The flags of an environment.
const TIERS: TierTable<u32> = TierTable { none: UNSYNCED, process: UNSYNCED, power: SYNCED };
const UNSYNCED: TierSetting<u32> = TierSetting::new(
    Durability::Process,
    ffi::MDBX_WRITEMAP | ffi::MDBX_UTTERLY_NOSYNC,
    "MDBX_UTTERLY_NOSYNC | MDBX_WRITEMAP: a commit leaves its pages in the operating system's page \
     cache, which a killed process does not take along",
    MANUAL,
)
.reads(&[("MDBX_UTTERLY_NOSYNC", &["on"]), ("MDBX_WRITEMAP", &["on"])])
.or_at_least(&[("MDBX_UTTERLY_NOSYNC", &["on", "off"])]);
const SYNCED: TierSetting<u32> = TierSetting::new(
    Durability::Power,
    0,
    "MDBX_SYNC_DURABLE (default): a commit syncs its pages, then the page that makes them valid",
    MANUAL,
)
.reads(&[
    ("MDBX_SAFE_NOSYNC", &["off"]),
    ("MDBX_NOMETASYNC", &["off"]),
    ("MDBX_WRITEMAP", &["off"]),
])
.or_at_least(&[("MDBX_SAFE_NOSYNC", &["off"]), ("MDBX_NOMETASYNC", &["off"])]);

pub(crate) static ENGINE: Embedded<u32> = Embedded {
    settings: SETTINGS,
    explained: EXPLAINED,
    join: Some(mapped::join::<Mdbx>),
    ..Embedded::new(
        Info::key_value(ID, "libmdbx", "Apache-2.0"),
        || TIERS,
        || Availability::Ready { version: Mdbx::version() },
        mapped::open::<Mdbx>,
    )
};

const EXPLAINED: &[Explained] = &[Explained {
    how: CostAnomaly::Lag,
    counts: &[Counts::Start],
    phases: &[],
    why: "the first process that opens it makes its lock file anew and syncs that, in every tier",
    evidence: "strace: msync and fsync of mdbx.lck took 83.6 of the 84 ms of an opening",
    section: "docs/engines/mdbx.md#what-measurements-show",
}];

/// The flags of an environment ([`FLAGS`]).
const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("MDBX_UTTERLY_NOSYNC", SWITCH).by_default("OFF"),
        Setting::new("MDBX_SAFE_NOSYNC", SWITCH),
        Setting::new("MDBX_NOMETASYNC", SWITCH),
        Setting::new("MDBX_WRITEMAP", SWITCH).by_default("OFF"),
        Setting::new("MDBX_LIFORECLAIM", SWITCH),
        Setting::new("MDBX_NORDAHEAD", SWITCH),
        Setting::new("MDBX_NOMEMINIT", SWITCH),
    ],
    others: None,
    reserved: &[
        ("MDBX_NOSTICKYTHREADS", "a client may be used by any thread"),
        ("MDBX_EXCLUSIVE", "a second process can open it"),
        ("MDBX_NOSUBDIR", "embermark chooses its folder"),
        ("MDBX_RDONLY", "it is written"),
    ],
    candidates: CANDIDATES,
    written: |set| mapped::flag_lines("/* before mdbx_env_open(env, path, flags, mode) */", set),
};

const CANDIDATES: &[Candidate] = &[
    Candidate::new(
        &[("MDBX_WRITEMAP", "ON")],
        "a stray write of the program can damage the file",
        FLAGS,
    ),
    Candidate::new(
        &[("MDBX_WRITEMAP", "OFF")],
        "pages are copied in memory before they are written",
        FLAGS,
    ),
    Candidate::new(
        &[("MDBX_LIFORECLAIM", "ON")],
        "pages that were freed last are written again first, so a flash card has fewer to spread over",
        FLAGS,
    ),
    Candidate::new(
        &[("MDBX_NORDAHEAD", "ON")],
        "scans of a file that is not in memory read page by page",
        FLAGS,
    ),
    Candidate::new(
        &[("MDBX_NOMEMINIT", "ON")],
        "old memory of the program may get into the file",
        FLAGS,
    ),
    Candidate::new(
        &[("MDBX_UTTERLY_NOSYNC", "OFF"), ("MDBX_SAFE_NOSYNC", "ON")],
        "a larger file, and a sync before it grows; a power cut loses only the last commits",
        MANUAL,
    )
    .keeping(Durability::Process),
    Candidate::new(
        &[("MDBX_UTTERLY_NOSYNC", "OFF"), ("MDBX_NOMETASYNC", "ON")],
        "a sync for each commit; a power cut may lose the last one",
        MANUAL,
    )
    .keeping(Durability::Process),
];
