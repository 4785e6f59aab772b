//! How DuckDB makes each durability tier, which depends on what its library can do.

use embermark_model::Durability;

use super::library::DuckLib;
use crate::{TierSetting, TierTable};

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

/// The table of a library. Without one there is nothing to run; what the newest does is said then.
///
/// - `power`: a commit writes the log and syncs it; DuckDB's default.
/// - `process`: `fsync_mode = 'none'`, a setting since 2.0. An older library has none, and syncs.
/// - `none`: `RECOVERY_MODE no_wal_writes`, an option of ATTACH since 1.5: nothing is written before
///   a checkpoint. An older library has none, and logs.
pub(super) fn tiers(library: Option<&DuckLib>) -> &'static TierTable<Log> {
    static TIERS: [[TierTable<Log>; 2]; 2] = [
        [table(SYNCED, SYNCED), table(UNSYNCED, UNSYNCED)],
        [table(NO_LOG, SYNCED), table(NO_LOG, UNSYNCED)],
    ];
    let (no_wal, fsync_mode) = library.map_or((false, false), |l| (l.has_no_wal, l.has_fsync_mode));
    &TIERS[usize::from(no_wal)][usize::from(fsync_mode)]
}

const fn table(none: TierSetting<Log>, process: TierSetting<Log>) -> TierTable<Log> {
    TierTable { none, process, power: SYNCED }
}

const NO_LOG: TierSetting<Log> =
    TierSetting::of(Durability::None, Log::None, "ATTACH with RECOVERY_MODE no_wal_writes", MANUAL);

const UNSYNCED: TierSetting<Log> =
    TierSetting::of(Durability::Process, Log::Unsynced, "write-ahead log, fsync_mode=none", MANUAL)
        .reads(&[("fsync_mode", &["none"])]);

const SYNCED: TierSetting<Log> = TierSetting::of(
    Durability::Power,
    Log::Synced,
    "write-ahead log, synced at commit (the default)",
    MANUAL,
);

const MANUAL: &str = "https://duckdb.org/docs/stable/sql/statements/attach";
