//! How rows are inserted and changed, in the variants that several workloads have.

use std::ops::Range;

use embermark_contract::{Result, Scope};
use embermark_meter::Meter;

/// How rows are inserted, and what a commit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// One row at a time, all in one transaction.
    OneTransaction,
    /// One row at a time, each with its own commit.
    CommitEach,
    /// One row at a time, in transactions of this many rows.
    Every(u64),
    /// This many rows at once, each time with a commit. Changes are in transactions of this many.
    Batches(u64),
    /// The engine's fastest path. Changes are in transactions of [`batch`] rows.
    Bulk,
    /// No changes: everything is read in one snapshot.
    Snapshot,
}

/// Returns the number of operations per transaction: all `n`, or 10,000 from 100,000 on, because
/// uncommitted changes must fit into the memory of many engines.
pub(crate) const fn batch(n: usize) -> usize {
    if n >= 100_000 { 10_000 } else { n }
}

/// Operations of a phase that one transaction does.
pub(crate) struct Part<'a> {
    meter: &'a mut Meter,
    range: Range<u64>,
}

impl<'a> Part<'a> {
    /// Creates a part of a run's operations.
    pub(crate) const fn new(meter: &'a mut Meter, range: Range<u64>) -> Self {
        Self { meter, range }
    }

    /// Returns whether each operation has its own start time.
    pub(crate) const fn is_paced(&self) -> bool {
        self.meter.is_paced()
    }

    /// Returns the meter that counts the operations, and their numbers.
    pub(crate) const fn into_parts(self) -> (&'a mut Meter, Range<u64>) {
        (self.meter, self.range)
    }

    /// Does each operation as [`Meter::each`] does. Returns how many were done before the cap.
    #[inline]
    pub(crate) fn each<E>(
        self,
        op: impl FnMut(usize) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        self.meter.part(self.range, op)
    }

    /// Does all operations in one call, which no cap interrupts. Returns how many there are.
    pub(crate) fn at_once<E>(
        self,
        op: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        let all = self.range.end.saturating_sub(self.range.start);
        self.meter.once(op)?;
        self.meter.count(all.saturating_sub(1));
        Ok(all)
    }
}

impl Strategy {
    /// Does `n` operations one at a time. Calls `transaction` for each transaction, which enters
    /// the scope and does the part in it. Ends after the transaction in which the cap is reached,
    /// and returns how many were done.
    ///
    /// # Errors
    /// Returns the first error of `transaction`.
    pub(crate) fn each(
        self,
        n: usize,
        meter: &mut Meter,
        mut transaction: impl FnMut(Scope, Part<'_>) -> Result<u64>,
    ) -> Result<u64> {
        let (scope, size) = match self {
            Self::CommitEach => (Scope::PerOperation, n),
            Self::OneTransaction => (Scope::Batch, n),
            Self::Snapshot => (Scope::Snapshot, n),
            Self::Every(rows) | Self::Batches(rows) => {
                (Scope::Batch, usize::try_from(rows).unwrap_or(n).max(1))
            }
            Self::Bulk => (Scope::Batch, batch(n)),
        };
        let (n, size, mut done) = (n as u64, size as u64, 0);
        loop {
            let range = done..n.min(done + size);
            let end = range.end;
            done += transaction(scope, Part { meter, range })?;
            if done < end || end == n || meter.expired() {
                return Ok(done);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns the transactions of `n` operations: scope, first operation, and number of operations
    /// done.
    fn transactions(by: Strategy, n: usize, meter: &mut Meter) -> Vec<(Scope, usize, u64)> {
        let mut all = Vec::new();
        meter.start();
        let done = by.each(n, meter, |scope, part| {
            let mut first = None;
            let done = part.each(|i| {
                first.get_or_insert(i);
                Ok(())
            });
            all.push((scope, first.unwrap_or_default(), *done.as_ref().unwrap()));
            done
        });
        meter.stop();
        assert_eq!(done.unwrap(), meter.measured().ops);
        all
    }

    #[test]
    fn operations_from_100_000_on_are_committed_by_10_000() {
        let mut meter = Meter::new(None);
        assert_eq!(transactions(Strategy::Bulk, 99_999, &mut meter), [(Scope::Batch, 0, 99_999)]);
        for by in [Strategy::Bulk, Strategy::Every(10_000)] {
            let long = transactions(by, 100_001, &mut meter);
            let full = (0..10).map(|batch| (Scope::Batch, batch * 10_000, 10_000));
            assert_eq!(long, full.chain([(Scope::Batch, 100_000, 1)]).collect::<Vec<_>>());
            assert_eq!(meter.measured().ops, 100_001);
        }
        assert_eq!(
            transactions(Strategy::OneTransaction, 100_001, &mut meter),
            [(Scope::Batch, 0, 100_001)]
        );
        assert_eq!(
            transactions(Strategy::CommitEach, 100_001, &mut meter),
            [(Scope::PerOperation, 0, 100_001)]
        );
        assert_eq!(transactions(Strategy::Bulk, 0, &mut meter), [(Scope::Batch, 0, 0)]);
    }

    #[test]
    fn the_cap_ends_a_batch_between_two_operations_and_none_follows() {
        let mut meter = Meter::new(Some(Duration::from_nanos(1)));
        let all = transactions(Strategy::Bulk, 200_000, &mut meter);
        assert!(meter.measured().capped && all == [(Scope::Batch, 0, 1)], "{all:?}");
    }

    #[test]
    fn a_cap_that_passes_in_a_commit_ends_the_phase_after_it() {
        let mut meter = Meter::new(Some(Duration::from_millis(200)));
        meter.start();
        let done = Strategy::Bulk.each(200_000, &mut meter, |_, part| {
            let done = part.each(|_| Ok(()));
            std::thread::sleep(Duration::from_millis(201));
            done
        });
        meter.stop();
        assert_eq!((done.unwrap(), meter.measured().capped), (10_000, true));
    }

    #[test]
    fn an_error_ends_the_phase_with_what_was_done_before_it() {
        let mut meter = Meter::new(None);
        meter.start();
        let refused = || embermark_contract::EngineError::failed("a store", "put", "it is full");
        let done = Strategy::Bulk.each(200_000, &mut meter, |_, part| {
            part.each(|i| if i == 12_345 { Err(refused()) } else { Ok(()) })
        });
        meter.stop();
        assert!(done.unwrap_err().to_string().contains("it is full"));
        assert_eq!(meter.measured().ops, 12_345);
    }
}
