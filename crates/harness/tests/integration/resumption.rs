//! Interrupted runs that are resumed.

mod shape;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use embermark_harness::progress::Silent;
use embermark_harness::{HarnessError, JOURNAL, RESULT, RunOptions, assemble, journal, resume};
use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;
use embermark_skips::sampled;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use serde_json::Value;

use crate::cells::plan;
use crate::trials::{Interrupting, Out, run};
use shape::shape;

crate::tests!(
    a_run_cut_off_anywhere_comes_to_the_same_end_and_repeats_nothing,
    an_interrupted_run_is_gone_on_with_and_leaves_no_trace_of_the_interrupt_but_a_warning,
    what_a_killed_run_left_of_databases_is_removed,
    a_run_whose_journal_has_the_names_of_version_2_is_gone_on_with,
    a_run_of_a_limited_time_has_no_number_of_trials_to_come_to,
    a_run_that_was_complete_is_shown_and_not_repeated,
    another_plan_program_machine_or_data_is_refused_with_the_reason,
    a_folder_without_a_run_is_refused,
    two_runs_in_one_folder_at_once_are_refused,
    a_second_signal_ends_a_run_at_once_that_waits_for_a_server_to_stop,
);

/// Engines that end in different ways, and one that is not installed.
fn mixed() -> Plan {
    Plan { trials: 2, runs: 2, ..plan(&["good", "wrong", "failing", "absent"]) }
}

fn go_on(asked: Option<&Plan>, options: &RunOptions) -> Result<ResultFile, HarnessError> {
    resume(asked, options, &mut Silent)
}

/// A directory with this journal in it.
fn left(journal: &[u8]) -> Out {
    let out = Out::new();
    fs::create_dir_all(out.path("")).unwrap();
    fs::write(out.path(JOURNAL), journal).unwrap();
    out
}

fn trials_of(file: &ResultFile) -> Vec<String> {
    let trials = file.cells.iter().flat_map(|cell| &cell.trials);
    trials.map(|trial| serde_json::to_string(trial).unwrap()).collect()
}

fn a_run_cut_off_anywhere_comes_to_the_same_end_and_repeats_nothing() {
    let out = Out::new();
    let undisturbed = run(&mixed(), &out.options()).unwrap();
    let whole = fs::read(out.path(JOURNAL)).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|i| whole[*i] == b'\n').collect();
    // After each line, and in the middle of each line after the first.
    let cuts = ends.iter().map(|end| end + 1).chain(ends.windows(2).map(|w| (w[0] + w[1]) / 2));
    for cut in sampled(cuts, 6) {
        let out = left(&whole[..cut]);
        let before = assemble(&journal::read(&out.path(JOURNAL)).unwrap());
        let result = go_on(None, &out.options()).unwrap();
        assert_eq!(shape(&result), shape(&undisturbed), "cut at {cut}");
        let trials = trials_of(&result);
        assert!(trials_of(&before).iter().all(|trial| trials.contains(trial)), "cut at {cut}");
        assert!(result.manifest.finished.is_some());
        assert_eq!(result.manifest.run_id, undisturbed.manifest.run_id);
        assert_eq!(result.manifest.datasets, undisturbed.manifest.datasets);
        // The journal has the same content as the result.
        let again = assemble(&journal::read(&out.path(JOURNAL)).unwrap());
        assert_eq!(trials_of(&again), trials);
        let cut_off = result.manifest.warnings.iter().any(|text| text.contains("was interrupted"));
        assert_eq!(cut_off, before.manifest.finished.is_none() && !trials_of(&before).is_empty());
    }
}

fn an_interrupted_run_is_gone_on_with_and_leaves_no_trace_of_the_interrupt_but_a_warning() {
    let out = Out::new();
    let plan = Plan { trials: 2, ..plan(&["good", "chatty"]) };
    let options = out.options();
    let mut progress = Interrupting(options.interrupt.clone(), "chatty", false);
    let error = embermark_harness::run(&plan, &options, &mut progress).unwrap_err();
    assert!(matches!(error, HarnessError::Interrupted { result: Some(_) }), "{error}");
    let result = go_on(Some(&plan), &out.options()).unwrap();
    let undisturbed = run(&plan, &Out::new().options()).unwrap();
    assert_eq!(shape(&result), shape(&undisturbed));
    let written = fs::read(out.path(RESULT)).unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&written).unwrap(),
        serde_json::to_value(&result).unwrap()
    );
}

fn a_run_whose_journal_has_the_names_of_version_2_is_gone_on_with() {
    let (mut text, undisturbed) = cut_off();
    for (now, before) in [
        ("\"embermark_journal\":3", "\"embermark_journal\":2"),
        ("\"data_model\":", "\"family\":"),
        ("\"warmup_runs\":", "\"discard\":"),
        ("\"max_run_time_ms\":", "\"cap_ms\":"),
        ("\"p99_limit_ms\":", "\"bound_ms\":"),
        ("\"execution\":", "\"how\":"),
        ("\"maintenance\":", "\"settling\":"),
        ("\"background_cpu\":", "\"others\":"),
        ("\"total_cpu_ns\":", "\"of_ns\":"),
    ] {
        assert!(text.contains(now), "{now} in {text}");
        text = text.replace(now, before);
    }
    let result = go_on(Some(&mixed()), &left(text.as_bytes()).options()).unwrap();
    assert_eq!(shape(&result), shape(&undisturbed));
    assert!(trials_of(&result).len() > 3 && result.manifest.finished.is_some());
}

/// The journal of a run of [`mixed`] after its third trial, and the result of the whole run.
fn cut_off() -> (String, ResultFile) {
    let out = Out::new();
    let whole = run(&mixed(), &out.options()).unwrap();
    let text = fs::read_to_string(out.path(JOURNAL)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    (lines[..lines.len() - 4].join("\n") + "\n", whole)
}

fn a_run_of_a_limited_time_has_no_number_of_trials_to_come_to() {
    let limited = cut_off().0.replacen("\"plan\":{", "\"plan\":{\"lasts_ms\":1,", 1);
    let out = left(limited.as_bytes());
    let done = journal::read(&out.path(JOURNAL)).unwrap().trials.len();
    let warnings = go_on(None, &out.options()).unwrap().manifest.warnings;
    let says = format!(" after {done} trials: ");
    assert!(warnings.iter().any(|warning| warning.contains(&says)), "{warnings:?}");
}

fn what_a_killed_run_left_of_databases_is_removed() {
    let out = left(cut_off().0.as_bytes());
    let own = out.path("data/good-squares-100-process-single-0");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("database"), "half").unwrap();
    fs::create_dir_all(out.path("rows")).unwrap();
    fs::write(out.path("rows/squares-100.rows"), "7").unwrap();
    go_on(None, &out.options()).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(out.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [JOURNAL, RESULT]);
}

fn a_run_that_was_complete_is_shown_and_not_repeated() {
    let out = Out::new();
    let result = run(&mixed(), &out.options()).unwrap();
    fs::remove_file(out.path(RESULT)).unwrap();
    let again = go_on(None, &out.options()).unwrap();
    assert_eq!(trials_of(&again), trials_of(&result));
    assert!(out.path(RESULT).is_file());
}

fn another_plan_program_machine_or_data_is_refused_with_the_reason() {
    let (journal, _) = cut_off();
    let refusal = |journal: &str, asked: Option<&Plan>| {
        let out = left(journal.as_bytes());
        let error = go_on(asked, &out.options()).unwrap_err();
        // What had ended is still there.
        assert_eq!(
            fs::read_to_string(out.path(JOURNAL)).unwrap().lines().next(),
            journal.lines().next()
        );
        assert!(error.is_usage(), "{error}");
        error.to_string()
    };
    let other = Plan { runs: 5, seed: 1, ..mixed() };
    let text = refusal(&journal, Some(&other));
    assert!(text.contains("runs 2 (now 5), seed 42 (now 1)"), "{text}");

    let tool = refusal(&journal.replacen("\"version\":\"", "\"version\":\"9.", 1), None);
    assert!(tool.contains("embermark 9.") && tool.contains("do not belong"), "{tool}");
    let machine = refusal(&journal.replacen("\"cpus\":", "\"cpus\":10", 1), None);
    assert!(machine.contains("number of CPUs was 10"), "{machine}");
    let rows = refusal(&journal.replacen("\"rows\":100", "\"rows\":101", 1), None);
    assert!(rows.contains("rows of squares are not those"), "{rows}");
    let cache = format!("\"memory_bytes\":{}", 1_u64 << 60);
    let cache = refusal(&journal.replacen("\"memory_bytes\":1048576", &cache, 1), None);
    assert!(cache.contains("exceeds this machine's memory"), "{cache}");

    let out = left(journal.as_bytes());
    let options = RunOptions { data: Some(out.path("")), ..out.options() };
    let error = go_on(None, &options).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("leave out --dir"), "{error}");
    assert!(go_on(Some(&mixed()), &out.options()).is_ok());
}

fn a_folder_without_a_run_is_refused() {
    let out = Out::new();
    for says in ["is not a folder", "no journal of a run"] {
        let error = go_on(None, &out.options()).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(says), "{error}");
        fs::create_dir_all(out.path("")).unwrap();
    }
    fs::write(out.path(JOURNAL), "{\"schema\":1}\n").unwrap();
    assert!(matches!(go_on(None, &out.options()), Err(HarnessError::Journal { line: 1, .. })));
}

/// A program that is killed when it goes out of scope.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let workers = children(self.0.id());
        let _ = self.0.kill();
        let _ = self.0.wait();
        // They die with it and are left to this process, which adopts orphans.
        for worker in workers {
            let _ = waitpid(Pid::from_raw(worker.cast_signed()), None);
        }
    }
}

fn until(mut what: impl FnMut() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(120), "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The children of a process.
fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn a_second_signal_ends_a_run_at_once_that_waits_for_a_server_to_stop() {
    let out = Out::new();
    let program = std::env::current_exe().unwrap();
    let command = &mut Command::new(program);
    // This server ignores SIGTERM: the run waits three seconds before it kills it.
    let mut other = Killed(command.args(["run", "stubborn"]).arg(out.path("")).spawn().unwrap());
    let pid = Pid::from_raw(other.0.id().cast_signed());
    let mut servers = Vec::new();
    until(|| {
        servers = children(other.0.id()).into_iter().flat_map(children).collect();
        !servers.is_empty()
    });
    kill(pid, Signal::SIGINT).unwrap();
    // The worker has ended, and the server is left to the run, which has its own cleanup process.
    until(|| servers.iter().all(|server| children(other.0.id()).contains(server)));
    assert!(other.0.try_wait().unwrap().is_none(), "it did not wait");
    kill(pid, Signal::SIGINT).unwrap();
    let status = other.0.wait().unwrap();
    // The run did not kill it: it did not wait that long. It would be a zombie, and this process's
    // child.
    let is_zombie = |server: &u32| {
        let stat = fs::read_to_string(format!("/proc/{server}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('Z')
    };
    assert!(!servers.iter().any(is_zombie), "it waited for the server");
    // A real server is tied to its worker's life, but this one is not.
    for server in servers {
        let group = Pid::from_raw(server.cast_signed());
        killpg(group, Signal::SIGKILL).unwrap();
        while waitpid(Pid::from_raw(-group.as_raw()), None).is_ok() {}
    }
    assert_eq!(status.signal(), Some(Signal::SIGINT as i32));
    assert_eq!(journal::read(&out.path(JOURNAL)).unwrap().finished, None);
}

fn two_runs_in_one_folder_at_once_are_refused() {
    let out = Out::new();
    let program = std::env::current_exe().unwrap();
    let command = &mut Command::new(program);
    let _other = Killed(command.args(["run", "hanging"]).arg(out.path("")).spawn().unwrap());
    until(|| out.path(JOURNAL).exists());
    let error = go_on(None, &out.options()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("another run is active"), "{error}");
    let error = embermark_harness::run(&mixed(), &out.options(), &mut Silent).unwrap_err();
    assert!(error.is_usage(), "{error}");
}
