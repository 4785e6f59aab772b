//! Rows that arrive later than their time, behind others that were made after them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use embermark_model::table::{Column, Late, Table};

use super::writer::Row;
use crate::draw::Draw;

/// The stream of the draws: those of columns are numbered from 0 on.
const STREAM: u64 = 1 << 40;

/// Puts rows into the order in which they arrive. It holds those that are on their way.
pub(super) struct Arrivals {
    /// The column of the time, which never goes back from row to row.
    time: usize,
    late: Late,
    draw: Draw,
    /// The time of the newest row.
    now: i64,
    sent: u64,
    waiting: BinaryHeap<Reverse<Waiting>>,
}

/// A row on its way.
struct Waiting {
    arrives: i64,
    number: u64,
    row: Row,
}

impl Arrivals {
    /// `None` where no row of the table is late.
    pub(super) fn of(table: &Table, place: usize, seed: u64) -> Option<Self> {
        let late = |(time, column): (usize, &Column)| Some((time, column.make.as_ref()?.late?));
        let (time, late) = table.columns.iter().enumerate().find_map(late)?;
        let draw = Draw::new(seed, STREAM + place as u64);
        Some(Self { time, late, draw, now: i64::MIN, sent: 0, waiting: BinaryHeap::new() })
    }

    /// Sends a row off.
    pub(super) fn send(&mut self, row: Row) {
        self.now = self.now.max(row[self.time].cast_signed());
        let (is_late, delay) = (self.draw.unit() < self.late.share, self.draw.unit());
        let delay = if is_late { (self.late.within as f64 * delay) as i64 } else { 0 };
        let arrives = self.now.saturating_add(delay);
        self.waiting.push(Reverse(Waiting { arrives, number: self.sent, row }));
        self.sent += 1;
    }

    /// A row that arrives before any that is not sent yet.
    pub(super) fn arrived(&mut self) -> Option<Row> {
        let Reverse(first) = self.waiting.peek()?;
        // Rows of the newest time may still be made.
        if first.arrives < self.now { self.waiting.pop().map(|first| first.0.row) } else { None }
    }

    /// All that are still on their way.
    pub(super) fn rest(mut self) -> impl Iterator<Item = Row> {
        std::iter::from_fn(move || self.waiting.pop().map(|first| first.0.row))
    }
}

impl Waiting {
    const fn order(&self) -> (i64, u64) {
        (self.arrives, self.number)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Waiting {}
