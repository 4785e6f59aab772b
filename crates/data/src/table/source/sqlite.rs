//! Reads rows and the schema of an SQLite database with SQLite.

use std::path::{Path, PathBuf};

use embermark_libraries::duckdb::stream::Cell;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, limits::Limit};

use super::{Block, SourceField};
use crate::DataError;

/// Offset in a database file of the byte that is 2 if it has a write-ahead log instead of a journal.
const LOG_MODE: usize = 18;

/// A table of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteTable {
    /// Name.
    pub name: String,
    /// A query for all of its rows, with the row's number if it has no key.
    pub query: String,
    /// Columns of its primary key, in order.
    pub key: Vec<String>,
    /// Columns of its other indexes, except indexes of expressions and partial indexes.
    pub indexes: Vec<Vec<String>>,
}

/// Whether a file is an SQLite database.
pub fn is_sqlite(path: &Path) -> bool {
    path.is_file()
        && crate::compressed::head(path).is_ok_and(|head| head.starts_with(super::kind::SQLITE))
}

/// Opens a database read-only, so that no file is left next to it.
pub(super) fn open(path: &Path) -> Result<Connection, DataError> {
    let has_log = crate::compressed::head(path)?.get(LOG_MODE) == Some(&2);
    // Without a log file no process has it open, and SQLite would create one.
    let opened = match has_log && !log_of(path).exists() {
        true => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable(path), flags)
        }
        false => Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY),
    };
    opened
        .and_then(|connection| {
            // A query reads only this database.
            connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
            connection.pragma_update(None, "query_only", true)?;
            Ok(connection)
        })
        .map_err(|cause| failed(path, &cause))
}

/// Returns the path of a database's write-ahead log.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    log.into()
}

/// Returns the URI that opens a database as immutable (<https://www.sqlite.org/uri.html>).
fn immutable(path: &Path) -> String {
    let byte = |byte: &u8| match byte {
        b'/' | b'.' | b'-' | b'_' => char::from(*byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let path: String = path.as_os_str().as_encoded_bytes().iter().map(byte).collect();
    format!("file:{path}?immutable=1")
}

pub(super) fn failed(path: &Path, cause: &rusqlite::Error) -> DataError {
    DataError::not_tabular(path, format!("SQLite reports: {cause}"))
}

/// Returns the fields of a query.
pub(super) fn fields(connection: &Connection, query: &str) -> rusqlite::Result<Vec<SourceField>> {
    let statement = connection.prepare(query)?;
    let columns = statement.columns();
    let field = |column: &rusqlite::Column<'_>| {
        let declared = column.decl_type().unwrap_or_default().to_uppercase();
        let is_text = ["CHAR", "TEXT", "CLOB"].iter().any(|part| declared.contains(part));
        let of = if is_text { "VARCHAR" } else { "ANY" };
        let (name, sql) = (column.name().to_owned(), super::quoted(column.name()));
        let is_other = Some(format!("(typeof({sql}) NOT IN ('text', 'null'))"));
        SourceField { name, sql, type_name: of.to_owned(), is_other }
    };
    Ok(columns.map(|column| field(&column)).collect())
}

/// Passes rows to `sink` until it returns `false`.
pub(super) fn read(
    connection: &Connection,
    path: &Path,
    sql: &str,
    mut sink: impl FnMut(&Block<'_>) -> Result<bool, DataError>,
) -> Result<(), DataError> {
    let of = |cause: rusqlite::Error| failed(path, &cause);
    let mut statement = connection.prepare(sql).map_err(of)?;
    let columns = statement.column_count();
    let mut rows = statement.query([]).map_err(of)?;
    while let Some(row) = rows.next().map_err(of)? {
        let mut cells = Vec::with_capacity(columns);
        for column in 0..columns {
            cells.push(match row.get_ref(column).map_err(of)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(value) => Cell::Int(value),
                ValueRef::Real(value) => Cell::Float(value),
                ValueRef::Text(text) | ValueRef::Blob(text) => Cell::Text(text),
            });
        }
        if !sink(&Block::Row(&cells))? {
            break;
        }
    }
    Ok(())
}

/// Returns the tables of a database with their keys and indexes.
///
/// # Errors
/// If the file is not a database, or cannot be read.
pub fn sqlite_tables(path: &Path) -> Result<Vec<SqliteTable>, DataError> {
    let connection = open(path)?;
    let tables = tables(&connection).map_err(|cause| failed(path, &cause))?;
    match tables.is_empty() {
        true => Err(DataError::not_tabular(path, "it has no tables")),
        false => Ok(tables),
    }
}

/// Returns the views and virtual tables of a database, whose rows belong to other tables or which
/// only other software can read.
///
/// # Errors
/// If the file is not a database, or cannot be read.
pub fn sqlite_views(path: &Path) -> Result<Vec<String>, DataError> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'view' OR sql LIKE 'CREATE VIRTUAL%' ORDER BY rowid";
    texts(&open(path)?, sql, []).map_err(|cause| failed(path, &cause))
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<SqliteTable>> {
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' \
                 ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT IN \
                 (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid";
    let names = texts(connection, names, [])?;
    let table = |name: String| {
        let key = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk";
        let key = texts(connection, key, [&name])?;
        let lists = "SELECT name FROM pragma_index_list(?) WHERE origin <> 'pk' AND partial = 0 ORDER BY seq";
        let mut indexes = Vec::new();
        for index in texts(connection, lists, [&name])? {
            let columns = "SELECT coalesce(name, '') FROM pragma_index_info(?) ORDER BY seqno";
            let columns = texts(connection, columns, [&index])?;
            if columns.iter().all(|column| !column.is_empty()) {
                indexes.push(columns);
            }
        }
        let number = if key.is_empty() { "rowid AS rowid, " } else { "" };
        let query = format!("SELECT {number}* FROM {}", super::quoted(&name));
        let key = if key.is_empty() { vec!["rowid".to_owned()] } else { key };
        Ok(SqliteTable { name, query, key, indexes })
    };
    names.into_iter().map(table).collect()
}

fn texts<P: rusqlite::Params>(
    connection: &Connection,
    sql: &str,
    parameters: P,
) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    statement.query_map(parameters, |row| row.get(0))?.collect()
}
