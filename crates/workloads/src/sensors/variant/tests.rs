use super::*;

#[test]
fn every_variant_has_its_name_and_changes_what_it_says() {
    for info in &VARIANTS {
        let variant = Variant::named(info.name).unwrap();
        for step in Phase::RUN_ORDER {
            let ranges = ["update", "delete"].contains(&step.name()) && info.name == "by-range";
            assert_eq!(variant.changes_ranges(step), ranges, "{} {}", info.name, step.name());
            let asks = info.name == "asked" && info.changes.contains(&step.name());
            assert_eq!(variant.asks_each(step), asks, "{} {}", info.name, step.name());
        }
    }
    assert_eq!(Variant::named("by-range").unwrap().strategy(), Strategy::OneTransaction);
    assert!(Variant::named("by-ranges").unwrap_err().to_string().contains("'by-range'"));
}
