//! What the table has of each engine.

use embermark_model::result::Latency;

use super::*;

#[test]
fn a_ratio_is_to_the_best_and_absent_where_nothing_was_measured() {
    let file = three();
    let table = table(&[&file]);
    let rows = entry(&table, "rows");
    assert_eq!((rows.ratios["ingest"], rows.ratios["analytics"]), (1.0, 4.0));
    assert_eq!(
        rows.intervals["analytics"],
        [80.0 * 98.0 / (20.0 * 102.0), 80.0 * 102.0 / (20.0 * 98.0)]
    );
    assert!(!rows.ratios.contains_key("mixed") && !rows.ratios.contains_key("wear"));
    assert_eq!((rows.facts.sql, rows.facts.peak_bytes), (true, Some(80e6)));
}

#[test]
fn the_table_is_the_json_that_the_page_reads() {
    let file = three();
    let json: serde_json::Value = serde_json::to_value(table(&[&file])).unwrap();
    assert_eq!(json["criteria"][0]["id"], "ingest");
    let tree = &json["engines"][2];
    assert_eq!((&tree["engine"], &tree["tier"]), (&"tree".into(), &"process".into()));
    for (name, value) in [
        ("name", serde_json::json!("A name")),
        ("kind", "embedded".into()),
        ("data_model", "key-value".into()),
        ("licence", "GPL-2.0".into()),
        ("publishable", true.into()),
        ("sql", false.into()),
        ("peak_bytes", 20e6.into()),
    ] {
        assert_eq!(tree["facts"][name], value, "{name}");
    }
    assert_eq!(tree["ratios"]["analytics"], 1.0);
}

#[test]
fn effort_is_no_criterion() {
    let table = table(&[&three()]);
    assert!(table.criteria.iter().all(|criterion| criterion.id != "effort"));
    assert!(table.engines.iter().all(|entry| !entry.ratios.contains_key("effort")));
}

#[test]
fn the_cpu_of_a_server_includes_its_client_as_an_embedded_engines_does() {
    let mut file = empty();
    file.cells.push(cell("embedded", "commit-each", &[("load", 30)]));
    file.cells.push(cell("server", "commit-each", &[("load", 10)]));
    for run in file.cells[1].trials.iter_mut().flat_map(|trial| &mut trial.phases[0].runs) {
        run.client = Some(Resources { cpu_ns: run.engine.cpu_ns, ..Resources::default() });
    }
    assert_eq!(entry(&table(&[&file]), "embedded").ratios["cpu"], 1.5, "30 to 10 and 10");
    for run in file.cells[1].trials.iter_mut().flat_map(|trial| &mut trial.phases[0].runs) {
        run.client = Some(Resources::default());
    }
    let table = table(&[&file]);
    assert!(!entry(&table, "server").ratios.contains_key("cpu"), "half of it is not measured");
}

#[test]
fn a_server_given_by_its_url_is_named_so_and_left_out() {
    let mut file = three();
    file.plan.urls.insert("rows".into(), "postgres://me:secret@db.example/one".into());
    let table = table(&[&file]);
    assert!(entry(&table, "rows (by URL)").ratios.is_empty());
    let advice = advise(&table, ANY, &weights(&[("ingest", 1.0)])).unwrap();
    assert_eq!(order(&advice), ["tree", "columns"]);
    let left = &advice.excluded[0];
    assert_eq!(left.engine, "rows (by URL)");
    assert_eq!(left.why, ["given by URL: its settings and its machine are its own"]);
    assert!(!words(&advice, &table, 120).contains("secret"));
}

#[test]
fn advice_says_at_which_scales_and_by_how_many_trials_it_was_measured() {
    let mut file = three();
    for engine in ["rows", "columns"] {
        let mut larger = cell(engine, "commit-each", &[("load", 70)]);
        larger.id.scale = Scale::Rows(100_000);
        file.cells.push(larger);
    }
    file.plan.runs = 99;
    let tables = tables(&[&file], None, &[]);
    let all = advise_each(&tables, ANY, &[]).unwrap();
    let shown = super::super::words(&all, &tables, None, 120);
    assert!(shown.contains("sensors 1k, 100k: 1 run x 3 trials"), "{shown}");
}

#[test]
fn several_rows_of_a_criterion_count_by_their_geometric_mean_over_that_of_the_best() {
    let mut file = empty();
    file.cells.push(cell("a", "single", &[("read", 10), ("last_readings", 40)]));
    file.cells.push(cell("b", "single", &[("read", 20), ("last_readings", 10)]));
    let table = table(&[&file]);
    // `a` is best in the first and `b` in the second: 1 and 4, 2 and 1.
    assert!((entry(&table, "a").ratios["point"] - 2f64.sqrt()).abs() < 1e-12);
    assert!((entry(&table, "b").ratios["point"] - 1.0).abs() < 1e-12);
}

#[test]
fn who_lacks_one_row_of_a_criterion_has_no_ratio_of_it() {
    let mut file = empty();
    file.cells.push(cell("a", "single", &[("read", 10), ("last_readings", 40)]));
    file.cells.push(cell("b", "single", &[("read", 20)]));
    file.cells.push(cell("c", "single", &[("read", 30), ("last_readings", 50)]));
    let table = table(&[&file]);
    assert!(!entry(&table, "b").ratios.contains_key("point"));
    let advice = advise(&table, ANY, &weights(&[("point", 1.0)])).unwrap();
    assert_eq!(order(&advice), ["a", "c"]);
    let why = "sensors 1k single last_readings: not measured";
    assert_eq!(advice.unmeasured[0].why, ["not measured for point", why]);
    let best = advice.best_at.iter().find(|best| best.criterion == "point").unwrap();
    assert_eq!((best.compared, best.not_comparable[0].engine.as_str()), (2, "b"));
    let shown = words(&advice, &table, 250);
    assert!(shown.contains(&format!("of 3: 1 not comparable, because b: {why}")), "{shown}");
}

#[test]
fn an_engine_alone_has_no_other_to_compare_with_and_one_that_failed_has_failed() {
    let why = |file: &ResultFile| {
        let table = table(&[file]);
        let advice = advise(&table, ANY, &weights(&[("load", 1.0)])).unwrap();
        let command = "to measure it: embermark run sensors -s 1k -t process";
        let shown = words(&advice, &table, 200);
        assert!(shown.contains(command), "{shown}");
        advice.unmeasured.into_iter().map(|left| left.why).collect::<Vec<_>>()
    };
    let mut file = empty();
    file.cells.push(cell("sqlite", "single", &[("load", 10)]));
    assert_eq!(why(&file), [["no other engine to compare with for load"]]);
    let tables = tables(&[&file], None, &[]);
    let says = crate::advise::brief(&tables, ANY, &[], 200).unwrap();
    assert!(says.contains("sqlite: no other engine to compare with"), "{says}");
    assert!(!says.contains("not measured"), "{says}");
    // Beside an engine that failed in the phase, it is still alone.
    let mut failed = cell("lmdb", "single", &[("load", 10)]);
    failed.status = Status::Failed;
    for trial in &mut failed.trials {
        (trial.status, trial.phases[0].status) = (Status::Failed, Status::Failed);
    }
    file.cells.push(failed);
    let expected = [
        vec!["no other engine to compare with for load".to_owned()],
        vec!["failed for load".to_owned(), "sensors 1k single load: failed".to_owned()],
    ];
    assert_eq!(why(&file), expected);
    // Its process ended before the first phase.
    for cell in &mut file.cells {
        cell.status = Status::Failed;
        cell.trials.clear();
    }
    assert_eq!(why(&file), [["failed for load"]; 2]);
}

#[test]
fn the_tail_is_the_99th_percentile_and_needs_one_of_everybody_in_every_trial() {
    let mut file = empty();
    for (engine, p99) in [("a", 100), ("b", 300)] {
        let mut cell = cell(engine, "single", &[("read", 10)]);
        for trial in &mut cell.trials {
            trial.phases[0].latency = Some(Latency {
                samples: 100,
                sampled_every: 1,
                min: 1,
                mean: 1.0,
                p50: 1,
                p95: Some(1),
                p99: Some(p99),
                p99_9: None,
                max: p99,
                stalled: None,
                hdr: String::new(),
            });
        }
        file.cells.push(cell);
    }
    assert!((entry(&table(&[&file]), "b").ratios["tail"] - 3.0).abs() < 1e-12);
    let latency = file.cells[1].trials[2].phases[0].latency.as_mut().unwrap();
    latency.p99 = None;
    let table = table(&[&file]);
    assert!(table.engines.iter().all(|entry| !entry.ratios.contains_key("tail")));
}

#[test]
fn a_phase_that_was_capped_or_cannot_be_done_takes_nobody_out_of_the_resources() {
    let mut file = empty();
    for (engine, time) in [("a", 30), ("b", 20), ("c", 10)] {
        let phases = [("load", time), ("read", time), ("outages", 90)];
        let mut cell = cell(engine, "single", &phases);
        for trial in &mut cell.trials {
            trial.phases[2].runs[0].engine.cpu_ns = Some(9_000_000);
        }
        file.cells.push(cell);
    }
    // Half of the reads were done in half of the time.
    file.cells[0].status = Status::Capped;
    for trial in &mut file.cells[0].trials {
        trial.phases[1].status = Status::Capped;
        let run = &mut trial.phases[1].runs[0];
        (run.ops, run.capped) = (5, true);
        run.engine.cpu_ns = run.engine.cpu_ns.map(|ns| ns / 2);
    }
    file.cells[1].status = Status::Unsupported;
    for trial in &mut file.cells[1].trials {
        trial.phases[2].status = Status::Unsupported;
        trial.phases[2].runs.clear();
    }
    let table = table(&[&file]);
    for (engine, ratio) in [("a", 3.0), ("b", 2.0), ("c", 1.0)] {
        let own = entry(&table, engine).ratios["cpu"];
        assert!((own - ratio).abs() < 1e-9, "{engine}: {own}");
        assert!(entry(&table, engine).ratios.contains_key("memory"), "{engine}");
        assert!(entry(&table, engine).ratios.contains_key("start"), "{engine}");
    }
}

#[test]
fn of_ingest_wear_memory_and_cpu_are_those_of_one_commit_a_row() {
    let mut file = empty();
    // One engine is better at many rows per commit, the other at one row per commit.
    for (engine, single, each) in [("one", 10, 90), ("other", 20, 30)] {
        file.cells.push(cell(engine, "single", &[("load", single)]));
        file.cells.push(cell(engine, "commit-each", &[("load", each)]));
    }
    let counted = |mut cell: Cell, bytes| {
        let mut counting = cell.trials[0].clone();
        let io = embermark_model::result::DeviceIo { written_bytes: bytes, ..Default::default() };
        counting.phases[0].runs[0].device_io = Some(io);
        cell.counting = Some(Box::new(counting));
        cell
    };
    let written = [1_000_000, 9_000_000, 2_000_000, 3_000_000];
    file.cells = file.cells.into_iter().zip(written).map(|(cell, of)| counted(cell, of)).collect();
    let table = table(&[&file]);
    let first = |of: &[(&str, f64)]| {
        let advice = advise(&table, ANY, &weights(of)).unwrap();
        (advice.ranked[0].engine.clone(), advice.weights[1].criterion.clone())
    };
    for resource in ["wear", "memory", "cpu"] {
        let of_ingest = format!("ingest-{resource}");
        assert_eq!(first(&[("ingest", 1.0), (resource, 9.0)]), ("other".into(), of_ingest));
        let of_all = first(&[("load", 1.0), (resource, 9.0)]);
        assert_eq!(of_all, ("one".into(), resource.into()));
    }
}

#[test]
fn the_memory_of_the_engine_that_does_nothing_is_taken_off() {
    let mut file = empty();
    for (engine, time) in [("a", 10), ("b", 16)] {
        file.cells.push(cell(engine, "single", &[("load", time)]));
    }
    assert!((entry(&table(&[&file]), "b").ratios["memory"] - 1.6).abs() < 1e-9);
    let peaks = BTreeMap::from([("load".to_owned(), 4_000_000)]);
    let at = BTreeMap::from([("1k".to_owned(), peaks)]);
    file.manifest.floor = Some(embermark_model::result::Floor {
        peak_bytes: BTreeMap::from([("sensors".to_owned(), at)]),
        ..Default::default()
    });
    let of = |file: &ResultFile| entry(&table(&[file]), "b").ratios["memory"];
    assert!((of(&file) - 2.0).abs() < 1e-9, "12 over 6 MB: {}", of(&file));
    let options = crate::Options { width: 200, ..crate::Options::default() };
    let shown = crate::render(&file, crate::Format::Table, &options).unwrap();
    let both = |line: &&str| line.contains("10.0 MB") && line.contains("6.00 MB");
    assert!(shown.contains("above floor") && shown.lines().any(|line| both(&line)), "{shown}");
    // The harness does not run in a server's process.
    for run in file.cells[0].trials.iter_mut().flat_map(|trial| &mut trial.phases[0].runs) {
        run.client = Some(Resources::default());
    }
    assert!((of(&file) - 1.2).abs() < 1e-9, "12 over 10 MB: {}", of(&file));
}

#[test]
fn no_interval_of_a_ratio_to_the_best_goes_below_1() {
    let mut file = empty();
    for (engine, load) in [("a", 100), ("b", 101)] {
        file.cells.push(cell(engine, "commit-each", &[("load", load)]));
    }
    let table = table(&[&file]);
    for entry in &table.engines {
        assert!(!entry.intervals.is_empty());
        assert!(entry.intervals.values().all(|ends| ends[0] >= 1.0 && ends[1] >= ends[0]));
    }
}
