//! The mirror's database: its folder, its metadata, and a client's connection.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;

use embermark_contract::sql::{Param, SqlStore, Statement, TableDef, Visit};
use embermark_contract::{EngineError, Result};

use crate::catalog::Stamp;
use crate::shared::{HighestKeys, MirroredTable, Shared, State};
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
    pub fn new(sql: Box<dyn SqlStore>, generation: u64) -> Self {
        Self { sql, generation, applied: 0, statements: HashMap::new() }
    }

    /// Returns a client's connection. `doing` is the operation, for the error.
    pub fn of<'a>(opened: &'a mut Option<Self>, doing: &str) -> Result<&'a mut Self> {
        opened.as_mut().ok_or_else(|| EngineError::failed(NAME, doing, "it is not connected"))
    }

    /// Returns the prepared statement of a text, which is prepared at its first use.
    pub fn statement(&mut self, text: &str) -> Result<Statement> {
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
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(|e| EngineError::file(NAME, "remove", path, e))?;
        }
    }
    Ok(())
}

/// Returns the stored state of a mirror that matches the stamp and has every table with its current
/// decoder, and removes the mirror's stamp: the number of the last change record whose changes are
/// in it, and the largest keys. `None` if it does not match.
pub(crate) fn take_stored_state(
    sql: &mut dyn SqlStore,
    shared: &Shared,
    stamp: Stamp,
) -> Result<Option<(u64, HighestKeys)>> {
    let mirrored = shared.mirrored_tables();
    let (mut applied, mut highest, mut of_stamp) = (0, BTreeMap::new(), false);
    let select = "SELECT format, stamp, applied FROM hybrid·books";
    visit(sql, select, &mut |row| {
        of_stamp = row.int(0)? == Some(FORMAT) && row.int(1)? == Some(stamp.random as i64);
        applied = row.int(2)?.and_then(|applied| u64::try_from(applied).ok()).unwrap_or(0);
        Ok(())
    })?;
    let mut same = 0;
    let select = "SELECT id, name, version, highest FROM hybrid·tables";
    visit(sql, select, &mut |row| {
        let (id, name, version) = (row.int(0)?, row.text(1)?.unwrap_or_default(), row.int(2)?);
        let known = mirrored.iter().find(|(known, _)| Some(i64::from(*known)) == id);
        if let Some((id, MirroredTable { decode, .. })) = known
            && decode.rows().name == name
            && version == Some(i64::from(decode.version()))
        {
            same += 1;
            highest.extend(row.bytes(3)?.map(|key| (*id, key.to_vec())));
        }
        Ok(())
    })?;
    if !of_stamp || same != mirrored.len() {
        return Ok(None);
    }
    // Its file never has later rows with this stamp, which the front may have again after a power
    // cut.
    sql.batch("DELETE FROM hybrid·books")?;
    Ok(Some((applied, highest)))
}

fn visit(sql: &mut dyn SqlStore, text: &str, visit: &mut Visit<'_>) -> Result<()> {
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
        let highest = state.highest.get(&id).map_or(Param::Null, |key| Param::Bytes(key));
        let (id, version) = (Param::Int(id.into()), Param::Int(decode.version().into()));
        sql.run(insert, &[id, Param::Text(decode.rows().name), version, highest])?;
    }
    sql.batch("CHECKPOINT")
}

impl MirroredTable {
    /// Creates or replaces its tables in the mirror, empty.
    pub fn create_tables(&self, sql: &mut dyn SqlStore) -> Result<()> {
        [self.rows, self.overlay].into_iter().try_for_each(|table| {
            let columns = columns(sql, table);
            sql.batch(&format!("CREATE OR REPLACE TABLE {} ({columns})", table.name))
        })
    }

    /// Creates one of its temporary tables, which live as long as the connection.
    pub fn create_temporary(&self, sql: &mut dyn SqlStore, table: &TableDef) -> Result<()> {
        let columns = columns(sql, table);
        sql.batch(&format!("CREATE TEMPORARY TABLE IF NOT EXISTS {} ({columns})", table.name))
    }

    /// Deletes the rows of a table whose keys are in `removals`, and empties `removals`.
    pub fn apply_removals(&self, sql: &mut dyn SqlStore, of: &TableDef) -> Result<()> {
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
