//! Kills and power cuts of servers: promises are kept, also with several clients, and a setting that
//! promises nothing loses commits.

use embermark_durability::Experiment::{Kill, PowerCut};
use embermark_durability::{Experiment, Settings, Tested, Verdict, test};
use embermark_engines::registry;
use embermark_model::Durability;
use embermark_skips::is_here;
use libtest_mimic::Trial;

use crate::common::{on_devices, settings, some_of, trial};

pub fn tests() -> Vec<Trial> {
    let kills = ["postgres", "mongodb", "valkey", "influxdb"].map(|id| {
        trial(format!("servers::kills_lose_nothing_of_{id}"), move || {
            holds(id, Durability::Process, Kill);
        })
    });
    let clients = ["sqlite", "lmdb", "redb"].map(|id| {
        trial(format!("servers::clients_of_{id}_are_judged_too"), move || {
            clients_of_an_embedded_engine_are_judged_too(id);
        })
    });
    let not_logged = ["postgres", "valkey"].map(|id| {
        trial(format!("servers::what_is_not_logged_is_lost_by_a_kill_of_{id}"), move || {
            what_is_not_logged_is_lost_by_a_kill(id);
        })
    });
    let cuts = ["postgres", "mongodb", "valkey"].map(|id| {
        on_devices(format!("servers::cuts_lose_nothing_of_{id}"), move || {
            holds(id, Durability::Power, PowerCut);
        })
    });
    let not_synced = ["postgres", "valkey"].map(|id| {
        on_devices(format!("servers::what_is_not_synced_is_lost_by_a_cut_of_{id}"), move || {
            what_is_not_synced_is_lost_by_a_cut(id);
        })
    });
    let campaigns = [
        some_of("kills of servers", 1, kills.into()),
        some_of("clients", 1, clients.into()),
        some_of("what is not logged", 1, not_logged.into()),
        some_of("cuts of servers", 1, cuts.into()),
        some_of("what is not synced", 1, not_synced.into()),
    ];
    campaigns.into_iter().flatten().collect()
}

/// Runs an experiment. `None` if the engine is not installed.
fn tried(id: &str, durability: Durability, experiment: Experiment, clients: u32) -> Option<Tested> {
    let engine = registry::find(id).ok().filter(|engine| is_here(*engine))?;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { seed: 5, clients, states: 6, kills: 5, ..settings(folder.path()) };
    let tested = test(experiment, engine, durability, &settings, &|| false, &|_| ()).unwrap();
    println!("{id} {durability} {}: {:?}", experiment.name(), tested.verdicts);
    Some(tested)
}

/// Asserts that nothing is lost, with the usual number of clients.
fn holds(id: &str, durability: Durability, experiment: Experiment) {
    let Some(tested) = tried(id, durability, experiment, 0) else { return };
    assert!(tested.is_promised() && tested.tried >= 5, "{tested:?}");
    assert_eq!(tested.violations(), 0, "{tested:?}");
}

fn clients_of_an_embedded_engine_are_judged_too(id: &str) {
    let Some(tested) = tried(id, Durability::Process, Kill, 3) else { return };
    assert!(tested.tried >= 5, "{tested:?}");
    assert_eq!(tested.violations(), 0, "{tested:?}");
}

/// Recovery from a crash empties unlogged tables. Valkey without its append-only file has its data
/// only in memory.
fn what_is_not_logged_is_lost_by_a_kill(id: &str) {
    let Some(tested) = tried(id, Durability::None, Kill, 0) else { return };
    assert!(tested.verdicts.contains_key(&Verdict::LostCommits), "{tested:?}");
    assert!(tested.loss.unwrap().everything, "{tested:?}");
    assert_eq!(tested.violations(), 0, "it promises nothing");
}

/// Asserts that a cut loses commits with fsync=off, or appendfsync=no.
fn what_is_not_synced_is_lost_by_a_cut(id: &str) {
    let Some(tested) = tried(id, Durability::Process, PowerCut, 0) else { return };
    assert!(tested.broken() > 0, "{tested:?}");
    assert_eq!(tested.violations(), 0, "it promises nothing of that");
}
