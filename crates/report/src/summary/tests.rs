use std::collections::BTreeMap;

use embermark_model::plan::Plan;
use embermark_model::result::{
    BackgroundCpu, DeviceIo, DiskSize, Execution, Loaded, Machine, Maintenance, Manifest, Observed,
    PhaseResult, Resources, ResultFile, Run, SCHEMA, Tool, Trial, WriteBehind,
};
use embermark_model::{CellId, Durability, MemoryLimit, Scale, Status};

use super::*;

pub(crate) fn file(cells: Vec<Cell>) -> ResultFile {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ResultFile {
        schema: SCHEMA,
        manifest: Manifest {
            run_id: "test".into(),
            started: "2026-01-01T00:00:00Z".into(),
            finished: None,
            tool: Tool { version: "0".into(), commit: None, profile: "debug".into() },
            machine: Machine::default(),
            datasets: BTreeMap::new(),
            floor: None,
            not_counted: None,
            not_modelled: None,
            warnings: Vec::new(),
            engines: BTreeMap::new(),
            drift: None,
            ..Manifest::default()
        },
        plan: Plan {
            workloads: names(&["w"]),
            engines: names(&["b", "a"]),
            scales: vec![Scale::Rows(10)],
            durabilities: vec![Durability::Process],
            variants: names(&["single", "bulk"]),
            runs: 2,
            trials: 1,
            max_run_time_ms: None,
            timeout_ms: Some(1),
            seed: 1,
            memory_bytes: 1,
            ..Plan::default()
        },
        cells,
    }
}

pub(crate) fn run(elapsed_ns: u64, ops: u64) -> Run {
    Run {
        elapsed_ns,
        ops,
        discarded: false,
        capped: false,
        engine: Resources::default(),
        ..Run::default()
    }
}

pub(crate) fn phase(name: &str, runs: Vec<Run>) -> PhaseResult {
    PhaseResult {
        phase: name.into(),
        execution: Execution::Native,
        status: Status::Ok,
        reason: None,
        ops: 10,
        runs,
        latency: None,
        response: None,
        ..PhaseResult::default()
    }
}

pub(crate) fn trial(phases: Vec<PhaseResult>) -> Trial {
    Trial {
        index: 0,
        order: 0,
        status: Status::Ok,
        reason: None,
        version: None,
        settings: BTreeMap::new(),
        baseline_bytes: None,
        limited_peak_bytes: None,
        open_ns: None,
        phases,
        disk: None,
        device_io: None,
        storage_times: None,
        network: None,
        flash: Vec::new(),
        background_cpu: None,
        wall_ns: 0,
        log: None,
    }
}

pub(crate) fn cell(engine: &str, variant: &str, trials: Vec<Trial>) -> Cell {
    Cell {
        id: CellId {
            workload: "w".into(),
            scale: Scale::Rows(10),
            durability: Durability::Process,
            variant: variant.into(),
            engine: engine.into(),
            memory_limit: None,
            storage: None,
        },
        status: Status::Ok,
        reason: None,
        effective_durability: None,
        own_durability: None,
        reference: false,
        unpublishable: false,
        trials,
        lost_trials: Vec::new(),
        counting: None,
        explaining: None,
    }
}

/// Makes a cell whose one trial has one counted run of `load`.
fn loads(engine: &str, elapsed_ns: u64) -> Cell {
    cell(engine, "single", vec![trial(vec![phase("load", vec![run(elapsed_ns, 10)])])])
}

fn measured<'a>(row: &'a Row<'a>, engine: usize) -> &'a Measured<'a> {
    match &row.entries[engine] {
        Entry::Measured(measured) => measured,
        other => panic!("engine {engine} has {other:?}"),
    }
}

fn labels<'a>(group: &Group<'a>) -> Vec<(Option<&'a str>, Option<&'a str>)> {
    group.rows.iter().map(|row| (row.phase, row.variant)).collect()
}

#[test]
fn a_figure_is_the_median_over_trials_of_the_mean_over_counted_runs() {
    let discarded = Run { discarded: true, ..run(1_000_000, 10) };
    let of = |a, b| trial(vec![phase("load", vec![discarded.clone(), run(a, 10), run(b, 10)])]);
    let file = file(vec![cell("a", "single", vec![of(100, 300), of(1, 3), of(5_000, 7_000)])]);
    let comparison = compare(&file, &[]);
    let row = &comparison.groups[0].rows[0];
    let figure = &measured(row, 0).figure;
    assert_eq!((figure.elapsed_ns, figure.per_op_ns), (Some(200.0), 20.0));
    assert_eq!(figure.per_trial_ns, [20.0, 0.2, 600.0]);
    assert!((figure.mean_ns - 620.2 / 3.0).abs() < 1e-9);
    assert_eq!(figure.interval_ns, Some([0.2, 600.0]));
}

#[test]
fn engines_stand_as_planned_and_ratios_are_to_the_best() {
    let file = file(vec![loads("a", 1_000), loads("z", 3_000), loads("b", 2_500)]);
    let group = &compare(&file, &[]).groups[0];
    assert_eq!(group.engines.iter().map(|engine| engine.id).collect::<Vec<_>>(), ["b", "a", "z"]);
    let row = &group.rows[0];
    let ranks: Vec<_> = (0..3).map(|engine| measured(row, engine)).collect();
    assert_eq!(
        ranks.iter().map(|rank| rank.ratio).collect::<Vec<_>>(),
        [Some(2.5), Some(1.0), Some(3.0)]
    );
    assert_eq!(ranks.iter().map(|rank| rank.best).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn one_capped_engine_turns_its_row_into_time_per_operation_and_no_total_is_made_up() {
    let mut slow = loads("b", 8_000);
    slow.trials[0].phases[0].runs = vec![Run { capped: true, ..run(8_000, 4) }];
    slow.trials[0].phases.push(phase("read", vec![run(700, 10)]));
    let mut fast = loads("a", 1_000);
    fast.trials[0].phases.push(phase("read", vec![run(100, 10)]));
    let file = file(vec![slow, fast]);
    let group = &compare(&file, &[]).groups[0];
    let (load, read) = (&group.rows[0], &group.rows[1]);
    assert_eq!((load.per_operation, read.per_operation), (true, false));
    let slow = measured(load, 0);
    assert_eq!(slow.figure.elapsed_ns, None);
    assert_eq!(slow.figure.stop, Some(Stop { done: 4, of: 10 }));
    assert_eq!((load.time_ns(slow), load.time_ns(measured(load, 1))), (2_000.0, 100.0));
    assert_eq!(slow.ratio, Some(20.0));
    assert_eq!(read.time_ns(measured(read, 0)), 700.0);
}

#[test]
fn engines_that_did_another_number_of_operations_are_compared_per_operation() {
    let mut other = loads("b", 1_000);
    other.trials[0].phases[0].ops = 5;
    other.trials[0].phases[0].runs[0].ops = 5;
    let file = file(vec![other, loads("a", 1_000)]);
    let row = &compare(&file, &[]).groups[0].rows[0];
    assert_eq!((row.per_operation, measured(row, 0).ratio), (true, Some(2.0)));
}

#[test]
fn references_and_engines_that_keep_less_are_shown_and_never_ranked() {
    let reference = Cell {
        reference: true,
        effective_durability: Some(Durability::None),
        ..loads("memory", 1)
    };
    let weaker = Cell { effective_durability: Some(Durability::None), ..loads("weak", 2) };
    let stronger = Cell { effective_durability: Some(Durability::Power), ..loads("strong", 400) };
    let file = file(vec![reference, weaker, stronger, loads("a", 100)]);
    let group = &compare(&file, &[]).groups[0];
    let row = &group.rows[0];
    let ratio = |id| {
        let engine = group.engines.iter().position(|engine| engine.id == id).unwrap();
        measured(row, engine).ratio
    };
    assert_eq!((ratio("memory"), ratio("weak")), (None, None));
    assert_eq!((ratio("strong"), ratio("a")), (Some(4.0), Some(1.0)));
}

#[test]
fn a_cell_that_failed_elsewhere_is_never_a_number_in_a_ranking() {
    let wrong = Cell { status: Status::Wrong, ..loads("b", 1) };
    let unsupported = Cell { status: Status::Unsupported, ..loads("a", 50) };
    let file = file(vec![wrong, unsupported, loads("c", 100)]);
    let row = &compare(&file, &[]).groups[0].rows[0];
    let (wrong, unsupported) = (measured(row, 0), measured(row, 1));
    assert_eq!((wrong.tainted, wrong.ratio, wrong.best), (true, None, false));
    assert_eq!((unsupported.tainted, unsupported.ratio), (false, Some(1.0)));
}

#[test]
fn a_phase_that_was_wrong_in_one_trial_is_wrong() {
    let mut second = trial(vec![phase("load", vec![run(10, 10)])]);
    second.phases[0].status = Status::Wrong;
    let mut cell = loads("a", 10);
    cell.trials.push(second);
    let file = file(vec![Cell { status: Status::Wrong, ..cell }]);
    let entry = &compare(&file, &[]).groups[0].rows[0].entries[0];
    assert!(matches!(entry, Entry::Ended(Status::Wrong)), "{entry:?}");
}

#[test]
fn a_phase_without_counted_runs_or_operations_has_no_figure() {
    let nothing = |runs| cell("a", "single", vec![trial(vec![phase("load", runs)])]);
    for runs in [vec![], vec![Run { discarded: true, ..run(5, 10) }], vec![run(5, 0)]] {
        let file = file(vec![nothing(runs)]);
        let entry = &compare(&file, &[]).groups[0].rows[0].entries[0];
        assert!(matches!(entry, Entry::Absent), "{entry:?}");
    }
}

#[test]
fn a_variant_stands_right_after_the_phase_it_varies() {
    let phases = |names: &[&str]| {
        vec![trial(names.iter().map(|name| phase(name, vec![run(10, 10)])).collect())]
    };
    let file = file(vec![
        cell("a", "bulk", phases(&["load"])),
        cell("a", "single", phases(&["load", "read", "scan"])),
    ]);
    let group = &compare(&file, &[]).groups[0];
    assert_eq!(group.variant, "single");
    let (load, read, scan) = (Some("load"), Some("read"), Some("scan"));
    assert_eq!(labels(group), [(load, None), (load, Some("bulk")), (read, None), (scan, None)]);
    let group = &compare(&file, &["scan", "load"]).groups[0];
    assert_eq!(labels(group), [(scan, None), (load, None), (load, Some("bulk")), (read, None)]);
}

#[test]
fn a_phase_that_only_a_failed_trial_has_stands_where_it_ran() {
    let trials = |status, names: &[&str]| {
        let phases = names.iter().map(|name| phase(name, vec![run(10, 10)])).collect();
        vec![Trial { status, ..trial(phases) }]
    };
    let file = file(vec![
        cell("b", "single", trials(Status::Failed, &["load", "scan", "read"])),
        cell("a", "single", trials(Status::Ok, &["load", "read"])),
    ]);
    let group = &compare(&file, &[]).groups[0];
    assert_eq!(labels(group), [(Some("load"), None), (Some("scan"), None), (Some("read"), None)]);
}

#[test]
fn a_variant_whose_cells_never_reached_a_phase_is_shown_all_the_same() {
    let gone = Cell { status: Status::Unavailable, ..cell("b", "bulk", vec![]) };
    let file = file(vec![loads("a", 10), gone]);
    let group = &compare(&file, &[]).groups[0];
    assert_eq!(labels(group), [(Some("load"), None), (None, Some("bulk"))]);
    assert!(matches!(group.rows[1].entries[0], Entry::Ended(Status::Unavailable)));
    assert!(matches!(group.rows[1].entries[1], Entry::Absent));
}

#[test]
fn tiers_and_scales_are_never_compared_with_each_other() {
    let mut power = loads("b", 10);
    power.id.durability = Durability::Power;
    let mut large = loads("b", 10);
    large.id.scale = Scale::Full;
    let file = file(vec![loads("a", 1_000), power, large]);
    let comparison = compare(&file, &[]);
    assert_eq!(comparison.groups.len(), 3);
    for group in &comparison.groups {
        let alone = measured(&group.rows[0], 0);
        assert_eq!((alone.ratio, alone.best), (None, false), "who is alone leads nobody");
    }
}

#[test]
fn resources_are_summed_over_phases_and_absent_when_one_was_not_measured() {
    let used = |cpu_ns, peak_bytes, written_bytes| Run {
        engine: Resources { cpu_ns, peak_bytes, written_bytes, ..Resources::default() },
        ..run(10, 10)
    };
    let load =
        phase("load", vec![used(Some(10), Some(500), Some(8)), used(Some(30), Some(700), Some(0))]);
    let read = phase("read", vec![used(Some(5), Some(600), Some(4))]);
    let disk = Some(DiskSize { allocated_bytes: 4096, apparent_bytes: 80 });
    let one = Trial { baseline_bytes: Some(100), disk, ..trial(vec![load, read]) };
    let file = file(vec![cell("a", "single", vec![one])]);
    let usage = &compare(&file, &[]).groups[0].usage[0];
    assert_eq!((usage.amounts.get("cpu_ns"), usage.get(Resource::PEAK)), (Some(25.0), Some(600.0)));
    // Pages that only became dirty did not reach a device, and this store was loaded twice.
    let absent = ["written_to_device_bytes", "read_bytes", "disk_bytes"];
    assert_eq!(absent.map(|key| usage.amounts.get(key)), [None; 3]);
    assert!(usage.is_measured() && !usage.incomplete);
}

#[test]
fn the_workers_own_memory_is_not_subtracted_from_a_server() {
    let server = Run {
        engine: Resources { peak_bytes: Some(500), ..Resources::default() },
        client: Some(Resources::default()),
        ..run(10, 10)
    };
    let one = Trial { baseline_bytes: Some(100), ..trial(vec![phase("load", vec![server])]) };
    let file = file(vec![cell("a", "single", vec![one])]);
    assert_eq!(compare(&file, &[]).groups[0].usage[0].get(Resource::PEAK), Some(500.0));
}

#[test]
fn the_parts_of_a_mix_have_no_memory_of_their_own() {
    let engine = Resources { peak_bytes: Some(500), ..Resources::default() };
    let whole = phase("live", vec![Run { engine, ..run(10, 10) }]);
    let parts = trial(vec![whole, phase("live/read", vec![run(10, 10)])]);
    let file = file(vec![cell("a", "single", vec![parts])]);
    assert_eq!(compare(&file, &[]).groups[0].usage[0].get(Resource::PEAK), Some(500.0));
}

/// Makes a run that inserted a number of bytes, and the maintenance after it. Each of them sent
/// `written` bytes to the device.
fn loading(written: Option<u64>, user_bytes: u64) -> Run {
    let device = |written_bytes| DeviceIo { written_bytes, flushes: 3, ..DeviceIo::default() };
    let device_io = written.map(device);
    let maintenance = Maintenance {
        elapsed_ns: 500,
        engine: Resources { written_bytes: Some(77), ..Resources::default() },
        disk_before: Some(DiskSize { allocated_bytes: 90, apparent_bytes: 80 }),
        disk_after: None,
        device_io,
    };
    let loaded = Loaded { user_bytes, device_io: None, maintenance: Some(maintenance) };
    let engine = Resources { written_bytes: Some(99_999), ..Resources::default() };
    Run { engine, device_io, loaded: Some(loaded), ..run(10, 10) }
}

#[test]
fn bytes_and_sizes_are_those_of_the_trial_that_counts_and_times_are_not() {
    let timed = || trial(vec![phase("load", vec![loading(None, 100)])]);
    let size = |allocated_bytes| Some(DiskSize { allocated_bytes, apparent_bytes: 1 });
    let mut load = phase("load", vec![loading(Some(200), 100)]);
    let maintenance = load.runs[0].loaded.as_mut().unwrap().maintenance.as_mut().unwrap();
    maintenance.elapsed_ns = 9_000_000;
    let device_io = Some(DeviceIo { written_bytes: 30, ..DeviceIo::default() });
    let update = phase("update", vec![Run { device_io, ..run(99, 1) }]);
    let counting = Trial { disk: size(4096), ..trial(vec![load, update]) };
    let trials = vec![Trial { disk: size(9 * 4096), ..timed() }, timed(), timed()];
    let counted = Cell { counting: Some(Box::new(counting)), ..cell("a", "single", trials) };
    let file = file(vec![counted]);
    let comparison = compare(&file, &[]);
    let load = comparison.groups[0].rows[0].loadings[0].clone().unwrap();
    assert_eq!((load.get("user_bytes"), load.get("maintenance_ns")), (Some(100.0), Some(500.0)));
    assert_eq!(load.get("write_amplification"), Some(2.0));
    assert_eq!(load.get("amplification_with_maintenance"), Some(4.0));
    assert_eq!(
        (
            load.get("before_maintenance_allocated_bytes"),
            load.get("after_maintenance_allocated_bytes")
        ),
        (Some(90.0), None)
    );
    let used = ["written_to_device_bytes", "flushes", "disk_bytes"];
    let used = used.map(|key| comparison.groups[0].usage[0].amounts.get(key));
    assert_eq!(used, [Some(430.0), Some(6.0), Some(4096.0)]);
    let sizes = &comparison.groups[0].sizes;
    assert_eq!(sizes.iter().find(|(of, _)| *of == "single").unwrap().1, [size(4096)]);
    // Less work writes less, but the trial for the size loads every row before it closes.
    let mut stopped = file.clone();
    stopped.cells[0].counting.as_mut().unwrap().phases[0].runs[0].ops = 5;
    stopped.cells[0].trials[0].phases[0].runs[0].ops = 5;
    let usage = &compare(&stopped, &[]).groups[0].usage[0];
    assert!(usage.incomplete && usage.get(Resource::WRITTEN).is_some());
    assert_eq!(usage.comparable(Resource::WRITTEN), None);
    assert_eq!(usage.comparable(Resource::DISK), Some(4096.0));
}

#[test]
fn what_stands_beside_a_time_is_the_middle_of_all_and_what_a_crash_loses_the_worst() {
    let through = |accepted_rate, loss_rows, discarded| {
        let write_behind = Some(WriteBehind { accepted_rate, loss_rows, ..Default::default() });
        Run { write_behind, discarded, ..run(10, 10) }
    };
    let of = |runs| trial(vec![phase("insert", runs)]);
    let trials = vec![
        of(vec![through(1.0, 900, true), through(10.0, 5, false), through(30.0, 70, false)]),
        of(vec![through(60.0, 7, false)]),
        of(vec![through(50.0, 3, false)]),
    ];
    let with_log = Run { log_bytes: Some(4_000), ..run(10, 1) };
    let file = file(vec![
        cell("a", "single", trials),
        cell("b", "single", vec![trial(vec![phase("open", vec![with_log])])]),
    ]);
    let comparison = compare(&file, &[]);
    let find = |of: &str| {
        let row = comparison.groups[0].rows.iter().find(|row| row.phase == Some(of)).unwrap();
        let mut known = row.run_figures.iter().flatten();
        (known.next().unwrap().clone(), known.next())
    };
    let (insert, none) = find("insert");
    assert_eq!(
        (insert.get("accepted_per_second"), insert.get("loss_rows")),
        (Some(50.0), Some(70.0))
    );
    assert_eq!((insert.get("log_bytes"), none), (None, None));
    assert_eq!(find("open").0.get("log_bytes"), Some(4_000.0));
}

#[test]
fn a_store_whose_phase_lasts_by_the_clock_is_loaded_once_in_any_trial() {
    let window = Run { observed: Some(Observed::default()), ..run(10, 10) };
    let size = DiskSize { allocated_bytes: 4096, apparent_bytes: 80 };
    let one = Trial { disk: Some(size), ..trial(vec![phase("write", vec![window])]) };
    let file = file(vec![cell("a", "single", vec![one])]);
    assert_eq!(compare(&file, &[]).groups[0].usage[0].get(Resource::DISK), Some(4096.0));
}

#[test]
fn nothing_is_divided_by_nothing_and_what_was_not_measured_is_no_0() {
    let one = trial(vec![phase("load", vec![loading(Some(100), 0)])]);
    let file_of = |one| file(vec![cell("a", "single", vec![one])]);
    let file = file_of(one);
    let load = compare(&file, &[]).groups[0].rows[0].loadings[0].clone().unwrap();
    assert_eq!(
        (load.get("write_amplification"), load.get("amplification_with_maintenance")),
        (None, None)
    );
    assert_eq!(load.get("user_bytes"), Some(0.0), "that is known");
    let file = file_of(trial(vec![phase("load", vec![loading(None, 100)])]));
    let load = compare(&file, &[]).groups[0].rows[0].loadings[0].clone().unwrap();
    assert_eq!(
        (load.get("write_amplification"), load.get("maintenance_device_written_bytes")),
        (None, None)
    );
    // If no time passed, there is no share and no mean by time.
    let mean = Resources { mean_bytes: Some(7), ..Resources::default() };
    let idle = trial(vec![phase("load", vec![Run { engine: mean, ..run(0, 0) }])]);
    let file = file_of(Trial { background_cpu: Some(BackgroundCpu::default()), ..idle });
    let group = &compare(&file, &[]).groups[0];
    assert_eq!(group.usage[0].amounts, Amounts::default());
    assert_eq!(group.rows[0].loadings[0], None, "an old result does not say what it put in");
    assert!(!group.usage[0].is_measured());
}

#[test]
fn mean_memory_is_by_the_time_of_the_runs_that_have_one() {
    let used = |elapsed_ns, mean_bytes| Run {
        engine: Resources { mean_bytes, ..Resources::default() },
        ..run(elapsed_ns, 10)
    };
    let runs = vec![used(30, Some(1_100)), used(10, Some(1_500)), used(60, None)];
    let one = Trial { baseline_bytes: Some(100), ..trial(vec![phase("load", runs)]) };
    let usage =
        compare(&file(vec![cell("a", "single", vec![one])]), &[]).groups[0].usage[0].clone();
    assert_eq!(usage.amounts.get("mean_above_baseline_bytes"), Some(1_100.0));
}

/// Makes a cell with a trial of one counted run for each time.
fn trials(engine: &str, elapsed_ns: &[u64]) -> Cell {
    let one = |(index, elapsed): (u32, &u64)| Trial {
        index,
        ..trial(vec![phase("load", vec![run(*elapsed, 10)])])
    };
    cell(engine, "single", (0..).zip(elapsed_ns).map(one).collect())
}

#[test]
fn where_the_interval_of_a_ratio_includes_1_nobody_wins_alone() {
    let file = file(vec![
        trials("a", &[100, 110, 120]),
        trials("b", &[105, 115, 125]),
        trials("c", &[300, 310, 320]),
    ]);
    let group = &compare(&file, &[]).groups[0];
    let of = |id| {
        let place = group.engines.iter().position(|engine| engine.id == id).unwrap();
        measured(&group.rows[0], place)
    };
    let marks = |id| (of(id).best, of(id).not_significant);
    assert_eq!((marks("a"), marks("b"), marks("c")), ((true, true), (false, true), (false, false)));
    assert_eq!(of("a").ratio_interval, None);
    let [low, high] = of("c").ratio_interval.unwrap();
    assert_eq!((low, high), (300.0 / 120.0, 320.0 / 100.0));
    // 105 over 120 is below 1, and no engine is faster than the fastest.
    assert_eq!(of("b").ratio_interval, Some([1.0, 125.0 / 100.0]));
}

#[test]
fn with_two_trials_there_is_no_interval_and_a_ratio_decides_nothing_more() {
    let file = file(vec![trials("a", &[100, 200]), trials("b", &[110, 190])]);
    let row = &compare(&file, &[]).groups[0].rows[0];
    for place in 0..2 {
        let measured = measured(row, place);
        assert_eq!((measured.figure.interval_ns, measured.ratio_interval), (None, None));
        assert!(!measured.not_significant && measured.ratio.is_some());
    }
}

#[test]
fn a_run_in_which_no_time_passed_was_not_measured() {
    let file = file(vec![trials("a", &[0, 0, 0]), trials("b", &[5, 6, 7])]);
    let row = &compare(&file, &[]).groups[0].rows[0];
    let b = measured(row, 0);
    assert!(matches!(row.entries[1], Entry::Absent), "{:?}", row.entries[1]);
    assert_eq!((b.ratio, b.best, b.not_significant), (None, false, false));
}

#[test]
fn a_trial_that_stands_apart_is_marked_and_still_counts() {
    let file = file(vec![trials("a", &[100, 101, 900])]);
    let comparison = compare(&file, &[]);
    let figure = &measured(&comparison.groups[0].rows[0], 0).figure;
    assert_eq!((figure.outliers.as_slice(), figure.per_trial_ns.len()), (&[2][..], 3));
    assert_eq!(figure.interval_ns, Some([10.0, 90.0]));
}

#[test]
fn a_trial_keeps_its_index_where_one_before_it_counted_nothing() {
    let file = file(vec![trials("a", &[0, 100, 101, 900])]);
    let comparison = compare(&file, &[]);
    let figure = &measured(&comparison.groups[0].rows[0], 0).figure;
    assert_eq!((figure.trials.as_slice(), figure.outliers.as_slice()), (&[1, 2, 3][..], &[2][..]));
}

#[test]
fn what_ran_is_told_without_the_phases_that_an_engine_does_not_support() {
    let unsupported = PhaseResult { status: Status::Unsupported, ..phase("open_log", vec![]) };
    let ran = cell("a", "single", vec![trial(vec![phase("load", vec![run(8, 4)]), unsupported])]);
    let protocol = Protocol::from_cells([&ran].into_iter()).unwrap();
    assert_eq!(protocol.to_string(), "1 run x 1 trial");
}

#[test]
fn ratios_are_drawn_inside_one_limit_of_memory() {
    let within = |engine: &str, elapsed_ns: u64| {
        let mut cell = loads(engine, elapsed_ns);
        cell.id.memory_limit = Some(MemoryLimit(256 << 20));
        cell
    };
    let file = file(vec![loads("a", 10), loads("b", 20), within("a", 300), within("b", 100)]);
    let comparison = compare(&file, &[]);
    let [free, limited] = &comparison.groups[..] else { panic!("two groups") };
    let shown: Vec<String> =
        comparison.groups.iter().map(|group| group.extent.to_string()).collect();
    assert_eq!(shown, ["10", "10 within 256 MiB"]);
    // Engines are in the order of the plan: b, a.
    let ratios = |group: &Group<'_>| [0, 1].map(|engine| measured(&group.rows[0], engine).ratio);
    assert_eq!(ratios(free), [Some(2.0), Some(1.0)]);
    assert_eq!(ratios(limited), [Some(1.0), Some(3.0)]);
    assert!(free.cell("single", "a").unwrap().id.memory_limit.is_none());
}

#[test]
fn numbers_of_a_file_that_have_no_sum_are_shown_all_the_same() {
    let engine = Resources { cpu_ns: Some(u64::MAX), ..Resources::default() };
    let huge = Run { ops: u64::MAX, elapsed_ns: u64::MAX, engine, ..run(1, 1) };
    let phases = vec![phase("load", vec![huge.clone(), huge])];
    let file = file(vec![cell("a", "single", vec![trial(phases)])]);
    let load = ["load"].into();
    let work = Work::Whole(&load);
    assert_eq!(Resource::ALL_CPU.per_trial(&file.cells[0], work).len(), 1);
    assert_eq!(compare(&file, &[]).groups[0].rows.len(), 1);
}
