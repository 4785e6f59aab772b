//! What the server really runs with.

use embermark_model::Durability;

use super::store::Session;
use super::{dialect, failed};
use crate::Result;
use crate::sql::{Nullable, SqlType, TableDef};

/// The parameters that decide durability and speed.
const NAMES: [&str; 20] = [
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "wal_level",
    "max_wal_senders",
    "max_wal_size",
    "checkpoint_timeout",
    "shared_buffers",
    "work_mem",
    "maintenance_work_mem",
    "effective_cache_size",
    "autovacuum",
    "jit",
    "max_parallel_workers_per_gather",
    "max_connections",
    "listen_addresses",
    "data_checksums",
    "server_encoding",
    "lc_collate",
];

/// A table made only to see how the tables of the tier are kept.
const PROBE: TableDef = TableDef {
    name: "embermark_probe",
    columns: &[("id", SqlType::Big, Nullable::No)],
    key: &["id"],
};

type Settings = Vec<(String, String)>;

/// The version, and the settings by their own names; one that this version lacks is left out.
///
/// # Errors
/// When the server reports one.
pub(super) fn read_back(
    session: &mut Session,
    durability: Durability,
) -> Result<(String, Settings)> {
    let client = &mut session.client;
    let doing = "read its settings back";
    let mut settings = Settings::new();
    for name in NAMES {
        let row = client.query_one("SELECT current_setting($1, true)", &[&name]);
        let value: Option<String> =
            row.and_then(|row| row.try_get(0)).map_err(|e| failed(doing, &e))?;
        settings.extend(value.map(|value| (name.to_owned(), value)));
    }
    let mut probe = || -> std::result::Result<(String, String), postgres::Error> {
        let mut transaction = client.transaction()?;
        transaction.batch_execute(&dialect::of(durability).create_table(&PROBE))?;
        let kept =
            "SELECT relpersistence::text FROM pg_class WHERE oid = 'embermark_probe'::regclass";
        let kept: String = transaction.query_one(kept, &[])?.try_get(0)?;
        let version: String = transaction.query_one("SHOW server_version", &[])?.try_get(0)?;
        // Dropped without a commit: rolled back, the table is gone.
        Ok((version, kept))
    };
    let (version, kept) = probe().map_err(|e| failed(doing, &e))?;
    let kept = match kept.as_str() {
        "p" => "permanent".to_owned(),
        "u" => "unlogged".to_owned(),
        other => other.to_owned(),
    };
    settings.push(("relpersistence".to_owned(), kept));
    Ok((version, settings))
}
