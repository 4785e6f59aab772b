use super::*;

/// As the engine checks a private server.
fn check(tier: Durability, settings: &[(String, String)]) -> crate::Result<()> {
    let options = crate::OpenOptions::new("/nowhere", tier, 1);
    crate::server::check("mariadb", &options, &mut settings.to_vec(), None, misfit)
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
