//! How Zen makes each durability tier.
//!
//! The engine has two settings of its own, for all its files: Transaction Logging, on as shipped,
//! and Transaction Durability, off as shipped. Both make transactions atomic over several files.
//! Only with Transaction Durability is a transaction written to the log in full before its end
//! returns, so that it outlives a crash of the system; with Transaction Logging alone one that was
//! acknowledged may be lost with the engine, so that neither `process` nor `power` can be had
//! (<https://docs.actian.com/zen/v15/advops/backup.htm>,
//! <https://docs.actian.com/psql/PSQLv12/advops/backup.09.2.html>). It holds for transactions, on
//! files that can be logged (those with a unique key) and were not opened in accelerated mode
//! (<http://docs.actian.com/psql/PSQLv11/prog_gde/fundmnts.04.12.html>).
//!
//! The Btrieve 2 interface neither sets that setting nor reads it back. So the tiers that rest on
//! it are offered to who says that it is on, and every result names it as said, not as read.

use std::env;

use embermark_model::Durability;

use super::ffi::OpenMode;
use crate::{TierSetting, TierTable};

/// Says that the engine's Transaction Durability is on, when it is `on`.
const DECLARED: &str = "ZEN_TRANSACTION_DURABILITY";

const UNDECLARED: &str = "it rests on the engine's Transaction Durability, which is off as shipped \
                          and which its API cannot read back: turn it on (Zen Control Center, \
                          engine properties, Data Integrity), restart the engine, then set \
                          ZEN_TRANSACTION_DURABILITY=on";

/// What a tier asks of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Accelerated mode, no transactions.
    Accelerated,
    /// Normal mode, every change in a transaction.
    Durable,
}

/// What each tier is where it is not [refused](refusal).
pub(super) static TIERS: TierTable<Mode> = TierTable {
    none: TierSetting::of(
        Durability::None,
        Mode::Accelerated,
        "accelerated open mode, no transactions",
        "http://docs.actian.com/psql/PSQLv11/prog_gde/fundmnts.04.12.html",
    ),
    process: DURABLE,
    power: DURABLE,
};
const DURABLE: TierSetting<Mode> = TierSetting::of(
    Durability::Power,
    Mode::Durable,
    "normal open mode, every change in a transaction, and the engine's Transaction Durability on: \
     said by ZEN_TRANSACTION_DURABILITY=on, which the API cannot verify",
    "https://docs.actian.com/zen/v15/advops/backup.htm",
)
.reads(&[("loggable", &["yes"])]);

/// Why a tier cannot be had, where it cannot.
pub(super) fn refusal(durability: Durability) -> Option<&'static str> {
    (durability != Durability::None && !declared()).then_some(UNDECLARED)
}

impl Mode {
    /// How files are opened.
    pub(super) fn open_mode(self) -> OpenMode {
        match self {
            Self::Accelerated => OpenMode::Accelerated,
            Self::Durable => OpenMode::Normal,
        }
    }
}

fn declared() -> bool {
    env::var(DECLARED).is_ok_and(|value| value.eq_ignore_ascii_case("on"))
}
