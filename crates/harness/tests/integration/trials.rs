//! Whole runs, each engine with its own fault.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use embermark_harness::device::Device;
use embermark_harness::progress::{Progress, Silent};
use embermark_harness::{HarnessError, Interrupt, RunOptions, WorkerCommand, interrupt, journal};
use embermark_model::plan::Plan;
use embermark_model::result::{Cell, DiskSize, Execution, PhaseResult, ResultFile, Run, Trial};
use embermark_model::{CellId, Durability, MemoryLimit, Scale, ServerUrl, Status};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::cells::plan;
use crate::toy::{CATALOG, LEAK, MAINTENANCE, OPENING};

crate::tests!(
    a_run_measures_every_phase_and_leaves_only_its_result,
    trials_are_interleaved_and_numbered,
    the_first_trial_is_made_again_at_the_end_and_is_no_trial_of_its_cell,
    a_first_trial_that_failed_and_a_check_of_answers_are_not_made_again,
    a_result_says_what_its_engines_are,
    tiers_made_by_one_setting_can_be_run_once,
    a_wrong_answer_is_told_with_its_first_difference_and_hides_no_other_phase,
    a_cell_whose_tier_changed_during_a_trial_is_wrong,
    a_worker_that_is_killed_is_one_failed_cell_and_the_others_go_on,
    an_engine_that_fails_panics_or_quits_is_told_by_its_last_words,
    an_engine_that_hangs_is_timed_out_and_its_server_is_gone,
    what_an_engine_prints_goes_to_the_log_and_not_into_the_protocol,
    a_server_is_measured_apart_from_its_client,
    the_time_of_a_server_given_by_its_url_is_not_counted_as_that_of_other_programs,
    a_phase_an_engine_does_not_support_leaves_the_others_their_figures,
    a_cap_stops_a_run_and_its_operations_stand,
    a_worker_that_speaks_nonsense_is_a_failed_cell,
    a_worker_that_cannot_be_started_stops_the_run_and_leaves_nothing,
    a_plan_that_this_machine_does_not_allow_is_refused_before_a_folder_is_made,
    an_interrupt_keeps_the_trials_that_ended_and_leaves_no_process_or_folder,
    a_parent_that_is_killed_takes_its_worker_along_and_leaves_a_journal,
    latency_and_percentiles_are_what_the_engine_really_took,
    an_engine_that_fails_at_times_is_failed_and_not_fast,
    a_load_says_how_many_bytes_it_put_in_and_how_long_the_database_took_for_maintenance,
    an_engine_that_leaks_is_seen_by_its_memory,
    who_takes_more_memory_than_its_limit_is_killed_and_the_others_go_on,
    memory_that_runs_out_on_an_emulated_device_is_named,
    an_engine_that_opens_slowly_is_seen_by_its_opening_and_not_in_its_phases,
    the_floor_is_measured_whatever_the_null_engine_answers,
);

/// A directory for the results of one test.
pub struct Out(TempDir);

impl Out {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("out").join(name)
    }

    pub fn options(&self) -> RunOptions {
        RunOptions { catalog: CATALOG, ..RunOptions::new(self.path("")).unwrap() }
    }
}

/// Repeats an attempt that a busy machine may spoil until it succeeds.
///
/// # Panics
/// If it has not succeeded after five minutes; with the last failure.
pub fn until<T>(mut attempt: impl FnMut() -> Result<T, String>) -> T {
    let began = Instant::now();
    loop {
        match attempt() {
            Ok(done) => return done,
            Err(why) => assert!(began.elapsed() < Duration::from_secs(300), "{why}"),
        }
    }
}

pub fn run(plan: &Plan, options: &RunOptions) -> Result<ResultFile, HarnessError> {
    let result = embermark_harness::run(plan, options, &mut Silent);
    assert_eq!(children(), Vec::<String>::new(), "processes left behind");
    result
}

/// The children of this process, dead or alive.
fn children() -> Vec<String> {
    let own = std::process::id();
    let list = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap();
    list.split_whitespace().map(str::to_owned).collect()
}

fn cell<'a>(result: &'a ResultFile, engine: &str) -> &'a Cell {
    result.cells.iter().find(|cell| cell.id.engine == engine).unwrap()
}

fn reason<'a>(result: &'a ResultFile, engine: &str) -> (Status, &'a str) {
    let cell = cell(result, engine);
    (cell.status, cell.reason.as_deref().unwrap_or_default())
}

fn phases(cell: &Cell) -> Vec<(&str, Status, usize)> {
    let phases = &cell.trials[0].phases;
    phases.iter().map(|p| (p.phase.as_str(), p.status, p.runs.len())).collect()
}

fn a_run_measures_every_phase_and_leaves_only_its_result() {
    let out = Out::new();
    let result = run(&plan(&["good"]), &out.options()).unwrap();
    let cell = cell(&result, "good");
    assert_eq!((cell.status, cell.reason.as_deref()), (Status::Ok, None));
    let ok = |name| (name, Status::Ok, 3);
    assert_eq!(phases(cell), [ok("load"), ok("read"), ok("total")]);

    let trial = &cell.trials[0];
    assert_eq!(trial.version.as_deref(), Some("1.0"));
    assert_eq!(trial.settings["mode"], "toy");
    assert!(trial.baseline_bytes.is_some() && trial.open_ns.is_some() && trial.wall_ns > 0);
    let disk = DiskSize { allocated_bytes: 8192, apparent_bytes: 8192 };
    assert_eq!((trial.disk, trial.log.as_deref()), (Some(disk), None));
    let [load, read, total] = &trial.phases[..] else { panic!("three phases") };
    let executed = [load, read, total].map(|phase| phase.execution);
    assert_eq!(executed, [Execution::Native, Execution::Native, Execution::ClientSide]);
    for (i, run) in read.runs.iter().enumerate() {
        assert_eq!((run.ops, run.discarded, run.client), (100, i == 0, None));
        assert!(run.elapsed_ns > 0 && run.engine.cpu_ns.is_some_and(|ns| ns > 0));
    }
    // Two counted runs of 100 operations, of which at least the first is timed. The discarded run
    // would show as the number before the last two.
    let latency = read.latency.as_ref().unwrap();
    assert!(latency.samples > 0 && latency.samples <= 200, "{latency:?}");
    assert_eq!(total.latency, None);
    // A sum of 100 numbers is very short: it is warmed up, and its runs are repeated.
    for run in &total.runs {
        let Some(repeated) = run.repeated else {
            // The machine was busy with something else.
            assert!(run.elapsed_ns >= 1_000_000, "{run:?}");
            continue;
        };
        assert!(repeated.times > 1 && repeated.total_ns >= run.elapsed_ns, "{run:?}");
        let mean = repeated.total_ns as f64 / repeated.times as f64;
        assert!(run.discarded || run.elapsed_ns == mean.round() as u64, "{run:?}");
        assert!(run.discarded || repeated.steady.is_none(), "{run:?}");
    }
    assert!(load.runs.iter().chain(&read.runs).all(|run| run.repeated.is_none()));

    let manifest = &result.manifest;
    assert_eq!(manifest.datasets["squares"].rows, 100);
    assert!(
        manifest.finished.is_some() && manifest.tool.profile == "debug" || !cfg!(debug_assertions)
    );
    let mut left: Vec<_> =
        fs::read_dir(out.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["journal.jsonl", "result.json"]);
}

fn trials_are_interleaved_and_numbered() {
    let out = Out::new();
    let mut plan = plan(&["good", "chatty", "null"]);
    plan.trials = 3;
    plan.runs = 2;
    let result = run(&plan, &out.options()).unwrap();
    for cell in &result.cells {
        let trials: Vec<_> = cell.trials.iter().map(|t| (t.index, t.order / 3)).collect();
        assert_eq!(trials, [(0, 0), (1, 1), (2, 2)]);
    }
    let mut orders: Vec<_> =
        result.cells.iter().flat_map(|cell| &cell.trials).map(|trial| trial.order).collect();
    orders.sort_unstable();
    assert_eq!(orders, (0..9).collect::<Vec<_>>());
}

fn the_first_trial_is_made_again_at_the_end_and_is_no_trial_of_its_cell() {
    let out = Out::new();
    let result = run(&Plan { trials: 2, ..plan(&["good", "chatty"]) }, &out.options()).unwrap();
    let drift = result.manifest.drift.as_ref().unwrap();
    let cell = result.cells.iter().find(|cell| cell.id == drift.cell).unwrap();
    let first = cell.trials.iter().find(|trial| trial.index == drift.first).unwrap();
    assert_eq!((first.order, drift.again.order, cell.trials.len()), (0, 4, 2));
    let names = |trial: &Trial| -> Vec<String> {
        trial.phases.iter().map(|phase| phase.phase.clone()).collect()
    };
    assert_eq!(names(&drift.again), names(first));
    assert!(drift.again.status == Status::Ok && drift.again.phases[1].runs.len() == 3);
}

fn a_first_trial_that_failed_and_a_check_of_answers_are_not_made_again() {
    let out = Out::new();
    let failed = run(&Plan { trials: 2, ..plan(&["failing"]) }, &out.options()).unwrap();
    assert!(failed.manifest.drift.is_none());
    let out = Out::new();
    let check = RunOptions { once_per_setting: true, ..out.options() };
    let checked = run(&plan(&["good", "chatty"]), &check).unwrap();
    assert!(checked.manifest.drift.is_none());
    let out = Out::new();
    assert!(run(&plan(&["good"]), &out.options()).unwrap().manifest.drift.is_none(), "one trial");
}

fn a_result_says_what_its_engines_are() {
    let out = Out::new();
    let result = run(&plan(&["good", "absent"]), &out.options()).unwrap();
    let engines = &result.manifest.engines;
    assert_eq!(engines.keys().collect::<Vec<_>>(), ["absent", "good"]);
    let good = &engines["good"];
    let said = (good.name.as_str(), good.kind.as_str(), good.data_model.as_str());
    assert_eq!((said, good.licence.as_str()), (("good", "embedded", "key-value"), "-"));
}

fn a_wrong_answer_is_told_with_its_first_difference_and_hides_no_other_phase() {
    let out = Out::new();
    let result = run(&plan(&["wrong"]), &out.options()).unwrap();
    let cell = cell(&result, "wrong");
    assert_eq!(
        phases(cell),
        [("load", Status::Ok, 3), ("read", Status::Wrong, 2), ("total", Status::Ok, 3)]
    );
    let (status, reason) = reason(&result, "wrong");
    assert_eq!(status, Status::Wrong);
    assert!(reason.starts_with("read: ") && reason.contains("328350"), "{reason}");
}

fn a_worker_that_is_killed_is_one_failed_cell_and_the_others_go_on() {
    let out = Out::new();
    let result = run(&plan(&["killed", "good"]), &out.options()).unwrap();
    let (status, reason) = reason(&result, "killed");
    assert_eq!(status, Status::Failed);
    assert!(reason.contains("killed by signal 9 (SIGKILL)"), "{reason}");
    assert!(reason.contains("run 2 of phase read"), "{reason}");
    // What had ended before stays.
    assert_eq!(
        phases(cell(&result, "killed")),
        [("load", Status::Ok, 3), ("read", Status::Failed, 1)]
    );
    assert_eq!(cell(&result, "good").status, Status::Ok);
}

fn an_engine_that_fails_panics_or_quits_is_told_by_its_last_words() {
    let out = Out::new();
    let result = run(&plan(&["failing", "panicking", "quitting"]), &out.options()).unwrap();
    for (engine, says) in [
        ("failing", "toy could not get a row: bad luck"),
        ("panicking", "page 7 is gone"),
        (
            "quitting",
            "exited with status 0 in run 2 of phase read; its last output: licence expired",
        ),
    ] {
        let (status, reason) = reason(&result, engine);
        assert!(status == Status::Failed && reason.contains(says), "{engine}: {reason}");
    }
    let log = cell(&result, "panicking").trials[0].log.as_ref().unwrap();
    assert!(fs::read_to_string(out.path(log)).unwrap().contains("page 7 is gone"));
}

fn an_engine_that_hangs_is_timed_out_and_its_server_is_gone() {
    // On a busy machine the phase before may take longer than a trial may.
    let mut seconds = 1.5;
    until(|| {
        let out = Out::new();
        let mut plan = plan(&["hanging", "stubborn", "good"]);
        plan.timeout_ms = Some((seconds * 1_000.0) as u64);
        let result = run(&plan, &out.options()).unwrap();
        assert!(!out.path("data").exists());
        let expected = format!(
            "took longer than the {seconds} s that a trial may take, in run 2 of phase read"
        );
        seconds *= 2.0;
        for engine in ["hanging", "stubborn"] {
            let (status, reason) = reason(&result, engine);
            assert_eq!(status, Status::TimedOut);
            if reason != expected {
                return Err(format!("{reason}, and not: {expected}"));
            }
        }
        match cell(&result, "good").status {
            Status::Ok => Ok(()),
            status => Err(format!("the good engine is {status}")),
        }
    });
}

fn what_an_engine_prints_goes_to_the_log_and_not_into_the_protocol() {
    let out = Out::new();
    let result = run(&plan(&["chatty"]), &out.options()).unwrap();
    let cell = cell(&result, "chatty");
    assert_eq!((cell.status, cell.trials[0].phases.len()), (Status::Ok, 3));
    let log = cell.trials[0].log.as_ref().unwrap();
    assert!(fs::read_to_string(out.path(log)).unwrap().contains("finished"));
}

fn a_server_is_measured_apart_from_its_client() {
    let out = Out::new();
    let result = run(&plan(&["server"]), &out.options()).unwrap();
    let cell = cell(&result, "server");
    assert_eq!(cell.status, Status::Ok, "{:?}", cell.reason);
    assert!(cell.trials[0].background_cpu.is_some());
    for run in cell.trials[0].phases.iter().flat_map(|phase| &phase.runs) {
        assert!(run.engine.cpu_ns.is_some(), "{run:?}");
        assert!(run.client.is_some_and(|client| client.cpu_ns.is_some()), "{run:?}");
    }
}

fn the_time_of_a_server_given_by_its_url_is_not_counted_as_that_of_other_programs() {
    let out = Out::new();
    let urls = [("server".to_owned(), ServerUrl::from("toy://here"))].into();
    let result = run(&Plan { urls, ..plan(&["server"]) }, &out.options()).unwrap();
    let cell = cell(&result, "server");
    assert_eq!(cell.status, Status::Ok, "{:?}", cell.reason);
    assert_eq!(cell.trials[0].background_cpu, None);
}

fn a_phase_an_engine_does_not_support_leaves_the_others_their_figures() {
    let out = Out::new();
    let plan = Plan { phases: None, ..plan(&["good"]) };
    let result = run(&plan, &out.options()).unwrap();
    let cell = cell(&result, "good");
    assert_eq!(cell.status, Status::Ok);
    assert_eq!(phases(cell)[3], ("change", Status::Unsupported, 0));
    let reason = cell.trials[0].phases[3].reason.as_deref();
    assert_eq!(reason, Some("toy does not support changes in place"));
}

fn a_cap_stops_a_run_and_its_operations_stand() {
    let out = Out::new();
    let plan = Plan { max_run_time_ms: Some(50), ..plan(&["slow"]) };
    let result = run(&plan, &out.options()).unwrap();
    let cell = cell(&result, "slow");
    assert_eq!((cell.status, cell.reason.as_deref()), (Status::Capped, None));
    let read = &cell.trials[0].phases[1];
    assert!(read.runs.iter().all(|run| run.capped && (2..=11).contains(&run.ops)), "{read:?}");
}

fn a_worker_that_speaks_nonsense_is_a_failed_cell() {
    let out = Out::new();
    let script = |script: &str| RunOptions {
        worker: WorkerCommand { program: "/bin/sh".into(), args: vec!["-c".into(), script.into()] },
        ..out.options()
    };
    let plan = plan(&["good"]);
    let result = run(&plan, &script("cat >/dev/null; echo Welcome; sleep 600")).unwrap();
    let (status, text) = reason(&result, "good");
    assert_eq!(status, Status::Failed);
    assert_eq!(text, "the worker wrote an invalid event, in the start of the worker: \"Welcome\"");

    fs::remove_dir_all(out.path("")).unwrap();
    let result = run(&plan, &script("echo oh >&2; exit 3")).unwrap();
    assert_eq!(
        reason(&result, "good").1,
        "the worker exited with status 3 in the start of the worker; its last output: oh"
    );
}

fn a_plan_that_this_machine_does_not_allow_is_refused_before_a_folder_is_made() {
    let out = Out::new();
    let error = run(&Plan { memory_bytes: 1 << 60, ..plan(&["good"]) }, &out.options());
    let error = error.unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("exceeds"), "{error}");
    assert!(!out.path("").exists());
}

fn a_worker_that_cannot_be_started_stops_the_run_and_leaves_nothing() {
    let out = Out::new();
    let worker = WorkerCommand { program: "/no/such/program".into(), args: vec![] };
    let options = RunOptions { worker, ..out.options() };
    let error = run(&plan(&["good"]), &options).unwrap_err();
    assert!(error.to_string().contains("/no/such/program") && !error.is_usage(), "{error}");
    assert!(!out.path("data").exists() && !out.path("rows").exists());
}

/// Interrupts the run when a trial of an engine has begun its second run of a phase.
pub struct Interrupting(pub Interrupt, pub &'static str, pub bool);

impl Progress for Interrupting {
    fn note(&mut self, _: &str) {}
    fn started(&mut self, _: u32) {}
    fn trial(&mut self, _: u32, cell: &CellId, _: u32) {
        self.2 = cell.engine == self.1;
    }
    fn phase(&mut self, name: &str, run: u32, _: u32) {
        if self.2 && name == "read" && run == 2 {
            self.0.set();
        }
    }
    fn trial_ended(&mut self, _: Status, _: Option<&str>, _: Duration) {}
    fn finished(&mut self) {}
}

fn an_interrupt_keeps_the_trials_that_ended_and_leaves_no_process_or_folder() {
    let out = Out::new();
    let options = out.options();
    let mut plan = plan(&["good", "hanging", "chatty", "wrong"]);
    plan.trials = 2;
    let mut progress = Interrupting(options.interrupt.clone(), "hanging", false);
    let began = Instant::now();
    let error = embermark_harness::run(&plan, &options, &mut progress).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(300), "the engine hangs for ten minutes");
    assert_eq!(children(), Vec::<String>::new());
    assert!(!out.path("data").exists() && !out.path("rows").exists());

    let HarnessError::Interrupted { result: Some(result) } = &error else { panic!("{error}") };
    assert_eq!(result.cells.len(), 4);
    assert_eq!(result.manifest.finished, None);
    assert!(cell(result, "hanging").trials.is_empty());
    let ended: usize = result.cells.iter().map(|cell| cell.trials.len()).sum();
    assert!(ended < 4, "{ended}");
    assert!(error.to_string().starts_with("interrupted") && !error.is_usage());
    assert!(out.path("result.json").is_file() && out.path("journal.jsonl").is_file());

    // Before anything ran: nothing at all.
    let other = Out::new();
    let options = other.options();
    options.interrupt.set();
    let error = run(&plan, &options).unwrap_err();
    assert!(matches!(error, HarnessError::Interrupted { result: None }));
    assert!(!other.path("").exists());
}

/// A separate run of this program, to be killed: its last engine hangs.
pub fn run_into(engines: &str, out: &str) -> ExitCode {
    let interrupt = interrupt::on_signals().unwrap();
    let options = RunOptions { catalog: CATALOG, interrupt, ..RunOptions::new(out).unwrap() };
    let engines: Vec<&str> = engines.split(',').collect();
    let plan = Plan { trials: 2, ..plan(&engines) };
    let result = embermark_harness::run(&plan, &options, &mut Silent);
    ExitCode::from(u8::from(result.is_err()))
}

fn tiers_made_by_one_setting_can_be_run_once() {
    let out = Out::new();
    let mut plan = plan(&["good"]);
    plan.durabilities = vec![Durability::None, Durability::Process, Durability::Power];
    let options = RunOptions { once_per_setting: true, ..out.options() };
    let result = run(&plan, &options).unwrap();
    let tiers: Vec<_> = result.cells.iter().map(|cell| cell.id.durability).collect();
    assert_eq!(tiers, [Durability::None, Durability::Power]);
}

fn a_parent_that_is_killed_takes_its_worker_along_and_leaves_a_journal() {
    let out = Out::new();
    let program = std::env::current_exe().unwrap();
    let mut parent = Command::new(program)
        .args(["run", "good,chatty,hanging"])
        .arg(out.path(""))
        .spawn()
        .unwrap();
    // Waits until the engine hangs in the second run of its phase: its worker is up, and then idle.
    let until = |what: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !what() {
            assert!(began.elapsed() < Duration::from_secs(120), "it never came");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until(&|| out.path("data/hanging-squares-100-process-single-0/database").exists());
    std::thread::sleep(Duration::from_millis(300));
    let pid = parent.id();
    let workers = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let worker = workers.trim();
    assert!(worker.parse::<u32>().is_ok(), "{workers}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    let state = || fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
    until(&|| state().is_empty() || state().contains(") Z "));
    // It was left to this process, which adopts orphans, or to init.
    let _ = waitpid(Pid::from_raw(worker.parse().unwrap()), Some(WaitPidFlag::WNOHANG));

    let journal = journal::read(&out.path("journal.jsonl")).unwrap();
    assert_eq!((journal.head.cells.len(), journal.finished), (3, None));
}

fn the_floor_is_measured_whatever_the_null_engine_answers() {
    let out = Out::new();
    let mut plan = plan(&["good"]);
    // More rows than the floor's times are measured on, and fewer.
    plan.scales = vec![Scale::Rows(100_001), Scale::Rows(2_000)];
    plan.phases = Some(vec!["total".into()]);
    plan.runs = 2;
    let result = run(&plan, &out.options()).unwrap();
    let floor = result.manifest.floor.unwrap();
    let read_ns = floor.phases["squares"]["read"];
    assert!(read_ns > 0.0 && read_ns < 10_000_000.0, "{floor:?}");
    assert!(result.cells.iter().all(|cell| cell.id.engine == "good"));
}

/// The phase of a cell's first trial that has this name.
fn phase<'a>(result: &'a ResultFile, engine: &str, name: &str) -> &'a PhaseResult {
    let phases = &cell(result, engine).trials[0].phases;
    phases.iter().find(|phase| phase.phase == name).unwrap()
}

fn latency_and_percentiles_are_what_the_engine_really_took() {
    // A busy machine may take the processor away between the engine's clock and the harness's, but
    // not repeatedly.
    let began = Instant::now();
    loop {
        match off(&told_and_true()) {
            None => return,
            off => assert!(began.elapsed() < Duration::from_secs(300), "{off:?}"),
        }
    }
}

/// The first figure that differs from the truth by more than a hundredth and the few microseconds
/// around a call.
fn off(figures: &[(f64, f64)]) -> Option<&(f64, f64)> {
    figures.iter().find(|(told, truth)| (told - truth).abs() > truth * 0.01 + 20_000.0)
}

/// The harness's figures for an engine with delays, each beside what the engine recorded itself.
fn told_and_true() -> Vec<(f64, f64)> {
    let out = Out::new();
    let result = run(&plan(&["delayed"]), &out.options()).unwrap();
    let log = cell(&result, "delayed").trials[0].log.as_ref().unwrap();
    let log = fs::read_to_string(out.path(log)).unwrap();
    let book = log.split_once("delays: [").unwrap().1.split_once(']').unwrap().0;
    let book: Vec<f64> = book.split(", ").map(|ns| ns.parse().unwrap()).collect();
    assert_eq!(book.len(), 300);
    // The first run is discarded.
    let mut counted = book[100..].to_vec();
    let read = phase(&result, "delayed", "read");
    let elapsed = |run: usize| read.runs[run].elapsed_ns as f64;
    let runs = book.chunks(100).enumerate();
    let mut figures: Vec<(f64, f64)> =
        runs.map(|(run, delays)| (elapsed(run), delays.iter().sum())).collect();
    counted.sort_by(f64::total_cmp);
    let rank = |share: f64| counted[(share * counted.len() as f64).ceil() as usize - 1];
    let latency = read.latency.as_ref().unwrap();
    assert_eq!((latency.samples, latency.sampled_every), (200, 1));
    figures.extend([
        (latency.p50 as f64, rank(0.5)),
        (latency.p95.unwrap() as f64, rank(0.95)),
        (latency.p99.unwrap() as f64, rank(0.99)),
        (latency.max as f64, counted[199]),
        (latency.min as f64, counted[0]),
        (latency.mean, counted.iter().sum::<f64>() / 200.0),
    ]);
    // The requested delays and not others: a busy machine only adds to them.
    assert!(latency.p50 >= 2_000_000 && latency.p95.unwrap() >= 10_000_000, "{latency:?}");
    assert!(latency.p99.unwrap() >= 40_000_000 && latency.p99_9.is_none(), "{latency:?}");
    figures
}

fn an_engine_that_fails_at_times_is_failed_and_not_fast() {
    let out = Out::new();
    let plan = Plan { scales: vec![Scale::Rows(400)], ..plan(&["sloppy"]) };
    let result = run(&plan, &out.options()).unwrap();
    let (status, text) = reason(&result, "sloppy");
    assert!(status == Status::Failed && text.contains("try again"), "{text}");
    // The thousandth read is the two hundredth of the third run.
    assert!(text.contains("after 199 operations of run 3"), "{text}");
    let read = phase(&result, "sloppy", "read");
    assert_eq!((read.status, read.runs.len(), read.latency.is_none()), (Status::Failed, 2, true));
    assert!(cell(&result, "sloppy").trials.iter().all(|trial| trial.status == Status::Failed));
}

fn a_load_says_how_many_bytes_it_put_in_and_how_long_the_database_took_for_maintenance() {
    let out = Out::new();
    let result = run(&plan(&["good", "lazy", "restless"]), &out.options()).unwrap();
    for engine in ["good", "lazy", "restless"] {
        assert_eq!(cell(&result, engine).status, Status::Ok, "{engine}");
        let load = phase(&result, engine, "load");
        let bytes = |run: &Run| run.loaded.map(|loaded| loaded.user_bytes);
        assert_eq!(load.runs.iter().map(bytes).collect::<Vec<_>>(), [Some(1_600); 3]);
        let maintained: Vec<bool> =
            load.runs.iter().map(|run| run.maintenance().is_some()).collect();
        assert_eq!(
            maintained,
            [false, false, engine != "restless"],
            "{engine}: the last run's alone"
        );
        assert!(load.runs.iter().all(|run| run.device_io.is_none()));
        let read = phase(&result, engine, "read");
        assert!(read.runs.iter().all(|run| run.loaded.is_none()), "a read puts nothing in");
    }
    let last = |engine| phase(&result, engine, "load").runs[2].clone();
    let lazy = last("lazy");
    let maintenance = *lazy.maintenance().unwrap();
    let took = u128::from(maintenance.elapsed_ns);
    assert!(took >= MAINTENANCE.as_nanos(), "{took}");
    assert!(u128::from(lazy.elapsed_ns) < MAINTENANCE.as_nanos() / 2, "it is no part of the load");
    let sizes =
        [maintenance.disk_before, maintenance.disk_after].map(|size| size.unwrap().apparent_bytes);
    assert_eq!(sizes, [8_192, 4_096]);
    assert!(maintenance.engine.cpu_ns.unwrap() < 100_000_000, "it slept");
    assert!(
        u128::from(last("good").maintenance().unwrap().elapsed_ns) < MAINTENANCE.as_nanos() / 2
    );
}

fn an_engine_that_leaks_is_seen_by_its_memory() {
    let out = Out::new();
    let result = run(&plan(&["leaking", "slow"]), &out.options()).unwrap();
    let leaked = 100 * LEAK as u64;
    let peaks = |engine| {
        let runs = phase(&result, engine, "read").runs.iter();
        runs.map(|run| run.engine.peak_bytes.unwrap()).collect::<Vec<u64>>()
    };
    // Each run has what all earlier runs have leaked, and its own.
    for (run, peak) in (1..).zip(peaks("leaking")) {
        let expected = run * leaked;
        assert!((expected..expected + 30_000_000).contains(&peak), "run {run}: {peak}");
    }
    assert!(peaks("slow").iter().all(|peak| *peak < 30_000_000));
    // A run of half a second is long enough for a mean, which the peak is not below.
    for run in &phase(&result, "slow", "read").runs {
        let (mean, peak) = (run.engine.mean_bytes.unwrap(), run.engine.peak_bytes.unwrap());
        assert!(mean > 500_000 && mean <= peak + 100_000, "mean {mean}, peak {peak}");
    }
    assert_eq!(phase(&result, "slow", "total").runs[0].engine.mean_bytes, None);
}

fn who_takes_more_memory_than_its_limit_is_killed_and_the_others_go_on() {
    let out = Out::new();
    let mut plan = plan(&["leaking", "good"]);
    plan.memory_limits = vec![Some(MemoryLimit(64 << 20))];
    let result = run(&plan, &out.options()).unwrap();
    let (status, why) = reason(&result, "leaking");
    if status == Status::Unsupported {
        assert!(why.contains("run as root"), "{why}");
        return embermark_skips::skipped("control groups", why);
    }
    assert_eq!(status, Status::Failed);
    assert!(why.starts_with("killed: out of memory within 64 MiB; "), "{why}");
    assert!(why.contains("phase read"), "{why}");
    let good = cell(&result, "good");
    assert_eq!(good.status, Status::Ok);
    let [leaked, peak] = ["leaking", "good"]
        .map(|engine| cell(&result, engine).trials[0].limited_peak_bytes.unwrap());
    // Its rows and the harness's own existed before, and are not counted.
    assert!(peak < 16 << 20 && (60 << 20..=64 << 20).contains(&leaked), "{peak}, {leaked}");
}

fn memory_that_runs_out_on_an_emulated_device_is_named() {
    static SMALL: Device = Device { name: "small", cores: 1, mhz: 1_000, memory_bytes: 64 << 20 };
    let out = Out::new();
    let options = RunOptions { device: Some(&SMALL), ..out.options() };
    let own_disk = Plan { storages: vec![None], ..plan(&["leaking"]) };
    let result = match run(&own_disk, &options) {
        Err(error) if error.to_string().contains("run as root") => {
            return embermark_skips::skipped("control groups", error);
        }
        result => result.unwrap(),
    };
    let (status, why) = reason(&result, "leaking");
    assert_eq!(status, Status::Failed);
    assert!(why.starts_with("killed: out of memory within the device's memory; "), "{why}");
    assert!(why.contains("phase read"), "{why}");
}

fn an_engine_that_opens_slowly_is_seen_by_its_opening_and_not_in_its_phases() {
    let out = Out::new();
    let result = run(&plan(&["tardy"]), &out.options()).unwrap();
    let cell = cell(&result, "tardy");
    let open_ns = cell.trials[0].open_ns.unwrap();
    assert!(u128::from(open_ns) >= OPENING.as_nanos(), "{open_ns}");
    let phases = &cell.trials[0].phases;
    let elapsed: u64 = phases.iter().flat_map(|phase| &phase.runs).map(|run| run.elapsed_ns).sum();
    assert!(cell.status == Status::Ok && u128::from(elapsed) < OPENING.as_nanos(), "{elapsed}");
}

fn a_cell_whose_tier_changed_during_a_trial_is_wrong() {
    let out = Out::new();
    let result = run(&plan(&["good", "weakening"]), &out.options()).unwrap();
    assert_eq!(cell(&result, "good").status, Status::Ok);
    let weakening = cell(&result, "weakening");
    assert_eq!(weakening.status, Status::Wrong);
    for trial in &weakening.trials {
        assert!(trial.phases.iter().all(|phase| phase.status == Status::Wrong), "{trial:?}");
        let reason = trial.reason.as_deref().unwrap_or_default();
        assert!(
            reason.contains("mode was toy when the engine was opened, and is loose"),
            "{reason}"
        );
    }
}
