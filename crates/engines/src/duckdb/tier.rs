//! How DuckDB makes each durability tier, which depends on what its library can do.

use embermark_model::Durability;

use super::OVERVIEW;
use crate::{TierSetting, TierTable};
use embermark_libraries::duckdb::library::DuckLib;

/// What a tier asks of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Log {
    /// None is written; only a checkpoint brings anything to the file.
    None,
    /// It is handed to the operating system at commit.
    Unsynced,
    /// It is synced at commit.
    Synced,
}

/// Versions that were shown not to keep `power` by `embermark durability`: a checkpoint puts new metadata
/// into the free part of a block that the database's header already points to and writes the whole block
/// again where it is (`AllocateHandle`,
/// <https://github.com/duckdb/duckdb/blob/v1.5.5/src/storage/metadata/metadata_manager.cpp>). Where the power
/// is cut meanwhile the block's checksum is wrong, and the file does not open. No setting changes that.
pub(super) const BROKEN: [&str; 3] = ["1.5.6", "2.0.0", "2.0.1"];

/// The table of a library. Without one there is nothing to run; what the newest does is said then.
///
/// - `power`: a commit writes the log and syncs it; DuckDB's default. Of a version in [`BROKEN`] the same
///   keeps `process` alone.
/// - `process`: `fsync_mode = 'none'`, a setting since 2.0: nothing is synced, a checkpoint neither. An
///   older library has none, and syncs.
/// - `none`: `RECOVERY_MODE no_wal_writes`, an option of ATTACH since 1.5: nothing is written before
///   a checkpoint. An older library has none, and logs. Since 2.0 a checkpoint syncs nothing then, by
///   `fsync_mode = 'none'`.
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

/// What is synced: `STANDARD`, `NONE`, or `FULL`, which differs from the first on macOS alone
/// (<https://github.com/duckdb/duckdb/pull/25784>).
pub(crate) const FSYNC_MODE: &str = "fsync_mode";

const NO_LOG: TierSetting<Log> =
    TierSetting::of(Durability::None, Log::None, "ATTACH with RECOVERY_MODE no_wal_writes", MANUAL);

const UNSYNCED: TierSetting<Log> = TierSetting::of(
    Durability::Process,
    Log::Unsynced,
    "write-ahead log, fsync_mode=none",
    OVERVIEW,
)
.reads(&[(FSYNC_MODE, &["NONE"])])
.or_at_least(&[(FSYNC_MODE, &["NONE", "STANDARD", "FULL"])]);

const SYNCED: TierSetting<Log> = synced(Durability::Power, AS_SHIPPED);

/// The same of a version in [`BROKEN`].
const SYNCED_FOR_PROCESS: TierSetting<Log> = synced(Durability::Process, AS_SHIPPED);
const NOT_KEPT: TierSetting<Log> = synced(
    Durability::Process,
    "after a power cut in the middle of a checkpoint its file may not open: a block that is in use is \
     written again where it is (docs/durability.md); DUCKDB_LIB_DIR has another version run",
);

const AS_SHIPPED: &str = "write-ahead log, synced at commit (the default)";

const fn synced(effective: Durability, words: &'static str) -> TierSetting<Log> {
    TierSetting::of(effective, Log::Synced, words, MANUAL)
}

const MANUAL: &str = "https://duckdb.org/docs/stable/sql/statements/attach";
