use super::*;

#[test]
fn licences_are_told_by_their_names_and_a_choice_is_the_users() {
    for (class, licences) in [
        (
            LicenceClass::Permissive,
            &["public domain", "MIT", "Apache-2.0 or GPL-2.0", "OpenLDAP Public License 2.8"][..],
        ),
        (
            LicenceClass::Copyleft,
            &["GPL-2.0", "GPL-2.0 or GPL-3.0", "Sleepycat (AGPL from release 6 on)"],
        ),
        (LicenceClass::Other, &["SSPL-1.0", "proprietary", "limited", "-", UNKNOWN, ""]),
    ] {
        for licence in licences {
            assert_eq!(LicenceClass::of(licence), class, "{licence}");
        }
    }
}
