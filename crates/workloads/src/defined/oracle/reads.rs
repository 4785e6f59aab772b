//! Expected results of reads by key and of ranges.

use std::sync::Arc;

use embermark_language::{Range, Span};
use embermark_model::fingerprint::Checksum;

use super::content::Touched;
use super::times::{self, TimeOrder};
use super::{Oracle, Print, existing, values};

impl Oracle {
    pub(super) fn got(&self, phase: usize, ops: u64, print: &Print<'_>) -> Checksum {
        let rows = self.cell.rows_of(phase);
        let there = existing(&self.cell, phase, 0..ops as usize);
        there.map(|(_, place)| print(&values(rows, place))).collect()
    }

    /// Returns the rows as each read-modify-write finds them.
    pub(super) fn read_before(&self, phase: usize, ops: u64, print: &Print<'_>) -> Checksum {
        let (cell, rows, mut touched) = (&*self.cell, self.cell.rows_of(phase), Touched::default());
        let before = existing(cell, phase, 0..ops as usize).map(|(i, place)| {
            let before = print(&touched.row(cell, rows, place));
            touched.set(cell, place, phase, i);
            before
        });
        before.collect()
    }

    pub(super) fn ranged(
        &mut self,
        phase: usize,
        range: &Range,
        ops: u64,
        print: &Print<'_>,
    ) -> Checksum {
        let cell = Arc::clone(&self.cell);
        let rows = &cell.tables[range.table];
        let mut read = Checksum::default();
        match range.span {
            Span::Rows { .. } => {
                for i in 0..ops as usize {
                    let key = cell.key(phase, i);
                    let (Ok(nth) | Err(nth)) = rows.staged.find(&key);
                    let wanted = cell.wanted(phase, i) as usize;
                    let from = rows.in_key_order_from(nth).take(wanted);
                    from.for_each(|place| read += print(&values(rows, place)));
                }
            }
            Span::Last { of, time, .. } | Span::From { of, time, .. } => {
                let order: Vec<usize> = of.into_iter().chain([time]).collect();
                if rows.table.key.starts_with(&order) {
                    for i in 0..ops as usize {
                        let (from, to) = cell.times(phase, i);
                        let places =
                            times::in_key_order(rows, cell.range_value(phase, i), from, to);
                        places.for_each(|place| read += print(&values(rows, place)));
                    }
                    return read;
                }
                let order =
                    self.orders.entry(phase).or_insert_with(|| TimeOrder::new(rows, of, time));
                for i in 0..ops as usize {
                    let (from, to) = cell.times(phase, i);
                    for place in order.between(rows, cell.range_value(phase, i), from, to) {
                        read += print(&values(rows, place));
                    }
                }
            }
        }
        read
    }
}
