use std::collections::BTreeMap;

use embermark_model::result::{Cell, EngineFacts, Latency, Resources, ResultFile, Run};
use embermark_model::{Scale, Status};

use super::*;
use crate::load;

mod clients;
mod limits;
mod picks;

fn fixture() -> ResultFile {
    // Tests run in the folder of their package.
    let path = "tests/fixtures/schema-1.json";
    load(std::path::Path::new(path)).unwrap()
}

/// Makes a file of `sensors` with 1k rows in the tier `process`, without cells.
fn empty() -> ResultFile {
    let mut file = fixture();
    file.cells.clear();
    file.manifest.engines.clear();
    file
}

/// Makes a cell of three trials, each with a run of ten operations per phase that takes the given
/// time. The second trial takes 2 % more, the third 2 % less.
fn cell(engine: &str, variant: &str, phases: &[(&str, u64)]) -> Cell {
    let mut cell = fixture().cells.swap_remove(0);
    cell.id.engine = engine.into();
    cell.id.variant = variant.into();
    cell.id.scale = Scale::Rows(1_000);
    (cell.status, cell.reason, cell.effective_durability, cell.reference) =
        (Status::Ok, None, None, false);
    let (trial, part) = (cell.trials[0].clone(), cell.trials[0].phases[0].clone());
    cell.trials.clear();
    for (index, percent) in [100, 102, 98].into_iter().enumerate() {
        let mut trial = trial.clone();
        trial.index = index as u32;
        trial.phases.clear();
        (trial.baseline_bytes, trial.open_ns) = (None, Some(1_000 * percent));
        for (name, elapsed) in phases {
            let mut part = part.clone();
            (part.phase, part.ops, part.status) = ((*name).to_owned(), 10, Status::Ok);
            part.latency = None;
            part.runs = vec![Run {
                elapsed_ns: elapsed * percent,
                ops: 10,
                engine: Resources {
                    cpu_ns: Some(elapsed * percent),
                    peak_bytes: Some(elapsed * 1_000_000),
                    ..Resources::default()
                },
                ..Run::default()
            }];
            trial.phases.push(part);
        }
        cell.trials.push(trial);
    }
    cell
}

fn facts(data_model: &str, kind: &str, licence: &str) -> EngineFacts {
    let own = str::to_owned;
    EngineFacts {
        name: own("A name"),
        kind: own(kind),
        data_model: own(data_model),
        licence: own(licence),
        configuration: None,
        engine_library: None,
    }
}

/// Makes three engines: `rows` is good at rows, `columns` at queries, and `tree` at both but
/// without SQL.
fn three() -> ResultFile {
    let mut file = empty();
    for (engine, load, question) in [("rows", 10, 80), ("columns", 90, 20), ("tree", 10, 20)] {
        file.cells.push(cell(engine, "commit-each", &[("load", load), ("avg_sensor", question)]));
    }
    file.manifest.engines = BTreeMap::from([
        ("rows".into(), facts("SQL", "embedded", "public domain")),
        ("columns".into(), facts("SQL", "embedded", "MIT")),
        ("tree".into(), facts("key-value", "embedded", "GPL-2.0")),
    ]);
    file
}

const ANY: Needs = Needs {
    tier: Durability::Process,
    sql: false,
    embedded: false,
    memory_bytes: None,
    licence: None,
    rows_per_second: None,
};

/// Returns the only table of files with one scale.
fn table(files: &[&ResultFile]) -> AdviceTable {
    let mut all = tables(files, None, &[]).tables;
    assert_eq!(all.len(), 1);
    all.swap_remove(0)
}

/// Formats one advice as text.
fn words(advice: &Advice, table: &AdviceTable, width: usize) -> String {
    let tables = AdviceTables { tables: vec![table.clone()], turns: Vec::new() };
    super::words(&[(table, advice.clone())], &tables, None, width)
}

fn weights(all: &[(&str, f64)]) -> Vec<Weight> {
    let weight =
        |(name, weight): &(&str, f64)| Weight { criterion: (*name).into(), weight: *weight };
    all.iter().map(weight).collect()
}

fn order(advice: &Advice) -> Vec<&str> {
    advice.ranked.iter().map(|place| place.engine.as_str()).collect()
}

fn entry<'a>(table: &'a AdviceTable, engine: &str) -> &'a EngineAdvice {
    table.engines.iter().find(|entry| entry.engine == engine).unwrap()
}

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
    let mut larger = cell("rows", "commit-each", &[("load", 70)]);
    larger.id.scale = Scale::Rows(100_000);
    file.cells.push(larger);
    file.plan.runs = 99;
    let tables = tables(&[&file], None, &[]);
    let all = advise_each(&tables, ANY, &[]).unwrap();
    let shown = super::words(&all, &tables, None, 120);
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
fn weights_decide_the_order_by_the_geometric_mean() {
    let file = three();
    let table = table(&[&file]);
    let needs = Needs { sql: true, ..ANY };
    let rows = advise(&table, needs, &weights(&[("ingest", 3.0), ("analytics", 1.0)])).unwrap();
    assert_eq!(order(&rows), ["rows", "columns"]);
    assert!((rows.ranked[0].score - 4f64.powf(0.25)).abs() < 1e-12);
    assert!((rows.ranked[1].score - 9f64.powf(0.75)).abs() < 1e-12);
    let columns = advise(&table, needs, &weights(&[("ingest", 1.0), ("analytics", 9.0)])).unwrap();
    assert_eq!(order(&columns), ["columns", "rows"]);
}

#[test]
fn without_weights_nobody_is_ranked_and_each_engines_best_is_told() {
    let file = three();
    let table = table(&[&file]);
    let advice = advise(&table, ANY, &[]).unwrap();
    assert!(advice.ranked.is_empty() && advice.unmeasured.is_empty());
    let best = |id| advice.best_at.iter().find(|best| best.criterion == id).unwrap();
    assert_eq!(best("ingest").engines, ["rows", "tree"], "no difference is shown between them");
    assert_eq!(best("analytics").engines, ["columns", "tree"]);
    assert!(!advice.best_at.iter().any(|best| best.criterion == "mixed"));
}

#[test]
fn must_haves_leave_out_and_say_why() {
    let mut file = three();
    let mut server = cell("server", "commit-each", &[("load", 5), ("avg_sensor", 5)]);
    server.effective_durability = Some(Durability::None);
    file.cells.push(server);
    file.manifest.engines.insert("server".into(), facts("document", "server", "SSPL-1.0"));
    let needs = Needs {
        sql: true,
        embedded: true,
        memory_bytes: Some(85_000_000),
        licence: Some(LicenceClass::Permissive),
        ..ANY
    };
    let advice = advise(&table(&[&file]), needs, &weights(&[("ingest", 1.0)])).unwrap();
    assert_eq!(order(&advice), ["rows"]);
    let why = |engine: &str| {
        let left = advice.excluded.iter().find(|left| left.engine == engine).unwrap();
        left.why.join("; ")
    };
    assert_eq!(why("columns"), "uses 90.0 MB");
    assert_eq!(why("tree"), "no SQL (key-value); licence GPL-2.0");
    assert_eq!(
        why("server"),
        "effective durability only none; no SQL (document); not embedded (server); licence SSPL-1.0"
    );
}

#[test]
fn memory_that_was_not_measured_meets_no_budget() {
    let mut file = three();
    for trial in &mut file.cells[0].trials {
        trial.phases[0].runs[0].engine.peak_bytes = None;
    }
    let needs = Needs { memory_bytes: Some(1 << 40), ..ANY };
    let advice = advise(&table(&[&file]), needs, &[]).unwrap();
    assert_eq!(advice.excluded[0].why, ["its memory was not measured"]);
}

#[test]
fn an_engine_that_was_measured_in_another_tier_alone_is_named_and_not_ranked() {
    let mut file = three();
    file.cells[0].effective_durability = Some(Durability::Power);
    let needs = Needs { tier: Durability::Power, ..ANY };
    let advice = advise(&table(&[&file]), needs, &weights(&[("ingest", 1.0)])).unwrap();
    assert!(advice.ranked.is_empty());
    assert_eq!(advice.excluded.len(), 1);
    assert_eq!(
        advice.excluded[0].why,
        ["effective durability power, but not measured in that tier"]
    );
}

#[test]
fn an_order_whose_intervals_overlap_is_called_uncertain() {
    let mut file = empty();
    for (engine, load) in [("a", 100), ("b", 101), ("c", 300)] {
        file.cells.push(cell(engine, "commit-each", &[("load", load)]));
    }
    let advice = advise(&table(&[&file]), ANY, &weights(&[("ingest", 1.0)])).unwrap();
    assert_eq!(order(&advice), ["a", "b", "c"]);
    assert_eq!(advice.ranked[0].not_certainly_before, ["b"]);
    assert!(advice.ranked[1].not_certainly_before.is_empty());
    let shown = words(&advice, &table(&[&file]), 200);
    assert!(
        shown.contains("1. a 1.00x") && shown.contains("its order before b is not certain"),
        "{shown}"
    );
}

#[test]
fn two_files_of_one_machine_are_one_table_and_a_file_given_twice_counts_once() {
    let (mut one, mut other) = (three(), three());
    one.cells.truncate(1);
    other.cells.remove(0);
    other.manifest.run_id = "another".into();
    let both = table(&[&one, &other]);
    assert_eq!(entry(&both, "rows").ratios["analytics"], 4.0, "to the best of the other file");
    let twice = table(&[&one, &one]);
    assert_eq!(twice.engines.len(), 1);
    assert!(tables(&[], None, &[]).tables.is_empty());
}

#[test]
fn advice_from_figures_that_may_not_be_published_says_so_on_its_face() {
    let mut file = three();
    file.cells[2].unpublishable = true;
    let shown = |file: &ResultFile| {
        let table = table(&[file]);
        words(&advise(&table, ANY, &weights(&[("ingest", 1.0)])).unwrap(), &table, 120)
    };
    assert!(shown(&file).starts_with("NOT TO BE PUBLISHED"), "{}", shown(&file));
    let publishable = shown(&file.publishable());
    assert!(!publishable.contains("NOT TO BE PUBLISHED") && publishable.contains("tree: "));
}

#[test]
fn an_unknown_criterion_is_answered_with_the_nearest() {
    let file = three();
    let error = advise(&table(&[&file]), ANY, &weights(&[("ingset", 1.0)])).unwrap_err();
    assert_eq!(error.nearest.as_deref(), Some("ingest"));
}

/// Makes `rows` and `columns`, which load at three scales. `columns` is slower at the smallest and
/// faster at the largest.
fn turning() -> ResultFile {
    let mut file = three();
    file.cells.clear();
    for (rows, of_rows, of_columns) in [(1_000, 10, 30), (10_000, 100, 101), (100_000, 900, 300)] {
        for (engine, time) in [("rows", of_rows), ("columns", of_columns)] {
            let mut cell = cell(engine, "commit-each", &[("load", time)]);
            cell.id.scale = Scale::Rows(rows);
            file.cells.push(cell);
        }
    }
    file
}

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
    let shown = super::words(&all, &tables, None, 200);
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
fn rows_that_are_asked_for_are_answered_at_the_nearest_scale_which_is_named() {
    let file = turning();
    let shown = |rows: u64| {
        let tables = tables(&[&file], Some(rows), &[]);
        assert_eq!(tables.tables.len(), 1);
        let all = advise_each(&tables, ANY, &weights(&[("ingest", 1.0)])).unwrap();
        super::words(&all, &tables, Some(rows), 200)
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
    let shown = super::words(&all, &tables, None, 200);
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
    let shown = super::words(&all, &tables, None, 200);
    assert!(shown.contains("rows: uses 900 MB (at about 100k rows)"), "{shown}");
}

#[test]
fn cold_reads_are_named_and_never_pooled_with_warm_ones() {
    let (warm, mut cold) = (three(), three());
    cold.plan.cold = true;
    assert_eq!(crate::compare::unpoolable(&warm, &cold), ["cold reads: no, then yes"]);
    let protocol = |file: &ResultFile| table(&[file]).rests_on[0].protocol.clone();
    assert!(protocol(&cold).ends_with(", cold reads") && !protocol(&warm).contains("cold"));
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
fn a_best_over_several_workloads_is_called_pooled_with_the_best_of_each() {
    let mut file = empty();
    for (engine, load, insert) in [("a", 10, 90), ("b", 20, 10)] {
        file.cells.push(cell(engine, "commit-each", &[("load", load)]));
        let mut contacts = cell(engine, "commit-each", &[("insert", insert)]);
        contacts.id.workload = "contacts".into();
        file.cells.push(contacts);
    }
    let table = table(&[&file]);
    let shown = words(&advise(&table, ANY, &[]).unwrap(), &table, 250);
    let says = "ingest: b pooled over sensors 1k and contacts 1k (best at contacts 1k: b, at \
                sensors 1k: a)";
    assert!(shown.contains(says), "{shown}");
}

#[test]
fn where_there_is_no_answer_nobody_is_ranked_and_the_command_that_measures_it_stands_there() {
    let file = turning();
    let shown = |rows, tier| {
        let tables = tables(&[&file], rows, &[]);
        let needs = Needs { tier, ..ANY };
        let all = advise_each(&tables, needs, &weights(&[("ingest", 1.0)])).unwrap();
        assert!(all.iter().all(|(_, advice)| advice.ranked.is_empty()));
        super::words(&all, &tables, rows, 200)
    };
    let far = shown(Some(30_000_000), Durability::Process);
    assert!(far.contains("no order for 30M rows: sensors 100k") && !far.contains("1. "), "{far}");
    let command = "embermark run sensors -s 30M -t process --variant single,commit-each";
    assert!(far.contains(command), "{far}");
    let power = shown(None, Durability::Power);
    assert!(power.contains("Nothing was measured in tier power."), "{power}");
    assert!(power.contains("-t power --variant single,commit-each"), "{power}");
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

/// Makes `a` and `b`, which do both workloads, and `c`, which cannot do `contacts` and is the best
/// at `sensors`.
fn without_a_workload(of_c: Option<Status>) -> ResultFile {
    let mut file = empty();
    for (engine, load, insert) in [("a", 30, 10), ("b", 20, 30), ("c", 10, 10)] {
        file.cells.push(cell(engine, "commit-each", &[("load", load)]));
        let mut contacts = cell(engine, "commit-each", &[("insert", insert)]);
        contacts.id.workload = "contacts".into();
        if engine == "c" {
            let Some(status) = of_c else { continue };
            (contacts.status, contacts.reason) = (status, Some("it has no such thing".into()));
            contacts.trials.clear();
        }
        file.cells.push(contacts);
    }
    file
}

#[test]
fn who_cannot_do_a_whole_workload_is_not_pooled_over_the_others_and_that_is_said() {
    for (of_c, why) in [
        (Some(Status::Unsupported), "contacts 1k commit-each insert: unsupported"),
        (Some(Status::Unavailable), "contacts 1k commit-each insert: unavailable"),
        (None, "contacts 1k: not measured"),
    ] {
        let table = table(&[&without_a_workload(of_c)]);
        for criterion in ["ingest", "ingest-cpu", "ingest-memory"] {
            assert!(!entry(&table, "c").ratios.contains_key(criterion), "{criterion}: {why}");
            let advice = advise(&table, ANY, &weights(&[(criterion, 1.0)])).unwrap();
            assert_eq!(advice.unmeasured[0].engine, "c");
            let best = advice.best_at.iter().find(|best| best.criterion == criterion).unwrap();
            assert_eq!((best.compared, best.not_comparable[0].engine.as_str()), (2, "c"));
            assert!(best.engines.contains(&"a".to_owned()) || best.engines.contains(&"b".into()));
        }
        let shown = words(&advise(&table, ANY, &[]).unwrap(), &table, 300);
        assert!(shown.contains(&format!("of 3: 1 not comparable, because c: {why}")), "{shown}");
    }
}

#[test]
fn of_an_engine_that_is_not_here_one_word_says_why_it_was_not_compared() {
    let mut file = three();
    let mut gone = cell("gone", "commit-each", &[]);
    (gone.status, gone.reason) = (Status::Unavailable, Some("install it".into()));
    gone.trials.clear();
    file.cells.push(gone);
    let of_both = weights(&[("ingest", 1.0), ("analytics", 1.0)]);
    let advice = advise(&table(&[&file]), ANY, &of_both).unwrap();
    assert_eq!(advice.unmeasured[0].why, ["not measured for ingest, analytics", "unavailable"]);
}

#[test]
fn the_command_that_is_named_measures_what_is_lacking() {
    let file = three();
    let shown = |weight: &str| {
        let table = table(&[&file]);
        words(&advise(&table, ANY, &weights(&[(weight, 1.0)])).unwrap(), &table, 300)
    };
    let energy = shown("energy");
    assert!(energy.contains("-t process --metered") && energy.contains("--meter"), "{energy}");
    assert!(shown("ingest-energy").contains("--variant single,commit-each --metered"));
    assert!(shown("wear").contains("(as root, without --no-counting)"), "{}", shown("wear"));
    assert!(shown("mixed").contains("embermark run sensors htap -s 1k"), "{}", shown("mixed"));
    assert!(shown("steady-latency").contains("embermark run sensors retention"));
}
