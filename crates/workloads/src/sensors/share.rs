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
mod tests;
