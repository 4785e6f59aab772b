//! The mirror's database: its folder, its metadata, and a client's connection.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use embermark_contract::sql::{Param, SqlStore, Statement, TableDef};
use embermark_contract::{EngineError, Result};

use crate::catalog::Stamp;
use crate::shared::{MirroredTable, Shared};
use crate::state::{State, StoredState};
use crate::{NAME, Options};

/// Version of the hybrid's own tables in the mirror.
const FORMAT: i64 = 2;

/// A client's connection to the mirror.
pub(crate) struct Connection {
    pub sql: Box<dyn SqlStore>,
    /// Number of its mirror.
    pub generation: u64,
    /// Number of the last change record that its statements have seen.
    pub applied: u64,
    /// Prepared statements by their texts.
    statements: HashMap<String, Statement>,
}

impl Connection {
    pub(crate) fn new(sql: Box<dyn SqlStore>, generation: u64) -> Self {
        Self { sql, generation, applied: 0, statements: HashMap::new() }
    }

    /// Returns the prepared statement of a text, which is prepared at its first use.
    pub(crate) fn statement(&mut self, text: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(text) {
            return Ok(*statement);
        }
        let statement = self.sql.prepare(text)?;
        self.statements.insert(text.to_owned(), statement);
        Ok(statement)
    }
}

/// Returns the folder of a mirror by its number. A rebuilt mirror has a new number, so it never
/// meets the files of the previous one.
fn folder(options: &Options, generation: u64) -> PathBuf {
    options.dir.join(format!("mirror-{generation}"))
}

/// Returns the number of the latest mirror on disk. 0 if there are none.
pub(crate) fn latest_generation(options: &Options) -> u64 {
    let Ok(entries) = fs::read_dir(&options.dir) else { return 0 };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.strip_prefix("mirror-")?.parse().ok()).max().unwrap_or(0)
}

/// Opens the mirror with that number, new or existing.
pub(crate) fn open(options: &Options, generation: u64) -> Result<Box<dyn SqlStore>> {
    let folder = folder(options, generation);
    fs::create_dir_all(&folder).map_err(|e| EngineError::file(NAME, "make", &folder, e))?;
    (options.mirror)(&folder)
}

/// Removes every mirror.
pub(crate) fn remove_all(options: &Options) -> Result<()> {
    let Ok(entries) = fs::read_dir(&options.dir) else { return Ok(()) };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with("mirror-") {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(EngineError::file(NAME, "remove", folder, error))
        }
        _ => Ok(()),
    }
}

/// Returns the stored state of a mirror that matches the stamp and has every table with its current
/// decoder, and removes the mirror's stamp. `None` if it does not match.
pub(crate) fn take_stored_state(
    sql: &mut dyn SqlStore,
    shared: &Shared,
    stamp: Stamp,
) -> Result<Option<StoredState>> {
    let mirrored = shared.mirrored_tables();
    let mut stored = StoredState { applied: 0, highest: Vec::new() };
    let mut of_stamp = false;
    let select = "SELECT format, stamp, applied FROM hybrid·books";
    visit(sql, select, &mut |row| {
        of_stamp = row.int(0)? == Some(FORMAT) && row.int(1)? == Some(stamp.random as i64);
        stored.applied = row.int(2)?.and_then(|applied| u64::try_from(applied).ok()).unwrap_or(0);
        Ok(())
    })?;
    let mut same = 0;
    let select = "SELECT id, name, version, highest FROM hybrid·tables";
    visit(sql, select, &mut |row| {
        let id = row.int(0)?.unwrap_or(-1);
        let (name, version) = (row.text(1)?.unwrap_or_default(), row.int(2)?);
        let known = mirrored.iter().find(|(known, _)| i64::from(*known) == id);
        let is_same = known.is_some_and(|(_, MirroredTable { decode, .. })| {
            decode.rows().name == name && version == Some(i64::from(decode.version()))
        });
        if let (true, Ok(id)) = (is_same, usize::try_from(id)) {
            same += 1;
            if stored.highest.len() <= id {
                stored.highest.resize(id + 1, None);
            }
            stored.highest[id] = row.bytes(3)?.map(<[u8]>::to_vec);
        }
        Ok(())
    })?;
    if !of_stamp || same != mirrored.len() {
        return Ok(None);
    }
    // Its file never has later rows with this stamp, which the front may have again after a power
    // cut.
    sql.batch("DELETE FROM hybrid·books")?;
    Ok(Some(stored))
}

fn visit(
    sql: &mut dyn SqlStore,
    text: &str,
    visit: &mut embermark_contract::sql::Visit<'_>,
) -> Result<()> {
    let statement = sql.prepare(text)?;
    sql.query(statement, &[], visit)
}

/// Stores the mirror's state and its stamp, for the next opening.
pub(crate) fn store_state(
    sql: &mut dyn SqlStore,
    shared: &Shared,
    state: &State,
    stamp: Stamp,
) -> Result<()> {
    let applied = shared.applied.load(std::sync::atomic::Ordering::Acquire) as i64;
    sql.batch(&format!(
        "CREATE OR REPLACE TABLE hybrid·books AS \
         SELECT {FORMAT}::BIGINT AS format, {}::BIGINT AS stamp, {applied}::BIGINT AS applied; \
         CREATE OR REPLACE TABLE hybrid·tables (id BIGINT, name VARCHAR, version BIGINT, highest BLOB)",
        stamp.random as i64
    ))?;
    let insert = sql.prepare("INSERT INTO hybrid·tables VALUES (?, ?, ?, ?)")?;
    for (id, MirroredTable { decode, .. }) in shared.mirrored_tables() {
        let highest = state.highest.get(usize::from(id)).and_then(Option::as_deref);
        let highest = highest.map_or(Param::Null, Param::Bytes);
        let (name, version) = (decode.rows().name, i64::from(decode.version()));
        sql.run(
            insert,
            &[Param::Int(i64::from(id)), Param::Text(name), Param::Int(version), highest],
        )?;
    }
    sql.batch("CHECKPOINT")
}

impl MirroredTable {
    /// Creates or replaces its tables in the mirror, empty.
    pub(crate) fn create_tables(&self, sql: &mut dyn SqlStore) -> Result<()> {
        [self.rows, self.overlay].into_iter().try_for_each(|table| {
            let columns = columns(sql, table);
            sql.batch(&format!("CREATE OR REPLACE TABLE {} ({columns})", table.name))
        })
    }

    /// Creates one of its temporary tables, which live as long as the connection.
    pub(crate) fn create_temporary(&self, sql: &mut dyn SqlStore, table: &TableDef) -> Result<()> {
        let columns = columns(sql, table);
        sql.batch(&format!("CREATE TEMPORARY TABLE IF NOT EXISTS {} ({columns})", table.name))
    }

    /// Deletes the rows of a table whose keys are in `removals`, and empties `removals`.
    pub(crate) fn apply_removals(&self, sql: &mut dyn SqlStore, of: &TableDef) -> Result<()> {
        let (of, gone, same) = (of.name, self.removals.name, self.same_key_sql("r", "g"));
        sql.batch(&format!(
            "DELETE FROM {of} AS r USING {gone} AS g WHERE {same}; DELETE FROM {gone}"
        ))
    }
}

fn columns(sql: &dyn SqlStore, of: &TableDef) -> String {
    let dialect = sql.dialect();
    let columns =
        of.columns.iter().map(|(name, of, _)| format!("{name} {}", dialect.type_name(*of)));
    columns.collect::<Vec<_>>().join(", ")
}
