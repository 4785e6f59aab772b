//! `hybrid` and `hybrid-bdb`: a key-value engine in front of DuckDB, by `embermark-hybrid`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use embermark_hybrid::{Hybrid, OpenMirror, Options};
use embermark_model::Durability;

use crate::duckdb::{self, FSYNC_MODE, check_no_pattern};
use crate::settings::ENGINE_DEFAULT;
use crate::sql::SqlStore;
use crate::{
    Availability, Engine, EngineError, Info, OpenOptions, Opened, Origin, Result, Setting,
    SettingValues, Settings, Store, Tier, as_set,
};

/// A hybrid of a key-value engine, the front, and DuckDB, the mirror.
pub(crate) struct HybridEngine {
    info: Info,
    front: &'static dyn Engine,
    /// Whether the front has its own cache, which shares the memory with the mirror's.
    front_caches: bool,
    /// Suffix of the front's files that are removed if they are empty.
    empty: Option<&'static str>,
    settings: Settings,
}

/// Hybrid with LMDB as the front.
pub(crate) static HYBRID_LMDB: HybridEngine = HybridEngine {
    info: Info::key_value("hybrid", "hybrid (LMDB, DuckDB)", "OpenLDAP Public License 2.8, MIT"),
    front: &crate::lmdb::ENGINE,
    front_caches: false,
    empty: None,
    settings: Settings { known: &[REFRESH, WRITE_AFTER, LOG_LIMIT], ..Settings::NONE },
};

/// Hybrid with Berkeley DB as the front. It allows one client at a time, so there is no refresh in
/// the background.
pub(crate) static HYBRID_BERKELEY_DB: HybridEngine = HybridEngine {
    info: Info::key_value("hybrid-bdb", "hybrid (Berkeley DB, DuckDB)", "Sleepycat, MIT"),
    front: &crate::berkeleydb::ENGINE,
    front_caches: true,
    // Berkeley DB creates the file of a table before it writes its first page. If the power is cut
    // in between, its recovery fails at a file without a page, which has nothing to recover
    // (docs/durability-embedded.md).
    empty: Some(".db"),
    settings: Settings { known: &[WRITE_AFTER, LOG_LIMIT], ..Settings::NONE },
};

/// Milliseconds between two refreshes in the background. 0 for none.
const REFRESH: Setting = Setting::new("refresh_every_ms", SettingValues::Number);
/// Number of changed rows after which the mirror's file is written.
const WRITE_AFTER: Setting = Setting::new("write_after", SettingValues::Number);
/// Bytes of change records after which the mirror is abandoned.
const LOG_LIMIT: Setting = Setting::new("log_limit", SettingValues::Number);

/// Names of the folders of the front and the mirror.
const FRONT: &str = "front";
const MIRROR: &str = "mirror";

impl HybridEngine {
    /// Returns the options of the front, and of the mirror in its own folder.
    fn parts(&self, options: &OpenOptions) -> (OpenOptions, OpenOptions) {
        let memory = if self.front_caches { options.memory / 2 } else { options.memory };
        let part = OpenOptions { memory, settings: Vec::new(), ..options.clone() };
        let front = OpenOptions { dir: options.dir.join(FRONT), ..part.clone() };
        // The mirror has no log, because changes missing from its file are copied again. But
        // changes that its file claims to have must have reached the disk. Without syncs a power
        // cut leaves a file that claims more than it has.
        let settings = match options.durability {
            Durability::Power => vec![(FSYNC_MODE.to_owned(), ENGINE_DEFAULT.to_owned())],
            _ => Vec::new(),
        };
        let clients = options.clients + 1;
        (front, OpenOptions { durability: Durability::None, clients, settings, ..part })
    }

    fn options(&self, options: &OpenOptions, mirror: OpenOptions) -> Result<Options> {
        let open: OpenMirror = Arc::new(move |folder| open_mirror(&mirror, folder));
        let mut own = Options::new(options.dir.join(MIRROR), open);
        let id = self.info.id;
        let every = options.number::<u64>(id, REFRESH.name)?.filter(|every| *every > 0);
        own.refresh_every = every.map(Duration::from_millis);
        own.write_after = options.number(id, WRITE_AFTER.name)?.unwrap_or(own.write_after);
        own.log_limit = options.number(id, LOG_LIMIT.name)?.unwrap_or(own.log_limit);
        own.on_event = Arc::new(|what| eprintln!("hybrid: {what}"));
        Ok(own)
    }

    fn versions(&self, front: &str, mirror: &str) -> String {
        format!("{} {front}, {} {mirror}", self.front.info().name, duckdb::ENGINE.info().name)
    }
}

/// Removes the empty files of a folder with this suffix.
fn remove_empty(folder: &Path, end: &str) -> Result<()> {
    let failed = |error| EngineError::file("hybrid", "look for empty files in", folder, error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_named = entry.file_name().to_str().is_some_and(|name| name.ends_with(end));
        let about = entry.metadata().map_err(failed)?;
        if is_named && about.is_file() && about.len() == 0 {
            std::fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

fn open_mirror(options: &OpenOptions, folder: &Path) -> Result<Box<dyn SqlStore>> {
    let options = OpenOptions { dir: folder.to_owned(), ..options.clone() };
    duckdb::ENGINE.open(&options)?.store.into_sql(MIRROR, "open")
}

impl Engine for HybridEngine {
    fn info(&self) -> Info {
        self.info
    }

    fn availability(&self) -> Availability {
        match (self.front.availability(), duckdb::ENGINE.availability()) {
            (Availability::Ready { version }, Availability::Ready { version: mirror }) => {
                Availability::Ready { version: self.versions(&version, &mirror) }
            }
            (Availability::Ready { .. }, missing) | (missing, _) => missing,
        }
    }

    fn library(&self) -> Option<&'static str> {
        duckdb::ENGINE.library()
    }

    fn origin(&self) -> Option<Origin> {
        Some(Origin::CompiledIn)
    }

    fn tier(&self, durability: Durability) -> Tier {
        self.front.tier(durability)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (id, (front, mirror)) = (self.info.id, self.parts(options));
        // The archive of old rows is Parquet files.
        check_no_pattern(id, &options.dir)?;
        let own = self.options(options, mirror.clone())?;
        std::fs::create_dir_all(&front.dir)
            .map_err(|error| EngineError::file(id, "make", &front.dir, error))?;
        self.empty.map_or(Ok(()), |end| remove_empty(&front.dir, end))?;
        let Opened { store, version, mut settings, .. } = self.front.open(&front)?;
        let store = store.into_kv(id, "open its front")?;
        let every = own.refresh_every.map_or(0, |every| every.as_millis());
        let own_settings = [
            (REFRESH.name, as_set(every)),
            (WRITE_AFTER.name, as_set(own.write_after)),
            (LOG_LIMIT.name, as_set(own.log_limit)),
            ("mirror.durability", as_set(mirror.durability)),
            ("mirror.memory", as_set(format_args!("{} bytes", mirror.memory))),
        ];
        let has = |name: &str| name.starts_with(MIRROR) || self.settings.find(name).is_some();
        let own_settings = own_settings.into_iter().filter(|(name, _)| has(name));
        settings.extend(own_settings.map(|(name, value)| (name.to_owned(), value)));
        self.settings.check_accepted(id, options, &mut settings)?;
        let version = match duckdb::ENGINE.availability() {
            Availability::Ready { version: mirror } => self.versions(&version, &mirror),
            Availability::Missing { why, remedy } => {
                return Err(EngineError::unavailable(id, why, remedy));
            }
        };
        let store = Store::Kv(Box::new(Hybrid::open(store, own)?));
        Ok(Opened { store, version, settings, server: None })
    }
}
