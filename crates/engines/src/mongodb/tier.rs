//! How MongoDB makes each durability tier.

use embermark_model::Durability;

use super::NAME;
use crate::{EngineError, Result, Tier};

/// The cheapest setting of a server of our own that keeps the tier, and its words. Every write is
/// acknowledged by the one server, `w: 1`.
///
/// - `power`: with `j: true` that happens after it is synced in the journal
///   (<https://www.mongodb.com/docs/v6.0/reference/write-concern/>, acknowledgment of a standalone).
/// - `none`: with `j: false` it happens after it is applied in memory (same page), and without a
///   journal a server that dies comes back with its last checkpoint
///   (<https://www.mongodb.com/docs/v6.0/tutorial/manage-journaling/>). From 6.1 on there always is
///   a journal, which follows within 100 ms.
/// - `process`: MongoDB itself knows nothing between the two. Its storage engine does, and takes
///   the setting at the server's start: each commit hands its log record to the operating system
///   by a write before it returns, and nothing is synced
///   (<https://source.wiredtiger.com/develop/tune_durability.html>, method `none`). So `j: false`
///   is enough: killed right after an acknowledgment, a server came back with all of it, and
///   without the setting it did not.
pub(super) fn of(durability: Durability) -> Tier {
    let setting = match durability {
        Durability::None => "w: 1, j: false; no journal (before 6.1)",
        Durability::Process => {
            "w: 1, j: false; journal, transaction_sync=(enabled=true,method=none)"
        }
        Durability::Power => "w: 1, j: true; journal",
    };
    Tier::Offered {
        effective_durability: durability,
        setting,
        manual: "https://www.mongodb.com/docs/v6.0/reference/write-concern/",
    }
}

/// Whether a write waits until the journal is synced. On a server that is not ours only that
/// keeps anything at all.
pub(super) fn waits(durability: Durability, is_given: bool) -> bool {
    match durability {
        Durability::None => false,
        Durability::Process => is_given,
        Durability::Power => true,
    }
}

/// What the storage engine of a server of our own is told beside its defaults.
pub(super) fn engine_config(durability: Durability) -> &'static str {
    match durability {
        Durability::Process => ",transaction_sync=(enabled=true,method=none)",
        Durability::None | Durability::Power => "",
    }
}

/// Arguments of a server of our own. From 6.1 on none may do without its journal
/// (<https://www.mongodb.com/docs/v6.1/release-notes/6.1-compatibility/>, "Removed Options").
pub(super) fn arguments(durability: Durability, version: &str) -> &'static [&'static str] {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
    let release = (parts.next().unwrap_or(u32::MAX), parts.next().unwrap_or(u32::MAX));
    if durability == Durability::None && release < (6, 1) { &["--nojournal"] } else { &[] }
}

/// Checks that the settings read back keep the tier.
///
/// # Errors
/// When there is no journal to wait for, which only happens on a server that is not ours.
pub(super) fn check(durability: Durability, settings: &[(String, String)]) -> Result<()> {
    let journal = settings.iter().find(|(name, _)| name == super::settings::JOURNAL);
    let found = journal.map_or("unknown", |(_, value)| value.as_str());
    if durability == Durability::None || found == "true" {
        return Ok(());
    }
    let why = format!(
        "the server has {}={found}; start it with its journal, or choose the tier 'none' with \
         --durability",
        super::settings::JOURNAL
    );
    Err(EngineError::failed(NAME, format!("keep the tier '{durability}'"), why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_journal_keeps_nothing() {
        let server = |journal: &str| vec![("storage.journal".to_owned(), journal.to_owned())];
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
        assert_eq!(arguments(Durability::None, "6.0.27"), without);
        assert_eq!(arguments(Durability::None, "5.0.3-rc1"), without);
        assert_eq!(arguments(Durability::Power, "6.0.27"), [] as [&str; 0]);
        for later in ["6.1.0", "7.0.2", "10.0.0", "unheard of"] {
            assert_eq!(arguments(Durability::None, later), [] as [&str; 0], "{later}");
        }
    }
}
