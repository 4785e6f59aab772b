//! Results of 3,000 phases and of 10,000 trials are shown in time, in forms that are drawn at
//! random.

use std::path::Path;
use std::time::Duration;

use embermark_model::CellId;
use embermark_model::result::{Cell, PhaseResult, ResultFile, Trial};
use embermark_report::html::{self, PageOptions, Source};
use embermark_report::{Files, Format, Options, load, render, screen};
use embermark_skips::sampled;
use nix::time::{ClockId, clock_gettime};

const FIXTURE: &str = "tests/fixtures/schema-1.json";

/// Largest processor time of one form of a report in a test build. A release build takes less than
/// 5 s. Code that goes through all phases once for each of them takes minutes.
const MOST: Duration = Duration::from_secs(60);

/// Makes a result with a number of phases and trials of each of two engines. Its runs and latencies
/// are those of a measured phase.
fn large(phases: usize, trials: u32) -> ResultFile {
    let mut file = load(Path::new(FIXTURE)).unwrap();
    let is_read = |part: &&PhaseResult| part.phase == "read" && part.latency.is_some();
    let all = file.cells.iter().flat_map(|cell| &cell.trials).flat_map(|trial| &trial.phases);
    let read = all.clone().find(is_read).unwrap().clone();
    let id = file.cells[0].id.clone();
    let phase = |engine: u64, number: usize, trial: u32| {
        let mut part = PhaseResult { phase: format!("phase-{number:05}"), ..read.clone() };
        for (place, run) in part.runs.iter_mut().enumerate() {
            // All are different, in no order.
            let luck = (u64::from(trial) * 7_919 + number as u64 * 104_729 + place as u64) % 997;
            run.elapsed_ns = (engine + 2) * 1_000_000 + luck * 1_000;
        }
        part
    };
    let cell = |(engine, name): (usize, &str)| {
        let trial = |index: u32| Trial {
            index,
            order: index * 2 + engine as u32,
            phases: (0..phases).map(|number| phase(engine as u64, number, index)).collect(),
            wall_ns: 1,
            ..Trial::default()
        };
        Cell {
            id: CellId { engine: name.to_owned(), workload: "own".to_owned(), ..id.clone() },
            trials: (0..trials).map(trial).collect(),
            ..file.cells[0].clone()
        }
    };
    let names = ["sqlite", "duckdb"];
    file.cells = names.into_iter().enumerate().map(cell).collect();
    file.plan.engines = names.map(str::to_owned).into();
    file.plan.workloads = vec!["own".to_owned()];
    file.plan.trials = trials;
    if let Some(folder) = std::env::var_os("EMBERMARK_WRITE_LARGE") {
        let path = Path::new(&folder).join(format!("{phases}-phases-{trials}-trials.json"));
        std::fs::write(path, serde_json::to_vec(&file).unwrap()).unwrap();
    }
    file
}

/// Makes a form of a report, as [`sampled`], or all.
fn is_shown_in_time(file: &ResultFile) {
    let path = Path::new("result.json");
    let options =
        Options { path: Some(path), intervals: true, latency: true, ..Options::default() };
    let in_time = |what: &str, make: &dyn Fn() -> usize| {
        // Only the time of this thread counts, not that of other work on the machine.
        let used = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
        let before = used();
        let bytes = make();
        let took = used() - before;
        println!("{what}: {bytes} bytes in {took:.2?}");
        assert!(took < MOST, "{what} took {took:?}");
    };
    let rendered = |format| render(file, format, &options).unwrap().len();
    let screen = || screen(file, &options, &Files { page: None, tables: None }).len();
    let page = || {
        let page = html::data(&[Source { path, result: file }], PageOptions::default()).unwrap();
        serde_json::to_vec(&page).unwrap().len()
    };
    let forms: [(&str, &dyn Fn() -> usize); 6] = [
        ("screen", &screen),
        ("table", &|| rendered(Format::Table)),
        ("Markdown", &|| rendered(Format::Markdown)),
        ("CSV", &|| rendered(Format::Csv)),
        ("JSON", &|| rendered(Format::Json)),
        ("page", &page),
    ];
    for (what, make) in sampled(forms, 1) {
        in_time(what, make);
    }
}

#[test]
fn three_thousand_phases() {
    is_shown_in_time(&large(3_000, 3));
}

#[test]
fn ten_thousand_trials() {
    is_shown_in_time(&large(3, 2_500));
}
