use embermark_blockdev::{Image, Record};

use super::*;

/// Records come at 10, 20, … ms; commits are acknowledged so many records in, at so many ms.
fn recording(records: usize, acknowledged: &[(u64, usize, u64)]) -> Recording {
    let file = tempfile::NamedTempFile::new().unwrap();
    let time = |ms| Duration::from_millis(ms);
    let log = Log {
        base: Image::of(file.path()).unwrap(),
        records: vec![Record::Flush; records],
        times: (1..=records as u64).map(|n| time(n * 10)).collect(),
    };
    let acknowledged = acknowledged.iter();
    let acknowledged = acknowledged.map(|(commit, at, ms)| Acknowledged {
        commit: *commit,
        at: *at,
        time: time(*ms),
    });
    let before = Promised { acknowledged: 0, begun: 1 };
    Recording { log, acknowledged: acknowledged.collect(), before }
}

#[test]
fn what_is_acknowledged_before_the_next_record_is_promised() {
    let recording = recording(5, &[(1, 2, 25), (2, 2, 28), (3, 4, 44)]);
    let promised = |at| recording.promised(at).acknowledged;
    assert_eq!([0, 1, 2, 3, 4, 5].map(promised), [0, 0, 2, 2, 3, 3]);
    assert_eq!(recording.promised(1), Promised { acknowledged: 0, begun: 1 });
    assert_eq!(recording.promised(2), Promised { acknowledged: 2, begun: 3 });
}

#[test]
fn before_a_commit_is_acknowledged_what_was_there_before_counts() {
    let before = Promised { acknowledged: 7, begun: 9 };
    let recording = Recording { before, ..recording(3, &[(9, 2, 25)]) };
    assert_eq!(recording.promised(1), before);
    assert_eq!(recording.promised(2), Promised { acknowledged: 9, begun: 10 });
}

#[test]
fn a_loss_is_counted_from_the_oldest_lost_acknowledgement_to_the_next_record() {
    let recording = recording(5, &[(1, 1, 15), (2, 2, 25), (3, 2, 28), (4, 4, 44)]);
    let lost = |at, last| {
        let Lost { commits, ms, everything } = recording.lost(at, last);
        (commits, ms, everything)
    };
    // Cut at 30 ms, when the third record came: 2 and 3 are gone, acknowledged at 25 and 28.
    assert_eq!(lost(2, 1), (2, 5.0, true));
    assert_eq!(lost(2, 2), (1, 2.0, false));
    assert_eq!(lost(2, 3), (0, 0.0, false));
    // The one under way is there.
    assert_eq!(lost(2, 4), (0, 0.0, false));
    // At the end, at 50 ms: everything, the table too.
    assert_eq!(lost(5, 0), (4, 35.0, true));
}
