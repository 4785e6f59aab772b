//! Rows on their way into a bulk load, whatever they are.

use embermark_meter::Meter;

/// Rows between two looks at the clock.
const BETWEEN_LOOKS: usize = 4_096;

/// Gives rows one at a time, in the order wanted, until they or the time are used up.
pub(crate) struct RowSource<'a, T> {
    rows: &'a [T],
    order: Option<Vec<u32>>,
    given: usize,
    meter: &'a mut Meter,
}

impl<'a, T> RowSource<'a, T> {
    /// Feeds rows as they come, or by an order of their places.
    pub(crate) const fn new(rows: &'a [T], order: Option<Vec<u32>>, meter: &'a mut Meter) -> Self {
        Self { rows, order, given: 0, meter }
    }

    /// Rows given so far.
    #[cfg(test)]
    pub(crate) const fn given(&self) -> u64 {
        self.given as u64
    }

    /// Counts them as operations, once the load has ended.
    pub(crate) const fn count_given(&mut self) {
        self.meter.count(self.given as u64);
    }

    /// The next row, until all or the time are used up.
    #[inline]
    pub(crate) fn advance(&mut self) -> Option<&'a T> {
        let at = self.given;
        if at >= self.rows.len() {
            return None;
        }
        if at > 0 && at.is_multiple_of(BETWEEN_LOOKS) && self.meter.expired() {
            return None;
        }
        self.given += 1;
        match &self.order {
            Some(order) => self.rows.get(*order.get(at)? as usize),
            None => self.rows.get(at),
        }
    }
}
