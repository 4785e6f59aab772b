//! LMDB, through the functions of `lmdb-master-sys`.
//!
//! One environment has a named database per table. LMDB has no cache of its own: it works in the
//! memory map of its file, so [`OpenOptions::memory`](crate::OpenOptions::memory) has no effect.
//! The map is written through (`MDB_WRITEMAP`) where no commit syncs, because commits and large
//! transactions then cost less. In the tier `power` pages are written by calls: a commit is then
//! `pwrite` and one `fdatasync`, instead of two `msync`s of the map. Locks stay on, because
//! `MDB_NOLOCK` gained nothing measurable. A key has 1 to 511 bytes.

use embermark_model::Durability;

use crate::mapped::{self, library::Library};
use crate::settings::SWITCH;
use crate::{Availability, Candidate, Embedded, Info, Setting, Settings, TierSetting, TierTable};

mod ffi;

use ffi::Lmdb;

const ID: &str = "lmdb";

/// The flags of an environment.
const TIERS: TierTable<u32> = TierTable { none: UNSYNCED, process: UNSYNCED, power: SYNCED };
const UNSYNCED: TierSetting<u32> = TierSetting::new(
    Durability::Process,
    ffi::MDB_WRITEMAP | ffi::MDB_NOSYNC,
    "MDB_NOSYNC | MDB_WRITEMAP: a commit leaves its pages in the operating system's page cache, \
     which a killed process does not take along",
    MANUAL,
)
.reads(&[("MDB_NOSYNC", &["on"]), ("MDB_WRITEMAP", &["on"])])
.or_at_least(&[("MDB_NOSYNC", &["on", "off"])]);
const SYNCED: TierSetting<u32> = TierSetting::new(
    Durability::Power,
    0,
    "neither MDB_NOSYNC nor MDB_NOMETASYNC: a commit syncs its pages, then the page that makes them \
     valid",
    MANUAL,
)
.reads(&[("MDB_NOSYNC", &["off"]), ("MDB_NOMETASYNC", &["off"]), ("MDB_WRITEMAP", &["off"])])
.or_at_least(&[("MDB_NOSYNC", &["off"]), ("MDB_NOMETASYNC", &["off"]), ("MDB_MAPASYNC", &["off"])]);
const MANUAL: &str = "http://www.lmdb.tech/doc/group__mdb.html";

pub(crate) static ENGINE: Embedded<u32> = Embedded {
    settings: SETTINGS,
    join: Some(mapped::join::<Lmdb>),
    ..Embedded::new(
        Info::key_value(ID, "LMDB", "OpenLDAP Public License 2.8"),
        || TIERS,
        || Availability::Ready { version: Lmdb::version() },
        mapped::open::<Lmdb>,
    )
};

const ENV: &str = "http://www.lmdb.tech/doc/group__mdb__env.html";

/// The flags of an environment ([`ENV`]).
const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("MDB_NOSYNC", SWITCH).by_default("OFF"),
        Setting::new("MDB_NOMETASYNC", SWITCH),
        Setting::new("MDB_WRITEMAP", SWITCH).by_default("OFF"),
        Setting::new("MDB_MAPASYNC", SWITCH),
        Setting::new("MDB_NORDAHEAD", SWITCH),
        Setting::new("MDB_NOMEMINIT", SWITCH),
    ],
    others: None,
    reserved: &[
        ("MDB_NOTLS", "a client may be used by any thread"),
        ("MDB_NOLOCK", "clients share the database by its locks"),
        ("MDB_NOSUBDIR", "its files lie in its folder"),
        ("MDB_RDONLY", "it is written"),
    ],
    candidates: CANDIDATES,
    written: |set| mapped::flag_lines("/* before mdb_env_open(env, path, flags, mode) */", set),
};

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[("MDB_WRITEMAP", "ON")], "a stray write of the program damages the file", ENV),
    Candidate::new(
        &[("MDB_WRITEMAP", "OFF")],
        "pages are copied in memory before they are written",
        ENV,
    ),
    Candidate::new(
        &[("MDB_NORDAHEAD", "ON")],
        "scans of a file that is not in memory read page by page",
        ENV,
    ),
    Candidate::new(
        &[("MDB_NOMEMINIT", "ON")],
        "old memory of the program may get into the file",
        ENV,
    ),
    // Without MDB_NOSYNC, under which neither of the two has an effect.
    Candidate::new(
        &[("MDB_NOSYNC", "OFF"), ("MDB_NOMETASYNC", "ON")],
        "a sync for each commit; a power cut may take the last one",
        ENV,
    )
    .keeping(Durability::Process),
    Candidate::new(
        &[("MDB_NOSYNC", "OFF"), ("MDB_WRITEMAP", "ON"), ("MDB_MAPASYNC", "ON")],
        "a power cut may damage the file",
        ENV,
    )
    .keeping(Durability::Process),
];
