//! However a run of the workload `machine` ends, what joined its processes goes with them.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::common::family::{
    companions, family, files, lasting, nothing_is_left_behind, signal, workers,
};
use crate::common::message_queue::Foreign;
use crate::common::{self, Ended, Place, wait_for};
use embermark_skips::sampled;
use nix::sys::signal::Signal;

/// A run that writes for a minute unless it is ended.
fn start(place: &Place, variant: &str) -> Child {
    let words = ["run", "machine", "-e", "sqlite", "--phases", "write", "--variant", variant];
    let words = [&words[..], &["-s", "1k", "--set", "window=60s", "--out", "out"]].concat();
    place.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn sensor_of(place: &Place) -> u32 {
    wait_for("the sensor", || companions(place).first().copied())
}

fn worker_of(place: &Place) -> u32 {
    wait_for("the worker", || workers(place).first().copied())
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Until when a run goes on before one of its processes is killed.
#[derive(Clone, Copy)]
enum Moment {
    /// Its worker is there, and may not have a sensor yet.
    Worker,
    /// Its sensor is there, and may not have heard its task yet.
    Sensor,
    /// Samples have passed for so many milliseconds.
    Samples(u64),
    /// The sensor is stopped, so that it can notice nothing itself.
    Stopped,
}

impl Moment {
    fn wait(self, place: &Place) {
        match self {
            Self::Worker => {
                worker_of(place);
            }
            Self::Sensor => {
                sensor_of(place);
            }
            Self::Samples(ms) => {
                sensor_of(place);
                std::thread::sleep(Duration::from_millis(ms));
            }
            Self::Stopped => {
                assert!(signal(sensor_of(place), Signal::SIGSTOP));
            }
        }
    }
}

#[test]
fn a_killed_sensor_leaves_nothing_whenever_it_is_killed() {
    let all = [
        ("individual", Moment::Sensor),
        ("bulk", Moment::Samples(20)),
        ("individual", Moment::Samples(700)),
        ("bulk", Moment::Samples(1_500)),
        ("bulk", Moment::Stopped),
    ];
    for (variant, moment) in sampled(all, 2) {
        let place = Place::new();
        let run = start(&place, variant);
        moment.wait(&place);
        assert!(signal(sensor_of(&place), Signal::SIGKILL));
        Ended::from(run.wait_with_output().unwrap()).with(1);
        let result = place.result("out");
        let reason = result.cells[0].reason.as_ref().unwrap();
        assert!(reason.contains("the sensor"), "{reason}");
        nothing_is_left_behind(&place);
    }
}

#[test]
fn a_killed_worker_leaves_nothing_whenever_it_is_killed() {
    let all = [
        ("individual", Moment::Worker),
        ("bulk", Moment::Sensor),
        ("individual", Moment::Samples(20)),
        ("bulk", Moment::Samples(700)),
        ("individual", Moment::Stopped),
    ];
    for (variant, moment) in sampled(all, 2) {
        let place = Place::new();
        let run = start(&place, variant);
        moment.wait(&place);
        assert!(signal(worker_of(&place), Signal::SIGKILL));
        Ended::from(run.wait_with_output().unwrap()).with(1);
        nothing_is_left_behind(&place);
    }
}

#[test]
fn a_killed_run_leaves_nothing_whenever_it_is_killed() {
    let all = [
        ("individual", Moment::Worker),
        ("bulk", Moment::Sensor),
        ("bulk", Moment::Samples(20)),
        ("individual", Moment::Samples(700)),
        ("bulk", Moment::Stopped),
    ];
    for (variant, moment) in sampled(all, 2) {
        let place = Place::new();
        let mut run = start(&place, variant);
        moment.wait(&place);
        run.kill().unwrap();
        run.wait().unwrap();
        nothing_is_left_behind(&place);
    }
}

#[test]
fn sensor_and_worker_alone_hold_the_queue_and_nothing_that_lasts() {
    let place = Place::new();
    let began = seconds();
    let mut run = start(&place, "individual");
    let (sensor, worker) = (sensor_of(&place), worker_of(&place));
    let pipes = |pid: u32| {
        let pipe = |path: &std::path::PathBuf| path.to_string_lossy().starts_with("pipe:");
        files(pid).into_values().filter(pipe).collect::<BTreeSet<_>>()
    };
    // Beside its standard input, and what everybody inherits from whoever started this test, it has
    // the queue, once that is its standard output no more.
    let joined = wait_for("the queue", || {
        let files = files(sensor);
        let (task, foreign) = (files.get(&0)?, pipes(run.id()));
        let mut pipes = pipes(sensor);
        pipes.retain(|pipe| pipe != task && !foreign.contains(pipe));
        (files.get(&1) == files.get(&2) && pipes.len() == 1).then(|| pipes.pop_first().unwrap())
    });
    std::thread::sleep(Duration::from_millis(300));
    let mut holders = common::processes();
    holders.retain(|pid| files(*pid).values().any(|path| *path == joined));
    holders.sort_unstable();
    let mut both = [sensor, worker];
    both.sort_unstable();
    assert_eq!(holders, both);
    let family = family(&place);
    assert!(family.contains(&run.id()) && both.iter().all(|pid| family.contains(pid)));
    for pid in family {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).into_owned();
        assert_eq!(lasting(pid, began), [""; 0], "{command}");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    nothing_is_left_behind(&place);
}

#[test]
fn what_would_last_is_seen() {
    let began = seconds();
    let shared = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
    let open = shared.path().display().to_string();
    assert!(lasting(std::process::id(), began).contains(&open));
    let (_, sender) = Foreign::new().state().unwrap();
    assert_eq!(lasting(sender, began), [""; 0], "removed with its owner");
    let queue = Foreign::new();
    let (_, sender) = queue.state().unwrap();
    assert_eq!(lasting(sender, began).len(), 1);
    assert_eq!(lasting(sender, seconds() + 60), [""; 0], "somebody's before");
}

#[test]
fn a_queue_that_somebody_left_on_the_machine_changes_nothing() {
    let foreign = Foreign::new();
    let (messages, sender) = foreign.state().unwrap();
    assert_eq!(messages, 1);
    assert!(fs::metadata(format!("/proc/{sender}")).is_err(), "its sender is gone");
    let place = Place::new();
    let words = ["run", "machine", "-e", "sqlite", "--variant", "individual", "--phases", "write"];
    let times = ["-s", "1k", "--set", "warm-up=100ms", "--set", "window=500ms", "--out", "out"];
    place.embermark(&[&words[..], &times].concat()).with(0);
    nothing_is_left_behind(&place);
    let place = Place::new();
    let mut run = start(&place, "bulk");
    Moment::Samples(100).wait(&place);
    run.kill().unwrap();
    run.wait().unwrap();
    nothing_is_left_behind(&place);
    assert_eq!(foreign.state(), Some((messages, sender)));
}
