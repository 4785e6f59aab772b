use std::collections::BTreeMap;

use embermark_model::plan::{Dataset, WorkloadFile};
use embermark_model::result::{Cell, EngineFacts, Resources, ResultFile, Run};
use embermark_model::{Scale, Status};

use super::*;
use crate::load;

mod clients;
mod entries;
mod limits;
mod picks;
mod scales;

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

const ANY: Needs = Needs::only(Durability::Process);

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
fn a_budget_of_memory_is_for_every_variant() {
    let mut file = three();
    file.cells.push(cell("rows", "bulk", &[("load", 95)]));
    let needs = Needs { memory_bytes: Some(85_000_000), ..ANY };
    let advice = advise(&table(&[&file]), needs, &[]).unwrap();
    let rows = advice.excluded.iter().find(|left| left.engine == "rows").unwrap();
    assert_eq!(rows.why, ["uses 95.0 MB"]);
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
fn cold_reads_are_named_and_never_pooled_with_warm_ones() {
    let (warm, mut cold) = (three(), three());
    cold.plan.cold = true;
    assert_eq!(crate::compare::unpoolable(&warm, &cold), ["cold reads: no, then yes"]);
    let protocol = |file: &ResultFile| table(&[file]).rests_on[0].protocol.clone();
    assert!(protocol(&cold).ends_with(", cold reads") && !protocol(&warm).contains("cold"));
    cold.plan.clients = 4;
    assert!(protocol(&cold).ends_with(", 4 clients, cold reads"));
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

#[test]
fn the_command_has_the_scale_of_each_workload_and_the_path_of_a_file() {
    let command = |file: &ResultFile| {
        let table = table(&[file]);
        words(&advise(&table, ANY, &weights(&[("energy", 1.0)])).unwrap(), &table, 400)
    };
    let mut file = empty();
    for engine in ["a", "b"] {
        file.cells.push(cell(engine, "single", &[("load", 10)]));
        let mut contacts = cell(engine, "single", &[("insert", 10)]);
        (contacts.id.workload, contacts.id.scale) = ("contacts".into(), Scale::Rows(10_000));
        file.cells.push(contacts);
    }
    let tables = tables(&[&file], Some(1_000), &[]);
    let asked = remedy::command(&tables.tables[0], Durability::Process, &[]);
    assert_eq!(asked, "embermark run sensors contacts -s 1k -t process");
    let tables = super::tables(&[&file], None, &[]);
    let each = remedy::command(&tables.tables[0], Durability::Process, &[]);
    assert_eq!(each, "embermark run sensors:1k contacts:10k -t process");
    file.cells.retain(|cell| cell.id.workload == "sensors");
    for cell in &mut file.cells {
        (cell.id.workload, cell.id.scale) = ("shop".into(), Scale::Full);
    }
    let folder = "/home/me/my rows".into();
    let (text, criteria) = (String::new(), BTreeMap::new());
    let own = WorkloadFile { text, folder, misfits_per_million: 0, criteria };
    file.plan.workload_files.insert("shop".into(), own);
    let says = "embermark run '/home/me/my rows/shop.toml' -s full -t process --metered";
    assert!(command(&file).contains(says), "{}", command(&file));
    // A file that is part of the program has no folder.
    file.plan.workload_files.get_mut("shop").unwrap().folder = ".".into();
    assert!(command(&file).contains("run shop -s full"), "{}", command(&file));
}

#[test]
fn no_command_measures_more_rows_than_a_file_has() {
    let mut file = empty();
    for engine in ["a", "b"] {
        let mut cell = cell(engine, "single", &[("load", 10)]);
        (cell.id.workload, cell.id.scale) = ("shop".into(), Scale::Full);
        file.cells.push(cell);
    }
    let (text, criteria) = (String::new(), BTreeMap::new());
    let own = WorkloadFile { text, folder: "/home/me".into(), misfits_per_million: 0, criteria };
    file.plan.workload_files.insert("shop".into(), own);
    let of_file = Some("/home/me/rows.csv".into());
    let rows = Dataset { file: of_file, rows: 3_000, ..Dataset::default() };
    file.manifest.datasets.insert("shop".into(), rows);
    let beyond = |rows| remedy::beyond_file(&tables(&[&file], Some(rows), &[]).tables[0], rows);
    let says = "all rows of shop were measured, 3,000 rows: to measure more, name a file with more";
    assert_eq!(beyond(1_000_000).as_deref(), Some(says));
    assert_eq!(beyond(2_000), None);
}

#[test]
fn what_settles_an_order_takes_longer_than_the_run_did() {
    let mut file = empty();
    for (engine, load) in [("a", 100), ("b", 101)] {
        file.cells.push(cell(engine, "commit-each", &[("load", load)]));
    }
    let brief = |file: &ResultFile| {
        let tables = tables(&[file], None, &[]);
        brief(&tables, ANY, &weights(&[("ingest", 1.0)]), 300).unwrap()
    };
    file.plan.lasts_ms = Some(1_800_000);
    assert!(brief(&file).contains("embermark run with --for 180m"), "{}", brief(&file));
    (file.plan.lasts_ms, file.plan.trials) = (None, 3);
    assert!(brief(&file).contains("run with --effort thorough"), "{}", brief(&file));
    file.plan.trials = 10;
    assert!(brief(&file).contains("run with --trials 20"), "{}", brief(&file));
}
