//! Trials after the timed ones that count the system calls of an operation.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use crate::common::run_processes::{assert_nothing_left, running_processes, signal, workers};
use crate::common::{ProgramOutput, Sandbox, is_here, processes_using, wait_for};
use embermark_model::result::{CallKind, Cell, OsCost, Run};
use embermark_skips::{sampled, skipped};
use nix::sys::signal::Signal;
use nix::unistd::{User, geteuid};

/// Measures a short run of an engine in a tier, with `--show explain`.
fn words<'a>(engine: &'a str, tier: &'a str) -> Vec<&'a str> {
    let run = ["run", "sensors", "-e", engine, "--scale", "200", "--variant", "commit-each"];
    let short = ["--phases", "load,read", "--runs", "2", "--trials", "1", "--no-counting"];
    [&run[..], &short, &["--show", "explain", "--out", "out", "--tier", tier]].concat()
}

fn explained<'a>(cell: &'a Cell, phase: &str) -> &'a Run {
    assert!(
        cell.trials
            .iter()
            .flat_map(|trial| &trial.phases)
            .all(|phase| { phase.runs.iter().all(|run| run.explained.is_none()) })
    );
    cell.explained(phase).unwrap()
}

/// Returns the calls of a kind in a run of 200 operations. `None` if this system does not permit
/// tracing.
fn calls(cost: &OsCost, kind: CallKind) -> Option<u64> {
    Some(cost.calls.as_ref()?.count(kind))
}

fn may_trace(run: &Run) -> bool {
    let explained = run.explained.as_ref().unwrap();
    let refused = explained.not_explained.iter().find(|why| why.contains("ptrace_scope"));
    if let Some(why) = refused {
        skipped("ptrace", why);
    }
    refused.is_none()
}

#[test]
fn a_commit_that_survives_a_power_cut_is_one_flush_and_one_that_survives_its_process_none() {
    let sandbox = Sandbox::new();
    let shown = sandbox.embermark(&words("sqlite", "power,process"));
    let shown = shown.expect_status(0).stdout;
    let result = sandbox.result("out");
    let [power, process] = &result.cells[..] else { panic!("{:?}", result.cells) };
    let load = explained(power, "load");
    if !may_trace(load) {
        return;
    }
    let (synced, loose) = (load, explained(process, "load"));
    let flushes = |run: &Run| calls(&run.explained.as_ref().unwrap().engine, CallKind::Flush);
    // A few belong to the log when it starts over.
    assert!((200..=210).contains(&flushes(synced).unwrap()), "{synced:?}");
    assert_eq!(flushes(loose), Some(0));
    // As it is compiled here (.cargo/config.toml). `fsync` would also write the times of the log.
    let engine = &synced.explained.as_ref().unwrap().engine;
    let names = &engine.calls.as_ref().unwrap().by_kind[&CallKind::Flush];
    assert!(names["fdatasync"] >= 200, "{names:?}");
    for run in [synced, loose] {
        let explained = run.explained.as_ref().unwrap();
        assert_eq!((run.ops, explained.traced_ops), (200, Some(200)));
        assert!(calls(&explained.engine, CallKind::Write).unwrap() >= 200, "{explained:?}");
        let written = explained.engine.calls.as_ref().unwrap().file_written_bytes;
        assert!(written >= 200 * 4096, "a page of the log a commit: {written}");
        assert!(explained.client.is_none());
    }
    // A process that waits for a device is switched out.
    let waited = |run: &Run| run.explained.as_ref().unwrap().engine.voluntary_switches.unwrap();
    assert!(waited(synced) >= 200 && waited(loose) < 200, "{} {}", waited(synced), waited(loose));
    // Reads from the engine's cache need no system call.
    let read = explained(process, "read").explained.as_ref().unwrap();
    assert!(read.engine.calls.as_ref().unwrap().total() < 200, "{read:?}");
    assert!(shown.contains("what an operation cost: system calls"), "{shown}");
    assert!(power.explaining.as_ref().unwrap().phases.iter().all(|phase| phase.runs.len() == 2));

    let csv = sandbox
        .embermark(&["report", "out/result.json", "--format", "csv"])
        .expect_status(0)
        .stdout;
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let mut flushes = lines.filter(|line| line[at("explaining")] == "true").map(|line| {
        (line[at("durability")], line[at("phase")], line[at("run")], line[at("flush_calls")])
    });
    assert!(flushes.any(|line| line == ("process", "load", "1", "0")), "{csv}");
}

/// Starts a run and waits until its worker is traced. `None` if it ended before.
fn traced(sandbox: &Sandbox, engine: &str) -> Option<Child> {
    let mut command = sandbox.command(&words(engine, "power"));
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_traced = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("TracerPid:") && !line.ends_with("\t0"))
    };
    let up = wait_for("a traced engine or the end", || match run.try_wait().unwrap() {
        Some(_) => Some(false),
        None => running_processes(sandbox).iter().filter(|pid| is_traced(pid)).nth(1).map(|_| true),
    });
    if up { Some(run) } else { None }
}

/// Tracing the start of a server takes seconds, so the same run shows both.
#[test]
fn all_processes_of_a_server_are_followed_also_in_a_run_that_was_ended_and_is_gone_on_with() {
    if !is_here("postgres") {
        return;
    }
    for end in sampled([Signal::SIGINT, Signal::SIGKILL], 1) {
        let sandbox = Sandbox::new();
        let Some(mut run) = traced(&sandbox, "postgres") else {
            return skipped("ptrace", "the run ended before its worker was traced");
        };
        assert!(workers(&sandbox).len() >= 2, "the worker, and who traces it");
        assert!(signal(run.id(), end));
        run.wait().unwrap();
        assert_nothing_left(&sandbox);
        sandbox.embermark(&["run", "--resume", "out"]).expect_status(0);
        let result = sandbox.result("out");
        let load = explained(&result.cells[0], "load");
        assert!(may_trace(load), "it was traced before: {load:?}");
        let explained = load.explained.as_ref().unwrap();
        let client = explained.client.as_ref().unwrap();
        assert!(calls(&explained.engine, CallKind::Flush).unwrap() >= 200, "{explained:?}");
        // The client stands apart.
        assert_eq!(calls(client, CallKind::Flush), Some(0));
        // A request and its answer, on both sides.
        for side in [&explained.engine, client] {
            assert!(calls(side, CallKind::Network).unwrap() >= 400, "{explained:?}");
            assert!(side.voluntary_switches.unwrap() > 0, "{explained:?}");
        }
        assert_nothing_left(&sandbox);
    }
}

#[test]
fn an_ordinary_user_may_explain() {
    // Uses a copy of the program outside of the target folder, which other users may not access.
    let sandbox = Sandbox::new_in("/var/tmp");
    let mut command = sandbox.command(&words("sqlite", "process"));
    if geteuid().is_root() {
        let Ok(Some(nobody)) = User::from_name("nobody") else {
            return skipped("nobody", "there is no user of that name");
        };
        let (uid, gid) = (nobody.uid.as_raw(), nobody.gid.as_raw());
        chown(sandbox.path(""), Some(uid), Some(gid)).unwrap();
        command = sandbox.command_for(&sandbox.copied_program(), &words("sqlite", "process"));
        command.uid(uid).gid(gid);
    }
    let ended = ProgramOutput::from(command.output().unwrap());
    ended.expect_status(0);
    let cells = sandbox.result("out").cells;
    let load = explained(&cells[0], "load");
    if may_trace(load) {
        let engine = &load.explained.as_ref().unwrap().engine;
        assert!(calls(engine, CallKind::Write).unwrap() >= 200, "{engine:?}");
        assert!(engine.voluntary_switches.is_some() && engine.minor_faults.is_some());
    }
    assert!(processes_using(&sandbox.path("")).is_empty());
}
