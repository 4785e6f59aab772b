//! The settings of redb that a configuration can change.

use ::redb::Durability as Commit;

use crate::settings::{SWITCH, is_on, lines};
use crate::{Candidate, OpenOptions, Setting, SettingValues, Settings};

/// Everything that its builder accepts (<https://docs.rs/redb/4/redb/struct.Builder.html>).
/// Durability is set per transaction. The default cache is 1 GiB.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("cache_size", SettingValues::Number).by_default("1073741824"),
        Setting::new(TWO_PHASES, SWITCH),
        Setting::new(QUICK_REPAIR, SWITCH),
    ],
    others: None,
    reserved: &[("durability", "embermark sets it for each transaction, by --tier")],
    candidates: CANDIDATES,
    written: |set| {
        let place = "// Builder before create, WriteTransaction after begin_write";
        lines(place, set, |name, value| match name {
            "cache_size" => format!("builder.set_{name}({value});"),
            _ => format!("transaction.set_{name}({});", is_on(value)),
        })
    },
};

/// Options per transaction: whether a commit syncs twice and is valid without a checksum, and
/// whether it also stores what a repair would have to search for
/// (<https://docs.rs/redb/4/redb/struct.WriteTransaction.html>).
const TWO_PHASES: &str = "two_phase_commit";
const QUICK_REPAIR: &str = "quick_repair";

/// Values that tuning tries. According to the manual each makes commits slower, and opening after a
/// crash faster.
const CANDIDATES: &[Candidate] = &[
    Candidate::new(
        &[(TWO_PHASES, "ON")],
        "a second sync for each commit",
        "https://docs.rs/redb/4/redb/struct.WriteTransaction.html#method.set_two_phase_commit",
    ),
    Candidate::new(
        &[(QUICK_REPAIR, "ON")],
        "a second sync and more bytes for each commit",
        "https://docs.rs/redb/4/redb/struct.WriteTransaction.html#method.set_quick_repair",
    ),
];

/// Options of each transaction that writes.
#[derive(Clone, Copy)]
pub(super) struct CommitOptions {
    pub commit: Commit,
    pub two_phases: bool,
    pub keeps_allocator: bool,
}

impl CommitOptions {
    pub fn new(options: &OpenOptions, commit: Commit) -> Self {
        let is_on = |name| options.switch(name).unwrap_or(false);
        Self { commit, two_phases: is_on(TWO_PHASES), keeps_allocator: is_on(QUICK_REPAIR) }
    }
}
