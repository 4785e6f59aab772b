use super::*;
use crate::OpenOptions;

fn check(tier: Durability, settings: &[(String, String)]) -> crate::Result<()> {
    let options = OpenOptions::new("/nowhere", tier, 0);
    TIERS.of(tier).check("mongodb", &options, &mut settings.to_vec())
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
