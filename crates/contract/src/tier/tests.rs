use super::*;

#[test]
fn a_setting_that_is_weaker_or_does_not_come_back_is_refused_by_its_name() {
    let row =
        TierSetting::of(Durability::Power, (), "sync=on", "").reads(&[("sync", &["on", "2"])]);
    let options = OpenOptions::new("/nowhere", Durability::Power, 0);
    let check = |settings: &[_]| row.check("toy", &options, &mut settings.to_vec());
    let given = |value: &str| vec![("sync".to_owned(), value.to_owned())];
    assert!(check(&given("ON")).is_ok() && check(&given("2")).is_ok());
    let refused = |settings: &[_]| check(settings).unwrap_err().to_string();
    let error = refused(&given("off"));
    assert!(error.contains("keep the tier 'power'"), "{error}");
    assert!(error.contains("sync=off; set it to on or 2"), "{error}");
    assert!(refused(&[]).contains("sync=unknown"));
}

#[test]
fn a_configuration_that_is_weaker_says_so_and_is_opened() {
    let row =
        TierSetting::of(Durability::Power, (), "sync=on", "").reads(&[("sync", &["on", "2"])]);
    let mut options = OpenOptions::new("/nowhere", Durability::Power, 0);
    options.settings.push(("sync".to_owned(), "off".to_owned()));
    let after = |value: &str| {
        let mut settings = vec![("sync".to_owned(), value.to_owned())];
        row.check("toy", &options, &mut settings).unwrap();
        settings.into_iter().find(|(name, _)| name == OWN_DURABILITY).map(|(_, said)| said)
    };
    assert_eq!(after("off").as_deref(), Some("sync=off where power has on or 2"));
    assert_eq!(after("on"), None, "it is the tier's");
    let cheap =
        TierSetting::of(Durability::Process, (), "sync=off", "").reads(&[("sync", &["off"])]);
    let either = cheap.or_at_least(&[("sync", &["off", "on"])]);
    let check = |row: &TierSetting<()>, options: &OpenOptions| {
        let mut settings = vec![("sync".to_owned(), "on".to_owned())];
        row.check("toy", options, &mut settings).map(|()| settings.len())
    };
    assert_eq!(check(&cheap, &options).unwrap(), 2, "another setting than the tier's");
    assert_eq!(check(&either, &options).unwrap(), 1, "a dearer one keeps it too");
    options.settings.clear();
    assert!(check(&either, &options).is_err(), "without a configuration it was to be the cheapest");
}
