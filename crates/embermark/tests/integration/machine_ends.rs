//! However a run of the workload `machine` ends, the queue between its processes is removed.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::common::message_queue::AbandonedQueue;
use crate::common::run_processes::{
    assert_nothing_left, companions, lasting_kernel_objects, open_files, running_processes, signal,
    workers,
};
use crate::common::{self, ProgramOutput, Sandbox, wait_for};
use embermark_skips::sampled;
use nix::sys::signal::Signal;

/// Starts a run that writes for a minute unless it is ended.
fn start(sandbox: &Sandbox, variant: &str) -> Child {
    let words = ["run", "machine", "-e", "sqlite", "--phases", "write", "--variant", variant];
    let words = [&words[..], &["-s", "1k", "--set", "window=60s", "--out", "out"]].concat();
    sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn sensor_of(sandbox: &Sandbox) -> u32 {
    wait_for("the sensor", || companions(sandbox).first().copied())
}

fn worker_of(sandbox: &Sandbox) -> u32 {
    wait_for("the worker", || workers(sandbox).first().copied())
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The point of a run at which one of its processes is killed.
#[derive(Clone, Copy)]
enum KillPoint {
    /// Its worker exists, and may not have a sensor yet.
    Worker,
    /// Its sensor exists, and may not have received its task yet.
    Sensor,
    /// Samples have passed for this number of milliseconds.
    Samples(u64),
    /// The sensor is stopped, so that it can notice nothing itself.
    Stopped,
}

impl KillPoint {
    fn wait(self, sandbox: &Sandbox) {
        match self {
            Self::Worker => {
                worker_of(sandbox);
            }
            Self::Sensor => {
                sensor_of(sandbox);
            }
            Self::Samples(ms) => {
                sensor_of(sandbox);
                std::thread::sleep(Duration::from_millis(ms));
            }
            Self::Stopped => {
                assert!(signal(sensor_of(sandbox), Signal::SIGSTOP));
            }
        }
    }
}

#[test]
fn a_killed_sensor_leaves_nothing_whenever_it_is_killed() {
    let all = [
        ("individual", KillPoint::Sensor),
        ("bulk", KillPoint::Samples(20)),
        ("individual", KillPoint::Samples(700)),
        ("bulk", KillPoint::Samples(1_500)),
        ("bulk", KillPoint::Stopped),
    ];
    for (variant, kill_point) in sampled(all, 2) {
        let sandbox = Sandbox::new();
        let run = start(&sandbox, variant);
        kill_point.wait(&sandbox);
        assert!(signal(sensor_of(&sandbox), Signal::SIGKILL));
        ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
        let result = sandbox.result("out");
        let reason = result.cells[0].reason.as_ref().unwrap();
        assert!(reason.contains("the sensor"), "{reason}");
        assert_nothing_left(&sandbox);
    }
}

#[test]
fn a_killed_worker_leaves_nothing_whenever_it_is_killed() {
    let all = [
        ("individual", KillPoint::Worker),
        ("bulk", KillPoint::Sensor),
        ("individual", KillPoint::Samples(20)),
        ("bulk", KillPoint::Samples(700)),
        ("individual", KillPoint::Stopped),
    ];
    for (variant, kill_point) in sampled(all, 2) {
        let sandbox = Sandbox::new();
        let run = start(&sandbox, variant);
        kill_point.wait(&sandbox);
        assert!(signal(worker_of(&sandbox), Signal::SIGKILL));
        ProgramOutput::from(run.wait_with_output().unwrap()).expect_status(1);
        assert_nothing_left(&sandbox);
    }
}

#[test]
fn a_killed_run_leaves_nothing_whenever_it_is_killed() {
    let all = [
        ("individual", KillPoint::Worker),
        ("bulk", KillPoint::Sensor),
        ("bulk", KillPoint::Samples(20)),
        ("individual", KillPoint::Samples(700)),
        ("bulk", KillPoint::Stopped),
    ];
    for (variant, kill_point) in sampled(all, 2) {
        let sandbox = Sandbox::new();
        let mut run = start(&sandbox, variant);
        kill_point.wait(&sandbox);
        run.kill().unwrap();
        run.wait().unwrap();
        assert_nothing_left(&sandbox);
    }
}

#[test]
fn sensor_and_worker_alone_hold_the_queue_and_nothing_that_lasts() {
    let sandbox = Sandbox::new();
    let began = seconds();
    let mut run = start(&sandbox, "individual");
    let (sensor, worker) = (sensor_of(&sandbox), worker_of(&sandbox));
    let pipes = |pid: u32| {
        let pipe = |path: &std::path::PathBuf| path.to_string_lossy().starts_with("pipe:");
        open_files(pid).into_values().filter(pipe).collect::<BTreeSet<_>>()
    };
    // Besides its standard input, and the pipes inherited from the starter of this test, the sensor
    // has only the queue, once the queue is not its standard output any more.
    let joined = wait_for("the queue", || {
        let files = open_files(sensor);
        let (task, foreign) = (files.get(&0)?, pipes(run.id()));
        let mut pipes = pipes(sensor);
        pipes.retain(|pipe| pipe != task && !foreign.contains(pipe));
        (files.get(&1) == files.get(&2) && pipes.len() == 1).then(|| pipes.pop_first().unwrap())
    });
    std::thread::sleep(Duration::from_millis(300));
    let mut holders = common::processes();
    holders.retain(|pid| open_files(*pid).values().any(|path| *path == joined));
    holders.sort_unstable();
    let mut both = [sensor, worker];
    both.sort_unstable();
    assert_eq!(holders, both);
    let running = running_processes(&sandbox);
    assert!(running.contains(&run.id()) && both.iter().all(|pid| running.contains(pid)));
    for pid in running {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).into_owned();
        assert_eq!(lasting_kernel_objects(pid, began), [""; 0], "{command}");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert_nothing_left(&sandbox);
}

#[test]
fn what_would_last_is_seen() {
    let began = seconds();
    let shared = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
    let open = shared.path().display().to_string();
    assert!(lasting_kernel_objects(std::process::id(), began).contains(&open));
    let (_, sender) = AbandonedQueue::new().state().unwrap();
    assert_eq!(lasting_kernel_objects(sender, began), [""; 0], "removed with its owner");
    let queue = AbandonedQueue::new();
    let (_, sender) = queue.state().unwrap();
    assert_eq!(lasting_kernel_objects(sender, began).len(), 1);
    assert_eq!(lasting_kernel_objects(sender, seconds() + 60), [""; 0], "somebody's before");
}

#[test]
fn a_queue_that_somebody_left_on_the_machine_changes_nothing() {
    let foreign = AbandonedQueue::new();
    let (messages, sender) = foreign.state().unwrap();
    assert_eq!(messages, 1);
    assert!(fs::metadata(format!("/proc/{sender}")).is_err(), "its sender is gone");
    let sandbox = Sandbox::new();
    let words = ["run", "machine", "-e", "sqlite", "--variant", "individual", "--phases", "write"];
    let times = ["-s", "1k", "--set", "warm-up=100ms", "--set", "window=500ms", "--out", "out"];
    sandbox.embermark(&[&words[..], &times].concat()).expect_status(0);
    assert_nothing_left(&sandbox);
    let sandbox = Sandbox::new();
    let mut run = start(&sandbox, "bulk");
    KillPoint::Samples(100).wait(&sandbox);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_nothing_left(&sandbox);
    assert_eq!(foreign.state(), Some((messages, sender)));
}
