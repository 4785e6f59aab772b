//! What every key-value engine keeps when its process is killed. Separate from the other tests,
//! because a process that is being started holds, for a moment, the locks of every database that
//! this one has open.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::outside::engines;
use crate::scopes::{Alone, all};
use crate::stores::{bulk, numbered, open, some_offers, victims};
use embermark_model::Durability;

const VICTIM: &str = "EMBERMARK_TEST_VICTIM";

#[test]
fn commits_survive_a_killed_process_if_the_tier_promises_it() {
    for (engine, tier, _) in some_offers(3, |(_, _, keeps)| *keeps >= Durability::Process) {
        let name = format!("{} ({tier})", engine.info().id);
        let dir = tempfile::tempdir().unwrap();
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "kv_killed::commits_and_dies", "--ignored", "--nocapture"])
            .env(VICTIM, format!("{} {tier} {}", engine.info().id, dir.path().display()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(!child.status.success() && said.contains("all committed"), "{name}: {child:?}");
        let mut store = open(engine, tier, dir.path());
        let store = store.as_mut();
        let [alone, together, loaded] = victims(store);
        assert_eq!(all(store, alone), Vec::from_iter(numbered(300, 33)), "{name}");
        assert_eq!(all(store, together), Vec::from_iter(numbered(2_000, 33)), "{name}");
        assert!(all(store, loaded) == Vec::from_iter(numbered(30_000, 33)), "{name}");
    }
}

/// The process that is killed; only the test above runs it.
#[test]
#[ignore = "run in a process of its own by another test"]
fn commits_and_dies() {
    let Ok(order) = env::var(VICTIM) else { return };
    let [id, tier, dir] = order.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{order}") };
    let engine = *engines().iter().find(|engine| engine.info().id == id).unwrap();
    let mut store = open(engine, tier.parse().unwrap(), Path::new(dir));
    let store = store.as_mut();
    let [alone, together, loaded] = victims(store);
    bulk(store, loaded, &numbered(30_000, 33));
    store.batch(|batch| {
        for (key, value) in numbered(2_000, 33) {
            batch.put(together, &key, &value).unwrap();
        }
    });
    for (key, value) in numbered(300, 33) {
        store.put(alone, &key, &value).unwrap();
    }
    store.batch(|batch| {
        for n in 0..5_000_u64 {
            batch.put(together, &n.to_be_bytes(), b"never committed").unwrap();
        }
        println!("all committed");
        std::process::abort();
    });
}
