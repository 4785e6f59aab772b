//! SQLite's pragmas for each durability tier.

use embermark_model::Durability;

use crate::{TierSetting, TierTable};

#[derive(Clone, Copy)]
pub(crate) struct Pragmas {
    pub journal_mode: &'static str,
    pub synchronous: &'static str,
    /// Whether the file stays locked even where clients share the database.
    pub exclusive: bool,
}

/// The cheapest pragmas that keep each tier.
///
/// - `power`: in write-ahead mode with FULL "the WAL is synced after each transaction commit"
///   (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
/// - `process`: with OFF SQLite hands everything to the operating system and syncs nothing: "if the
///   application running SQLite crashes, the data will be safe" (same page).
/// - `none`: a scratch file for one process. The rollback journal stays in memory, so a process
///   that dies inside a transaction leaves a damaged file
///   (<https://www.sqlite.org/pragma.html#pragma_journal_mode>). The file stays locked, because
///   otherwise the tier would cost more than a shared `process`. `journal_mode = OFF` is not used:
///   a failed statement could not be undone and ROLLBACK would be undefined, and the store needs
///   both.
///
/// `synchronous` is read back as a number: 0 is OFF, 2 is FULL.
pub(super) const TIERS: TierTable<Pragmas> = TierTable {
    none: TierSetting::new(
        Durability::None,
        Pragmas { journal_mode: "MEMORY", synchronous: "OFF", exclusive: true },
        "journal_mode=MEMORY, synchronous=OFF, locking_mode=EXCLUSIVE",
        "https://www.sqlite.org/pragma.html#pragma_journal_mode",
    )
    .reads(&[("journal_mode", &["memory"]), ("synchronous", &["0"])])
    .or_at_least(&[("synchronous", &ANY)]),
    process: TierSetting::new(
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
    power: TierSetting::new(
        Durability::Power,
        Pragmas { journal_mode: "WAL", synchronous: "FULL", exclusive: false },
        "journal_mode=WAL, synchronous=FULL",
        SYNCHRONOUS,
    )
    .reads(&[("journal_mode", &["wal"]), ("synchronous", &["2"])])
    // With FULL in the mode DELETE a power cut can undo the last commit (docs/durability.md),
    // because the folder is not synced after it.
    .or_at_least(&[
        ("journal_mode", &["wal", "truncate", "persist"]),
        ("synchronous", &["2", "3"]),
    ]),
};

const ANY: [&str; 4] = ["0", "1", "2", "3"];

const SYNCHRONOUS: &str = "https://www.sqlite.org/pragma.html#pragma_synchronous";
