//! What the server really runs with.

use super::session::Session;
use super::{NAME, failed};
use crate::{EngineError, Result};

/// The variables that decide durability and speed, in the order in which they are shown.
const NAMES: &str = "\
    innodb_flush_log_at_trx_commit innodb_flush_log_at_timeout innodb_doublewrite \
    innodb_flush_method innodb_log_file_buffering innodb_log_file_size innodb_io_capacity \
    innodb_max_dirty_pages_pct_lwm innodb_read_ahead_threshold log_bin sync_binlog \
    innodb_buffer_pool_size innodb_log_buffer_size innodb_page_size \
    aria_pagecache_buffer_size key_buffer_size \
    tmp_table_size max_heap_table_size sort_buffer_size join_buffer_size query_cache_type \
    performance_schema tx_isolation sql_mode collation_connection max_connections \
    skip_networking max_allowed_packet";

type Settings = Vec<(String, String)>;

/// The version, and the settings by their own names as this session sees them, one that this
/// version lacks left out; then the client library, with its version.
pub(super) fn read_back(session: &Session) -> Result<(String, Settings)> {
    let doing = "read its settings back";
    let names = NAMES.replace(' ', "', '");
    let sql = format!("SHOW VARIABLES WHERE Variable_name IN ('version', '{names}')");
    let rows = session.connection.rows(&sql).map_err(|e| failed(doing, &e))?;
    let mut found: Settings = rows.into_iter().map(<[String; 2]>::into).collect();
    let place = |name: &str| NAMES.split(' ').position(|known| known == name);
    let version = found.iter().position(|(name, _)| name == "version");
    let version = version.map(|at| found.swap_remove(at).1).unwrap_or_default();
    if !version.contains("MariaDB") {
        let why = format!("the server is version '{version}' of something else");
        return Err(EngineError::failed(NAME, doing, why));
    }
    found.sort_by_key(|(name, _)| place(name));
    let library = &session.connection.library.version;
    found.push(("client library".to_owned(), format!("MariaDB Connector/C {library}")));
    Ok((version, found))
}
