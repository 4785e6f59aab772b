use std::collections::BTreeMap;

use embermark_model::Durability;
use embermark_model::durability_result::{Deletes, Experiment, GoesOn, Said, Stopped};

use super::*;

fn fill(ms: f64, goes_on: GoesOn, verdict: Verdict) -> Fill {
    Fill {
        seed: 1,
        room_bytes: 30 << 20,
        commits: 900,
        free_bytes: 0,
        stopped: Said::that(Stopped::Error, "database or disk is full"),
        stopped_ms: Some(ms),
        reads: Said::nothing(Tried::Yes),
        goes_on: Said::nothing(goes_on),
        goes_on_ms: None,
        deletes: Said::that(Deletes::Refused, "database or disk is full"),
        opens: Said::nothing(Tried::Yes),
        verdict,
        found: (verdict != Verdict::Holds).then(|| "read on the full disk".to_owned()),
    }
}

fn tested(durability: Durability, fills: Vec<Fill>) -> Tested {
    let (disk_bytes, ballast_bytes) = (64 << 20, 12 << 20);
    Tested {
        engine: "alpha".to_owned(),
        configuration: None,
        version: "1.2".to_owned(),
        durability,
        effective_durability: None,
        experiment: Experiment::FullDisk,
        tried: 2,
        second: 0,
        not_mounted: 0,
        torn_blocks: 0,
        exhaustive: None,
        verdicts: BTreeMap::new(),
        loss: None,
        open_ns: None,
        clean_open_ns: None,
        commit: None,
        full_disk: Some(FullDisk { disk_bytes, ballast_bytes, fills }),
        took_ms: 0,
        examples: Vec::new(),
    }
}

fn cells(tested: &Tested) -> Vec<String> {
    let table = full_disk([tested]).unwrap();
    table.grid.rows[0].1.iter().map(|text| text.value.clone()).collect()
}

#[test]
fn what_every_disk_did_is_told_once_and_what_differs_with_how_often() {
    let same = [0.84, 12.3].map(|ms| fill(ms, GoesOn::ByItself, Verdict::Holds));
    let cells_of_same = cells(&tested(Durability::Power, same.into()));
    let expected =
        ["an error (0.8 ms to 12 ms)", "yes", "by itself", "refused", "yes", "all there"];
    assert_eq!(cells_of_same, expected);
    let other = [
        fill(2000.0, GoesOn::No, Verdict::LostCommits),
        fill(2000.0, GoesOn::Reopened, Verdict::Holds),
    ];
    let cells_of_other = cells(&tested(Durability::Power, other.clone().into()));
    assert_eq!(cells_of_other[0], "an error (2.0 s)");
    assert_eq!(cells_of_other[2], "1 no, 1 opened again");
    assert_eq!(cells_of_other[5], "1 lost acknowledged commits, 1 all there");
    let unpromised = cells(&tested(Durability::None, other.into()));
    assert_eq!(unpromised[5], "1 (lost acknowledged commits), 1 all there");
}

#[test]
fn what_an_engine_said_stands_below_once() {
    let lost = fill(1.0, GoesOn::ByItself, Verdict::LostCommits);
    let table = full_disk([&tested(Durability::Power, vec![lost.clone(), lost])]).unwrap();
    let of = |about: &str| table.notes.iter().find(|note| note.about == about).unwrap();
    let expected = "when full: database or disk is full; a removal: database or disk is full; rows: read on the full disk";
    assert_eq!(of("alpha 1.2 power").says, expected);
    let disks =
        "alpha 1.2 power: 2 disks of 64 MiB, of which the work had 30; room again is 12 MiB";
    assert_eq!(of("disks").says, disks);
    let mut none = tested(Durability::Power, Vec::new());
    none.full_disk = None;
    assert!(full_disk([&none]).is_none());
}
