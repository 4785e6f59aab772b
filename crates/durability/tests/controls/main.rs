//! Experiments that must find a violation, and such that must find none, with real engines and toys.
//! Without libtest: a worker is this program again, and speaks on standard output.

#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod toy;

use std::process::ExitCode;
use std::time::Duration;
use std::{env, thread};

use embermark_contract::Engine;
use embermark_durability::Experiment::{Kill, PowerCut};
use embermark_durability::{
    Experiment, FileSystem, Settings, Tested, Verdict, WorkerProgram, own_mounts, test, worker_main,
};
use embermark_engines::registry::ENGINES;
use embermark_model::Durability;
use embermark_skips::{is_here, skipped};
use toy::{Acknowledges, Toy};

/// The argument that makes this program a worker.
const WORKER: &str = "durability-worker";

static SYNCED: Toy = Toy { id: "synced", acknowledges: Acknowledges::Synced };
static WRITTEN: Toy = Toy { id: "written", acknowledges: Acknowledges::Written };
static BEFORE: Toy = Toy { id: "before", acknowledges: Acknowledges::Before };

fn engines() -> Vec<&'static dyn Engine> {
    let toys: [&dyn Engine; 3] = [&SYNCED, &WRITTEN, &BEFORE];
    toys.into_iter().chain(ENGINES.iter().copied()).collect()
}

fn main() -> ExitCode {
    if env::args().nth(1).is_some_and(|arg| arg == WORKER) {
        return worker_main(&engines());
    }
    kills_find_what_is_lost_and_no_more();
    // A thread's own mounts stay its own.
    let has_devices = thread::spawn(|| own_mounts().is_ok()).join().unwrap();
    if !has_devices {
        skipped("root", "power is cut on a recorded device, which is for root alone");
        return ExitCode::SUCCESS;
    }
    thread::spawn(|| {
        cuts_find_what_is_lost_and_no_more();
        a_device_that_does_no_flush_is_seen();
        what_broke_a_promise_is_kept();
    })
    .join()
    .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn engine(id: &str) -> Option<&'static dyn Engine> {
    engines().into_iter().find(|engine| engine.info().id == id).filter(|engine| is_here(*engine))
}

fn tried(
    id: &str,
    durability: Durability,
    experiment: Experiment,
    change: impl FnOnce(&mut Settings),
) -> Option<Tested> {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings {
        folder: folder.path().join("work"),
        worker: WorkerProgram {
            program: env::current_exe().unwrap(),
            args: vec![WORKER.to_owned()],
        },
        seed: 7,
        clients: 0,
        states: 40,
        kills: 16,
        file_system: FileSystem::Ext4,
        obeys_flushes: true,
        over: Duration::ZERO,
        violations: folder.path().join("violations"),
        memory: 4 << 20,
    };
    change(&mut settings);
    let tested = test(experiment, engine(id)?, durability, &settings, &|| false, &|_| ()).unwrap();
    println!("{id} {durability} {}: {:?}", experiment.name(), tested.verdicts);
    Some(tested)
}

/// Only what follows from the words `lost acknowledged commits` is lost.
fn holds(id: &str, durability: Durability, experiment: Experiment) {
    let Some(tested) = tried(id, durability, experiment, |_| ()) else { return };
    assert!(tested.is_promised() && tested.tried >= 16, "{tested:?}");
    assert_eq!(tested.violations(), 0, "{tested:?}");
}

fn is_broken(id: &str, durability: Durability, experiment: Experiment) {
    let Some(tested) = tried(id, durability, experiment, |_| ()) else { return };
    assert!(tested.broken() > 0, "{tested:?}");
    // Of a setting that promises nothing else it is no violation.
    assert_eq!(tested.violations() > 0, tested.is_promised());
}

fn kills_find_what_is_lost_and_no_more() {
    for id in ["sqlite", "lmdb", "redb", "synced", "written"] {
        holds(id, Durability::Process, Kill);
    }
    // It has the last one in its own memory.
    is_broken("before", Durability::Process, Kill);
    // Durability::None: kept by the next commit with Immediate.
    is_broken("redb", Durability::None, Kill);
}

fn cuts_find_what_is_lost_and_no_more() {
    for id in ["sqlite", "lmdb", "redb", "synced"] {
        holds(id, Durability::Power, PowerCut);
    }
    for id in ["before", "written"] {
        is_broken(id, Durability::Power, PowerCut);
    }
    // MDB_NOSYNC with MDB_WRITEMAP; synchronous=OFF.
    for (id, durability) in [
        ("lmdb", Durability::Process),
        ("sqlite", Durability::Process),
        ("sqlite", Durability::None),
    ] {
        is_broken(id, durability, PowerCut);
    }
}

fn a_device_that_does_no_flush_is_seen() {
    let tested = tried("sqlite", Durability::Power, PowerCut, |s| s.obeys_flushes = false);
    let Some(tested) = tested else { return };
    assert!(tested.violations() > 0 && tested.loss.is_some(), "{tested:?}");
}

fn what_broke_a_promise_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let violations = folder.path().to_owned();
    let tested = tried("written", Durability::Power, PowerCut, |s| s.violations = violations);
    let tested = tested.unwrap();
    let lost = tested.examples.iter().find(|e| e.verdict == Verdict::LostCommits).unwrap();
    let kept = lost.kept.as_ref().unwrap().metadata().unwrap();
    // Sparse: as long as the device, and little of it there.
    use std::os::unix::fs::MetadataExt;
    assert!(kept.len() == 1 << 30 && kept.blocks() * 512 < 100 << 20, "{kept:?}");
}
