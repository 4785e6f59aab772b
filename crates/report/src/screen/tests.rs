use embermark_model::card::{Mapping, Spread};
use embermark_model::result::{
    Cell, DeviceIo, FlashCost, FlashModel, FlashOfPhase, FlashWork, Latency, Observed,
    OpenLoopSchedule, PhaseResult, Run,
};
use embermark_model::{Card, Configuration, MemoryLimit, Scale, Status};

use super::*;
use crate::kinds::Kinds;
use crate::{advise, load};

/// Makes a result without cells, of a run that ended.
fn empty() -> ResultFile {
    // Tests run in the folder of their package.
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    file.cells.clear();
    file.manifest.warnings.clear();
    file
}

/// Makes a cell of `sensors` with 1k rows in the tier `process`. Each of its three trials has ten
/// operations per phase that take the given ns. The second trial is 2 % slower, the third 2 %
/// faster.
fn cell(engine: &str, variant: &str, phases: &[(&str, u64)]) -> Cell {
    let file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    let mut cell = file.cells.into_iter().next().unwrap();
    (cell.id.engine, cell.id.variant) = (engine.into(), variant.into());
    cell.id.scale = Scale::Rows(1_000);
    (cell.status, cell.reason, cell.effective_durability, cell.reference) =
        (Status::Ok, None, None, false);
    let (trial, part) = (cell.trials[0].clone(), cell.trials[0].phases[0].clone());
    cell.trials.clear();
    for (index, percent) in (0..).zip([100, 102, 98]) {
        let mut trial = trial.clone();
        (trial.index, trial.status, trial.reason) = (index, Status::Ok, None);
        let phase = |(name, ns): &(&str, u64)| PhaseResult {
            phase: (*name).to_owned(),
            status: Status::Ok,
            reason: None,
            ops: 10,
            runs: vec![Run { elapsed_ns: ns * percent * 10, ops: 10, ..Run::default() }],
            latency: None,
            ..part.clone()
        };
        trial.phases = phases.iter().map(phase).collect();
        cell.trials.push(trial);
    }
    cell
}

/// Returns some measured latencies.
fn latency() -> Latency {
    let file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    let trials = file.cells.iter().flat_map(|cell| &cell.trials);
    trials.flat_map(|trial| &trial.phases).find_map(|phase| phase.latency.clone()).unwrap()
}

/// Moves a cell to another workload and scale.
fn of(workload: &str, rows: u64, mut cell: Cell) -> Cell {
    (cell.id.workload, cell.id.scale) = (workload.into(), Scale::Rows(rows));
    cell
}

/// Gives this status to the cell and to its last phase in every trial.
fn ending(status: Status, reason: &str, mut cell: Cell) -> Cell {
    (cell.status, cell.reason) = (status, Some(reason.into()));
    for trial in &mut cell.trials {
        (trial.status, trial.reason) = (status, Some(reason.into()));
        let phase = trial.phases.last_mut().unwrap();
        (phase.status, phase.reason) = (status, Some(reason.into()));
        phase.runs.clear();
    }
    cell
}

fn result(cells: impl IntoIterator<Item = Cell>) -> ResultFile {
    let mut file = empty();
    file.cells.extend(cells);
    file
}

fn screen(file: &ResultFile, width: usize) -> String {
    let options = Options { width, path: Some(Path::new("out/result.json")), ..Options::default() };
    super::screen(file, &options, &Files::default())
}

/// Returns the box of an engine in the first table, in the row that begins with `row`. A box in
/// these tests has no space inside, except before a count of phases.
fn box_of(shown: &str, row: &str, engine: &str) -> String {
    let header = shown.lines().find(|line| line.starts_with("   ") && line.contains(engine));
    let names: Vec<&str> = header.unwrap().split_whitespace().collect();
    let line = shown.lines().find(|line| line.starts_with(row)).unwrap();
    let line = line[row.len()..].replace(" 1/2", "|1/2").replace("timed out", "timed-out");
    let line = line.replace(" /s", "|/s").replace("lost ", "lost|");
    let boxes: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(boxes.len(), names.len(), "{shown}");
    boxes[names.iter().position(|name| *name == engine).unwrap()].to_owned()
}

#[test]
fn a_box_is_the_geometric_mean_over_phases_and_variants_of_the_ratios_to_the_fastest() {
    // Ratios of `a`: 1, 8, 1. Ratios of `b`: 4, 1, 2.
    let shown = screen(
        &result([
            cell("a", "single", &[("load", 100), ("read", 800)]),
            cell("b", "single", &[("load", 400), ("read", 100)]),
            cell("a", "bulk", &[("load", 50)]),
            cell("b", "bulk", &[("load", 100)]),
        ]),
        80,
    );
    assert_eq!(box_of(&shown, "sensors 1k", "a"), "2.00x≈", "{shown}");
    assert_eq!(box_of(&shown, "sensors 1k", "b"), "2.00x≈", "{shown}");
    let shown = screen(
        &result([
            cell("a", "single", &[("load", 100), ("read", 900)]),
            cell("b", "single", &[("load", 400), ("read", 100)]),
        ]),
        80,
    );
    assert_eq!(box_of(&shown, "sensors 1k", "a"), "3.00x", "{shown}");
    assert_eq!(box_of(&shown, "sensors 1k", "b"), "2.00x*", "{shown}");
}

/// Gives a cell a counting trial whose phases each program as many bytes into a modelled card.
fn on_a_card(mut cell: Cell, programmed_bytes: u64) -> Cell {
    let mut counting = cell.trials[0].clone();
    let cost = FlashCost { programmed_bytes, erases: 1.0 };
    let written_bytes = 4096;
    let run = FlashWork { written_bytes, typical: cost, low: cost, high: cost };
    for run in counting.phases.iter_mut().flat_map(|phase| &mut phase.runs) {
        run.device_io = Some(DeviceIo { written_bytes, ..DeviceIo::default() });
    }
    let of = |phase: &PhaseResult| FlashOfPhase {
        phase: phase.phase.clone(),
        run,
        ..FlashOfPhase::default()
    };
    let phases = counting.phases.iter().map(of).collect();
    counting.flash = vec![FlashModel { card: "one".to_owned(), phases, ..FlashModel::default() }];
    cell.counting = Some(Box::new(counting));
    cell
}

#[test]
fn bytes_of_a_modelled_card_are_called_a_model_by_the_table_its_legend_and_the_picks() {
    let phases = [("load", 100), ("read", 100)];
    let cells = [("a", 1, 5_000_000), ("b", 3, 1_000_000)].map(|(engine, slower, programmed)| {
        ["commit-each", "single"].map(|variant| {
            let phases = phases.map(|(name, ns)| (name, ns * slower));
            on_a_card(cell(engine, variant, &phases), programmed)
        })
    });
    let mut file = result(cells.into_iter().flatten());
    file.manifest.floor = None;
    let counted = screen(&file, 200);
    assert!(counted.contains(" written") && !counted.contains("flash"), "{counted}");
    file.plan.cards = vec![Card {
        name: "one".to_owned(),
        mapping: Mapping::LogBlocks { open_units: Spread::exact(4) },
        capacity_bytes: 1_000 << 20,
        page_bytes: 16 << 10,
        erase_block_bytes: 1 << 20,
        spare_permille: Spread::exact(100),
        cycles: Spread::exact(1_000),
        cache_bytes: 0,
        filled_permille: 1_000,
    }];
    let shown = screen(&file, 200);
    for says in ["flash, model: bytes programmed into one, a model", "flash bytes (model)"] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    let header = shown.lines().find(|line| line.contains("flash, model")).unwrap();
    assert!(!header.contains("written"), "{shown}");
    let all = advise::tables(&[&file], None, &[]);
    let table = &all.tables[0];
    let weight = advise::pick::single_weight("wear");
    let name = advise::pick::work_name(table, table.engines[0].tier, &[weight]);
    assert_eq!(name, "flash bytes (model)");
}

#[test]
fn what_no_difference_to_the_best_is_shown_for_is_marked_and_so_is_the_best() {
    let file = result([
        cell("a", "single", &[("load", 100), ("read", 101)]),
        cell("b", "single", &[("load", 101), ("read", 100)]),
        cell("c", "single", &[("load", 150), ("read", 150)]),
    ]);
    let shown = screen(&file, 80);
    let boxes = ["a", "b", "c"].map(|engine| box_of(&shown, "sensors 1k", engine));
    assert_eq!(boxes, ["1.00x≈", "1.00x≈", "1.50x"], "{shown}");
    assert!(shown.contains("≈ not significantly slower than the best"), "{shown}");
    assert!(!shown.contains("no mark"), "{shown}");
    // Two trials show neither a difference nor equality.
    let mut two = file;
    two.cells.iter_mut().for_each(|cell| cell.trials.truncate(2));
    let shown = screen(&two, 80);
    assert!(!shown.contains('≈') && shown.contains("1.00x*"), "{shown}");
    assert!(shown.contains("no mark: slower, or too few trials to tell"), "{shown}");
}

#[test]
fn an_engine_that_lacks_a_phase_shows_how_many_it_has_and_is_not_the_best() {
    let quick = cell("quick", "single", &[("load", 10), ("outages", 10)]);
    let shown = screen(
        &result([
            cell("whole", "single", &[("load", 20), ("outages", 20)]),
            cell("slow", "single", &[("load", 60), ("outages", 60)]),
            ending(Status::Unsupported, "no windows", quick),
        ]),
        80,
    );
    assert_eq!(box_of(&shown, "sensors 1k", "quick"), "1.00x|1/2", "{shown}");
    assert_eq!(box_of(&shown, "sensors 1k", "whole"), "1.41x*", "{shown}");
    assert!(shown.contains("1/2 answered 1 of 2 phases, not ranked"), "{shown}");
    assert!(shown.contains("  unsupported  sensors outages: quick\n"), "{shown}");
}

#[test]
fn a_phase_that_nobody_can_do_is_nobodys_lack() {
    let without = |engine, ns| {
        ending(
            Status::Unsupported,
            "no log",
            cell(engine, "single", &[("load", ns), ("open_log", 1)]),
        )
    };
    let shown = screen(&result([without("a", 10), without("b", 20)]), 80);
    assert_eq!(box_of(&shown, "sensors 1k", "a"), "1.00x*", "{shown}");
    assert!(shown.contains("unsupported  sensors open_log: a, b\n"), "{shown}");
}

#[test]
fn who_failed_anywhere_in_a_workload_has_the_word_and_no_mean_and_stands_below_with_the_reason() {
    for (status, word) in
        [(Status::Wrong, "wrong"), (Status::Failed, "failed"), (Status::TimedOut, "timed-out")]
    {
        let bad = cell("bad", "single", &[("load", 1), ("outages", 1)]);
        let shown = screen(
            &result([
                cell("a", "single", &[("load", 20), ("outages", 20)]),
                cell("b", "single", &[("load", 40), ("outages", 40)]),
                cell("a", "bulk", &[("load", 8)]),
                cell("b", "bulk", &[("load", 4)]),
                ending(status, "for a reason", bad),
                cell("bad", "bulk", &[("load", 1)]),
            ]),
            80,
        );
        assert_eq!(box_of(&shown, "sensors 1k", "bad"), word, "{shown}");
        let line = format!("  bad   sensors outages: {status}: for a reason\n");
        assert!(shown.contains(&line), "{shown}");
        // Its completed cell counts. There it is the fastest, and the ratios of `a` are 1, 1, 8.
        assert_eq!(box_of(&shown, "sensors 1k", "a"), "2.00x*", "{shown}");
    }
}

#[test]
fn a_limit_that_could_not_be_set_leaves_a_row_of_dashes_and_its_reason_once() {
    let within = |engine: &str| {
        let mut cell = of("sensors", 1_000, cell(engine, "single", &[]));
        cell.id.memory_limit = Some(MemoryLimit(256 << 20));
        cell.trials.clear();
        ending(Status::Unsupported, "needs root or a delegated control group", cell)
    };
    let free = |engine: &str, ns| of("sensors", 1_000, cell(engine, "single", &[("read", ns)]));
    let file = result([free("a", 10), free("b", 20), within("a"), within("b")]);
    let shown = screen(&file, 100);
    assert_eq!(box_of(&shown, "sensors 1k within 256 MiB", "b"), "-", "{shown}");
    let says = "sensors 1k within 256 MiB: needs root or a delegated control group";
    assert_eq!(shown.matches(says).count(), 1, "{shown}");
}

#[test]
fn an_engine_that_is_not_here_has_no_column_and_a_line_with_the_remedy() {
    let mut gone = cell("gone", "single", &[("load", 1)]);
    gone.trials.clear();
    (gone.status, gone.reason) = (Status::Unavailable, Some("install it".into()));
    let other = of("contacts", 100, gone.clone());
    let a = |ns| [cell("a", "single", &[("load", ns)]), cell("b", "single", &[("load", ns * 2)])];
    let shown = screen(&result(a(5).into_iter().chain([gone, other])), 80);
    assert!(!shown.lines().any(|line| line.starts_with("   ") && line.contains("gone")), "{shown}");
    assert!(shown.contains("unavailable  gone; 'embermark engines' and"), "{shown}");
}

#[test]
fn tiers_have_a_table_each_and_a_reference_is_shown_and_ranked_in_none() {
    let mut cells = Vec::new();
    for tier in [Durability::Process, Durability::Power] {
        let slow = if tier == Durability::Power { 10 } else { 1 };
        for (engine, ns) in [("a", 100), ("b", 200 * slow), ("memory", 10)] {
            let mut cell = cell(engine, "single", &[("load", ns), ("read", ns)]);
            cell.id.durability = tier;
            cell.reference = engine == "memory";
            cells.push(cell);
        }
    }
    let shown = screen(&result(cells), 80);
    let heads: Vec<&str> = shown.lines().filter(|line| line.starts_with("Durability")).collect();
    assert_eq!(heads.len(), 2, "{shown}");
    assert!(heads[0].contains("process: ") && heads[1].contains("a power cut"), "{shown}");
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .filter(|line| line.starts_with("sensors 1k"))
        .map(|line| line.split_whitespace().skip(2).collect())
        .collect();
    assert_eq!(rows, [["0.100x", "1.00x*", "2.00x"], ["0.100x", "1.00x*", "20.0x"]], "{shown}");
    assert!(shown.contains("memory (ref)") && shown.contains("(ref) for orientation"), "{shown}");
    assert!(!shown.lines().any(|line| line.starts_with("memory")), "no strengths: {shown}");
}

#[test]
fn the_legend_has_no_mark_of_an_engine_without_a_column() {
    let mut gone = cell("memory", "single", &[]);
    (gone.status, gone.reference) = (Status::Unavailable, true);
    gone.trials.clear();
    let cells = [cell("a", "single", &[("load", 5)]), cell("b", "single", &[("load", 6)]), gone];
    let shown = screen(&result(cells), 80);
    assert!(!shown.contains("(ref)"), "{shown}");
}

#[test]
fn an_effective_durability_below_the_tier_has_no_ratio() {
    let mut less = cell("less", "single", &[("load", 1)]);
    less.effective_durability = Some(Durability::None);
    let shown = screen(
        &result([cell("a", "single", &[("load", 5)]), cell("b", "single", &[("load", 6)]), less]),
        80,
    );
    assert!(shown.contains("less (weaker)"), "{shown}");
    let row = shown.lines().find(|line| line.starts_with("sensors 1k")).unwrap();
    assert!(row.ends_with("weaker"), "{shown}");
}

#[test]
fn an_engine_alone_and_nothing_at_all_say_so() {
    let alone = screen(&result([cell("a", "single", &[("load", 5), ("read", 5)])]), 80);
    assert!(alone.contains("a has no engine to compare with"), "{alone}");
    assert!(!alone.contains("best at") && !alone.contains('*'), "{alone}");
    assert!(!alone.contains('─') && !alone.contains("Times the fastest"), "{alone}");
    let mut memory = cell("memory", "single", &[("load", 5), ("read", 5)]);
    memory.reference = true;
    let beside = screen(&result([cell("a", "single", &[("load", 5), ("read", 5)]), memory]), 80);
    assert!(!beside.contains('─') && !beside.contains("(ref)"), "{beside}");
    let bad = cell("a", "single", &[("load", 5)]);
    let nothing = screen(&result([ending(Status::Failed, "disk full", bad)]), 80);
    assert!(nothing.contains("No engine has figures that can be compared."), "{nothing}");
    assert!(nothing.contains("  a     sensors load: failed: disk full\n"), "{nothing}");
}

#[test]
fn who_did_not_keep_up_is_marked_named_and_not_the_best() {
    let mut late = cell("late", "single", &[("write", 10)]);
    for run in late.trials.iter_mut().flat_map(|t| &mut t.phases).flat_map(|p| &mut p.runs) {
        run.schedule = Some(OpenLoopSchedule {
            target_rate: 100.0,
            achieved_rate: 50.0,
            response_ns: 1.0,
            on_time: 10,
            late_p99_ns: None,
        });
    }
    let lossy = |lost: u64| {
        let mut cell = cell("lossy", "single", &[("write", 10)]);
        for run in cell.trials.iter_mut().flat_map(|t| &mut t.phases).flat_map(|p| &mut p.runs) {
            let mut observed = Observed { window_ns: 1_000_000_000, ..Observed::default() };
            observed.counts.insert("lost".into(), lost);
            run.observed = Some(observed);
        }
        cell
    };
    let others = || [cell("a", "single", &[("write", 20)]), cell("b", "single", &[("write", 30)])];
    let shown = screen(&result(others().into_iter().chain([late])), 80);
    assert_eq!(box_of(&shown, "sensors 1k", "late"), "50.0|/s<", "{shown}");
    assert!(box_of(&shown, "sensors 1k", "a").ends_with('*'), "{shown}");
    assert!(shown.contains("behind  sensors: late: write achieved 50.0 /s of 100 /s"), "{shown}");
    // Observed phases take their time from latencies, which are absent here.
    for (lost, behind) in [(0, false), (3, true)] {
        let mut lossy = lossy(lost);
        for run in lossy.trials.iter_mut().flat_map(|t| &mut t.phases).flat_map(|p| &mut p.runs) {
            run.observed.as_mut().unwrap().latencies.insert("commit".into(), latency());
        }
        let shown = screen(&result(others().into_iter().chain([lossy])), 80);
        let lossy = box_of(&shown, "sensors 1k", "lossy");
        assert_eq!(lossy == "lost|3<", behind, "{shown}");
        assert_eq!(shown.contains("behind  sensors: lossy: write lost 3 of 3"), behind, "{shown}");
    }
}

#[test]
fn of_the_highest_rate_the_best_of_all_is_held_against_the_engines_own() {
    let reaching = |engine: &str, rate: u64| {
        let mut cell = cell(engine, "bulk", &[("sustained", 10)]);
        for run in cell.trials.iter_mut().flat_map(|t| &mut t.phases).flat_map(|p| &mut p.runs) {
            let mut observed = Observed { window_ns: 1_000_000_000, ..Observed::default() };
            observed.counts = [("sustained-rate".to_owned(), rate), ("lost".to_owned(), 9)].into();
            observed.latencies.insert("commit".into(), latency());
            run.observed = Some(observed);
        }
        cell
    };
    // The search continues until samples are lost, which is not a shortfall.
    let shown = screen(&result([reaching("a", 2_000), reaching("b", 8_000)]), 80);
    let boxes = ["a", "b"].map(|engine| box_of(&shown, "sensors 1k", engine));
    assert_eq!(boxes, ["4.00x", "1.00x*"], "{shown}");
    assert!(shown.contains("sustained: the highest rate of all"), "{shown}");
}

#[test]
fn the_best_and_the_worst_phases_are_those_with_the_widest_lead_and_the_largest_ratio() {
    let a = [("load", 100), ("read", 100), ("update", 900), ("delete", 300), ("outages", 100)];
    let b = [("load", 200), ("read", 500), ("update", 100), ("delete", 100), ("outages", 101)];
    let cells = [cell("a", "single", &a), cell("b", "single", &b)];
    let shown = screen(&result(cells.clone()), 120);
    let line = |shown: &str, engine: &str| {
        let found = shown.lines().find(|line| line.starts_with(&format!("{engine}  ")));
        found.unwrap().split_whitespace().collect::<Vec<&str>>().join(" ")
    };
    assert_eq!(
        line(&shown, "a"),
        "a 3/5 sensors read 1.00x, sensors load 1.00x sensors update 9.00x, sensors delete 3.00x",
    );
    assert!(line(&shown, "b").starts_with("b 2/5 sensors update 1.00x, sensors delete 1.00x"));
    // Another scale is named, and a phase with several variants appears once.
    let more = ["a", "b"].map(|engine| {
        let ns = if engine == "a" { 1 } else { 50 };
        of("sensors", 10_000, cell(engine, "single", &[("load", ns), ("read", 3)]))
    });
    let shown = screen(&result(cells.into_iter().chain(more)), 120);
    assert!(line(&shown, "a").contains("a 5/7 sensors 10k load 1.00x, sensors 1k read"), "{shown}");
}

#[test]
fn more_scales_than_fit_leave_out_the_smallest_and_name_them() {
    let mut cells = Vec::new();
    for workload in ["sensors", "contacts"] {
        for rows in 1..=9 {
            for engine in ["a", "b"] {
                cells.push(of(workload, rows * 1_000, cell(engine, "single", &[("load", rows)])));
            }
        }
    }
    let shown = screen(&result(cells), 80);
    let rows = shown.lines().filter(|line| line.contains("1.00x") && line.contains("k  "));
    let rows: Vec<&str> = rows.filter(|line| !line.starts_with(['a', 'b'])).collect();
    assert_eq!(rows.len(), MOST_LINES, "{shown}");
    assert!(shown.contains("In the tables: sensors 1k, sensors 2k, sensors 3k, contacts 1k"));
}

#[test]
fn the_advice_it_offers_weighs_what_was_measured() {
    let weights = |phases: &[&str], variant: &str| {
        let phases: Vec<(&str, u64)> = phases.iter().map(|phase| (*phase, 5)).collect();
        advise::example(&Kinds::new(&result([cell("a", variant, &phases)])))
    };
    assert_eq!(
        weights(&["load", "read", "avg_sensor"], "single").as_deref(),
        Some("load=3,analytics=1")
    );
    assert_eq!(weights(&["load", "read"], "commit-each").as_deref(), Some("ingest=3,point=1"));
    assert_eq!(weights(&["avg_sensor"], "single").as_deref(), Some("analytics=1"));
    assert_eq!(weights(&[], "single"), None);
}

#[test]
fn the_screen_ends_with_the_files_that_were_made_and_what_to_do_next() {
    let file = result([cell("a", "single", &[("load", 5)])]);
    let options = Options { path: Some(Path::new("out/result.json")), ..Options::default() };
    let files = Files {
        page: Some(Path::new("out/report.html")),
        tables: Some(Path::new("out/tables.txt")),
    };
    let shown = super::screen(&file, &options, &files);
    let end = "  page      out/report.html\n\
               \x20 tables    out/tables.txt\n\
               \x20 advice    embermark advise out/result.json --weight load=1\n";
    assert!(shown.ends_with(end), "{shown}");
}

#[test]
fn a_command_can_be_copied_whatever_the_path() {
    let file = result([cell("a", "single", &[("load", 5)])]);
    let options = Options { path: Some(Path::new("my card/R&D.json")), ..Options::default() };
    let shown = super::screen(&file, &options, &Files::default());
    for says in [
        "embermark report 'my card/R&D.json' --show tables\n",
        "embermark advise 'my card/R&D.json' --weight load=1\n",
    ] {
        assert!(shown.contains(says), "{shown}");
    }
}

#[test]
fn the_conditions_of_the_run_are_named() {
    let mut file = result([cell("a", "single", &[("load", 5)])]);
    (file.plan.clients, file.plan.cold) = (4, true);
    let shown = screen(&file, 200);
    assert!(shown.contains(", 4 clients, cold reads, "), "{shown}");
}

#[test]
fn an_engine_that_ran_alone_before_the_run_was_cut_off_leads_nothing() {
    let mut gone = cell("b", "single", &[]);
    gone.trials.clear();
    let file = result([
        cell("a", "single", &[("load", 5), ("read", 5)]),
        ending(Status::NotRun, "the run was interrupted before its turn", gone),
    ]);
    let shown = screen(&file, 80);
    assert!(!shown.contains('*') && !shown.contains("1.00x"), "{shown}");
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("not run sensors: b: the run was interrupted"), "{shown}");
    assert!(!shown.contains("failed"), "{shown}");
    let needs = advise::Needs::only(Durability::Process);
    let tables = advise::tables(&[&file], None, &[]);
    let advice = advise::advise(&tables.tables[0], needs, &[]).unwrap();
    assert_eq!(advice.best_at, []);
}

#[test]
fn a_trial_that_was_lost_leaves_the_figures_of_the_others_with_a_mark_and_the_reason() {
    let mut lossy = cell("lossy", "single", &[("load", 10)]);
    (lossy.trials[1].status, lossy.trials[1].reason) =
        (Status::Failed, Some("killed by signal 9".to_owned()));
    lossy.status = Status::Failed;
    lossy.move_lost_trials();
    let shown = screen(&result([cell("whole", "single", &[("load", 20)]), lossy]), 80);
    assert_eq!(box_of(&shown, "sensors 1k", "lossy"), "1.00x*×", "{shown}");
    assert!(box_of(&shown, "sensors 1k", "whole").starts_with("2.0"), "{shown}");
    let says = "failed: killed by signal 9; the figures are of the other tria";
    assert!(shown.contains(says), "{shown}");
    assert!(shown.contains("× without a lost trial"), "{shown}");
}

/// Makes cells in both tiers, with one commit per row.
fn in_both_tiers(engine: &str, power: u64, process: u64, rest: &[(&str, u64)]) -> [Cell; 2] {
    let of = |tier, load| {
        let phases: Vec<_> = [("load", load)].into_iter().chain(rest.iter().copied()).collect();
        let mut cell = cell(engine, "commit-each", &phases);
        cell.id.durability = tier;
        cell
    };
    [of(Durability::Power, power), of(Durability::Process, process)]
}

#[test]
fn commits_of_single_rows_stand_in_every_tier_beside_reads_and_questions() {
    let cells = [
        in_both_tiers("a", 1_000, 300, &[("read", 20), ("avg_sensor", 900)]),
        in_both_tiers("b", 3_000, 100, &[("read", 10), ("avg_sensor", 9_000)]),
    ];
    let shown = screen(&result(cells.into_iter().flatten()), 100);
    let header = shown
        .lines()
        .find(|line| line.contains("power") && line.contains("process") && line.contains("reads"))
        .unwrap();
    let header: Vec<&str> = header.split("  ").map(str::trim).filter(|h| !h.is_empty()).collect();
    assert_eq!(header[..4], ["power", "process", "reads", "questions"], "{shown}");
    let row = |engine: &str| {
        let line = shown.lines().find(|line| line.starts_with(&format!("{engine}  ")));
        line.unwrap().split_whitespace().skip(1).take(4).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("a"), ["1.00x*", "3.00x", "2.00x", "1.00x*"], "{shown}");
    assert_eq!(row("b"), ["3.00x", "1.00x*", "1.00x*", "10.0x"], "{shown}");
    for says in [
        "commits (power) a, 3.00x ahead of b",
        "commits (process) b, 3.00x ahead of a",
        // Mean of 3, 2 and 1 for `a`, and of 1, 1 and 10 for `b`.
        "all work (process) a, 1.19x ahead of b",
        "mostly commits b, 3.00x ahead of a",
    ] {
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(says), "{says}: {shown}");
    }
    // The table comes last.
    assert!(shown.find("Not ok").is_none_or(|at| at < shown.find("What to take").unwrap()));
    assert!(shown.trim_end().ends_with("* the best"), "{shown}");
}

#[test]
fn a_larger_scale_that_was_not_run_hides_nothing_and_the_rows_that_count_are_named() {
    let cells = [("a", 10), ("b", 30)]
        .map(|(engine, time)| in_both_tiers(engine, time, time, &[("read", 10)]));
    let cells: Vec<Cell> = cells.into_iter().flatten().collect();
    let words =
        |file: &ResultFile| screen(file, 100).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words(&result(cells.clone())).contains("rests on"));
    let not_run = cells.clone().into_iter().map(|cell| {
        let mut cell = of("sensors", 100_000, cell);
        (cell.status, cell.reason) = (Status::NotRun, Some("the run was interrupted".into()));
        cell.trials.clear();
        cell
    });
    let shown = words(&result(cells.into_iter().chain(not_run)));
    for says in ["rests on sensors 1k commits", "commits (power) a, 3.00x ahead of b"] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
}

#[test]
fn the_table_of_engines_explains_settings_of_an_author_and_lost_trials() {
    let cells = [("a", 10), ("b", 30), ("lossy", 20)]
        .map(|(engine, time)| in_both_tiers(engine, time, time, &[("read", 10)]));
    let mut file = result(cells.into_iter().flatten());
    let whole = screen(&file, 100);
    assert!(!whole.contains('§') && !whole.contains('×'), "{whole}");
    assert!(!whole.contains("no mark"), "every ratio has an interval: {whole}");
    let settings = [("cache".to_owned(), "1".to_owned())].into();
    let own = Configuration { settings, ..Configuration::new("a") };
    file.plan.configurations.insert("a".to_owned(), own);
    for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "lossy") {
        (cell.trials[1].status, cell.trials[1].reason) =
            (Status::Failed, Some("killed by signal 9".to_owned()));
        cell.status = Status::Failed;
        cell.move_lost_trials();
    }
    let shown = screen(&file, 100);
    let says = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(says.contains("a§") && says.contains("§ settings and durability as its"), "{shown}");
    assert!(says.contains("1.98x×") && says.contains("× without a lost trial"), "{shown}");
    assert!(says.contains("no mark: slower, or too few trials to tell"), "{shown}");
}

#[test]
fn nothing_is_called_the_best_by_a_single_trial() {
    let read = [("read", 10)];
    let cells = [in_both_tiers("a", 10, 30, &read), in_both_tiers("b", 30, 10, &read)];
    let mut file = result(cells.into_iter().flatten());
    file.cells.iter_mut().for_each(|cell| cell.trials.truncate(1));
    let shown = screen(&file, 100);
    assert!(!shown.contains('*') && !shown.contains('≈'), "{shown}");
    assert!(shown.contains("a, 3.00x ahead of b (too few trials)"), "{shown}");
}

#[test]
fn the_best_has_no_star_where_the_next_has_too_few_trials_for_an_interval() {
    let read = [("read", 10)];
    let cells = [("a", 10), ("b", 11), ("c", 90)]
        .map(|(engine, time)| in_both_tiers(engine, time, time, &read));
    let mut file = result(cells.into_iter().flatten());
    let shown = |file: &ResultFile| screen(file, 100).matches("1.00x*").count();
    assert_eq!(shown(&file), 2, "at commits in both tiers; at reads all are alike");
    for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "b") {
        cell.trials.truncate(1);
    }
    assert_eq!(shown(&file), 0, "{}", screen(&file, 100));
}

#[test]
fn what_a_longer_run_would_measure_is_named() {
    let read = [("read", 10)];
    let cells =
        [("a", 10), ("b", 11)].map(|(engine, time)| in_both_tiers(engine, time, time, &read));
    let mut file = result(cells.into_iter().flatten());
    assert!(!screen(&file, 100).contains("left out"));
    file.plan.left_out = vec!["sensors:100k (--for 20m)".to_owned()];
    let says = screen(&file, 100).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(says.contains("left out sensors:100k (--for 20m)"), "{says}");
}

#[test]
fn what_is_known_so_far_is_compared_without_commits_too_and_says_which_rows_are_not_used() {
    let mut late = cell("c", "bulk", &[("load", 100)]);
    (late.status, late.trials) = (Status::NotRun, Vec::new());
    let known = ["a", "b"].map(|engine| cell(engine, "bulk", &[("load", 100)]));
    let mut file = result(known.into_iter().chain([late]));
    let dropped = &mut file.manifest.datasets.get_mut("sensors").unwrap().dropped;
    *dropped =
        [("no number of a sensor".to_owned(), 3), ("two rows of one key".to_owned(), 12)].into();
    let remarks = &mut file.manifest.datasets.get_mut("sensors").unwrap().remarks;
    *remarks = [("a finer time: cut".to_owned(), 500)].into();
    let unusual = "sensors: 500 times: a finer time: cut";
    let says =
        "sensors: 15 rows are not used: 3 with no number of a sensor; 12 with two rows of one key";
    let shown = provisional(&file, &Options { width: 60, ..Options::default() });
    assert!(shown.starts_with("So far, by 3 trials of 2 of 3 cells\nsensors: 15 rows"), "{shown}");
    assert_eq!(box_of(&shown, "sensors 1k", "b"), "1.00x≈", "{shown}");
    let words = |shown: &str| shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&shown).contains(says) && shown.contains(unusual), "{shown}");
    let mut one = file.manifest.datasets["sensors"].clone();
    one.dropped = [("column t: not a time".to_owned(), 1)].into();
    let says_one = "sensors: 1 row is not used: 1 with column t: not a time";
    assert_eq!(one.not_used("sensors").as_deref(), Some(says_one));
    // The last screen has all of it, and other warnings take one line.
    file.manifest.warnings = vec![says.to_owned(), "long ".repeat(40)];
    let shown = screen(&file, 60);
    assert!(words(&shown).contains(says) && shown.contains("lon…"), "{shown}");
    assert!(shown.contains(unusual), "{shown}");
}
