use super::{Kind, MOST_SLICES, Recorder};

const MS: u64 = 1_000_000;

/// Closes a slice of 1 ms with a commit of so many ns in it.
fn slice(recorder: &mut Recorder, number: u64, ns: u64) {
    recorder.record(Kind::Commit, number * MS, ns, ns);
    recorder.rows(1, 0);
    recorder.close_slice((number + 1) * MS);
}

#[test]
fn slices_hold_what_was_recorded_in_them_and_no_time_that_was_ours() {
    let mut recorder = Recorder::new();
    for ns in 1..=200 {
        recorder.record(Kind::Commit, 0, ns * 100, ns * 100);
    }
    recorder.record(Kind::Question, 0, 70, 70);
    recorder.rows(200, 5);
    recorder.pause(MS);
    recorder.close_slice(10 * MS);
    slice(&mut recorder, 10, 5_000);
    let slices = recorder.slices();
    assert_eq!(slices.len(), 2);
    assert_eq!((slices[0].rows_in, slices[0].rows_out, slices[0].elapsed_ns), (200, 5, 9 * MS));
    let commits = slices[0].commits.unwrap();
    assert_eq!((commits.samples, commits.p50, commits.max), (200, 10_007, 20_015));
    assert!((19_800..=19_815).contains(&commits.p99.unwrap()), "{commits:?}");
    assert_eq!(slices[0].questions.unwrap().p99, None, "one sample has no 99th percentile");
    assert_eq!(slices[1].commits.unwrap().samples, 1);
    assert_eq!(slices[1].questions, None);
}

#[test]
fn more_slices_than_are_kept_become_half_as_many_that_hold_the_same() {
    let mut recorder = Recorder::new();
    let all = 3 * MOST_SLICES as u64 + 1;
    for number in 0..all {
        slice(&mut recorder, number, 1_000 + number);
    }
    let slices = recorder.slices();
    assert!(slices.len() <= MOST_SLICES && slices.len() > MOST_SLICES / 4, "{}", slices.len());
    assert_eq!(slices.iter().map(|slice| slice.rows_in).sum::<u64>(), all);
    assert_eq!(slices.iter().map(|slice| slice.elapsed_ns).sum::<u64>(), all * MS);
    let samples = slices.iter().map(|slice| slice.commits.unwrap().samples);
    assert_eq!(samples.sum::<u64>(), all);
    assert!(slices.windows(2).all(|two| two[0].until_s < two[1].until_s));
    assert_eq!(slices.last().unwrap().until_s, (all * MS) as f64 / 1e9);
    // Each but the last is of as many, one after the other.
    let each = slices[0].rows_in;
    assert!(each == 4 && slices[..slices.len() - 1].iter().all(|slice| slice.rows_in == each));
}

#[test]
fn the_last_rounds_and_the_first_stretch_are_apart() {
    let mut recorder = Recorder::new();
    for round in 0..8 {
        slice(&mut recorder, round, 1_000 * (round + 1));
        if round == 1 {
            recorder.end_first();
        }
        recorder.close_round((round + 1) * MS, Some(round));
    }
    assert_eq!(recorder.first(Kind::Commit).unwrap().samples, 2);
    let last = recorder.last(Kind::Commit).unwrap();
    assert_eq!((last.samples, last.min), (5, 4_000));
    assert_eq!(recorder.latency(Kind::Commit).unwrap().samples, 8);
    let rounds = recorder.told();
    assert_eq!((rounds.len(), rounds[7].rows, rounds[7].allocated_bytes), (8, 1, Some(7)));
    assert_eq!(rounds[7].elapsed_ns, MS);
}

#[test]
fn what_takes_longer_than_a_tenth_of_a_second_is_a_stall_of_its_slice() {
    let mut recorder = Recorder::new();
    recorder.record(Kind::Commit, 0, 100 * MS, 100 * MS);
    assert!(!recorder.has_stalled());
    recorder.close_slice(100 * MS);
    // One that was late because it waited is none: the one before it was.
    recorder.record(Kind::Commit, 100 * MS, MS, 500 * MS);
    assert!(!recorder.has_stalled());
    recorder.record(Kind::Expiry, 150 * MS, 250 * MS, 250 * MS);
    assert!(recorder.has_stalled());
    let stalls: Vec<_> = recorder.stalls().collect();
    let [(1, stall)] = &stalls[..] else { panic!("{stalls:?}") };
    assert_eq!((stall.of.as_str(), stall.ns, stall.at_s), ("expiry", 250 * MS, 0.15));
    assert_eq!(recorder.stalled(), 1);
}
