use std::collections::HashSet;

use super::*;

/// Writes `fill` into the block with that number.
fn write(block: u64, fill: u8) -> Record {
    Record::Write { offset: block * BLOCK as u64, data: vec![fill; BLOCK].into() }
}

fn log(records: Vec<Record>) -> (tempfile::TempDir, Log) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base");
    std::fs::write(&path, vec![0; 8 * BLOCK]).unwrap();
    let base = Image::from_file(&path).unwrap();
    (folder, Log { base, records, times: Vec::new() })
}

/// Returns the first byte of each block.
fn blocks(image: &Image) -> Vec<u8> {
    let mut all = vec![0; image.bytes() as usize];
    image.read(0, &mut all);
    all.iter().copied().step_by(BLOCK).take(4).collect()
}

#[test]
fn a_short_log_gives_every_state_once_and_only_what_a_device_may_leave() {
    let records = vec![write(0, 1), write(1, 2), Record::Flush, write(0, 3), write(2, 4)];
    let (_folder, log) = log(records);
    let states = log.states(0, 1_000, 7);
    let digests: HashSet<u64> = states.iter().map(|state| state.image.digest()).collect();
    assert_eq!(digests.len(), states.len(), "each content once");
    // Only whole blocks: a torn one begins like the new one.
    let whole: HashSet<Vec<u8>> =
        states.iter().filter(|s| s.cut.torn.is_none()).map(|s| blocks(&s.image)).collect();
    let expected = [
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [0, 2, 0, 0],
        [1, 2, 0, 0], // before the flush
        [3, 2, 0, 0],
        [1, 2, 4, 0],
        [3, 2, 4, 0], // after it
    ];
    assert_eq!(whole, expected.map(Vec::from).into_iter().collect());
    // A write of a block is torn at sectors.
    let torn: Vec<&Torn> = states.iter().filter_map(|state| state.cut.torn.as_ref()).collect();
    assert!(!torn.is_empty() && torn.iter().all(|torn| torn.kept % SECTOR == 0));
    assert!(torn.iter().all(|torn| torn.kept > 0 && torn.kept < BLOCK));
}

#[test]
fn what_was_flushed_is_never_lost() {
    let mut records = Vec::new();
    for round in 1..=20 {
        records.extend([write(0, round), write(1, round), Record::Flush]);
    }
    let (_folder, log) = log(records);
    for state in log.states(0, 10_000, 1) {
        let flushed = (state.cut.at / 3) as u8;
        let found = blocks(&state.image);
        let most = flushed + 1;
        assert!(found[..2].iter().all(|round| (flushed..=most).contains(round)), "{:?}", state.cut);
    }
}

#[test]
fn the_same_content_counts_as_left_by_the_latest_cut() {
    let (_folder, log) = log(vec![write(0, 1), Record::Flush]);
    let states = log.states(0, 100, 3);
    let full = states.iter().find(|state| blocks(&state.image)[0] == 1 && state.cut.torn.is_none());
    assert_eq!(full.unwrap().cut.at, 2, "after the flush, when more had been promised");
}

#[test]
fn a_single_write_may_be_lost_until_its_flush() {
    let (_folder, log) = log(vec![write(0, 1), Record::Flush]);
    let states = log.states(0, 100, 3);
    let lost = states.iter().find(|state| blocks(&state.image)[0] == 0);
    assert_eq!(lost.unwrap().cut.at, 1, "when its writer may have acknowledged it");
}

#[test]
fn a_write_is_torn_only_if_that_differs_from_the_whole_write_and_from_none() {
    for changed in [0, 3 * SECTOR, BLOCK - 1] {
        let mut data = vec![1; BLOCK];
        data[changed] = 2;
        let changes_a_sector = Record::Write { offset: 0, data: data.into() };
        let (_folder, log) = log(vec![write(0, 1), Record::Flush, changes_a_sector]);
        for states in [log.states(2, 1_000, 7), log.every_state(2)] {
            let cuts: Vec<&Cut> = states.iter().map(|state| &state.cut).collect();
            assert!(cuts.len() == 2 && cuts.iter().all(|cut| cut.torn.is_none()), "{cuts:?}");
            assert!(cuts.iter().all(|cut| cut.at == 3), "{cuts:?}");
        }
    }
}

#[test]
fn a_block_is_torn_if_the_present_part_ends_within_one_of_the_device() {
    let write = Record::Write { offset: SECTOR as u64, data: vec![1; 2 * BLOCK].into() };
    let (_folder, log) = log(vec![write]);
    let cuts = log.every_state(0).into_iter().map(|state| state.cut);
    let torn: Vec<(usize, bool)> =
        cuts.filter_map(|cut| Some((cut.torn?.kept, cut.tears_a_block()))).collect();
    let expected = (1..2 * BLOCK / SECTOR).map(|sectors| (sectors * SECTOR, sectors % 8 != 7));
    assert_eq!(torn, expected.collect::<Vec<_>>());
}

#[test]
fn of_a_long_log_a_sample_is_drawn_by_the_seed_and_from_all_of_it() {
    let records: Vec<Record> = (0..3_000u64)
        .map(|i| if i % 5 == 4 { Record::Flush } else { write(i % 8, (i % 250) as u8 + 1) })
        .collect();
    let (_folder, log) = log(records);
    let cuts =
        |seed| -> Vec<Cut> { log.states(0, 50, seed).into_iter().map(|state| state.cut).collect() };
    let (first, again, other) = (cuts(1), cuts(1), cuts(2));
    assert_eq!(first.len(), 50);
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.iter().any(|cut| cut.at < 1_000) && first.iter().any(|cut| cut.at > 2_000));
    // What happened before the work began is in every state.
    let later = log.states(2_500, 50, 1);
    assert!(later.iter().all(|state| state.cut.at >= 2_500));
}

#[test]
fn a_cut_makes_the_image_that_its_state_had() {
    let records =
        vec![write(0, 1), write(1, 2), write(2, 3), Record::Flush, write(1, 4), write(0, 5)];
    let (_folder, log) = log(records);
    for state in log.states(0, 1_000, 5) {
        let again = log.image(&state.cut);
        assert_eq!(again.digest(), state.image.digest(), "{:?}", state.cut);
    }
}

#[test]
fn a_device_that_does_no_flush_may_have_lost_what_was_flushed() {
    let (_folder, log) = log(vec![write(0, 1), Record::Flush, write(1, 2), Record::Flush]);
    let left = |log: &Log| -> HashSet<Vec<u8>> {
        let states = log.states(0, 100, 1);
        states.iter().filter(|s| s.cut.torn.is_none()).map(|s| blocks(&s.image)).collect()
    };
    let lost = vec![0, 2, 0, 0];
    assert!(!left(&log).contains(&lost));
    assert!(left(&log.without_flushes()).contains(&lost));
}
