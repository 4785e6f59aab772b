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

fn result() -> ResultFile {
    load(std::path::Path::new("../report/tests/fixtures/schema-1.json")).unwrap()
}

#[test]
fn a_limit_of_memory_that_was_not_measured_is_refused_with_those_that_were() {
    let mut result = result();
    let limits = |text: &str| memory_limits(&[text.to_owned()], None).unwrap();
    result.cells[0].id.memory_limit = Some(MemoryLimit(256 << 20));
    let results = [result];
    for text in ["256MiB", "none"] {
        measured(&limits(text), &results).unwrap();
    }
    measured(&[], &results).unwrap();
    let refused = measured(&limits("512MiB"), &results).unwrap_err().to_string();
    assert!(refused.contains("--memory-limit 512 MiB, but with none, 256 MiB"), "{refused}");
}

#[test]
fn results_of_cold_and_of_warm_reads_are_not_advised_from_together() {
    let (warm, mut cold) = (result(), result());
    cold.plan.cold = true;
    let paths = ["warm.json", "cold.json"].map(PathBuf::from);
    let refused = alike(&paths, &[warm.clone(), cold]).unwrap_err().to_string();
    assert!(refused.contains("cold reads: no, then yes"), "{refused}");
    alike(&paths, &[warm.clone(), warm]).unwrap();
}
