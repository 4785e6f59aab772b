//! `duckdb`: DuckDB, through its C interface, from a library loaded at run time.

mod appender;
mod dialect;
mod plan;
mod statement;
mod store;
#[cfg(test)]
mod tests;
mod tier;
mod untrusted;
mod vector;

use std::num::NonZero;
use std::path::Path;
use std::rc::Rc;

use embermark_model::result::Counts;
use embermark_model::{CostAnomaly, Durability, Explained};

use crate::settings::lines;
use crate::sql::QueryKind;
use crate::sql_driver::Stopped;
use crate::{
    Candidate, ConnectionParameters, Embedded, EngineError, Info, OpenOptions, Opened, Result,
    Setting, SettingValues, Settings,
};
use embermark_libraries::duckdb::NAME;
use embermark_libraries::duckdb::connection::Connection;
use embermark_libraries::duckdb::library::{DuckLib, LIBRARY, VARIABLE};
use statement::Prepared;
use store::Session;
pub(crate) use tier::FSYNC_MODE;
use tier::{Log, tiers};

/// What DuckDB reads as a pattern or as the end of a folder's name, in a pattern of files. It has
/// no way to write these characters themselves (`LocalFileSystem::Glob`,
/// <https://github.com/duckdb/duckdb/blob/main/src/common/local_file_system.cpp>).
const OF_PATTERNS: [char; 4] = ['\\', '*', '?', '['];

/// Returns an error if DuckDB cannot read Parquet files in a folder, because its path is a pattern.
///
/// # Errors
/// Unsupported by the engine `id`.
pub(crate) fn check_no_pattern(id: &'static str, dir: &Path) -> Result<()> {
    if dir.to_string_lossy().contains(OF_PATTERNS) {
        let path = dir.display();
        let what = format!("a folder whose path has \\, *, ? or [ ({path}): choose another folder");
        return Err(EngineError::unsupported(id, what));
    }
    Ok(())
}

/// Name of the database's file in its folder.
const FILE: &str = "embermark.duckdb";

/// The explanations of single rows and of opening in `docs/engines/duckdb.md`.
const EXPLAINED: &[Explained] = &[
    Explained {
        how: CostAnomaly::Lag,
        counts: &[Counts::Point, Counts::Ingest, Counts::Update],
        phases: &[],
        why: "a prepared statement is planned anew each time it is executed",
        evidence: "DuckDB's own profile: 62 % of a read is planning, 10 % its operators",
        section: "docs/engines/duckdb.md#what-measurements-show",
    },
    Explained {
        how: CostAnomaly::Lag,
        counts: &[Counts::Start],
        phases: &[],
        why: "opening an instance builds its catalogue of functions",
        evidence: "perf: most of its 10 ms of processor time",
        section: "docs/engines/duckdb.md#what-measurements-show",
    },
];

pub(crate) static ENGINE: Embedded<Log> = Embedded {
    library: Some(VARIABLE),
    origin: || LIBRARY.origin(VARIABLE),
    settings: SETTINGS,
    explained: EXPLAINED,
    ..Embedded::new(
        Info::sql(NAME, "DuckDB", "MIT"),
        || tiers(LIBRARY.get().ok()),
        || LIBRARY.availability(|library| library.version.clone()),
        open,
    )
};

fn open(options: &OpenOptions, &log: &Log) -> Result<Opened> {
    let library = LIBRARY.get()?;
    let config = DatabaseConfig { library, log, options: options.clone() };
    let connection = Rc::new(config.open()?);
    let settings = read_back(&connection, options)?;
    let store = Session::store(connection, config)?;
    Ok(Opened { store, version: library.version.clone(), settings, server: None })
}

/// Option of `ATTACH` that turns the log off.
const NO_LOG: &str = "RECOVERY_MODE no_wal_writes";

/// The library, the log setting and the options that a database is opened with.
#[derive(Clone)]
struct DatabaseConfig {
    library: &'static DuckLib,
    log: Log,
    options: OpenOptions,
}

impl DatabaseConfig {
    /// Returns the settings that are passed when the database is opened.
    fn settings(&self) -> Vec<(&str, String)> {
        let options = &self.options;
        let mut settings = vec![
            ("memory_limit", format!("{}B", memory_limit(options))),
            ("temp_directory", options.dir.join("spill").to_string_lossy().into_owned()),
            // No query and no load here depends on the order of insertion
            // (<https://duckdb.org/docs/stable/guides/performance/how_to_tune_workloads>).
            ("preserve_insertion_order", "false".to_owned()),
            // A benchmark must not load anything from the network.
            ("autoinstall_known_extensions", "false".to_owned()),
            ("autoload_known_extensions", "false".to_owned()),
        ];
        if self.library.has_block_size {
            settings.push((BLOCK_SIZE.0, BLOCK_SIZE.1.to_string()));
        }
        // Its checkpoints would sync.
        if self.log != Log::Synced && self.library.has_fsync_mode {
            settings.push((FSYNC_MODE, "none".to_owned()));
        }
        let block_size = options.configured().filter(|(name, _)| *name == BLOCK_SIZE.0);
        let block_size = block_size.map(|(name, value)| (name, value.to_owned()));
        options.not_configured(settings).chain(block_size).collect()
    }

    /// Opens the database, new or existing.
    fn open(&self) -> Result<Connection> {
        let (file, is_logged) = (self.options.dir.join(FILE), self.log != Log::None);
        let opened = is_logged.then_some(&*file);
        let connection = Connection::open(&self.library.api, opened, &self.settings())?;
        if !is_logged {
            let path = quoted(&file);
            connection.batch(&format!("ATTACH {path} AS embermark ({NO_LOG}); USE embermark"))?;
        }
        self.configure(&connection).map(|()| connection)
    }

    /// Returns the settings of a configuration that an open database accepts.
    fn runtime_settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options.configured().filter(|(name, _)| *name != BLOCK_SIZE.0)
    }

    /// Returns the statement that sets the number of threads before statements of a kind. Short
    /// ones are fastest on one thread, because no work is handed over. Long ones use all threads.
    /// Empty if a configuration has set the number.
    fn threads_for(&self, kind: QueryKind) -> &'static str {
        let is_threads =
            |(name, _): (&str, &str)| THREADS.iter().any(|known| name.eq_ignore_ascii_case(known));
        match kind {
            _ if self.options.configured().any(is_threads) => "",
            QueryKind::Point => "SET threads = 1",
            QueryKind::Analytic => "RESET threads",
        }
    }

    /// Returns the parameters for a program in another language.
    fn connection(&self) -> ConnectionParameters {
        let json = |pairs: Vec<(&str, String)>| {
            let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
            serde_json::Value::Object(pairs.collect()).to_string()
        };
        let runtime_settings =
            self.runtime_settings().map(|(name, value)| (name, value.to_owned())).collect();
        let attach = if self.log == Log::None { NO_LOG } else { "" };
        vec![
            ("file", self.options.dir.join(FILE).display().to_string()),
            ("settings", json(self.settings())),
            ("set", json(runtime_settings)),
            ("attach", attach.to_owned()),
            ("point", self.threads_for(QueryKind::Point).to_owned()),
            ("analytic", self.threads_for(QueryKind::Analytic).to_owned()),
            ("version", self.library.version.clone()),
        ]
    }

    /// Sets on a connection those settings of a configuration that an open database accepts.
    fn configure(&self, connection: &Connection) -> Result<()> {
        self.runtime_settings().try_for_each(|(name, value)| {
            connection.batch(&format!("SET {name} = {}", literal(value)))
        })
    }
}

/// Settings that SET accepts once a database is open
/// (<https://duckdb.org/docs/stable/configuration/overview>). DuckDB reports unknown ones, with the
/// nearest name.
pub(crate) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("memory_limit", SettingValues::Any).engine_default(),
        Setting::new("preserve_insertion_order", SettingValues::Any).engine_default(),
        Setting::new(BLOCK_SIZE.0, SettingValues::Number).engine_default(),
        Setting::new(FSYNC_MODE, SettingValues::Any).engine_default(),
    ],
    others: Some("what SET takes"),
    reserved: &[
        ("temp_directory", "its files lie in its folder"),
        ("access_mode", "it is written"),
    ],
    candidates: CANDIDATES,
    written: |set| {
        lines("-- before the database is attached", set, |name, value| {
            format!("SET {name} = '{value}';")
        })
    },
};

/// The names of the setting of threads (<https://duckdb.org/docs/stable/configuration/overview>).
const THREADS: [&str; 2] = ["threads", "worker_threads"];

const OVERVIEW: &str = "https://duckdb.org/docs/stable/configuration/overview";

/// Values that tuning tries.
const CANDIDATES: &[Candidate] = &[
    Candidate::new(
        &[("default_block_size", "262144")],
        "a change of a key keeps more in memory",
        OVERVIEW,
    ),
    Candidate::new(&[("checkpoint_threshold", "1MB")], "more checkpoints", OVERVIEW),
    Candidate::new(
        &[("checkpoint_threshold", "256MB")],
        "a longer log, which is read when it is opened",
        OVERVIEW,
    ),
    Candidate::new(&[("threads", "1")], "questions have one processor", OVERVIEW),
    Candidate::new(&[("preserve_insertion_order", "true")], "loads take more memory", OVERVIEW),
    // Since 2.0.
    Candidate::new(
        &[(FSYNC_MODE, "none")],
        "a power cut loses the last commits and may damage the file",
        OVERVIEW,
    )
    .keeping(Durability::Process),
];

/// Setting of the block size in bytes, which is set before a database is created, and its least
/// value (<https://duckdb.org/docs/stable/sql/statements/attach>). A change of a key keeps each
/// block of the index that it has visited in memory until a checkpoint. With the default of 256
/// KiB, 1,000 random deletes from ten million rows fill `memory_limit`. Loads and queries take the
/// same processor time with both sizes.
const BLOCK_SIZE: (&str, u32) = ("default_block_size", 16_384);

/// Returns DuckDB's memory limit in bytes. It covers everything and not only the cache: a load of a
/// million rows in one transaction fails at 64 MiB. So the working memory that the manual requires
/// is added to the cache: "a minimum of 125 MB of memory per thread"
/// (<https://duckdb.org/docs/stable/guides/performance/environment>). If memory is limited,
/// DuckDB's limit is at most two fifths of it. Some allocations bypass DuckDB's limit, and the
/// process would be killed (<https://duckdb.org/docs/stable/guides/troubleshooting/oom_errors>,
/// which advises half or more). With three fifths of 256 MiB, three of four trials were killed
/// during deletes from a million rows.
fn memory_limit(options: &OpenOptions) -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let wanted = options.memory + threads * 125_000_000;
    options.limit.map_or(wanted, |limit| wanted.min(limit / 5 * 2))
}

/// Returns a path as an SQL literal.
pub(crate) fn quoted(path: &Path) -> String {
    literal(&path.to_string_lossy())
}

/// Returns a text as an SQL literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Settings that decide speed and durability, as the database reports them. (It does not report
/// RECOVERY_MODE. If the log is missing, it is in effect.)
const REPORTED: [&str; 6] = [
    "threads",
    "memory_limit",
    "wal_autocheckpoint",
    "preserve_insertion_order",
    "default_block_size",
    FSYNC_MODE,
];

fn read_back(connection: &Rc<Connection>, options: &OpenOptions) -> Result<Vec<(String, String)>> {
    let configured = options.settings.iter().map(|(name, _)| &**name);
    let names: Vec<String> = REPORTED.into_iter().chain(configured).map(literal).collect();
    let query = format!(
        "SELECT name, value FROM duckdb_settings() WHERE name IN ({}) ORDER BY name",
        names.join(", ")
    );
    let mut settings = Vec::new();
    let read = Prepared::new(connection, &query, 0)?.query(&[], &mut |row| {
        let [name, value] =
            [row.text(0)?, row.text(1)?].map(|text| text.unwrap_or_default().into());
        settings.push((name, value));
        Ok(())
    });
    read.map_err(Stopped::into_error).map(|()| settings)
}
