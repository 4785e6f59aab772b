use super::*;

#[test]
fn every_variant_is_known_by_its_name_and_differs_from_the_others() {
    let all: Vec<(Variant, &[&str])> =
        VARIANTS.iter().map(|info| (Variant::named(info.name).unwrap(), info.changes)).collect();
    for (place, one) in all.iter().enumerate() {
        assert!(all[..place].iter().all(|other| other != one), "{one:?}");
    }
    let error = Variant::named("combine").unwrap_err().to_string();
    assert!(error.contains("combined"), "{error}");
}
