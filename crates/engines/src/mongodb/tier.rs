//! MongoDB's settings for each durability tier.

use embermark_model::Durability;

use crate::{OpenOptions, TierSetting, TierTable};

/// Name of the setting of whether there is a journal.
pub(super) const JOURNAL: &str = "storage.journal";

/// Name of the setting of whether the journal has a write before it is acknowledged: passed to the
/// operating system by the storage engine, or synced if the write waits for it.
pub(super) const HANDED: &str = "journal before acknowledgement";

pub(super) const JOURNAL_ENABLED: &str = "storage.journal.enabled";

/// Name of the setting of how writes are acknowledged.
pub(super) const CONCERN: &str = "writeConcern";

/// What a tier requires of a server and of a write.
#[derive(Clone, Copy)]
pub(super) struct Concern {
    /// Whether a write waits until the journal is synced.
    pub waits: bool,
    /// The same on a given server, where only that keeps anything.
    pub waits_on_given: bool,
    /// Settings of a private server's storage engine, in addition to its defaults.
    pub engine_config: &'static [&'static str],
}

/// Setting that makes the storage engine pass each commit's log record to the operating system.
pub(super) const HANDS_OVER: &str = ",transaction_sync=(enabled=true,method=none)";

/// Setting that keeps the server's checkpoint, one every 60 seconds, from syncing its files. The
/// server appends the text that it is given to the configuration of `wiredtiger_open`
/// (`extraOpenOptions`,
/// <https://github.com/mongodb/mongo/blob/master/src/mongo/db/storage/wiredtiger/wiredtiger_kv_engine.cpp>),
/// which has this option (<https://source.wiredtiger.com/develop/group__wt.html>).
const UNSYNCED: &str = ",checkpoint_sync=false";

/// The cheapest setting of a private server that keeps each tier. Every write is acknowledged by
/// the one server, `w: 1`.
///
/// - `power`: with `j: true` that happens after it is synced in the journal
///   (<https://www.mongodb.com/docs/v6.0/reference/write-concern/>, acknowledgment of a
///   standalone).
/// - `none`: with `j: false` it happens after it is applied in memory (same page). Without a
///   journal a server that died restarts with its last checkpoint
///   (<https://www.mongodb.com/docs/v6.0/tutorial/manage-journaling/>). From 6.1 on there always is
///   a journal, which follows within 100 ms. A checkpoint need not be synced.
/// - `process`: MongoDB itself has nothing between the two. Its storage engine does, with a setting
///   at the server's start: each commit passes its log record to the operating system with a write
///   before it returns, and syncs nothing
///   (<https://source.wiredtiger.com/develop/tune_durability.html>, method `none`). So `j: false`
///   is enough: a server killed right after an acknowledgment restarted with all of it, and without
///   the setting it did not. In the background the server syncs its journal within 100 ms
///   (<https://www.mongodb.com/docs/v6.0/core/journaling/>). It has no setting without that.
pub(super) static TIERS: TierTable<Concern> = TierTable {
    none: TierSetting::new(
        Durability::None,
        Concern { waits: false, waits_on_given: false, engine_config: &[UNSYNCED] },
        "w: 1, j: false; no journal (before 6.1)",
        MANUAL,
    ),
    process: TierSetting::new(
        Durability::Process,
        Concern { waits: false, waits_on_given: true, engine_config: &[HANDS_OVER, UNSYNCED] },
        "w: 1, j: false; journal, transaction_sync=(enabled=true,method=none), \
         checkpoint_sync=false",
        MANUAL,
    )
    .reads(&[(JOURNAL, &["true"]), (HANDED, &["true"])]),
    power: TierSetting::new(
        Durability::Power,
        Concern { waits: true, waits_on_given: true, engine_config: &[] },
        "w: 1, j: true; journal",
        MANUAL,
    )
    .reads(&[(JOURNAL, &["true"]), (CONCERN, &["w: 1, j: true (as set)"])]),
};

const MANUAL: &str = "https://www.mongodb.com/docs/v6.0/reference/write-concern/";

/// Returns whether each write waits until the journal is synced. `None`: it does not say, and the
/// server uses its default.
pub(super) fn waits_for_journal(options: &OpenOptions, is_given: bool) -> Option<bool> {
    let set = TIERS.for_tier(options.durability).set;
    let waits = if is_given { set.waits_on_given } else { set.waits };
    options.setting(CONCERN).is_none().then_some(waits)
}

/// Returns a private server's arguments. From 6.1 on no server can run without its journal
/// (<https://www.mongodb.com/docs/v6.1/release-notes/6.1-compatibility/>, "Removed Options").
pub(super) fn arguments(options: &OpenOptions, version: &str) -> &'static [&'static str] {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
    let release = (parts.next().unwrap_or(u32::MAX), parts.next().unwrap_or(u32::MAX));
    let none = options.durability == Durability::None && options.setting(JOURNAL_ENABLED).is_none();
    if none && release < (6, 1) { &["--nojournal"] } else { &[] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenOptions;

    fn check(tier: Durability, settings: &[(String, String)]) -> crate::Result<()> {
        let options = OpenOptions::new("/nowhere", tier, 0);
        TIERS.for_tier(tier).check_settings("mongodb", &options, &mut settings.to_vec())
    }

    #[test]
    fn a_server_without_a_journal_keeps_nothing() {
        let server = |journal: &str| {
            [
                ("storage.journal", journal),
                ("writeConcern", "w: 1, j: true (as set)"),
                ("journal before acknowledgement", "true"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        for tier in Durability::ALL {
            assert!(check(tier, &server("true")).is_ok(), "{tier}");
        }
        assert!(check(Durability::None, &server("false")).is_ok());
        let error = check(Durability::Process, &server("false")).unwrap_err().to_string();
        assert!(error.contains("keep the tier 'process'") && error.contains("journal=false"));
        assert!(check(Durability::Power, &[]).is_err());
    }

    #[test]
    fn only_versions_that_can_do_without_a_journal_are_told_to() {
        let without: &[&str] = &["--nojournal"];
        let arguments = |tier, version| arguments(&OpenOptions::new("/nowhere", tier, 0), version);
        assert_eq!(arguments(Durability::None, "6.0.27"), without);
        assert_eq!(arguments(Durability::None, "5.0.3-rc1"), without);
        assert_eq!(arguments(Durability::Power, "6.0.27"), [] as [&str; 0]);
        for later in ["6.1.0", "7.0.2", "10.0.0", "unheard of"] {
            assert_eq!(arguments(Durability::None, later), [] as [&str; 0], "{later}");
        }
    }
}
