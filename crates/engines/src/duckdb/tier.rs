//! How DuckDB makes each durability tier.

use embermark_model::Durability;

use super::library::DuckLib;

/// What a tier asks of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tiering {
    /// No log is written; only a checkpoint brings anything to the file.
    NoLog,
    /// The log is handed to the operating system at commit.
    Unsynced,
    /// The log is synced at commit.
    Synced,
}

/// The cheapest way this library has to keep at least `durability`.
///
/// - `power`: a commit writes the log and syncs it; DuckDB's default.
/// - `process`: `fsync_mode = 'none'`, a setting since 2.0. An older library has none, and syncs.
/// - `none`: `RECOVERY_MODE no_wal_writes`, an option of ATTACH since 1.5: nothing is written before
///   a checkpoint (<https://duckdb.org/docs/stable/sql/statements/attach>). An older library has
///   none, and logs.
pub(super) fn tiering(library: &DuckLib, durability: Durability) -> Tiering {
    match durability {
        Durability::None if library.has_no_wal => Tiering::NoLog,
        Durability::None | Durability::Process if library.has_fsync_mode => Tiering::Unsynced,
        _ => Tiering::Synced,
    }
}

impl Tiering {
    pub(super) fn effective_durability(self) -> Durability {
        match self {
            Self::NoLog => Durability::None,
            Self::Unsynced => Durability::Process,
            Self::Synced => Durability::Power,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NoLog => "ATTACH with RECOVERY_MODE no_wal_writes",
            Self::Unsynced => "write-ahead log, fsync_mode=none",
            Self::Synced => "write-ahead log, synced at commit (the default)",
        }
    }
}
