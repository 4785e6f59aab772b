//! MariaDB's settings for each durability tier.

use std::sync::OnceLock;

use embermark_model::Durability;

use super::installation;
use crate::{Tier, TierSetting, TierTable, WeakerSettings};

/// The cheapest settings that keep each tier (<https://mariadb.com/kb/en/innodb-system-variables/>,
/// whose entry of `innodb_flush_log_at_trx_commit` is also
/// <https://mariadb.com/docs/reference/mdb/system-variables/innodb_flush_log_at_trx_commit/>):
///
/// - `power`, 1: the log is written and synced at each commit, "required for full ACID compliance".
/// - `process`, 2: it is written at each commit and synced once per `innodb_flush_log_at_timeout`,
///   whose largest value is set, in seconds. (The default is 1, which `power` keeps.) Transactions
///   are lost "if there is a power failure or kernel crash but not if mysqld crashes". The
///   doublewrite buffer stays on, because a page of 16 KiB can be half written when its writer is
///   killed.
/// - `none`, 0: nothing is done at a commit, and "0 has no guarantees in case of crash". Pages then
///   need no second copy either, and no sync afterwards.
///
/// The words of a row, split at commas, are the options that a private server is started with.
pub(super) static TIERS: TierTable<()> = TierTable {
    none: TierSetting::new(
        Durability::None,
        (),
        "innodb_flush_log_at_trx_commit=0, innodb_flush_log_at_timeout=2700, \
         innodb_doublewrite=OFF, innodb_flush_method=O_DIRECT_NO_FSYNC",
        MANUAL,
    ),
    process: TierSetting::new(
        Durability::Process,
        (),
        "innodb_flush_log_at_trx_commit=2, innodb_flush_log_at_timeout=2700, \
         innodb_doublewrite=ON, innodb_flush_method=O_DIRECT",
        MANUAL,
    )
    // FAST, in later versions: the second copy is written, but not synced.
    .reads(&[
        ("innodb_doublewrite", &["ON", "FAST"]),
        ("innodb_flush_log_at_trx_commit", &["2", "1", "3"]),
    ]),
    power: TierSetting::new(
        Durability::Power,
        (),
        "innodb_flush_log_at_trx_commit=1, innodb_doublewrite=ON, innodb_flush_method=O_DIRECT",
        MANUAL,
    )
    .reads(&[
        ("innodb_doublewrite", &["ON"]),
        ("innodb_flush_method", &["O_DIRECT", "fsync", "O_DSYNC"]),
        ("innodb_flush_log_at_trx_commit", &["1", "3"]),
    ]),
};

const MANUAL: &str = "https://mariadb.com/kb/en/innodb-system-variables/";

/// Versions that do not keep `power`, as `embermark durability` showed. If a page was written
/// partly, recovery does not restore it from the doublewrite buffer. In 10.11.19 this affects the
/// first page of a table's file, and the table is corrupt for good. In 11.4.5 it affects a page of
/// an undo tablespace, and the server does not start.
const BROKEN: [&str; 2] = ["10.11.19", "11.4.5"];

const NOT_KEPT: &str = "after a power cut a page that was written in part may stay corrupt, and the \
     server may not start: this version's recovery leaves out its copy in the doublewrite buffer \
     (docs/durability.md); EMBERMARK_MARIADB_DIR has another version run";

/// Returns the tier as the present version keeps it.
pub(super) fn for_version(durability: Durability) -> Tier {
    static VERSION: OnceLock<Option<String>> = OnceLock::new();
    let version = VERSION.get_or_init(|| installation::find().ok().map(|found| found.version));
    let is_broken = version.as_deref().is_some_and(|version| BROKEN.contains(&version));
    match durability {
        Durability::Power if is_broken => Tier::Unsupported { why: NOT_KEPT },
        _ => TIERS.tier(durability),
    }
}

/// With a binary log, recovery keeps what is in that log and rolls the rest back.
const BINARY_LOG: TierSetting<()> =
    TierSetting::new(Durability::Power, (), "", MANUAL).reads(&[("sync_binlog", &["1"])]);

/// Returns where the settings read back are weaker than the tier.
pub(super) fn weaker_settings(
    durability: Durability,
    settings: &[(String, String)],
) -> Option<WeakerSettings> {
    let binlog = settings.iter().any(|(name, value)| name == "log_bin" && value == "ON");
    let logged = (binlog && durability == Durability::Power).then_some(BINARY_LOG);
    TIERS
        .for_tier(durability)
        .weaker_settings(settings)
        .or_else(|| logged?.weaker_settings(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks settings as the engine does for a private server.
    fn check(tier: Durability, settings: &[(String, String)]) -> crate::Result<()> {
        let options = crate::OpenOptions::new("/nowhere", tier, 1);
        crate::server::check_tier(
            "mariadb",
            &options,
            &mut settings.to_vec(),
            None,
            weaker_settings,
        )
    }

    #[test]
    fn a_server_weaker_than_the_tier_is_refused_by_the_name_of_the_setting() {
        let server = |flush: &str, twice: &str, method: &str, binlog: &str| {
            [
                ("innodb_flush_log_at_trx_commit", flush),
                ("innodb_doublewrite", twice),
                ("innodb_flush_method", method),
                ("log_bin", binlog),
                ("sync_binlog", "0"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
        };
        let strong = server("1", "ON", "O_DIRECT", "OFF");
        for tier in Durability::ALL {
            assert!(check(tier, &strong).is_ok(), "{tier}");
        }
        assert!(check(Durability::None, &server("0", "OFF", "nosync", "ON")).is_ok());
        assert!(check(Durability::Process, &server("2", "ON", "O_DIRECT", "ON")).is_ok());
        let refused = |tier, server: Vec<_>| check(tier, &server).unwrap_err().to_string();
        let error = refused(Durability::Power, server("2", "ON", "O_DIRECT", "OFF"));
        assert!(error.contains("keep the tier 'power'"), "{error}");
        assert!(error.contains("innodb_flush_log_at_trx_commit=2; set it to 1 or 3"), "{error}");
        let error = refused(Durability::Process, server("0", "ON", "O_DIRECT", "OFF"));
        assert!(error.contains("innodb_flush_log_at_trx_commit=0"), "{error}");
        let error = refused(Durability::Process, server("2", "OFF", "O_DIRECT", "OFF"));
        assert!(error.contains("innodb_doublewrite=OFF"), "{error}");
        let error = refused(Durability::Power, server("1", "ON", "O_DIRECT_NO_FSYNC", "OFF"));
        assert!(error.contains("innodb_flush_method"), "{error}");
        let error = refused(Durability::Power, server("1", "ON", "O_DIRECT", "ON"));
        assert!(error.contains("sync_binlog=0"), "{error}");
        assert!(refused(Durability::Power, Vec::new()).contains("=unknown"));
    }
}
