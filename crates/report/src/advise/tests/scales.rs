//! Advice at several scales.

use super::*;

#[test]
fn advice_is_given_at_each_scale_and_names_it() {
    let file = turning();
    let tables = tables(&[&file], None, &[]);
    let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    let orders: Vec<Vec<&str>> = all.iter().map(|(_, advice)| order(advice)).collect();
    assert_eq!(orders, [["rows", "columns"], ["rows", "columns"], ["columns", "rows"]]);
    let ratios: Vec<f64> =
        all.iter().map(|(_, advice)| (advice.ranked[1].score * 1e9).round() / 1e9).collect();
    assert_eq!(ratios, [3.0, 1.01, 3.0], "each of its own scale alone");
    let shown = super::super::words(&all, &tables, None, 200);
    for says in [
        "weights ingest 1 · at sensors 1k",
        "weights ingest 1 · at sensors 10k",
        "weights ingest 1 · at sensors 100k",
        "by these weights columns overtakes rows between 1k and 100k rows",
        "ingest: columns overtakes rows between 1k and 100k rows (load)",
        "ingest: rows at sensors 1k; rows (no difference shown to columns) at sensors 10k; \
         columns at sensors 100k. rows put in",
    ] {
        assert!(shown.contains(says), "{says}\n{shown}");
    }
}

#[test]
fn a_scale_that_was_not_run_or_of_one_engine_hides_no_other() {
    let mut file = three();
    for engine in ["rows", "columns", "tree"] {
        let mut cell = cell(engine, "commit-each", &[("load", 10)]);
        cell.id.scale = Scale::Rows(100_000);
        if engine != "tree" {
            cell.trials.clear();
            cell.status = Status::NotRun;
        }
        file.cells.push(cell);
    }
    for rows in [None, Some(5_000)] {
        let tables = tables(&[&file], rows, &[]);
        assert_eq!(tables.tables.len(), 1);
        let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
        assert_eq!(order(&all[0].1), ["rows", "tree", "columns"]);
        let shown = super::super::words(&all, &tables, rows, 200);
        assert!(shown.contains("· at sensors 1k\n"), "{shown}");
    }
}

#[test]
fn rows_that_are_asked_for_are_answered_at_the_nearest_scale_which_is_named() {
    let file = turning();
    let shown = |rows: u64| {
        let tables = tables(&[&file], Some(rows), &[]);
        assert_eq!(tables.tables.len(), 1);
        let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
        super::super::words(&all, &tables, Some(rows), 200)
    };
    let near = shown(60_000);
    assert!(near.contains("60k rows asked for; answered at sensors 100k, the nearest"), "{near}");
    assert!(near.contains("1. columns 1.00x") && !near.contains("fewer rows"), "{near}");
    let more = shown(300_000);
    assert!(more.contains("fewer rows than asked for: sensors 100k"), "{more}");
    let far = shown(30_000_000);
    assert!(far.contains("no answer for 30M: sensors 100k: measure with --scale 30M"), "{far}");
    assert!(shown(10).contains("no answer for 10: sensors 1k"), "as far below");
}

#[test]
fn a_workload_that_no_weight_rests_on_makes_no_advice_of_its_own() {
    let mut file = turning();
    file.cells.retain(|cell| cell.id.scale == Scale::Rows(1_000));
    for rows in [1, 100] {
        for engine in ["rows", "columns"] {
            let mut cell = cell(engine, "commit-each", &[("insert_count", rows)]);
            (cell.id.workload, cell.id.scale) = ("htap".into(), Scale::Rows(rows));
            file.cells.push(cell);
        }
    }
    let tables = tables(&[&file], None, &[]);
    let count = |weight: &[(&str, f64)]| advise_each(&tables, ANY, &weights(weight)).unwrap().len();
    assert_eq!((count(&[("ingest", 1.0)]), count(&[("mixed", 1.0)])), (1, 2));
    let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0), ("mixed", 1.0)])).unwrap();
    let shown = super::super::words(&all, &tables, None, 200);
    assert!(shown.contains("mixed 1 · at sensors 1k, htap 100"), "each at its own: {shown}");
}

#[test]
fn memory_is_that_of_the_scale() {
    let file = turning();
    let tables = tables(&[&file], None, &[]);
    let needs = Needs { memory_bytes: Some(400_000_000), ..ANY };
    let all = advise_each(&tables, needs, &weights(&[("ingest", 1.0)])).unwrap();
    let orders: Vec<Vec<&str>> = all.iter().map(|(_, advice)| order(advice)).collect();
    assert_eq!(orders, [vec!["rows", "columns"], vec!["rows", "columns"], vec!["columns"]]);
    let shown = super::super::words(&all, &tables, None, 200);
    assert!(shown.contains("rows: uses 900 MB (at about 100k rows)"), "{shown}");
}
