//! `sqlite`: SQLite, bundled, in write-ahead mode.
//!
//! A statement that fails inside a transaction ends it: the transaction is rolled back, so that no
//! half of it can be committed.

mod authorizer;
mod bulk;
mod dialect;
mod settings;
mod statement;
mod store;
#[cfg(test)]
mod tests;
mod tier;

use std::rc::Rc;
use std::sync::Once;

use embermark_model::explained::{CostAnomaly, Explained};
use embermark_model::result::Counts;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, ffi};

use crate::{
    Availability, Embedded, EngineError, Info, OpenOptions, Opened, PATIENCE, Result, Setting,
    Store,
};
use settings::{IN_THE_FILE, SETTINGS};
use store::Session;
use tier::{Pragmas, TIERS};

/// Its name in errors.
const NAME: &str = "sqlite";

/// The database's file in its folder.
const FILE: &str = "embermark.sqlite";

/// The explanation in `docs/engines/sqlite.md`.
const EXPLAINED: &[Explained] = &[Explained {
    how: CostAnomaly::Lag,
    counts: &[Counts::Analytics],
    phases: &[],
    why: "a row store beside a column store: a query interprets one whole row after the other",
    evidence: "perf of avg_sensor at 1M rows: most of its 51 ms is in sqlite3VdbeExec and the reading of cells",
    section: "docs/engines/sqlite.md#what-measurements-show",
}];

pub(crate) static ENGINE: Embedded<Pragmas> = Embedded {
    settings: SETTINGS,
    explained: EXPLAINED,
    join: Some(join),
    ..Embedded::new(
        Info::sql(NAME, "SQLite", "public domain"),
        || TIERS,
        || Availability::Ready { version: rusqlite::version().to_owned() },
        open,
    )
};

fn open(options: &OpenOptions, _: &Pragmas) -> Result<Opened> {
    let connection = connect(options, Client::First)?;
    let mut settings = read_all(&connection, options)?;
    let locking = ("locking_mode".to_owned(), locking_mode(options).to_lowercase());
    if !settings.contains(&locking) {
        let why = format!("it did not accept locking_mode={}", locking.1);
        return Err(EngineError::failed(NAME, "set its pragmas", why));
    }
    settings.push((MEMORY_STATISTICS.to_owned(), u8::from(counts_memory()).to_string()));
    let store = Session::store(connection, options)?;
    let version = rusqlite::version().to_owned();
    Ok(Opened { store, version, settings, server: None })
}

fn join(options: &OpenOptions, _: &Pragmas) -> Result<Store> {
    let options = OpenOptions { shared: true, ..options.clone() };
    if is_locked(&options) {
        return Err(EngineError::unsupported(NAME, format!("a second process: {LOCKED}")));
    }
    Session::store(connect(&options, Client::Further)?, &options)
}

/// Why no other process can open a database that [is locked](is_locked).
const LOCKED: &str = "with locking_mode=EXCLUSIVE, set in the tier `none` and wherever one client has the database \
     alone, no other connection can access it (https://www.sqlite.org/pragma.html#pragma_locking_mode)";

/// Returns whether the file stays locked while it is open. This saves locking in every transaction,
/// and in write-ahead mode the shared memory (<https://www.sqlite.org/wal.html#noshm>).
fn is_locked(options: &OpenOptions) -> bool {
    let ours = || options.is_alone() || TIERS.for_tier(options.durability).set.exclusive;
    let own = options.setting("locking_mode");
    own.map_or_else(ours, |mode| mode.eq_ignore_ascii_case("EXCLUSIVE"))
}

fn locking_mode(options: &OpenOptions) -> &'static str {
    if is_locked(options) { "EXCLUSIVE" } else { "NORMAL" }
}

/// Returns whether commits go to a write-ahead log.
fn has_log(options: &OpenOptions) -> bool {
    let ours = TIERS.for_tier(options.durability).set.journal_mode;
    options.setting("journal_mode").unwrap_or(ours).eq_ignore_ascii_case("WAL")
}

/// Whose process created the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    /// This process.
    First,
    /// Another process, which has it open.
    Further,
}

/// Option of the whole library that counts its memory, under a mutex of the process at each
/// allocation.
const MEMORY_STATISTICS: &str = "SQLITE_CONFIG_MEMSTATUS";

/// Turns off statistics of memory, as the manual recommends for programs that do not read them
/// (<https://www.sqlite.org/compile.html>, `SQLITE_DEFAULT_MEMSTATUS=0`). SQLite accepts that only
/// before its first use in the process. It otherwise keeps the statistics, which costs time but
/// changes no answer, so a refusal is not an error. The settings of an open database show it.
fn count_no_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the option takes one `int`. No thread uses SQLite meanwhile: every client comes
        // here first, and other parts of embermark read SQLite's files in other processes.
        unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0) };
    });
}

/// Whether SQLite counts its memory. It reports none in use if it does not, even with an open
/// database.
fn counts_memory() -> bool {
    // SAFETY: it has no precondition.
    unsafe { ffi::sqlite3_memory_used() != 0 }
}

/// Opens the database with these options and the tier's pragmas. It can be new or exist, but must
/// exist if another process has created it.
fn connect(options: &OpenOptions, client: Client) -> Result<Rc<Connection>> {
    count_no_memory();
    let path = options.dir.join(FILE);
    let mut flags = OpenFlags::default();
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, client == Client::First);
    let connection = Connection::open_with_flags(&path, flags)
        .map_err(|e| EngineError::failed(NAME, format!("open {}", path.display()), e))?;
    if !is_locked(options) {
        // Clients wait for each other's locks. With a rollback journal the first client waits too,
        // for readers.
        let patient = connection.busy_timeout(PATIENCE);
        patient.map_err(|e| EngineError::failed(NAME, "set its busy handler", e))?;
    }
    let configured = configure(&connection, options, client);
    configured.map_err(|e| EngineError::failed(NAME, "set its pragmas", e))?;
    Ok(Rc::new(connection))
}

/// Pragmas that decide speed and durability, to read back.
const PRAGMAS: [&str; 7] = [
    "journal_mode",
    "synchronous",
    "cache_size",
    "page_size",
    "locking_mode",
    "wal_autocheckpoint",
    "mmap_size",
];

/// Sets the pragmas of the tier, overridden by those of a configuration.
fn configure(
    connection: &Connection,
    options: &OpenOptions,
    client: Client,
) -> rusqlite::Result<()> {
    // The bundled library keeps histograms of indexed columns (STAT4) once ANALYZE has run, and
    // then plans a statement again whenever a parameter compared with an index is bound anew:
    // https://www.sqlite.org/c3ref/prepare.html. A planner that does not look at parameters is
    // the documented way out: https://www.sqlite.org/queryplanner-ng.html#qpsg.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // No other database is ever attached to it (https://www.sqlite.org/c3ref/limit.html).
    // SAFETY: the connection is open.
    unsafe { ffi::sqlite3_limit(connection.handle(), ffi::SQLITE_LIMIT_ATTACHED, 0) };
    for (name, value) in pragmas(options, client) {
        connection.execute_batch(&format!("PRAGMA {name} = {value};"))?;
    }
    Ok(())
}

/// Returns the pragmas that a client sets, in this order.
fn pragmas(
    options: &OpenOptions,
    client: Client,
) -> impl Iterator<Item = (&'static str, String)> + use<'_> {
    let locking_mode = locking_mode(options);
    let Pragmas { journal_mode, synchronous, .. } = TIERS.for_tier(options.durability).set;
    // A negative cache size counts in KiB. Memory-mapped I/O stays off, its default: the manual
    // promises no gain and warns of its costs (https://www.sqlite.org/mmap.html).
    let cache = options.memory / 1024;
    SETTINGS.known.iter().filter_map(move |Setting { name, .. }| {
        let ours = match *name {
            "synchronous" => Some(synchronous.to_owned()),
            "locking_mode" => Some(locking_mode.to_owned()),
            "cache_size" => Some(format!("-{cache}")),
            "journal_mode" => Some(journal_mode.to_owned()),
            _ => None,
        };
        // Settings stored in the file are set by its creator.
        let made = client == Client::Further && IN_THE_FILE.contains(name);
        Some((*name, options.setting(name).map(str::to_owned).or(ours).filter(|_| !made)?))
    })
}

/// Reads back the reported pragmas, and those of a configuration.
fn read_all(connection: &Connection, options: &OpenOptions) -> Result<Vec<(String, String)>> {
    let own = options.settings.iter().map(|(name, _)| &**name);
    let names = PRAGMAS.into_iter().chain(own.filter(|name| !PRAGMAS.contains(name)));
    let read: rusqlite::Result<_> =
        names.map(|name| Ok((name.to_owned(), read_back(connection, name)?))).collect();
    read.map_err(|e| EngineError::failed(NAME, "read its pragmas back", e))
}

fn read_back(connection: &Connection, name: &str) -> rusqlite::Result<String> {
    use rusqlite::types::Value;
    connection.pragma_query_value(None, name, |row| row.get(0)).map(|value| match value {
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text,
        other => format!("{other:?}"),
    })
}
