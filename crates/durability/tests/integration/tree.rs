//! No process of a worker is left running, whatever it has started: processes with their own sessions
//! and groups, and with parents that have ended.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use embermark_contract::{Availability, Engine, Info, OpenOptions, Opened, Result, Tier};
use embermark_durability::{Experiment, Settings, test};
use embermark_engines::registry;
use embermark_model::Durability;
use libtest_mimic::Trial;

use crate::common::{settings, trial};

/// Arguments that make this program kill: a few times, or without end.
pub const FEW: &str = "few";
pub const ENDLESS: &str = "endless";
/// Variable that identifies everything that is started.
const MARK: &str = "EMBERMARK_TEST_TREE";

/// An engine whose database starts processes that leave their group, their session and their
/// parent.
pub struct Forks;

const START_PROCESSES: &str =
    "setsid sh -c 'sleep 600 & setsid sleep 600 & exec sleep 600' & sleep 0.02";

impl Forks {
    fn redb() -> &'static dyn Engine {
        registry::find("redb").unwrap()
    }
}

impl Engine for Forks {
    fn info(&self) -> Info {
        Info { id: "forks", ..Self::redb().info() }
    }

    fn availability(&self) -> Availability {
        Self::redb().availability()
    }

    fn tier(&self, durability: Durability) -> Tier {
        Self::redb().tier(durability)
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        Command::new("sh").args(["-c", START_PROCESSES]).stdout(Stdio::null()).status().unwrap();
        Self::redb().open(options)
    }
}

pub static FORKS: Forks = Forks;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("tree::nothing_is_left_after_a_kill", nothing_is_left_after_a_kill),
        trial("tree::nothing_is_left_when_the_experiment_is_killed", || {
            nothing_is_left_when_the_experiment_is_killed();
        }),
    ]
}

/// Runs an experiment with this number of kills, and calls `after` for each of them.
pub fn kills(kills: u32, after: &(dyn Fn(u32) + Sync)) {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { seed: 3, clients: 1, kills, ..settings(folder.path()) };
    test(Experiment::Kill, &FORKS as &dyn Engine, Durability::Process, &settings, &|| false, after)
        .unwrap();
}

/// Returns the number of sleeping processes with a mark.
fn marked(mark: &str) -> usize {
    let mark = format!("{MARK}={mark}");
    let is_marked = |pid: &str| {
        let read = |name| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&read("environ")).into_owned();
        read("cmdline").starts_with(b"sleep\x00600") && environment.split('\0').any(|v| v == mark)
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter(|entry| is_marked(&entry.file_name().to_string_lossy())).count()
}

/// Starts this program again, with a mark.
fn start_again(how: &str, mark: &str) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(how).env(MARK, mark).spawn().unwrap()
}

fn nothing_is_left_after_a_kill() {
    let mark = format!("few {}", std::process::id());
    assert!(start_again(FEW, &mark).wait().unwrap().success());
}

pub fn each_worker_has_its_own_processes() {
    let (mark, most) = (env::var(MARK).unwrap(), AtomicUsize::new(0));
    kills(6, &|_| {
        // While a worker runs after its check, the processes that it started sleep as soon as the
        // system finds the time. Those of the killed one do not.
        let deadline = Instant::now() + Duration::from_secs(300);
        while most.fetch_max(marked(&mark), Ordering::Relaxed) < 3 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        most.fetch_max(marked(&mark), Ordering::Relaxed);
    });
    assert_eq!(most.into_inner(), 3);
    assert_eq!(marked(&mark), 0);
}

fn nothing_is_left_when_the_experiment_is_killed() {
    let mark = format!("killed {}", std::process::id());
    let mut experiment = start_again(ENDLESS, &mark);
    wait_until(&mark, &|| marked(&mark) > 0);
    experiment.kill().unwrap();
    experiment.wait().unwrap();
    wait_until(&mark, &|| marked(&mark) == 0);
}

/// Waits for a condition on the processes with a mark.
fn wait_until(mark: &str, condition: &dyn Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !condition() {
        assert!(Instant::now() < deadline, "{} processes sleep", marked(mark));
        thread::sleep(Duration::from_millis(5));
    }
}
