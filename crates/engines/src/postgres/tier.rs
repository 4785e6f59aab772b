//! PostgreSQL's settings for each durability tier.

use embermark_model::Durability;

use crate::{TierSetting, TierTable};

/// The cheapest settings that keep each tier
/// (<https://www.postgresql.org/docs/18/runtime-config-wal.html>):
///
/// - `power`: the write-ahead log is synced before a commit returns, and pages torn by a power cut
///   are restored from it.
/// - `process`: a commit passes its log to the operating system before it returns
///   (`synchronous_commit`), and nothing is ever synced (`fsync` off), which the manual calls a
///   danger only "in the event of a power failure or system crash". `full_page_writes` stays on,
///   although the manual advises to consider turning it off with `fsync`. When the writer is
///   killed, Linux cuts a write of 8 KiB short between two pages of memory, which leaves a torn
///   page in its cache. (Seen on tmpfs with most kills of a process that writes all the time. A
///   file system with large folios does not show it.)
/// - `none`: neither is waited for, and tables are UNLOGGED: they have no log, and recovery after a
///   crash empties them (<https://www.postgresql.org/docs/18/sql-createtable.html>).
///
/// The words of a row have the parameters that a private server is started with. What is set is
/// whether tables are UNLOGGED and no commit waits for the log.
pub(super) static TIERS: TierTable<bool> = TierTable {
    none: TierSetting::new(
        Durability::None,
        true,
        "unlogged tables, fsync=off, synchronous_commit=off, full_page_writes=off",
        MANUAL,
    ),
    process: TierSetting::new(
        Durability::Process,
        false,
        "fsync=off, synchronous_commit=on, full_page_writes=on",
        MANUAL,
    )
    .reads(&[("synchronous_commit", &["on"]), ("full_page_writes", &["on"])]),
    power: TierSetting::new(
        Durability::Power,
        false,
        "fsync=on, synchronous_commit=on, full_page_writes=on",
        MANUAL,
    )
    .reads(&[
        ("fsync", &["on"]),
        ("synchronous_commit", &["on"]),
        ("full_page_writes", &["on"]),
    ]),
};

const MANUAL: &str = "https://www.postgresql.org/docs/18/runtime-config-wal.html";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenOptions;

    #[test]
    fn a_server_weaker_than_the_tier_is_refused_by_the_name_of_the_setting() {
        let server = |fsync: &str, pages: &str| -> Vec<(String, String)> {
            [("fsync", fsync), ("synchronous_commit", "on"), ("full_page_writes", pages)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec()
        };
        let check = |tier, server: &[_]| {
            let options = OpenOptions::new("/nowhere", tier, 0);
            TIERS.for_tier(tier).check_settings("postgres", &options, &mut server.to_vec())
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
