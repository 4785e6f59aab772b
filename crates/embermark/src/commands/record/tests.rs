use super::*;

fn run(engines: &[&str]) -> Outcome {
    let tested = |id: &&str| {
        serde_json::json!({
            "engine": id, "version": "1", "durability": "power", "experiment": "kill", "tried": 1,
            "verdicts": {"not-opened": 1},
            "examples": [{"verdict": "not-opened", "of": "kill 1", "acknowledged": 1, "kept": "/home/me"}],
        })
    };
    serde_json::from_value(serde_json::json!({
        "schema": "embermark-durability-1", "begun": "2026-01-01T00:00:00Z", "embermark": "0.1.0",
        "kernel": "Linux", "engines": engines, "durabilities": ["power"], "states": 0, "kills": 1,
        "file_system": "ext4", "seed": 1, "tested": engines.iter().map(tested).collect::<Vec<_>>(),
    }))
    .unwrap()
}

#[test]
fn what_may_not_be_published_has_no_place_in_the_record_nor_has_a_path() {
    let text = Record::text(vec![run(&["zen", "null", "harperdb"])], may_be_published).unwrap();
    for secret in ["zen", "harperdb", "/home/me"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains("\"null\""), "{text}");
}

#[test]
fn the_record_of_this_build_has_nothing_that_may_not_be_published() {
    let record = Record::with(Vec::new());
    assert!(!record.engines().is_empty());
    for id in record.engines() {
        assert!(!["harperdb", "zen"].contains(&id), "{id}");
        let forbids = registry::find(id).is_ok_and(|engine| engine.forbids_publishing());
        assert!(!forbids, "{id}");
    }
}
