//! How SQLite makes each durability tier.

use embermark_model::Durability;

use crate::{TierSetting, TierTable};

/// The pragmas of a tier.
#[derive(Clone, Copy)]
pub(super) struct Pragmas {
    pub journal_mode: &'static str,
    pub synchronous: &'static str,
    pub locking_mode: &'static str,
    /// Why no other process may open the database, if none may.
    pub exclusive: Option<&'static str>,
}

/// The cheapest pragmas that keep each tier.
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
/// SQLite expect. `synchronous` comes back as a number: 0 is OFF, 2 is FULL.
pub(super) static TIERS: TierTable<Pragmas> = TierTable {
    none: TierSetting::of(
        Durability::None,
        Pragmas {
            journal_mode: "MEMORY",
            synchronous: "OFF",
            locking_mode: "EXCLUSIVE",
            exclusive: Some(
                "with locking_mode=EXCLUSIVE, its setting of this tier, the file stays locked: no \
                 other connection can access it (https://www.sqlite.org/pragma.html#pragma_locking_mode)",
            ),
        },
        "journal_mode=MEMORY, synchronous=OFF, locking_mode=EXCLUSIVE",
        "https://www.sqlite.org/pragma.html#pragma_journal_mode",
    )
    .reads(&[("journal_mode", &["memory"]), ("synchronous", &["0"]), ("locking_mode", &["exclusive"])]),
    process: TierSetting::of(
        Durability::Process,
        write_ahead("OFF"),
        "journal_mode=WAL, synchronous=OFF",
        SYNCHRONOUS,
    )
    .reads(&[("journal_mode", &["wal"]), ("synchronous", &["0"]), ("locking_mode", &["normal"])]),
    power: TierSetting::of(
        Durability::Power,
        write_ahead("FULL"),
        "journal_mode=WAL, synchronous=FULL",
        SYNCHRONOUS,
    )
    .reads(&[("journal_mode", &["wal"]), ("synchronous", &["2"]), ("locking_mode", &["normal"])]),
};

const SYNCHRONOUS: &str = "https://www.sqlite.org/pragma.html#pragma_synchronous";

const fn write_ahead(synchronous: &'static str) -> Pragmas {
    Pragmas { journal_mode: "WAL", synchronous, locking_mode: "NORMAL", exclusive: None }
}
