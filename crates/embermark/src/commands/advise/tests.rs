use super::*;

#[test]
fn a_weight_is_a_criterion_and_a_positive_number() {
    let weight = |text| super::weight(text);
    assert_eq!(weight("ingest=3").unwrap(), Weight { criterion: "ingest".into(), weight: 3.0 });
    for bad in ["ingest", "ingest=", "ingest=0", "ingest=-1", "ingest=inf", "=", "3"] {
        assert!(weight(bad).unwrap_err().to_string().contains("--weight"), "{bad}");
    }
}

#[test]
fn a_budget_of_memory_may_have_units() {
    assert_eq!(bytes("64MiB").unwrap(), 64 << 20);
    assert_eq!(bytes("64M").unwrap(), 64_000_000);
    assert!(bytes("lots").unwrap_err().to_string().contains("--memory"));
}
