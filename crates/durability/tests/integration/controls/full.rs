//! Full disks: violations that must be found, and engines without one.

use embermark_durability::Experiment::FullDisk;
use embermark_durability::{
    CommitRecovery, DeleteOutcome, Fill, Settings, Stopped, Tested, Tried, Verdict, test,
};
use embermark_model::Durability;
use libtest_mimic::Trial;

use super::{engine, tried};
use crate::common::{on_devices, settings, some_of};

/// A disk of 32 MiB, the smallest that the command accepts, in a tier that promises to survive the
/// death of the process.
fn filled(id: &str, fills: u32) -> Option<Tested> {
    let tested = tried(id, Durability::Process, FullDisk, |settings| {
        (settings.fills, settings.disk) = (fills, 32 << 20);
    })?;
    assert!(tested.is_promised() && tested.tried == fills, "{tested:?}");
    for fill in fills_of(&tested) {
        // At most a third of the disk, filled by more than the table.
        assert!(fill.room_bytes >= 8 << 20 && fill.room_bytes <= 11 << 20, "{fill:?}");
        assert!(fill.commits > 50, "{fill:?}");
    }
    Some(tested)
}

fn fills_of(tested: &Tested) -> &[Fill] {
    &tested.full_disk.as_ref().unwrap().fills
}

pub fn tests() -> Vec<Trial> {
    let tests = vec![
        on_devices("full::a_correct_engine_loses_nothing_and_continues", || {
            a_correct_engine_loses_nothing_and_continues();
        }),
        on_devices("full::acknowledging_unwritten_commits_is_detected", || {
            acknowledging_unwritten_commits_is_detected();
        }),
        on_devices("full::writing_in_place_is_detected", writing_in_place_is_detected),
        on_devices("full::sqlite_loses_nothing_and_continues", sqlite_loses_nothing_and_continues),
    ];
    some_of("full disks", 2, tests).collect()
}

fn a_correct_engine_loses_nothing_and_continues() {
    let tested = filled("synced", 2).unwrap();
    assert_eq!(tested.violations(), 0, "{tested:?}");
    let [first, second] = fills_of(&tested) else { panic!("{tested:?}") };
    assert!(first.seed != second.seed && first.room_bytes != second.room_bytes, "{tested:?}");
    for fill in [first, second] {
        assert_eq!(fill.stopped.is, Stopped::Error, "{fill:?}");
        assert!(fill.stopped.message.as_ref().unwrap().contains("No space left"), "{fill:?}");
        assert!(fill.free_bytes < 1 << 20, "its last commit had no room: {fill:?}");
        assert_eq!(fill.reads.is, Tried::Yes);
        assert_eq!(fill.goes_on.is, CommitRecovery::ByItself);
        assert!(fill.goes_on_ms.is_some() && fill.stopped_ms.is_some(), "{fill:?}");
        // A log that only grows: removing requires writing.
        assert!(
            matches!(fill.deletes.is, DeleteOutcome::Refused | DeleteOutcome::MakeNone),
            "{fill:?}"
        );
        // It can read what its log has, and needs to write nothing.
        assert_eq!((fill.opens.is, fill.verdict), (Tried::Yes, Verdict::Holds), "{fill:?}");
    }
}

/// It counts, although the second disk cannot be made.
fn acknowledging_unwritten_commits_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { seed: 7, fills: 2, disk: 32 << 20, ..settings(folder.path()) };
    let in_its_place = settings.folder.join("full");
    let after = |_: u32| std::fs::write(&in_its_place, "").unwrap();
    let (engine, tier) = (engine("anyway").unwrap(), Durability::Process);
    let tested = test(FullDisk, engine, tier, &settings, &|| false, &after).unwrap();
    assert_eq!(tested.tried, 1, "{tested:?}");
    let [fill] = fills_of(&tested) else { panic!("{tested:?}") };
    assert_eq!(fill.stopped.is, Stopped::NoError, "{fill:?}");
    assert_eq!((fill.verdict, tested.violations()), (Verdict::LostCommits, 1), "{tested:?}");
    let found = &tested.examples[0];
    assert!(found.last.unwrap() < found.acknowledged, "{found:?}");
    assert!(found.of.contains("killed when it was full"), "{found:?}");
    assert!(found.kept.as_ref().unwrap().to_string_lossy().ends_with(".img"), "{found:?}");
}

fn writing_in_place_is_detected() {
    let tested = filled("in-place", 1).unwrap();
    let [fill] = fills_of(&tested) else { panic!("{tested:?}") };
    // The rows in its memory are correct.
    assert_eq!((fill.stopped.is, fill.reads.is), (Stopped::Error, Tried::Yes), "{fill:?}");
    assert_eq!((fill.verdict, tested.violations()), (Verdict::HalfCommit, 1), "{tested:?}");
}

fn sqlite_loses_nothing_and_continues() {
    let Some(tested) = filled("sqlite", 1) else { return };
    let [fill] = fills_of(&tested) else { panic!("{tested:?}") };
    assert_eq!((fill.verdict, tested.violations()), (Verdict::Holds, 0), "{tested:?}");
    assert!(fill.stopped.message.as_ref().unwrap().contains("disk is full"), "{fill:?}");
    assert_eq!(
        (fill.reads.is, fill.goes_on.is),
        (Tried::Yes, CommitRecovery::ByItself),
        "{fill:?}"
    );
}
