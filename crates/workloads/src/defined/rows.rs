//! Rows of a table on their way into a bulk load.

use std::ops::Range;

use embermark_meter::Meter;

use super::table_rows::Rows;
use crate::strategy::Part;

/// Rows between two looks at the clock.
const BETWEEN_LOOKS: usize = 4_096;

/// How many rows, or operations, were given to an engine at once, which ends with all of them or with the time.
pub(super) struct Given<'a> {
    first: usize,
    most: usize,
    /// The number of the next one.
    given: usize,
    /// Of a load that the time may end.
    meter: Option<&'a mut Meter>,
}

impl<'a> Given<'a> {
    /// None yet, of `most`.
    pub(super) const fn new(most: usize, meter: &'a mut Meter) -> Self {
        Self { first: 0, most, given: 0, meter: Some(meter) }
    }

    /// None yet, of the operations of a part.
    pub(super) fn of_part(part: Part<'a>) -> Self {
        let (meter, range) = part.into_parts();
        let [first, most] = [range.start, range.end].map(|n| n as usize);
        Self { first, most, given: first, meter: Some(meter) }
    }

    /// The number of the next one.
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

    /// Counts them as operations, once the engine has them; how many they are.
    pub(super) const fn count(&mut self) -> u64 {
        let given = (self.given - self.first) as u64;
        if let Some(meter) = &mut self.meter {
            meter.count(given);
        }
        given
    }
}

/// Gives the first rows of a table one at a time, in the order of their file or of their keys.
pub(super) struct Source<'a> {
    rows: &'a Rows,
    by_key: Option<ByKey<'a>>,
    given: Given<'a>,
}

/// The places of the first rows of a table, in the order of their keys.
pub(super) struct ByKey<'a> {
    rows: &'a Rows,
    most: usize,
    next: usize,
}

impl Iterator for ByKey<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        // The order of keys is that of all rows, those that are not loaded among them.
        while self.next < self.rows.staged.rows() {
            let place = self.rows.staged.nth_by_key(self.next);
            self.next += 1;
            if place < self.most {
                return Some(place);
            }
        }
        None
    }
}

impl Rows {
    /// The places of the first `most` rows, in the order of their keys.
    pub(super) const fn by_key(&self, most: usize) -> ByKey<'_> {
        ByKey { rows: self, most, next: 0 }
    }

    /// Some rows on their way into a table.
    pub(super) const fn between(&self, rows: Range<usize>) -> Source<'_> {
        let Range { start: first, end: most } = rows;
        let given = Given { first, most, given: first, meter: None };
        Source { rows: self, by_key: None, given }
    }

    /// The first `most` rows on their way into a bulk load.
    pub(super) fn source<'a>(
        &'a self,
        most: usize,
        sorted: bool,
        meter: &'a mut Meter,
    ) -> Source<'a> {
        let by_key = sorted.then(|| self.by_key(most));
        Source { rows: self, by_key, given: Given::new(most, meter) }
    }
}

impl<'a> Source<'a> {
    /// The next row.
    #[inline]
    pub(super) fn advance(&mut self) -> Option<(&'a Rows, usize)> {
        let n = self.given.next()?;
        let place = match &mut self.by_key {
            Some(by_key) => by_key.next()?,
            None => n,
        };
        Some((self.rows, place))
    }

    /// Counts them as operations, once the load has ended.
    pub(super) const fn count_given(&mut self) {
        self.given.count();
    }
}
