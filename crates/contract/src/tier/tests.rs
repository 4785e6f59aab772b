use super::*;

#[test]
fn a_setting_that_is_weaker_or_does_not_come_back_is_refused_by_its_name() {
    let row =
        TierSetting::of(Durability::Power, (), "sync=on", "").reads(&[("sync", &["on", "2"])]);
    let check = |settings: &[_]| row.check("toy", Durability::Power, settings);
    let given = |value: &str| vec![("sync".to_owned(), value.to_owned())];
    assert!(check(&given("ON")).is_ok() && check(&given("2")).is_ok());
    let refused = |settings: &[_]| check(settings).unwrap_err().to_string();
    let error = refused(&given("off"));
    assert!(error.contains("keep the tier 'power'"), "{error}");
    assert!(error.contains("sync=off; set it to on or 2"), "{error}");
    assert!(refused(&[]).contains("sync=unknown"));
}
