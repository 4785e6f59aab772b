use std::collections::BTreeMap;

use embermark_model::result::{
    Cell, DeviceIo, Latency, Observed, PhaseResult, ResultFile, Round, Run, Slice, Stall,
    SteadyFigure, SteadyState, StorageTimes, Timeline, Trial,
};
use embermark_model::{CellId, Durability, Scale, Status, StorageName};
use serde_json::json;

use super::{last_rounds, throughput, written_per_byte};
use crate::summary::Figure;

fn timeline() -> Timeline {
    let slice = |until_s, rows_in| Slice {
        until_s,
        elapsed_ns: 1_000_000_000,
        rows_in,
        ..Slice::default()
    };
    let round = |until_s, rows| Round {
        until_s,
        elapsed_ns: 2_000_000_000,
        rows,
        allocated_bytes: Some(4_096),
        ..Round::default()
    };
    let figure = |steady| SteadyFigure { rounds: 5, mean: 1.0, spread: 0.3, slope: 0.0, steady };
    Timeline {
        window_rows: 1_000,
        row_bytes: 32,
        expiry: "DELETE".into(),
        slices: vec![slice(1.0, 1_000), slice(2.0, 500), slice(3.0, 500)],
        rounds: vec![
            round(1.0, 9_000),
            round(2.0, 100),
            round(3.0, 200),
            round(4.0, 300),
            round(5.0, 400),
            round(6.0, 500),
        ],
        steady: SteadyState {
            reached: false,
            after_s: 6.0,
            figures: BTreeMap::from([
                ("space".into(), figure(true)),
                ("throughput".into(), figure(false)),
            ]),
            turnovers: 2.0,
        },
        stalls: vec![Stall {
            at_s: 1.5,
            ns: 200_000_000,
            of: "commit".into(),
            moved: BTreeMap::from([("checkpoints".into(), 2)]),
        }],
        stalled: 1,
        background: vec!["checkpoints".into()],
    }
}

fn run(timeline: Timeline) -> Run {
    Run {
        ops: 2_000,
        elapsed_ns: 3_000_000_000,
        device_io: Some(DeviceIo { written_bytes: 192_000, ..DeviceIo::default() }),
        observed: Some(Observed { timeline: Some(timeline), ..Observed::default() }),
        ..Run::default()
    }
}

fn cell(timeline: Timeline) -> Cell {
    let part =
        PhaseResult { phase: "keep".into(), runs: vec![run(timeline)], ..PhaseResult::default() };
    Cell {
        id: CellId {
            workload: "retention".into(),
            scale: Scale::Rows(1_000),
            durability: Durability::Process,
            variant: "batch".into(),
            engine: "sqlite".into(),
            memory_limit: None,
            storage: None,
        },
        status: Status::Ok,
        reason: None,
        effective_durability: None,
        own_durability: None,
        reference: false,
        unpublishable: false,
        trials: vec![Trial { phases: vec![part], ..Trial::default() }],
        lost_trials: Vec::new(),
        counting: None,
        explaining: None,
    }
}

/// Returns the texts of the line by their headings.
fn texts(timeline: Timeline) -> BTreeMap<String, String> {
    let mut file = crate::summary::tests::file(vec![cell(timeline)]);
    file.manifest.run_id = "test".into();
    texts_of(&file, None)
}

fn texts_of(file: &ResultFile, rows_per_day: Option<f64>) -> BTreeMap<String, String> {
    let [table] = &super::grids(file, rows_per_day)[..] else { panic!("one table") };
    let [(label, texts)] = &table.grid.rows[..] else { panic!("one line") };
    assert_eq!(label, "sqlite batch");
    table.grid.header.iter().cloned().zip(texts.iter().map(|text| text.value.clone())).collect()
}

#[test]
fn the_last_five_rounds_make_the_figures_and_no_round_before_them() {
    let timeline = timeline();
    assert_eq!(last_rounds(&timeline).len(), 5);
    assert_eq!(throughput(&timeline), Some(150.0));
    let texts = texts(timeline);
    assert_eq!(texts["rows/s"], "150");
    assert_eq!(texts["at first"], "1,000", "until the window was full, in its first second");
    assert_eq!(texts["space"], "4.10 kB");
}

#[test]
fn what_was_written_is_by_the_bytes_of_all_rows() {
    // 2,000 rows of 32 bytes are 64,000 bytes.
    assert_eq!(written_per_byte(&run(timeline())), Some(3.0));
    assert_eq!(texts(timeline())["written/byte"], "3.00");
    let unseen = Run { device_io: None, ..run(timeline()) };
    assert_eq!(written_per_byte(&unseen), None);
}

#[test]
fn an_imitated_card_has_what_it_programmed_and_its_years_at_a_rate() {
    let mut cell = cell(timeline());
    cell.id.storage = StorageName::new("card").ok();
    // 16 KiB for each of 2,000 rows.
    let times = StorageTimes { programmed_bytes: Some(2_000 << 14), ..StorageTimes::default() };
    cell.trials[0].storage_times = Some(times);
    let mut file = crate::summary::tests::file(vec![cell]);
    // 1,000 blocks of 4 MiB, each erased 100 to 3,000 times.
    let (one, none) = (spread(1, 1, 1), spread(0, 0, 0));
    let transfer = json!({ "random_us": one, "sequential_us": one, "kb_per_s": one });
    let card = json!({
        "name": "card", "kind": "page-mapped", "map_bytes": 4_096, "cleaning": "greedy",
        "capacity_bytes": 1_000_u64 << 22, "page_bytes": 16_384, "erase_block_bytes": 1 << 22, "spare_permille": none,
        "cycles": spread(100, 1_000, 3_000), "cache_bytes": 0, "filled_permille": 1_000,
    });
    let storage = json!({
        "name": "card", "about": "", "read": transfer, "write": transfer, "flush_us": none, "cache_bytes": 0,
        "cached_write_us": none, "queue_depth": 1, "flash": { "card": card, "erase_us": one },
    });
    file.plan.storages = vec![Some(serde_json::from_value(storage).unwrap())];
    let texts = texts_of(&file, Some(25_600.0));
    assert_eq!(texts["programmed/row"], "16.4 kB");
    // 256 rows per block make 100 blocks per day.
    assert_eq!(texts["years"], "2.7-82 y");
    assert_eq!(texts_of(&file, None)["years"], "-", "nobody said how many rows a day");
}

fn spread(low: u32, typical: u32, high: u32) -> serde_json::Value {
    json!({ "low": low, "typical": typical, "high": high })
}

#[test]
fn a_state_that_is_not_steady_names_the_figure_that_was_not() {
    assert_eq!(texts(timeline())["steady"], "not after 6.00 s: throughput");
    let mut steady = timeline();
    steady.steady.reached = true;
    assert_eq!(texts(steady)["steady"], "after 6.00 s");
}

#[test]
fn stalls_name_what_moved_or_that_the_engine_tells_nothing() {
    assert_eq!(texts(timeline())["stalls"], "1 (checkpoints in 1)");
    let mut still = timeline();
    still.stalls[0].moved.clear();
    assert_eq!(texts(still)["stalls"], "1 (nothing that it reports changed)");
    let silent = Timeline { background: Vec::new(), ..timeline() };
    assert_eq!(texts(silent)["stalls"], "1 (it reports nothing)");
    let none = Timeline { stalled: 0, stalls: Vec::new(), ..timeline() };
    assert_eq!(texts(none)["stalls"], "0");
}

/// Makes a phase whose last rounds were steady or not, with `p99` ns as the 99th percentile of its
/// commits.
fn part(reached: bool, p99: u64) -> PhaseResult {
    let mut timeline = timeline();
    timeline.steady.reached = reached;
    let mut run = run(timeline);
    let last = Latency {
        samples: 500,
        sampled_every: 1,
        min: 1,
        mean: 2.0,
        p50: 2,
        p95: None,
        p99: Some(p99),
        p99_9: None,
        max: 2 * p99,
        stalled: None,
        hdr: String::new(),
    };
    let seen = run.observed.as_mut().unwrap();
    seen.latencies.insert("commit-last".into(), last);
    PhaseResult { phase: "keep".into(), runs: vec![run], ..PhaseResult::default() }
}

#[test]
fn the_steady_latency_is_of_trials_that_were_steady_every_one() {
    let steady = |parts: &[PhaseResult]| {
        let parts: Vec<(u32, &PhaseResult)> = (0..).zip(parts).collect();
        Figure::from_parts(&parts).unwrap().steady_p99_per_trial()
    };
    assert_eq!(steady(&[part(true, 70), part(true, 90)]), Some(vec![70.0, 90.0]));
    assert_eq!(steady(&[part(true, 70), part(false, 90)]), None);
    assert_eq!(steady(&[part(false, 70)]), None);
}

#[test]
fn the_time_of_a_row_is_that_of_the_last_rounds() {
    let part = part(true, 70);
    let figure = Figure::from_parts(&[(0, &part)]).unwrap();
    // 150 rows per second.
    assert!((figure.per_op_ns - 1e9 / 150.0).abs() < 1.0, "{}", figure.per_op_ns);
}
