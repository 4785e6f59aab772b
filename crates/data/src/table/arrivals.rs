//! Simulates rows that arrive late, after rows with a later time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use embermark_model::table::{Column, Late, Table};

use super::writer::Row;
use crate::draw::Draw;

/// Stream of the random numbers. Those of columns are numbered from 0.
const STREAM: u64 = 1 << 40;

/// Reorders rows by arrival. It holds the rows that have not arrived yet.
pub(super) struct Arrivals {
    /// Index of the time column, which never decreases from row to row.
    time: usize,
    late: Late,
    draw: Draw,
    /// Time of the newest row.
    now: i64,
    sent: u64,
    /// Arrival time, number and content of each row.
    waiting: BinaryHeap<Reverse<(i64, u64, Row)>>,
}

impl Arrivals {
    /// Makes the order of arrival of a table's rows. `None` if no row of the table can be late.
    pub(super) fn new(table: &Table, place: usize, seed: u64) -> Option<Self> {
        let late = |(time, column): (usize, &Column)| Some((time, column.make.as_ref()?.late?));
        let (time, late) = table.columns.iter().enumerate().find_map(late)?;
        let draw = Draw::new(seed, STREAM + place as u64);
        Some(Self { time, late, draw, now: i64::MIN, sent: 0, waiting: BinaryHeap::new() })
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: Row) {
        self.now = self.now.max(row[self.time].cast_signed());
        let (is_late, delay) = (self.draw.unit() < self.late.share, self.draw.unit());
        let delay = if is_late { (self.late.within as f64 * delay) as i64 } else { 0 };
        let arrives = self.now.saturating_add(delay);
        self.waiting.push(Reverse((arrives, self.sent, row)));
        self.sent += 1;
    }

    /// Removes and returns a row that arrives before any row that is not added yet.
    pub(super) fn pop_arrived(&mut self) -> Option<Row> {
        let Reverse((arrives, ..)) = self.waiting.peek()?;
        // Rows of the newest time may still be generated.
        if *arrives < self.now { self.next() } else { None }
    }

    /// Returns all rows that have not arrived yet.
    pub(super) fn rest(mut self) -> impl Iterator<Item = Row> {
        std::iter::from_fn(move || self.next())
    }

    fn next(&mut self) -> Option<Row> {
        self.waiting.pop().map(|Reverse((_, _, row))| row)
    }
}
