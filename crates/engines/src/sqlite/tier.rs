//! How SQLite makes each durability tier.

use embermark_model::Durability;

/// The pragmas of a tier.
pub(super) struct Setting {
    pub journal: &'static str,
    pub synchronous: &'static str,
    pub locking: &'static str,
    pub keeps: Durability,
    pub words: &'static str,
    /// Why no other process may open the database, if none may.
    pub alone: Option<&'static str>,
}

/// The cheapest setting that keeps at least `durability`.
///
/// - `power`: in write-ahead mode with FULL "the WAL is synced after each transaction commit"
///   (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
/// - `process`: with OFF SQLite hands everything to the operating system and syncs nothing: "if
///   the application running SQLite crashes, the data will be safe" (same page).
/// - `none`: a scratch file for one process. The rollback journal stays in memory, so that a
///   process that dies inside a transaction leaves a damaged file
///   (<https://www.sqlite.org/pragma.html#pragma_journal_mode>), and the file stays locked, which
///   saves the locking of every transaction. Without that lock the tier would be dearer than
///   `process`, whose write-ahead log locks in shared memory. Not `journal_mode = OFF`: under it
///   a failed statement cannot be undone and ROLLBACK is undefined, and the store needs both.
///
/// The file is locked for good in `none` alone: elsewhere other processes may read it, as users of
/// SQLite expect.
pub(super) fn setting(durability: Durability) -> Setting {
    match durability {
        Durability::None => Setting {
            journal: "MEMORY",
            synchronous: "OFF",
            locking: "EXCLUSIVE",
            keeps: Durability::None,
            words: "journal_mode=MEMORY, synchronous=OFF, locking_mode=EXCLUSIVE",
            alone: Some(
                "with locking_mode=EXCLUSIVE, its setting of this tier, the file stays locked: no \
                 other connection can access it (https://www.sqlite.org/pragma.html#pragma_locking_mode)",
            ),
        },
        Durability::Process => Setting {
            journal: "WAL",
            synchronous: "OFF",
            locking: "NORMAL",
            keeps: Durability::Process,
            words: "journal_mode=WAL, synchronous=OFF",
            alone: None,
        },
        Durability::Power => Setting {
            journal: "WAL",
            synchronous: "FULL",
            locking: "NORMAL",
            keeps: Durability::Power,
            words: "journal_mode=WAL, synchronous=FULL",
            alone: None,
        },
    }
}
