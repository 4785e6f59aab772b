//! Rows of a table on their way into a bulk load.

use embermark_meter::Meter;

use super::cell::Rows;

/// Rows between two looks at the clock.
const BETWEEN_LOOKS: usize = 4_096;

/// Gives the first rows of a table one at a time, in the order of their file or of their keys, until they
/// or the time are used up.
pub(super) struct Source<'a> {
    rows: &'a Rows,
    /// How many.
    most: usize,
    sorted: bool,
    /// The next place, or, where they are sorted, the next in the order of keys.
    next: usize,
    given: u64,
    meter: &'a mut Meter,
}

impl Rows {
    /// The first `most` rows on their way into a bulk load.
    pub(super) const fn source<'a>(
        &'a self,
        most: usize,
        sorted: bool,
        meter: &'a mut Meter,
    ) -> Source<'a> {
        Source { rows: self, most, sorted, next: 0, given: 0, meter }
    }
}

impl<'a> Source<'a> {
    /// The next row.
    #[inline]
    pub(super) fn advance(&mut self) -> Option<(&'a Rows, usize)> {
        if self.given as usize >= self.most
            || (self.given > 0
                && (self.given as usize).is_multiple_of(BETWEEN_LOOKS)
                && self.meter.expired())
        {
            return None;
        }
        let mut place = self.next;
        if self.sorted {
            // The order of keys is that of all rows, those that are not loaded among them.
            place = loop {
                let place = self.rows.staged.nth_by_key(self.next);
                if place < self.most {
                    break place;
                }
                self.next += 1;
            };
        }
        self.next += 1;
        self.given += 1;
        Some((self.rows, place))
    }

    /// Counts them as operations, once the load has ended.
    pub(super) const fn count_given(&mut self) {
        self.meter.count(self.given);
    }
}
