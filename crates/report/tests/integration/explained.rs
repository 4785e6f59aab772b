//! The display of requests to the system.

use std::path::Path;

use crate::with_explanations::explained;
use embermark_model::result::ResultFile;
use embermark_report::{Format, Options, load, render};

fn golden() -> ResultFile {
    load(Path::new("tests/fixtures/schema-1.json")).unwrap()
}

fn tables(file: &ResultFile, explain: bool) -> String {
    let options = Options { width: 120, explain, ..Options::default() };
    render(file, Format::Table, &options).unwrap()
}

#[test]
fn a_table_has_calls_and_faults_of_an_operation_and_only_where_they_were_asked_for() {
    let file = explained(golden());
    let shown = tables(&file, true);
    let line = |begins: &str| {
        let line = shown.lines().find(|line| line.starts_with(begins)).unwrap_or_else(|| {
            panic!("no '{begins}' in:\n{shown}");
        });
        line[begins.len()..].split_whitespace().collect::<Vec<_>>()
    };
    // Three calls: two to write, one to flush. There is no column of reads, because there were
    // none.
    assert_eq!(line("read sqlite")[..3], ["3.00", "2.00", "1.00"]);
    assert_eq!(line("read postgres client")[..3], ["3.00", "2.00", "1.00"]);
    // Two of three are writes, by name.
    let named = shown.split("which system calls, above 5 %").nth(1).unwrap();
    let named = named.lines().find(|line| line.starts_with("read sqlite")).unwrap();
    assert!(named.contains("67 %") && named.contains("33 %"), "{named}");
    let second = shown.split("what an operation cost: other counts").nth(1).unwrap();
    let faults = second.lines().find(|line| line.starts_with("read sqlite")).unwrap();
    assert_eq!(faults.split_whitespace().nth(2), Some("0.500"), "{faults}");
    let reasons = shown.matches("instructions were not counted: no counter").count();
    assert_eq!(reasons, 1, "a reason stands once:\n{shown}");
    assert!(!tables(&file, false).contains("cost: system calls"));
    assert!(!tables(&golden(), true).contains("cost: system calls"));
}

#[test]
fn times_and_ratios_are_those_of_the_timed_trials_alone() {
    let statistics = |file: &ResultFile| {
        let json = render(file, Format::Json, &Options::default()).unwrap();
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["statistics"].take()
    };
    assert!(statistics(&golden()).as_array().is_some_and(|all| !all.is_empty()));
    assert_eq!(statistics(&explained(golden())), statistics(&golden()));
}

#[test]
fn csv_has_the_totals_of_the_run_that_explains_and_no_statistics_beside_them() {
    let csv = render(&explained(golden()), Format::Csv, &Options::default()).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let explaining: Vec<_> = lines.filter(|line| line[at("explaining")] == "true").collect();
    assert!(!explaining.is_empty());
    for line in explaining.iter().filter(|line| !line[at("traced_ops")].is_empty()) {
        let number = |name: &str| line[at(name)].parse::<u64>().unwrap();
        assert_eq!(number("calls"), 3 * number("traced_ops"));
        assert_eq!((number("flush_calls"), number("read_calls")), (number("ops"), 0));
        assert_eq!((line[at("per_op_median_ns")], line[at("instructions")]), ("", ""));
    }
}
