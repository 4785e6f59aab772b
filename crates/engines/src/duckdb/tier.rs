//! DuckDB's settings for each durability tier, which depend on the library's version.

use embermark_model::Durability;

use super::OVERVIEW;
use crate::{TierSetting, TierTable};
use embermark_libraries::duckdb::library::DuckLib;

/// How a tier uses the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    /// There is no log. Only a checkpoint writes to the file.
    None,
    /// The log is passed to the operating system at commit.
    Unsynced,
    /// The log is synced at commit.
    Synced,
}

/// Versions that do not keep `power`, as `embermark durability` showed. A checkpoint puts new
/// metadata into the free part of a block that the database's header already points to, and
/// overwrites the whole block in place (`AllocateHandle`,
/// <https://github.com/duckdb/duckdb/blob/v1.5.5/src/storage/metadata/metadata_manager.cpp>). If
/// the power is cut during that write, the block's checksum is wrong and the file cannot be opened.
/// No setting changes that.
pub(super) const BROKEN: [&str; 3] = ["1.5.6", "2.0.0", "2.0.1"];

/// Returns the tiers of a library, or of the latest version if there is no library.
///
/// - `power`: a commit writes the log and syncs it, which is DuckDB's default. In a version in
///   [`BROKEN`] this only keeps `process`.
/// - `process`: `fsync_mode = 'none'`, a setting since 2.0: nothing is synced, not even a
///   checkpoint. An older library does not have it, and syncs.
/// - `none`: `RECOVERY_MODE no_wal_writes`, an option of ATTACH since 1.5: nothing is written
///   before a checkpoint. An older library does not have it, and logs. Since 2.0 a checkpoint then
///   syncs nothing either, with `fsync_mode = 'none'`.
pub(super) fn tiers(library: Option<&DuckLib>) -> TierTable<Log> {
    let is = |known: fn(&DuckLib) -> bool| library.is_some_and(known);
    let (synced, power) = match is(|library| BROKEN.contains(&&*library.version)) {
        true => (SYNCED_FOR_PROCESS, NOT_KEPT),
        false => (SYNCED, SYNCED),
    };
    let (process, power) = match is(|library| library.has_fsync_mode) {
        true => (UNSYNCED, power.reads(&[(FSYNC_MODE, &["STANDARD", "FULL"])])),
        false => (synced, power),
    };
    let none = if is(|library| library.has_no_wal) { NO_LOG } else { process };
    TierTable { none, process, power }
}

/// Setting of what is synced: `STANDARD`, `NONE`, or `FULL`, which differs from `STANDARD` only on
/// macOS (<https://github.com/duckdb/duckdb/pull/25784>).
pub(crate) const FSYNC_MODE: &str = "fsync_mode";

const NO_LOG: TierSetting<Log> = TierSetting::new(
    Durability::None,
    Log::None,
    "ATTACH with RECOVERY_MODE no_wal_writes",
    MANUAL,
);

const UNSYNCED: TierSetting<Log> = TierSetting::new(
    Durability::Process,
    Log::Unsynced,
    "write-ahead log, fsync_mode=none",
    OVERVIEW,
)
.reads(&[(FSYNC_MODE, &["NONE"])])
.or_at_least(&[(FSYNC_MODE, &["NONE", "STANDARD", "FULL"])]);

const SYNCED: TierSetting<Log> = synced(Durability::Power, AS_SHIPPED);

/// The same for a version in [`BROKEN`].
const SYNCED_FOR_PROCESS: TierSetting<Log> = synced(Durability::Process, AS_SHIPPED);
const NOT_KEPT: TierSetting<Log> = synced(
    Durability::Process,
    "after a power cut in the middle of a checkpoint its file may not open: a block in use is \
     overwritten in place (docs/durability.md); set DUCKDB_LIB_DIR to run another version",
);

const AS_SHIPPED: &str = "write-ahead log, synced at commit (the default)";

const fn synced(effective: Durability, words: &'static str) -> TierSetting<Log> {
    TierSetting::new(effective, Log::Synced, words, MANUAL)
}

const MANUAL: &str = "https://duckdb.org/docs/stable/sql/statements/attach";
