use embermark_model::Durability;

use super::*;
use crate::outcome::Experiment;

fn head() -> Head {
    Head {
        engine_libraries: Default::default(),
        schema: SCHEMA.to_owned(),
        begun: "2026-01-01T00:00:00Z".to_owned(),
        embermark: "0.1.0".to_owned(),
        kernel: "Linux 6".to_owned(),
        named: Vec::new(),
        engines: vec!["lmdb".to_owned()],
        configurations: Default::default(),
        durabilities: vec![Durability::Power],
        states: 3,
        server_states: 2,
        short_works: 0,
        device_lies: false,
        kills: 2,
        clients: 0,
        accepted_licences: Vec::new(),
        file_system: "ext4".to_owned(),
        over_s: 0,
        fills: 0,
        disk_bytes: None,
        seed: 1,
    }
}

fn not_tried(engine: &str) -> NotTried {
    NotTried {
        engine: engine.to_owned(),
        durability: Durability::Power,
        experiment: Experiment::PowerCut,
        why: "no root".to_owned(),
        failed: false,
    }
}

#[test]
fn what_ended_is_there_again_and_a_line_that_was_cut_off_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut journal = Journal::begin(&path, head()).unwrap();
    journal.not_tried(not_tried("lmdb")).unwrap();
    assert!(Journal::begin(&path, head()).is_err(), "it is there");
    let open = Journal::open(&path).map(drop).map_err(|error| error.to_string());
    assert_eq!(open, Err("its run is still going on".to_owned()));
    drop(journal);

    let whole = std::fs::read(&path).unwrap();
    let cut = &serde_json::to_vec(&Line::NotTried(not_tried("redb"))).unwrap()[..20];
    std::fs::write(&path, [&whole, cut].concat()).unwrap();
    let mut journal = Journal::open(&path).unwrap();
    assert_eq!(journal.outcome.head, head());
    let has = |journal: &Journal, engine| {
        journal.outcome.has(engine, Durability::Power, Experiment::PowerCut)
    };
    assert!(has(&journal, "lmdb") && !has(&journal, "redb"));
    assert!(!journal.outcome.has("lmdb", Durability::Power, Experiment::Kill));
    journal.not_tried(not_tried("redb")).unwrap();
    drop(journal);
    let journal = Journal::open(&path).unwrap();
    assert!(has(&journal, "lmdb") && has(&journal, "redb"));
}

#[test]
fn another_file_is_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    for text in ["", "{}\n", "{\"schema\":\"other\"}\n"] {
        std::fs::write(&path, text).unwrap();
        assert!(Journal::open(&path).is_err(), "{text}");
    }
}

/// What a process holds that a killed run was just starting, until it is another program.
#[test]
fn a_journal_that_is_let_go_within_a_moment_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let held = Journal::begin(&path, head()).unwrap();
    let letting_go = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        drop(held);
    });
    assert!(Journal::open(&path).is_ok());
    letting_go.join().unwrap();
}
