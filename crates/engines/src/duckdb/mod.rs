//! `duckdb`: DuckDB, by its C interface, from a library that is opened at run time.

mod api;
mod appender;
mod connection;
mod dialect;
mod library;
mod statement;
mod store;
#[cfg(test)]
mod tests;
mod tier;
mod vector;

use std::num::NonZero;
use std::path::Path;
use std::rc::Rc;

use embermark_model::{Durability, Explained, StandsOut};

use crate::sql_driver::Stopped;
use crate::{Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Result, Tier};
use connection::Connection;
use library::{DuckLib, LIBRARY};
use statement::Prepared;
use store::Session;
use tier::{Log, tiers};

/// Its name in errors.
const NAME: &str = "duckdb";

/// The database's file in its directory.
const FILE: &str = "embermark.duckdb";

/// What its section in `docs/engines.md` says of single rows, and of opening.
const EXPLAINED: &[Explained] = &[
    Explained {
        how: StandsOut::Lag,
        phases: &[
            "load",
            "read",
            "last_readings",
            "update",
            "delete",
            "insert",
            "insert_count",
            "live",
        ],
        why: "a column store: single rows are not what it is for",
        section: "docs/engines.md#duckdb",
    },
    Explained {
        how: StandsOut::Lag,
        phases: &["open_close", "open", "open_log"],
        why: "opening an instance builds its catalogue of functions",
        section: "docs/engines.md#duckdb",
    },
];

/// The engine.
pub(crate) struct DuckDb;

impl Engine for DuckDb {
    fn info(&self) -> Info {
        Info {
            id: NAME,
            name: "DuckDB",
            kind: Kind::Embedded,
            family: DataModel::Sql,
            licence: "MIT",
        }
    }

    fn availability(&self) -> Availability {
        LIBRARY.availability(|library| library.version.clone())
    }

    fn tier(&self, durability: Durability) -> Tier {
        tiers(LIBRARY.get().ok()).tier(durability)
    }

    fn explained(&self) -> &'static [Explained] {
        EXPLAINED
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let library = LIBRARY.get()?;
        let row = tiers(Some(library)).of(options.durability);
        let place = Place { library, log: row.set, options: options.clone() };
        let connection = Rc::new(place.open()?);
        let settings = read_back(&connection)?;
        row.check(NAME, options.durability, &settings)?;
        let store = Session::store(connection, place)?;
        Ok(Opened { store, version: library.version.clone(), settings, server: None })
    }
}

/// What a database is opened by.
#[derive(Clone)]
struct Place {
    library: &'static DuckLib,
    log: Log,
    options: OpenOptions,
}

impl Place {
    /// Opens the database, new or there already.
    fn open(&self) -> Result<Connection> {
        let (api, options) = (&self.library.api, &self.options);
        let file = options.dir.join(FILE);
        let mut settings = vec![
            ("memory_limit", format!("{}B", memory_limit(options))),
            ("temp_directory", options.dir.join("spill").to_string_lossy().into_owned()),
            // No question and no load of ours rests on the order in which rows were put in
            // (<https://duckdb.org/docs/stable/guides/performance/how_to_tune_workloads>).
            ("preserve_insertion_order", "false".to_owned()),
            // A benchmark loads nothing from the network.
            ("autoinstall_known_extensions", "false".to_owned()),
        ];
        if self.library.has_block_size {
            settings.push(("default_block_size", BLOCK_SIZE.to_string()));
        }
        match self.log {
            Log::Synced => {}
            Log::Unsynced => settings.push(("fsync_mode", "none".to_owned())),
            Log::None => {
                let connection = Connection::open(api, None, &settings)?;
                let path = quoted(&file);
                connection.batch(&format!(
                    "ATTACH {path} AS embermark (RECOVERY_MODE no_wal_writes); USE embermark"
                ))?;
                return Ok(connection);
            }
        }
        Connection::open(api, Some(&file), &settings)
    }
}

/// Bytes of a block, the least that there is
/// (<https://duckdb.org/docs/stable/sql/statements/attach>). A change of a key keeps each block of the
/// index that it has met in memory until a checkpoint: of those of 256 KiB, as shipped, 1,000 random
/// deletes from ten million rows fill `memory_limit`. Loads and questions take as much processor time
/// with either.
const BLOCK_SIZE: u32 = 16_384;

/// DuckDB limits the memory of all it does, not of its cache: a load of a million rows in one
/// transaction fails at 64 MiB. So the working memory it says it needs is added to the cache's:
/// "a minimum of 125 MB of memory per thread"
/// (<https://duckdb.org/docs/stable/guides/performance/environment>). Where memory is limited it is at
/// most two fifths of that: some of what DuckDB does goes round its limit, and it would be killed
/// (<https://duckdb.org/docs/stable/guides/troubleshooting/oom_errors>, which advises half or more).
/// With three fifths of 256 MiB, deletes from a million rows had it killed in three of four trials.
fn memory_limit(options: &OpenOptions) -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let wanted = options.memory + threads * 125_000_000;
    options.limit.map_or(wanted, |limit| wanted.min(limit / 5 * 2))
}

/// A path as a literal of SQL.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "''"))
}

/// What decides speed and durability, as the database itself says. (Of RECOVERY_MODE it says
/// nothing; that it is in force shows in the log that is not written.)
const SETTINGS: &str = "SELECT name, value FROM duckdb_settings() WHERE name IN ('threads', \
    'memory_limit', 'wal_autocheckpoint', 'temp_directory', 'preserve_insertion_order', \
    'default_block_size', 'fsync_mode') ORDER BY name";

fn read_back(connection: &Rc<Connection>) -> Result<Vec<(String, String)>> {
    let mut settings = Vec::new();
    let read = Prepared::new(connection, SETTINGS, 0)?.query(&[], &mut |row| {
        let [name, value] =
            [row.text(0)?, row.text(1)?].map(|text| text.unwrap_or_default().into());
        settings.push((name, value));
        Ok(())
    });
    read.map_err(Stopped::into_error).map(|()| settings)
}
