//! Runs with faults: killed workers, interrupts, full disks.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::run_processes::{
    all_shared_memory, assert_nothing_left, running_processes, shared_memory, signal,
};
use crate::common::{
    Mounted, ProgramOutput, Sandbox, is_here, processes, processes_using, read_result, uncounted,
    wait_for,
};
use embermark_model::Status;
use embermark_skips::sampled;
use nix::sys::signal::Signal;

fn stat(pid: u32) -> Option<(String, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let mut fields = tail.split_whitespace();
    let state = fields.next()?;
    (state != "Z").then_some((name, fields.next()?.parse().ok()?))
}

/// Whether a process is stopped, or has ended.
fn has_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, tail)| tail.starts_with(['T', 'Z', 'X']))
}

/// Returns the worker of this parent whose standard error is a log named after `engine`.
fn worker_of(parent: u32, engine: &str) -> Option<u32> {
    processes().into_iter().find(|&pid| {
        let log = fs::read_link(format!("/proc/{pid}/fd/2")).unwrap_or_default();
        let named = log.file_name().is_some_and(|name| name.to_string_lossy().starts_with(engine));
        named && stat(pid).is_some_and(|(_, of)| of == parent)
    })
}

fn start(sandbox: &Sandbox, words: &[&str]) -> Child {
    sandbox.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_worker_killed_half_way_fails_its_cell_and_the_others_go_on() {
    let sandbox = Sandbox::new();
    let words = ["run", "sensors", "-e", "sqlite,memory", "--scale", "20k", "--variant", "single"];
    let short = ["--phases", "load", "--trials", "1", "--runs", "10", "--out", "out"];
    let words = [&words[..], &short, uncounted()].concat();
    let run = start(&sandbox, &words);
    let worker = wait_for("the worker", || worker_of(run.id(), "sqlite"));
    // It is half way when its database exists.
    wait_for("its database", || {
        let trials = fs::read_dir(sandbox.path("out/data")).ok()?;
        trials.flatten().find(|trial| trial.file_name().to_string_lossy().starts_with("sqlite"))
    });
    assert!(signal(worker, Signal::SIGKILL));
    let ended = ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
    let result = sandbox.result("out");
    let of = |engine| result.cells.iter().find(|cell| cell.id.engine == engine).unwrap();
    assert_eq!((of("sqlite").status, of("memory").status), (Status::Failed, Status::Ok));
    assert!(
        of("sqlite").reason.as_ref().unwrap().contains("signal 9"),
        "{:?}",
        of("sqlite").reason
    );
    assert!(
        ended.stdout.contains("failed") && ended.stdout.contains("signal 9"),
        "{}",
        ended.stdout
    );
}

/// The server engines.
const SERVERS: [&str; 6] = ["postgres", "mariadb", "mongodb", "valkey", "influxdb", "harperdb"];

/// Starts a run of one engine that is long enough to be disturbed: it loads few rows again and
/// again. Returns it and its worker in the middle of a trial, while the server of a server engine
/// runs. `None` if the engine is missing.
fn in_the_middle(sandbox: &Sandbox, engine: &str) -> Option<(Child, u32)> {
    if !is_here(engine) {
        return None;
    }
    let mut words = vec!["run", "sensors", "-e", engine, "--scale", "20k", "--variant", "single"];
    words.extend(["--phases", "load", "--runs", "50", "--out", "out"]);
    if engine == "harperdb" {
        words.extend(["--accept-license", engine]);
    }
    let run = start(sandbox, &words);
    let worker = wait_for("a worker", || worker_of(run.id(), engine));
    if SERVERS.contains(&engine) {
        wait_for("its server", || processes().into_iter().find(|pid| is_child(*pid, worker)));
    }
    std::thread::sleep(Duration::from_millis(400));
    Some((run, worker))
}

fn is_child(pid: u32, of: u32) -> bool {
    stat(pid).is_some_and(|(_, parent)| parent == of)
}

#[test]
fn an_interrupt_in_the_turn_of_any_engine_keeps_what_ended_and_leaves_nothing_running() {
    for engine in ["sqlite"].into_iter().chain(sampled(SERVERS, 1)) {
        let sandbox = Sandbox::new();
        let Some((run, _)) = in_the_middle(&sandbox, engine) else { continue };
        assert!(signal(run.id(), Signal::SIGINT));
        let out = fs::canonicalize(sandbox.path("out")).unwrap();
        let ended = ProgramOutput::from(run.wait_with_output().unwrap());
        assert_eq!(ended.status, 130, "{engine}: {}", ended.stderr);
        assert_eq!(processes_using(&out), Vec::<String>::new(), "{engine}");
        let data = out.join("data");
        let empty = !data.exists() || fs::read_dir(data).unwrap().next().is_none();
        assert!(empty, "{engine} left its database");
        assert!(!read_result(&out).cells.is_empty());
    }
}

#[test]
fn a_worker_that_is_killed_takes_its_server_along() {
    for engine in sampled(SERVERS, 1) {
        let sandbox = Sandbox::new();
        let Some((run, worker)) = in_the_middle(&sandbox, engine) else { continue };
        assert!(signal(worker, Signal::SIGKILL));
        let out = fs::canonicalize(sandbox.path("out")).unwrap();
        let data = out.join("data");
        wait_for("its server to end", || processes_using(&data).is_empty().then_some(()));
        assert!(signal(run.id(), Signal::SIGINT));
        let ended = ProgramOutput::from(run.wait_with_output().unwrap());
        assert_ne!(ended.status, 0, "{engine}");
        assert_eq!(processes_using(&out), Vec::<String>::new(), "{engine}");
    }
}

#[test]
fn a_parent_that_is_killed_takes_its_worker_along() {
    let sandbox = Sandbox::new();
    let (mut run, _) = in_the_middle(&sandbox, "sqlite").unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    assert_nothing_left(&sandbox);
}

/// Returns the shared memory of the PostgreSQL server among these processes, once it has files and
/// a segment.
fn memory_of_postgres(processes: &[u32]) -> Option<BTreeSet<String>> {
    let is_server = |pid: &&u32| stat(**pid).is_some_and(|(name, _)| name == "postgres");
    let mut memory = processes.iter().filter(is_server).map(|pid| shared_memory(*pid));
    memory.find(|memory| {
        let is_file = |name: &String| name.starts_with("/dev/shm/PostgreSQL.");
        memory.iter().any(is_file) && !memory.iter().all(is_file)
    })
}

/// Returns the part of it that still exists.
fn left_of(memory: &BTreeSet<String>) -> BTreeSet<String> {
    memory & &all_shared_memory()
}

#[test]
fn a_parent_that_is_killed_takes_its_server_and_the_servers_shared_memory_along() {
    let sandbox = Sandbox::new();
    let Some((mut run, _)) = in_the_middle(&sandbox, "postgres") else { return };
    let memory = wait_for("its shared memory", || memory_of_postgres(&running_processes(&sandbox)));
    run.kill().unwrap();
    run.wait().unwrap();
    assert_nothing_left(&sandbox);
    assert_eq!(left_of(&memory), BTreeSet::new());
}

#[test]
fn shared_memory_of_a_run_whose_processes_were_all_killed_is_removed_when_it_is_resumed() {
    let sandbox = Sandbox::new();
    let Some((mut run, _)) = in_the_middle(&sandbox, "postgres") else { return };
    let memory = wait_for("its shared memory", || {
        // They are stopped first, so that none sees another one die. One that was started meanwhile is
        // among them the next time.
        let all = wait_for("all of them to stop", || {
            let all = running_processes(&sandbox);
            all.iter().for_each(|pid| _ = signal(*pid, Signal::SIGSTOP));
            wait_for("them to stop", || all.iter().all(|pid| has_stopped(*pid)).then_some(()));
            running_processes(&sandbox).iter().all(|pid| all.contains(pid)).then_some(all)
        });
        let send = |what| all.iter().for_each(|pid| _ = signal(*pid, what));
        let memory = memory_of_postgres(&all);
        send(if memory.is_some() { Signal::SIGKILL } else { Signal::SIGCONT });
        memory
    });
    run.wait().unwrap();
    assert_nothing_left(&sandbox);
    assert_ne!(left_of(&memory), BTreeSet::new(), "nobody was there to remove it");

    let run = start(&sandbox, &["run", "--resume", "out"]);
    wait_for("it to be removed", || left_of(&memory).is_empty().then_some(()));
    assert!(signal(run.id(), Signal::SIGINT));
    run.wait_with_output().unwrap();
    assert_nothing_left(&sandbox);
}

#[test]
fn a_full_disk_is_named_and_nothing_is_left_running() {
    let sandbox = Sandbox::new();
    let Some(mounted) = Mounted::new(sandbox.path("small"), "size=6m") else { return };
    let base = ["run", "sensors", "--trials", "1", "--runs", "2", "--variant", "single"];
    // The disk has room for the rows of one file, but not for its database. It has too little for
    // the rows of the other, which is refused before.
    let cell =
        [&base[..], &["-e", "sqlite", "--scale", "60k", "--phases", "load", "--out", "small/cell"]]
            .concat();
    let in_cell = sandbox.embermark(&cell);
    let staging = sandbox.embermark(
        &[&base[..], &["-e", "memory", "--scale", "1M", "--out", "small/stage"]].concat(),
    );
    let left = processes_using(&fs::canonicalize(sandbox.path("small")).unwrap());
    drop(mounted);

    let in_cell = in_cell.expect_status(1);
    assert!(in_cell.stdout.contains("full"), "{}", in_cell.stdout);
    staging.expect_status(2).expect_stderr(&[
        "are free at",
        "small/stage",
        "take a smaller --scale",
    ]);
    assert_eq!(left, Vec::<String>::new());
}
