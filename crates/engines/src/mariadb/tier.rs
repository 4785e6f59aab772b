//! How MariaDB makes each durability tier.

use embermark_model::Durability;

use super::NAME;
use crate::{EngineError, Result};

/// The settings of a tier.
pub(super) struct Setting {
    pub flush_log_at_trx_commit: u8,
    pub doublewrite: bool,
    pub flush_method: &'static str,
    pub words: &'static str,
}

/// The cheapest settings that keep `durability`
/// (<https://mariadb.com/kb/en/innodb-system-variables/>, whose entry of
/// `innodb_flush_log_at_trx_commit` is also
/// <https://mariadb.com/docs/reference/mdb/system-variables/innodb_flush_log_at_trx_commit/>):
///
/// - `power`, 1: the log is written and synced at each commit, "required for full ACID compliance".
/// - `process`, 2: it is written at each commit and synced once a second; transactions are lost "if
///   there is a power failure or kernel crash but not if mysqld crashes". The doublewrite buffer
///   stays on: a page of 16 KiB can be half written when its writer is killed.
/// - `none`, 0: nothing is done at a commit, and "0 has no guarantees in case of crash". Then
///   pages need no second copy either, and no sync after them.
pub(super) fn setting(durability: Durability) -> Setting {
    match durability {
        Durability::None => Setting {
            flush_log_at_trx_commit: 0,
            doublewrite: false,
            flush_method: "O_DIRECT_NO_FSYNC",
            words: "innodb_flush_log_at_trx_commit=0, innodb_doublewrite=OFF, \
                    innodb_flush_method=O_DIRECT_NO_FSYNC",
        },
        Durability::Process => Setting {
            flush_log_at_trx_commit: 2,
            doublewrite: true,
            flush_method: "O_DIRECT",
            words: "innodb_flush_log_at_trx_commit=2, innodb_doublewrite=ON, \
                    innodb_flush_method=O_DIRECT",
        },
        Durability::Power => Setting {
            flush_log_at_trx_commit: 1,
            doublewrite: true,
            flush_method: "O_DIRECT",
            words: "innodb_flush_log_at_trx_commit=1, innodb_doublewrite=ON, \
                    innodb_flush_method=O_DIRECT",
        },
    }
}

/// What keeps a tier, by the name of the variable: the values that do.
fn needed(durability: Durability, binlog: bool) -> Vec<(&'static str, &'static [&'static str])> {
    let (mut needed, logged): (Vec<(_, &[_])>, &[_]) = match durability {
        Durability::None => return Vec::new(),
        Durability::Process => (
            // FAST, of later versions: the second copy is written, not synced.
            vec![("innodb_doublewrite", &["ON", "FAST"])],
            &["1", "2", "3"],
        ),
        Durability::Power => (
            vec![
                ("innodb_doublewrite", &["ON"]),
                ("innodb_flush_method", &["O_DIRECT", "fsync", "O_DSYNC"]),
            ],
            &["1", "3"],
        ),
    };
    needed.push(("innodb_flush_log_at_trx_commit", logged));
    // With a binary log recovery keeps what is in that log and rolls the rest back.
    if binlog && durability == Durability::Power {
        needed.push(("sync_binlog", &["1"]));
    }
    needed
}

/// Checks that the settings read back keep the tier: at least as strong as asked for.
///
/// # Errors
/// When one is weaker, which only happens on a server that is not ours.
pub(super) fn check(durability: Durability, settings: &[(String, String)]) -> Result<()> {
    let value = |name: &str| settings.iter().find(|(known, _)| known == name).map(|(_, v)| &**v);
    for (name, values) in needed(durability, value("log_bin") == Some("ON")) {
        let found = value(name).unwrap_or("unknown");
        if !values.iter().any(|good| good.eq_ignore_ascii_case(found)) {
            let why = format!(
                "the server has {name}={found}; set it to {} there, or choose a weaker tier with \
                 --durability",
                values.join(" or ")
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
