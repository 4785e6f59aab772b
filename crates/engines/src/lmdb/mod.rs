//! LMDB, by the functions of `lmdb-master-sys`.
//!
//! One environment with a named database per table. LMDB has no cache of its own: it works in
//! the memory map of its file, so [`OpenOptions::memory`] does not reach it. The map is written
//! through (`MDB_WRITEMAP`) where no commit syncs: commits and large transactions cost less. In the
//! tier `power` pages are written by calls: a commit is then `pwrite` and one `fdatasync`, and not two
//! `msync`s of the map. Locks stay on, because `MDB_NOLOCK` gained nothing
//! measurable. A key has 1 to 511 bytes.

use std::ffi::CString;
use std::fs;
use std::sync::Arc;

use embermark_model::Durability;

use crate::kv::{Each, KvStore, Pairs, Table, TableDef, Work};
use crate::settings::{SWITCH, is_on, lines};
use crate::{
    Availability, Candidate, Checked, ClientOpener, ConnectionParameters, Embedded, EngineError,
    Join, Lifecycle, Limits, OpenOptions, Opened, Origin, Result, Scope, Setting, Settings, Store,
    TierSetting, TierTable,
};

mod check;
mod ffi;
mod txn;

use ffi::Env;
use txn::{Reader, Writer};

const ID: &str = "lmdb";

/// The flags of an environment.
const TIERS: TierTable<u32> = TierTable { none: UNSYNCED, process: UNSYNCED, power: SYNCED };
const UNSYNCED: TierSetting<u32> = TierSetting::of(
    Durability::Process,
    ffi::MDB_WRITEMAP | ffi::MDB_NOSYNC,
    "MDB_NOSYNC | MDB_WRITEMAP: a commit leaves its pages in the operating system's page cache, \
     which a killed process does not take along",
    MANUAL,
)
.reads(&[("MDB_NOSYNC", &["on"]), ("MDB_WRITEMAP", &["on"])])
.or_at_least(&[("MDB_NOSYNC", &["on", "off"])]);
const SYNCED: TierSetting<u32> = TierSetting::of(
    Durability::Power,
    0,
    "neither MDB_NOSYNC nor MDB_NOMETASYNC: a commit syncs its pages, then the page that makes them \
     valid",
    MANUAL,
)
.reads(&[("MDB_NOSYNC", &["off"]), ("MDB_NOMETASYNC", &["off"]), ("MDB_WRITEMAP", &["off"])])
.or_at_least(&[("MDB_NOSYNC", &["off"]), ("MDB_NOMETASYNC", &["off"]), ("MDB_MAPASYNC", &["off"])]);
const MANUAL: &str = "http://www.lmdb.tech/doc/group__mdb.html";

/// The engine.
pub(crate) static ENGINE: Embedded<u32> = Embedded {
    id: ID,
    name: "LMDB",
    licence: "OpenLDAP Public License 2.8",
    tiers: TIERS,
    availability: || Availability::Ready { version: ffi::version() },
    library: None,
    origin: || Some(Origin::CompiledIn),
    system: None,
    open,
    settings: SETTINGS,
    explained: &[],
    join: Some(join),
};

const ENVIRONMENT: &str = "http://www.lmdb.tech/doc/group__mdb__env.html";

/// The flags of an environment ([`ENVIRONMENT`]).
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
    written: |set| {
        lines("/* before mdb_env_open(env, path, flags, mode) */", set, |name, value| {
            match is_on(value) {
                true => format!("flags |= {name};"),
                false => format!("flags &= ~{name};"),
            }
        })
    },
};

/// What tuning tries.
const CANDIDATES: &[Candidate] = &[
    Candidate::new(
        &[("MDB_WRITEMAP", "ON")],
        "a stray write of the program damages the file",
        ENVIRONMENT,
    ),
    Candidate::new(
        &[("MDB_WRITEMAP", "OFF")],
        "pages are copied in memory before they are written",
        ENVIRONMENT,
    ),
    Candidate::new(
        &[("MDB_NORDAHEAD", "ON")],
        "scans of a file that is not in memory read page by page",
        ENVIRONMENT,
    ),
    Candidate::new(
        &[("MDB_NOMEMINIT", "ON")],
        "old memory of the program may get into the file",
        ENVIRONMENT,
    ),
    Candidate::new(
        &[("MDB_NOMETASYNC", "ON")],
        "a power cut may take the last commit",
        ENVIRONMENT,
    )
    .keeping(Durability::Process),
    Candidate::new(
        &[("MDB_WRITEMAP", "ON"), ("MDB_MAPASYNC", "ON")],
        "a power cut may damage the file",
        ENVIRONMENT,
    )
    .keeping(Durability::Process),
];
const FLAGS: [u32; 6] = [
    ffi::MDB_NOSYNC,
    ffi::MDB_NOMETASYNC,
    ffi::MDB_WRITEMAP,
    ffi::MDB_MAPASYNC,
    ffi::MDB_NORDAHEAD,
    ffi::MDB_NOMEMINIT,
];

/// The tier's flags, and those of a configuration in their place. Where memory is limited the database may be larger, and what the system reads
/// ahead of a random read only takes room (<http://www.lmdb.tech/doc/group__mdb.html>,
/// `MDB_NORDAHEAD`).
fn flags_of(options: &OpenOptions, set: u32) -> u32 {
    let ours = if options.limit.is_some() { set | ffi::MDB_NORDAHEAD } else { set };
    let own = SETTINGS.known.iter().zip(FLAGS);
    own.fold(ours, |flags, (setting, flag)| match options.switch(setting.name) {
        Some(true) => flags | flag,
        Some(false) => flags & !flag,
        None => flags,
    })
}

/// Opens or makes a database.
fn open(options: &OpenOptions, &set: &u32) -> Result<Opened> {
    let env = Arc::new(Env::open(&options.dir, flags_of(options, set))?);
    let (flags, map, page) = env.facts()?;
    let on = |flag| if flags & flag != 0 { "on" } else { "off" }.to_owned();
    let settings = [
        ("MDB_NOSYNC", on(ffi::MDB_NOSYNC)),
        ("MDB_NOMETASYNC", on(ffi::MDB_NOMETASYNC)),
        ("MDB_WRITEMAP", on(ffi::MDB_WRITEMAP)),
        ("MDB_MAPASYNC", on(ffi::MDB_MAPASYNC)),
        ("MDB_NORDAHEAD", on(ffi::MDB_NORDAHEAD)),
        ("MDB_NOMEMINIT", on(ffi::MDB_NOMEMINIT)),
        ("MDB_NOTLS", on(ffi::MDB_NOTLS)),
        ("MDB_NOLOCK", on(ffi::MDB_NOLOCK)),
        ("map size", format!("{map} bytes")),
        ("page size", format!("{page} bytes")),
        ("cache", "none of its own: the system's page cache".to_owned()),
    ];
    let store = Databases::of(env, options.dir.display().to_string(), ffi::MDB_CREATE)?;
    Ok(Opened::embedded(store, ffi::version(), settings))
}

/// With the same flags: processes with and without `MDB_WRITEMAP` do not cooperate well, says the
/// manual.
fn join(options: &OpenOptions, &set: &u32) -> Result<Store> {
    let file = options.dir.join("data.mdb");
    fs::metadata(&file).map_err(|error| EngineError::file(ID, "find", file, error))?;
    let env = Arc::new(Env::open(&options.dir, flags_of(options, set))?);
    Ok(Store::Kv(Box::new(Databases::of(env, options.dir.display().to_string(), 0)?)))
}

/// An open environment. A table's number is the library's handle of its database, which clients
/// share.
struct Databases {
    env: Arc<Env>,
    reader: Reader,
    dir: String,
    /// How tables are opened: `MDB_CREATE`, or 0 at another process's environment.
    creates: u32,
}

impl Databases {
    fn of(env: Arc<Env>, dir: String, creates: u32) -> Result<Self> {
        Ok(Self { reader: Reader::of(&env)?, env, dir, creates })
    }
}

impl Lifecycle for Databases {
    /// LMDB has neither a log to checkpoint nor pages to compact in place; what remains is to
    /// bring the pages to the disk.
    fn maintain(&mut self) -> Result<()> {
        self.env.sync()
    }

    fn limits(&self) -> Limits {
        Limits {
            tables: Some(ffi::TABLES as usize),
            key_bytes: Some(self.env.longest_key()),
            manual: "http://www.lmdb.tech/doc/group__mdb.html",
            ..Limits::default()
        }
    }

    /// Locks are on, so processes may share it (<http://www.lmdb.tech/doc/starting.html>). A
    /// snapshot keeps other processes from using pages again that it sees.
    fn join(&self) -> Join {
        Join::At(self.dir.clone())
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let (flags, ..) = self.env.facts()?;
        let kept = SYNCED.at_least.iter().chain(SYNCED.read_back).map(|(name, _)| *name);
        let known = SETTINGS.known.iter().zip(FLAGS);
        let kept: Vec<&str> = kept.collect();
        let kept = known.filter(|(setting, _)| kept.contains(&setting.name));
        let on = |flag| if flags & flag != 0 { "on" } else { "off" }.to_owned();
        Ok(kept.map(|(setting, flag)| (setting.name.to_owned(), on(flag))).collect())
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let (flags, map, _) = self.env.facts()?;
        let set = SETTINGS.known.iter().zip(FLAGS).filter(|(_, flag)| flags & flag != 0);
        let names: Vec<&str> = set.map(|(setting, _)| setting.name).collect();
        let map = map.to_string();
        Ok(vec![("dir", self.dir.clone()), ("flags", names.join(" ")), ("map_bytes", map)])
    }

    /// The same environment and tables, with transactions of its own: readers wait for nobody, and
    /// a writer waits until the writer before it has ended. (The manual warns: "Do not have open an
    /// LMDB database twice in the same process at the same time", <http://www.lmdb.tech/doc/>.)
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (env, dir, creates) = (Arc::clone(&self.env), self.dir.clone(), self.creates);
        Ok(ClientOpener::kv(move || Self::of(env, dir, creates)))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery: it has no log to recover, and opens the same whatever came before";
        Err(EngineError::unsupported(ID, what))
    }

    fn check(&mut self) -> Result<Checked> {
        check::walk(&self.env)
    }

    /// By the library's own close, once no client has it open. It syncs nothing: a commit has,
    /// where the tier says so.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl KvStore for Databases {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let name = CString::new(def.name)
            .map_err(|error| EngineError::failed(ID, "open a table", error))?;
        let mut writer = Writer::begin(&self.env)?;
        let table = writer.open(&name, self.creates)?;
        writer.commit().map(|()| table)
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        let mut writer = Writer::begin(&self.env)?;
        writer.clear(table)?;
        writer.commit()
    }

    /// By `MDB_APPEND`, which fills page after page without a search.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut writer = Writer::begin(&self.env)?;
        let rows = writer.append(table, pairs)?;
        writer.commit().map(|()| rows)
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        match scope {
            Scope::Snapshot => work(self.reader.snapshot()?.0),
            Scope::Batch => {
                let mut writer = Writer::begin(&self.env)?;
                work(&mut writer)?;
                writer.commit()
            }
            Scope::PerOperation => work(&mut Each::of(self)),
        }
    }
}
