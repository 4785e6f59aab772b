use super::*;
use crate::sensors::oracle::Oracle;

#[test]
fn every_operation_is_dealt_to_one_client_and_each_does_its_share_in_order() {
    let row = |ts| Reading::new(Key { sensor: 1, ts }, [Some(1.0), None, None, None]);
    let rows: Vec<Reading> = (0..10).map(row).collect();
    let sequences = Sequences::draw(&rows, &Oracle::new(&rows), 7);
    let shares = deal(&rows, &sequences, 4, 0..4);
    let of = |client: usize| shares[client].rows.iter().map(|row| row.ts).collect::<Vec<_>>();
    assert_eq!(
        [of(0), of(1), of(2), of(3)],
        [vec![0, 4, 8], vec![1, 5, 9], vec![2, 6], vec![3, 7]]
    );
    let reads: usize = shares.iter().map(|share| share.reads.len()).sum();
    assert_eq!((reads, shares[1].reads[1]), (10, sequences.reads[5]));
}

#[test]
fn what_was_done_is_the_first_part_of_each_share() {
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    let done = Done::by_clients([3, 0, 1].into_iter());
    assert_eq!(done.of(&all).copied().collect::<Vec<_>>(), [0, 2, 3, 6]);
    assert_eq!(done.ops(), 4);
    assert_eq!(Done::first(2).of(&all).copied().collect::<Vec<_>>(), [0, 1]);
    assert!(!Done::by_clients(std::iter::empty()).has(0));
}
