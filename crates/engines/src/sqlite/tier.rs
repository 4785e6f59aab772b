//! How SQLite makes each durability tier.

use embermark_model::Durability;

use crate::{TierSetting, TierTable};

/// The pragmas of a tier.
#[derive(Clone, Copy)]
pub(super) struct Pragmas {
    pub journal_mode: &'static str,
    pub synchronous: &'static str,
    /// Whether the file is locked for good, also where clients share the database.
    pub exclusive: bool,
}

/// The cheapest pragmas that keep each tier.
///
/// - `power`: in write-ahead mode with FULL "the WAL is synced after each transaction commit"
///   (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
/// - `process`: with OFF SQLite hands everything to the operating system and syncs nothing: "if
///   the application running SQLite crashes, the data will be safe" (same page).
/// - `none`: a scratch file for one process. The rollback journal stays in memory, so that a
///   process that dies inside a transaction leaves a damaged file
///   (<https://www.sqlite.org/pragma.html#pragma_journal_mode>), and the file stays locked, without
///   which the tier would be dearer than a shared `process`. Not `journal_mode = OFF`: under it
///   a failed statement cannot be undone and ROLLBACK is undefined, and the store needs both.
///
/// `synchronous` comes back as a number: 0 is OFF, 2 is FULL.
pub(super) static TIERS: TierTable<Pragmas> = TierTable {
    none: TierSetting::of(
        Durability::None,
        Pragmas { journal_mode: "MEMORY", synchronous: "OFF", exclusive: true },
        "journal_mode=MEMORY, synchronous=OFF, locking_mode=EXCLUSIVE",
        "https://www.sqlite.org/pragma.html#pragma_journal_mode",
    )
    .reads(&[("journal_mode", &["memory"]), ("synchronous", &["0"])])
    .or_at_least(&[("synchronous", &ANY)]),
    process: TierSetting::of(
        Durability::Process,
        Pragmas { journal_mode: "WAL", synchronous: "OFF", exclusive: false },
        "journal_mode=WAL, synchronous=OFF",
        SYNCHRONOUS,
    )
    .reads(&[("journal_mode", &["wal"]), ("synchronous", &["0"])])
    .or_at_least(&[
        ("journal_mode", &["wal", "delete", "truncate", "persist"]),
        ("synchronous", &ANY),
    ]),
    power: TierSetting::of(
        Durability::Power,
        Pragmas { journal_mode: "WAL", synchronous: "FULL", exclusive: false },
        "journal_mode=WAL, synchronous=FULL",
        SYNCHRONOUS,
    )
    .reads(&[("journal_mode", &["wal"]), ("synchronous", &["2"])])
    // With FULL in the mode DELETE a power cut can roll the last commit back (docs/durability.md): the
    // folder is not synced after it.
    .or_at_least(&[
        ("journal_mode", &["wal", "truncate", "persist"]),
        ("synchronous", &["2", "3"]),
    ]),
};

const ANY: [&str; 4] = ["0", "1", "2", "3"];

const SYNCHRONOUS: &str = "https://www.sqlite.org/pragma.html#pragma_synchronous";
