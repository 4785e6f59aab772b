//! How Zen implements each durability tier.
//!
//! The engine has two settings, which apply to all its files: Transaction Logging, on by default,
//! and Transaction Durability, off by default. Both make transactions atomic over several files.
//! Only with Transaction Durability is a transaction completely written to the log before its end
//! returns, so that it survives a crash of the system. With only Transaction Logging, a transaction
//! that was acknowledged may be lost with the engine, so neither `process` nor `power` is possible
//! (<https://docs.actian.com/zen/v15/advops/backup.htm>,
//! <https://docs.actian.com/psql/PSQLv12/advops/backup.09.2.html>). The guarantee holds for
//! transactions on files that can be logged (those with a unique key) and were not opened in
//! accelerated mode (<http://docs.actian.com/psql/PSQLv11/prog_gde/fundmnts.04.12.html>).
//!
//! The Btrieve 2 interface can neither set that setting nor read it back. So the tiers that depend
//! on it are offered only to users who declare that it is on, and every result names it as
//! declared, not as read.

use std::env;

use embermark_model::Durability;

use super::ffi::OpenMode;
use crate::{TierSetting, TierTable};

/// The variable that declares, by `on`, that the engine's Transaction Durability is on.
const DECLARED: &str = "ZEN_TRANSACTION_DURABILITY";

/// Returns how each tier opens files: in accelerated mode, without transactions, or in normal mode,
/// with every change in a transaction. Undeclared, the latter keeps nothing.
pub(super) fn tiers() -> TierTable<OpenMode> {
    let is_declared = env::var(DECLARED).is_ok_and(|value| value.eq_ignore_ascii_case("on"));
    let durable = if is_declared { DURABLE } else { UNDECLARED };
    TierTable { none: ACCELERATED, process: durable, power: durable }
}

const ACCELERATED: TierSetting<OpenMode> = TierSetting::new(
    Durability::None,
    OpenMode::Accelerated,
    "accelerated open mode, no transactions",
    "http://docs.actian.com/psql/PSQLv11/prog_gde/fundmnts.04.12.html",
);

const DURABLE: TierSetting<OpenMode> = in_transactions(
    Durability::Power,
    "normal open mode, every change in a transaction, and the engine's Transaction Durability on: \
     said by ZEN_TRANSACTION_DURABILITY=on, which the API cannot verify",
);

const UNDECLARED: TierSetting<OpenMode> = in_transactions(
    Durability::None,
    "it rests on the engine's Transaction Durability, which is off as shipped and which its API \
     cannot read back: turn it on (Zen Control Center, engine properties, Data Integrity), restart \
     the engine, then set ZEN_TRANSACTION_DURABILITY=on",
);

const fn in_transactions(effective: Durability, words: &'static str) -> TierSetting<OpenMode> {
    let manual = "https://docs.actian.com/zen/v15/advops/backup.htm";
    TierSetting::new(effective, OpenMode::Normal, words, manual).reads(&[("loggable", &["yes"])])
}
