//! How PostgreSQL makes each durability tier.

use embermark_model::Durability;

use super::NAME;
use crate::{EngineError, Result};

/// The settings of a tier.
pub(super) struct Setting {
    pub fsync: bool,
    pub synchronous_commit: bool,
    pub full_page_writes: bool,
    /// Whether tables are created UNLOGGED.
    pub unlogged: bool,
    pub words: &'static str,
}

/// The cheapest settings that keep `durability`
/// (<https://www.postgresql.org/docs/15/runtime-config-wal.html>):
///
/// - `power`: the write-ahead log is synced before a commit returns, and pages torn by the power
///   cut are restored from it.
/// - `process`: a commit hands its log to the operating system before it returns
///   (`synchronous_commit`) and nothing is ever synced (`fsync` off), which the manual calls a
///   danger "in the event of a power failure or system crash" only. `full_page_writes` stays on,
///   although the manual advises to consider its end together with that of `fsync`: Linux cuts a
///   write of 8 KiB short between two pages of memory when the writer is killed, which leaves a
///   torn page in its cache. (Seen on tmpfs with most of the kills of a process that writes all
///   the time; a file system with large folios does not show it.)
/// - `none`: neither is waited for, and tables are UNLOGGED: no log at all, and emptied by the
///   recovery after a crash (<https://www.postgresql.org/docs/15/sql-createtable.html>).
pub(super) fn setting(durability: Durability) -> Setting {
    match durability {
        Durability::None => Setting {
            fsync: false,
            synchronous_commit: false,
            full_page_writes: false,
            unlogged: true,
            words: "unlogged tables, fsync=off, synchronous_commit=off, full_page_writes=off",
        },
        Durability::Process => Setting {
            fsync: false,
            synchronous_commit: true,
            full_page_writes: true,
            unlogged: false,
            words: "fsync=off, synchronous_commit=on, full_page_writes=on",
        },
        Durability::Power => Setting {
            fsync: true,
            synchronous_commit: true,
            full_page_writes: true,
            unlogged: false,
            words: "fsync=on, synchronous_commit=on, full_page_writes=on",
        },
    }
}

/// As PostgreSQL writes it.
pub(super) fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Checks that the settings read back keep the tier: at least as strong as asked for.
///
/// # Errors
/// When one is weaker, which only happens on a server that is not ours.
pub(super) fn check(durability: Durability, settings: &[(String, String)]) -> Result<()> {
    let Setting { fsync, synchronous_commit, full_page_writes, .. } = setting(durability);
    let needed = [
        ("fsync", fsync),
        ("synchronous_commit", synchronous_commit),
        ("full_page_writes", full_page_writes),
    ];
    for (name, _) in needed.into_iter().filter(|(_, on)| *on) {
        let found = settings.iter().find(|(known, _)| known == name).map(|(_, value)| &**value);
        if found != Some("on") {
            let found = found.unwrap_or("unknown");
            let why = format!(
                "the server has {name}={found}; set it on there, or choose a weaker tier with \
                 --durability"
            );
            return Err(EngineError::failed(NAME, format!("keep the tier '{durability}'"), why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_weaker_than_the_tier_is_refused_by_the_name_of_the_setting() {
        let server = |fsync: &str, pages: &str| -> Vec<(String, String)> {
            [("fsync", fsync), ("synchronous_commit", "on"), ("full_page_writes", pages)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec()
        };
        for tier in Durability::ALL {
            assert!(check(tier, &server("on", "on")).is_ok(), "{tier}");
        }
        assert!(check(Durability::Process, &server("off", "on")).is_ok());
        assert!(check(Durability::None, &server("off", "off")).is_ok());
        let refused = |tier, server: &[_]| check(tier, server).unwrap_err().to_string();
        let error = refused(Durability::Power, &server("off", "on"));
        assert!(error.contains("keep the tier 'power'") && error.contains("fsync=off"), "{error}");
        let error = refused(Durability::Process, &server("off", "off"));
        assert!(error.contains("full_page_writes=off"), "{error}");
        assert!(refused(Durability::Power, &[]).contains("fsync=unknown"));
    }
}
