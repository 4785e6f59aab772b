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
        TIERS.of(tier).check("postgres", &options, &mut server.to_vec())
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
