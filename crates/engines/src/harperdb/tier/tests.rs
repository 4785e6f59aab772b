use super::*;
use crate::OpenOptions;

fn check(tier: Durability, settings: &[(String, String)]) -> crate::Result<()> {
    let options = OpenOptions::new("/nowhere", tier, 0);
    TIERS.of(tier).check("harperdb", &options, &mut settings.to_vec())
}

#[test]
fn a_server_that_does_not_sync_is_refused_unless_nothing_was_asked_of_it() {
    let server = |value: &str| [(SETTING.to_owned(), value.to_owned())];
    for durability in Durability::ALL {
        assert!(check(durability, &server("false")).is_ok(), "{durability}");
    }
    assert!(check(Durability::None, &server("true")).is_ok());
    for durability in [Durability::Process, Durability::Power] {
        let error = check(durability, &server("true")).unwrap_err().to_string();
        assert!(error.contains(&format!("keep the tier '{durability}'")), "{error}");
        assert!(error.contains("storage.writeAsync=true"), "{error}");
        assert!(check(durability, &[]).unwrap_err().to_string().contains("unknown"));
    }
}
