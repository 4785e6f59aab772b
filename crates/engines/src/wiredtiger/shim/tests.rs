use super::*;

#[test]
fn a_version_has_its_shim_or_is_told_with_those_that_have_one() {
    let why = of(0, 9).err().unwrap();
    assert!(why.contains("it is WiredTiger 0.9, whose header was not there"), "{why}");
    for shim in all() {
        let found = of(shim.major, shim.minor).unwrap();
        assert_eq!((found.major, found.minor), (shim.major, shim.minor));
        assert!(why.contains(&format!("{}.{}", shim.major, shim.minor)), "{why}");
    }
}
