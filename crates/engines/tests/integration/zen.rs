//! The adapter of Zen, driven against a stand-in of our own (`zen/library.rs`): Zen itself is
//! proprietary and not available here. The tests show that the adapter follows the interface as its
//! header describes it, not how the real engine behaves.

mod common;
mod faults;
mod pairs;
mod transactions;

use std::collections::BTreeMap;
use std::env;
use std::process::Command;

use embermark_engines::registry::find;
use embermark_engines::{Availability, OpenOptions, Tier, as_set};
use embermark_model::Durability;

use common::{TIERS, calls, fail, opened, unfreed, zen};

#[test]
fn it_is_there_with_its_version_and_offers_what_its_manual_supports() {
    assert_eq!(zen().availability(), Availability::Ready { version: "15.20".to_owned() });
    let keeps = |tier| match zen().tier(tier) {
        Tier::Offered { effective_durability, .. } => effective_durability,
        Tier::Unsupported { why } => panic!("{why}"),
    };
    assert_eq!(keeps(Durability::None), Durability::None);
    assert_eq!(keeps(Durability::Process), Durability::Power);
    assert_eq!(keeps(Durability::Power), Durability::Power);
    assert_eq!(unfreed(), 0);
}

#[test]
fn an_engine_that_does_not_answer_is_told_from_a_library_that_is_missing() {
    zen();
    fail("ClientGetVersion", 1, 20);
    let Availability::Missing { why, remedy } = zen().availability() else { panic!("ready") };
    assert!(why.contains("the record manager is not active (status 20)"), "{why}");
    assert!(remedy.contains("start"), "{remedy}");
    assert_eq!(unfreed(), 0);
}

#[test]
fn without_the_library_or_the_word_on_durability_it_says_what_it_needs() {
    let empty = tempfile::tempdir().unwrap();
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "zen::is_missing", "--ignored", "--nocapture"])
        .env("ZEN_LIB_DIR", empty.path())
        .env_remove("ZEN_TRANSACTION_DURABILITY")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{child:?}");
}

/// Runs in another process, and only when the test above starts it.
#[test]
#[ignore = "run in a process of its own by another test"]
fn is_missing() {
    let Some(folder) = env::var_os("ZEN_LIB_DIR") else { return };
    let zen = find("zen").unwrap();
    let Availability::Missing { why, remedy } = zen.availability() else { panic!("ready") };
    assert!(why.contains(&*folder.to_string_lossy()), "{why}");
    assert!(remedy.contains("install Actian Zen") && remedy.contains("ZEN_LIB_DIR"), "{remedy}");
    let dir = tempfile::tempdir().unwrap();
    let options = OpenOptions::new(dir.path(), Durability::None, 0);
    let error = zen.open(&options).err().unwrap();
    assert!(error.is_unavailable(), "{error}");
    for tier in [Durability::Process, Durability::Power] {
        let Tier::Unsupported { why } = zen.tier(tier) else { panic!("offered") };
        assert!(why.contains("ZEN_TRANSACTION_DURABILITY=on"), "{why}");
    }
}

#[test]
fn settings_are_read_back_or_named_as_not_read() {
    for tier in TIERS {
        let dir = tempfile::tempdir().unwrap();
        let opened = opened(tier, dir.path()).unwrap();
        assert_eq!(opened.version, "15.20");
        let settings: BTreeMap<String, String> = opened.settings.into_iter().collect();
        let mode = if tier == Durability::None { "accelerated" } else { "normal" };
        assert_eq!(settings["open mode"], as_set(mode));
        assert_eq!(settings["loggable"], "yes");
        assert_eq!(settings["page size"], "4096 bytes");
        assert_eq!(settings["file version"], "13.0");
        let durability = &settings["Transaction Durability"];
        assert!(durability.contains("not"), "{durability}");
        let (begins, deletes) = (calls("ClientTransactionBegin"), calls("ClientFileDelete"));
        assert!(begins == 0 && deletes > 0, "the file it asked was removed");
    }
    assert_eq!(unfreed(), 0);
}
