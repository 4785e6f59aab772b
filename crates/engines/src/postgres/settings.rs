//! What the server really runs with.

use super::session::Session;
use crate::sql::{Nullable, SqlType, TableDef};
use crate::sql_driver::Driver;
use crate::{OpenOptions, Result, Setting, Settings, Takes};

/// The parameters that decide durability and speed.
const NAMES: &str = "\
    fsync synchronous_commit full_page_writes wal_sync_method wal_level max_wal_senders \
    max_wal_size checkpoint_timeout checkpoint_completion_target shared_buffers work_mem \
    hash_mem_multiplier maintenance_work_mem effective_cache_size random_page_cost autovacuum \
    jit max_parallel_workers_per_gather \
    max_connections listen_addresses data_checksums server_encoding lc_collate";

/// A table made only to see how the tables of the tier are kept.
const PROBE: TableDef = TableDef {
    name: "embermark_probe",
    columns: &[("id", SqlType::Big, Nullable::No)],
    key: &["id"],
};

/// Every parameter of the server
/// (<https://www.postgresql.org/docs/15/runtime-config.html>), which refuses to start with one that it
/// does not know. Those that are set here have PostgreSQL's own value beside them.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("fsync", Takes::Any).by_default("on"),
        Setting::new("synchronous_commit", Takes::Any).by_default("on"),
        Setting::new("full_page_writes", Takes::Any).by_default("on"),
        Setting::new("shared_buffers", Takes::Any).by_default("128MB"),
        Setting::new("work_mem", Takes::Any).by_default("4MB"),
        Setting::new("wal_level", Takes::Any).by_default("replica"),
        Setting::new("max_wal_senders", Takes::Any).by_default("10"),
        Setting::new("max_wal_size", Takes::Any).by_default("1GB"),
        Setting::new("checkpoint_timeout", Takes::Any).by_default("5min"),
    ],
    others: Some("parameters of postgresql.conf"),
    reserved: &[
        ("data_directory", OURS),
        ("config_file", OURS),
        ("hba_file", OURS),
        ("ident_file", OURS),
        ("external_pid_file", OURS),
        ("unix_socket_directories", OURS),
        ("unix_socket_permissions", OURS),
        ("listen_addresses", "its clients are ours alone"),
        ("port", "a free one is found"),
        ("logging_collector", "its log is read where it fails"),
        ("restart_after_crash", "a crash is to be seen"),
    ],
};
const OURS: &str = "its files lie in its folder";

type ReadBack = Vec<(String, String)>;

/// The version, and the settings by their own names, those of a configuration too; one that this version lacks is left out. Last
/// the version of libpq.
pub(super) fn read_back(
    session: &mut Session,
    options: &OpenOptions,
) -> Result<(String, ReadBack)> {
    let own = options.settings.iter().map(|(name, _)| &**name);
    let own = own.filter(|name| NAMES.split(' ').all(|known| known != *name));
    let names: Vec<&str> = NAMES.split(' ').chain(own).collect();
    let list: Vec<_> =
        names.iter().map(|name| format!("current_setting('{name}', true)")).collect();
    let list = list.join(", ");
    let found = session.ask(&format!("SELECT {list}, current_setting('server_version')"))?;
    let mut values = found.texts().into_iter().flatten();
    let named = names.iter().zip(&mut values);
    let mut settings: ReadBack =
        named.filter_map(|(name, value)| Some(((*name).to_owned(), value?))).collect();
    let version = values.next().flatten().unwrap_or_default();
    settings.push(("relpersistence".to_owned(), persistence(session)?));
    settings.push(("libpq".to_owned(), session.connection.library().version.clone()));
    Ok((version, settings))
}

/// Bytes of the server's cache.
///
/// # Errors
/// When the server reports one.
pub(super) fn cache(session: &mut Session) -> Result<Option<u64>> {
    let found = session.ask("SELECT pg_size_bytes(current_setting('shared_buffers'))")?;
    let bytes = found.texts().into_iter().flatten().flatten().next();
    Ok(bytes.and_then(|bytes| bytes.parse().ok()))
}

/// How a table is kept, found out by making one.
fn persistence(session: &mut Session) -> Result<String> {
    session.ask(&format!("BEGIN; {}", session.dialect().create_table(&PROBE)))?;
    let sql = "SELECT relpersistence FROM pg_class WHERE oid = 'embermark_probe'::regclass";
    let kept = session.ask(sql)?.texts().into_iter().flatten().flatten().next();
    session.exec(c"ROLLBACK")?;
    Ok(match kept.as_deref().unwrap_or_default() {
        "p" => "permanent".to_owned(),
        "u" => "unlogged".to_owned(),
        other => other.to_owned(),
    })
}
