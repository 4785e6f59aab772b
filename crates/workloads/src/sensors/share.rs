//! What each of several clients does of a sequence: every N-th operation.

use std::ops::Range;
use std::sync::Arc;

use embermark_model::{Key, Reading};

use super::port::Change;
use super::sequence::Sequences;

/// One client's operations, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Share {
    pub rows: Vec<Reading>,
    pub reads: Vec<Key>,
    pub changes: Vec<Change>,
    pub deletes: Vec<Key>,
}

/// Deals the operations out to clients, one after the other, and returns what some of them get.
pub(super) fn deal(
    rows: &[Reading],
    sequences: &Sequences,
    clients: u32,
    of: Range<u32>,
) -> Vec<Arc<Share>> {
    fn own<T: Copy>(all: &[T], client: u32, clients: u32) -> Vec<T> {
        all.iter().skip(client as usize).step_by(clients as usize).copied().collect()
    }
    let share = |client| Share {
        rows: own(rows, client, clients),
        reads: own(&sequences.reads, client, clients),
        changes: own(&sequences.changes, client, clients),
        deletes: own(&sequences.deletes, client, clients),
    };
    of.map(share).map(Arc::new).collect()
}

/// Which operations of a sequence were done: of each client's share the first ones, so many.
#[derive(Clone, Debug)]
pub(super) struct Done(Vec<u64>);

impl Done {
    /// The first ones of the whole sequence, by one client.
    pub(super) fn first(ops: u64) -> Self {
        Self(vec![ops])
    }

    /// So many by each client.
    pub(super) fn by_clients(ops: impl Iterator<Item = u64>) -> Self {
        Self(ops.collect())
    }

    /// By each client.
    pub(super) fn each(&self) -> &[u64] {
        &self.0
    }

    /// How many.
    pub(super) fn ops(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Whether the operation at a place of the sequence was done.
    pub(super) fn has(&self, place: usize) -> bool {
        let clients = self.0.len();
        self.0.get(place % clients.max(1)).is_some_and(|done| ((place / clients) as u64) < *done)
    }

    /// Those of the sequence that were done.
    pub(super) fn of<'a, T>(&self, all: &'a [T]) -> impl Iterator<Item = &'a T> {
        all.iter().enumerate().filter(|(place, _)| self.has(*place)).map(|(_, one)| one)
    }
}

#[cfg(test)]
mod tests {
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
}
