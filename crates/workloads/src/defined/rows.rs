//! Rows of a table for a bulk load.

use std::ops::Range;

use embermark_meter::Meter;

use super::Rows;
use crate::strategy::Part;

/// Number of rows between two readings of the clock.
const BETWEEN_LOOKS: usize = 4_096;

/// Rows or operations given to an engine at once. They end with the last one, or when the time is
/// over.
pub(super) struct Given<'a> {
    first: usize,
    most: usize,
    /// Number of the next one.
    given: usize,
    /// Meter of a load that the time can end.
    meter: Option<&'a mut Meter>,
}

impl<'a> Given<'a> {
    /// Starts with the first of `most`.
    pub(super) const fn new(most: usize, meter: &'a mut Meter) -> Self {
        Self { first: 0, most, given: 0, meter: Some(meter) }
    }

    /// Starts with the first operation of a part.
    pub(super) fn of_part(part: Part<'a>) -> Self {
        let (meter, range) = part.into_parts();
        let [first, most] = [range.start, range.end].map(|n| n as usize);
        Self { first, most, given: first, meter: Some(meter) }
    }

    /// Returns the number of the next one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<usize> {
        let n = self.given;
        let looks = n > self.first && (n - self.first).is_multiple_of(BETWEEN_LOOKS);
        let is_over = looks && self.meter.as_mut().is_some_and(|meter| meter.expired());
        if n >= self.most || is_over {
            return None;
        }
        self.given += 1;
        Some(n)
    }

    /// Counts them as operations, once the engine has them. Returns their number.
    pub(super) const fn count(&mut self) -> u64 {
        let given = (self.given - self.first) as u64;
        if let Some(meter) = &mut self.meter {
            meter.count(given);
        }
        given
    }
}

/// Returns rows of a table one at a time, in the order of their file or of their keys.
pub(super) struct Source<'a> {
    rows: &'a Rows,
    /// Number of the next key, if rows come in key order.
    nth: Option<usize>,
    given: Given<'a>,
}

impl Rows {
    /// Returns some rows for a table.
    pub(super) const fn between(&self, rows: Range<usize>) -> Source<'_> {
        let Range { start: first, end: most } = rows;
        let given = Given { first, most, given: first, meter: None };
        Source { rows: self, nth: None, given }
    }

    /// Returns the rows for a bulk load.
    pub(super) fn source<'a>(&'a self, sorted: bool, meter: &'a mut Meter) -> Source<'a> {
        Source { rows: self, nth: sorted.then_some(0), given: Given::new(self.loaded, meter) }
    }
}

impl<'a> Source<'a> {
    /// Returns the next row.
    #[inline]
    pub(super) fn advance(&mut self) -> Option<(&'a Rows, usize)> {
        let (n, rows) = (self.given.next()?, self.rows);
        let Some(nth) = &mut self.nth else { return Some((rows, n)) };
        loop {
            let place = rows.staged.nth_by_key(*nth);
            *nth += 1;
            // Key order includes all rows, also those that are not loaded.
            if place < rows.loaded {
                return Some((rows, place));
            }
        }
    }

    /// Counts the rows as operations, once the load has ended.
    pub(super) const fn count_given(&mut self) {
        self.given.count();
    }
}
