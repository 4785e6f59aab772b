//! Servers, killed and with their power cut: what promises to hold does, with several clients too,
//! and what promises nothing is seen to lose. Without libtest, as the controls are.

#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod common;

use std::process::ExitCode;
use std::{env, thread};

use common::{WORKER, settings};
use embermark_durability::Experiment::{Kill, PowerCut};
use embermark_durability::{Experiment, Settings, Tested, Verdict, own_mounts, test, worker_main};
use embermark_engines::registry;
use embermark_model::Durability;
use embermark_skips::{is_here, skipped};

fn main() -> ExitCode {
    if env::args().nth(1).is_some_and(|arg| arg == WORKER) {
        return worker_main(registry::ENGINES);
    }
    for id in ["postgres", "mongodb", "valkey", "influxdb"] {
        holds(id, Durability::Process, Kill);
    }
    clients_of_an_embedded_engine_are_judged_too();
    what_is_not_logged_is_lost_by_a_kill();
    if !thread::spawn(|| own_mounts().is_ok()).join().unwrap() {
        skipped("root", "power is cut on a recorded device, which is for root alone");
        return ExitCode::SUCCESS;
    }
    let cuts = thread::spawn(|| {
        holds("postgres", Durability::Power, PowerCut);
        holds("mongodb", Durability::Power, PowerCut);
        holds("valkey", Durability::Power, PowerCut);
        what_is_not_synced_is_lost_by_a_cut();
    });
    cuts.join().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// Nothing where the engine is not here.
fn tried(id: &str, durability: Durability, experiment: Experiment, clients: u32) -> Option<Tested> {
    let engine = registry::find(id).ok().filter(|engine| is_here(*engine))?;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { seed: 5, clients, states: 6, kills: 5, ..settings(folder.path()) };
    let tested = test(experiment, engine, durability, &settings, &|| false, &|_| ()).unwrap();
    println!("{id} {durability} {}: {:?}", experiment.name(), tested.verdicts);
    Some(tested)
}

/// With as many clients as are usual.
fn holds(id: &str, durability: Durability, experiment: Experiment) {
    let Some(tested) = tried(id, durability, experiment, 0) else { return };
    assert!(tested.is_promised() && tested.tried >= 5, "{tested:?}");
    assert_eq!(tested.violations(), 0, "{tested:?}");
}

fn clients_of_an_embedded_engine_are_judged_too() {
    for id in ["sqlite", "lmdb", "redb"] {
        let Some(tested) = tried(id, Durability::Process, Kill, 3) else { continue };
        assert!(tested.tried >= 5, "{tested:?}");
        assert_eq!(tested.violations(), 0, "{tested:?}");
    }
}

/// Unlogged tables are emptied by the recovery from a crash; Valkey without its append-only file has its data in
/// memory alone.
fn what_is_not_logged_is_lost_by_a_kill() {
    for id in ["postgres", "valkey"] {
        let Some(tested) = tried(id, Durability::None, Kill, 0) else { continue };
        assert!(tested.verdicts.contains_key(&Verdict::LostCommits), "{tested:?}");
        assert!(tested.loss.unwrap().everything, "{tested:?}");
        assert_eq!(tested.violations(), 0, "it promises nothing");
    }
}

/// fsync=off.
fn what_is_not_synced_is_lost_by_a_cut() {
    let Some(tested) = tried("postgres", Durability::Process, PowerCut, 0) else { return };
    assert!(tested.broken() > 0, "{tested:?}");
    assert_eq!(tested.violations(), 0, "it promises nothing of that");
}
