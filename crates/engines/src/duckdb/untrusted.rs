//! Queries of a workload file. The database loses its external access first, and DuckDB's parser
//! reports the kind of a statement
//! (<https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview>).

use std::rc::Rc;

use super::statement::Prepared;
use super::{NAME, literal};
use crate::sql_driver::{Stopped, refused};
use crate::{EngineError, Result};
use embermark_libraries::duckdb::connection::Connection;

/// Table functions that a query can call, because they only read their arguments. Others read
/// files, take checkpoints, set what is logged, or run a text as SQL.
const TABLE_FUNCTIONS: [&str; 5] = ["generate_series", "json_each", "json_tree", "range", "unnest"];

/// Parts of a query about the session and not about tables: DESCRIBE, SHOW, and SUMMARIZE, which
/// the parser treats as a special kind of table, and functions. In another process, or on another
/// copy of the rows, their answer differs.
const SESSION_PARTS: [&str; 12] = [
    "show_ref",
    "current_catalog",
    "current_connection_id",
    "current_database",
    "current_query",
    "current_schema",
    "current_schemas",
    "current_setting",
    "getenv",
    "getvariable",
    "txid_current",
    "version",
];

/// Suffix of the parser's names for parts of a query, and the parts that read. A part of `WITH` can
/// be another, as in `WITH gone AS (DELETE … RETURNING id)`.
const NODE: &str = "_node";
const READ_NODES: [&str; 4] =
    ["select_node", "set_operation_node", "recursive_cte_node", "cte_node"];

/// Settings that this adapter changes after the configuration is locked.
const UNLOCKED_SETTINGS: [&str; 2] = ["threads", "wal_autocheckpoint"];

/// Query that passes a text to the parser, through the library's extension `json`. Its columns are
/// the error message, the number of statements, the table functions that they call, and the names
/// of all functions with the kinds of all nodes
/// (<https://duckdb.org/docs/stable/data/json/sql_to_and_from_json>).
const PARSE_QUERY: &str = "\
    WITH parsed AS (SELECT json_serialize_sql(CAST(? AS VARCHAR)) AS tree) \
    SELECT tree ->> 'error_message', json_array_length(tree, '$.statements'), \
    (SELECT string_agg(DISTINCT part ->> '$', ',') FROM \
     (SELECT unnest(tree -> '$..function.function_name') AS part FROM parsed)), \
    (SELECT string_agg(DISTINCT lower(part ->> '$'), ',') FROM \
     (SELECT unnest((tree -> '$..function_name') || (tree -> '$..type')) AS part FROM parsed) \
     WHERE json_type(part) = 'VARCHAR') FROM parsed";

/// Prepares one query that reads tables of the database. This takes external access away from the
/// database for good.
pub(super) fn prepare<'a>(
    connection: &Rc<Connection>,
    sql: &str,
    changes: u64,
    configured: impl Iterator<Item = &'a str>,
) -> Result<Prepared> {
    lock_down(connection, configured)?;
    check_query(connection, sql)?;
    let prepared = Prepared::new(connection, sql, changes)?;
    if prepared.is_select() { Ok(prepared) } else { Err(refused(NAME, sql, "it is not a SELECT")) }
}

/// Takes access to files, extensions, and the network away from the database for good. The
/// configuration is locked, except for settings that this adapter and a configuration change on
/// each new connection. A version before 1.5 cannot make exceptions, and stays unlocked.
fn lock_down<'a>(
    connection: &Rc<Connection>,
    configured: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let state = "SELECT current_setting('enable_external_access')::VARCHAR, \
                 (SELECT count(*) FROM duckdb_settings() WHERE name = 'allowed_configs')";
    let (mut is_open, mut has_exceptions) = (true, false);
    let asked = Prepared::new(connection, state, 0)?.query(&[], &mut |row| {
        is_open = row.text(0)? != Some("false");
        has_exceptions = row.int(1)? == Some(1);
        Ok(())
    });
    asked.map_err(Stopped::into_error)?;
    if !is_open {
        return Ok(());
    }
    let mut all =
        "SET allow_community_extensions = false; SET enable_external_access = false".to_owned();
    if has_exceptions {
        let names: Vec<String> =
            UNLOCKED_SETTINGS.into_iter().chain(configured).map(literal).collect();
        all += &format!(
            "; SET allowed_configs = [{}]; SET lock_configuration = true",
            names.join(", ")
        );
    }
    connection.batch(&all)
}

/// Checks with the parser that a text is one query, and that it only calls functions that read.
fn check_query(connection: &Rc<Connection>, sql: &str) -> Result<()> {
    let parser = Prepared::new(connection, PARSE_QUERY, 0).map_err(|e| {
        let what =
            format!("SQL of a workload file without its extension json, which parses the SQL: {e}");
        EngineError::unsupported(NAME, what)
    })?;
    let (mut why, mut statements, mut functions, mut all) =
        (None, None, String::new(), String::new());
    let asked = parser.query(&[crate::sql::Param::Text(sql)], &mut |row| {
        why = row.text(0)?.map(str::to_owned);
        statements = row.int(1)?;
        functions = row.text(2)?.unwrap_or_default().to_owned();
        all = row.text(3)?.unwrap_or_default().to_owned();
        Ok(())
    });
    asked.map_err(Stopped::into_error)?;
    if let Some(why) = why {
        return Err(refused(NAME, sql, why));
    }
    if statements != Some(1) {
        let count = statements.unwrap_or_default();
        return Err(refused(NAME, sql, format_args!("it has {count} statements, not one")));
    }
    if let Some(name) = all.split(',').find(|name| SESSION_PARTS.contains(name)) {
        let what = if name == SESSION_PARTS[0] { "DESCRIBE, SHOW or SUMMARIZE" } else { name };
        return Err(refused(NAME, sql, format_args!("{what} asks for the session, not for rows")));
    }
    let mut nodes = all.split(',').filter(|kind| kind.ends_with(NODE));
    if let Some(kind) = nodes.find(|kind| !READ_NODES.contains(kind)) {
        let what = kind.trim_end_matches(NODE).trim_end_matches("_query").to_uppercase();
        return Err(refused(NAME, sql, format_args!("it has a part that does not read: {what}")));
    }
    let other = functions.split(',').filter(|name| !name.is_empty());
    let mut other = other.filter(|name| !TABLE_FUNCTIONS.contains(&&*name.to_lowercase()));
    match other.next() {
        Some(name) => Err(refused(NAME, sql, format_args!("it must not call {name}()"))),
        None => Ok(()),
    }
}
