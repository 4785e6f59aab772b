//! Expected results of reads by key and of ranges, rows that a phase changes, and the expected
//! content of its table.

use std::sync::Arc;

use embermark_data::table::compare;
use embermark_language::{Range, Removed, Span, Work};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;

use super::super::kind::{one_by_one, rows_at_once};
use super::super::{Rows, fingerprint};
use super::content::Touched;
use super::{Oracle, Print, existing, groups, values};

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
            touched.set(cell, place, (phase, i), true);
            before
        });
        before.collect()
    }

    /// Returns the rows that these operations of a phase find in their ranges.
    pub(in crate::defined) fn ranged(
        &mut self,
        phase: usize,
        range: &Range,
        operations: impl Iterator<Item = usize>,
        print: &Print<'_>,
    ) -> Checksum {
        let cell = Arc::clone(&self.cell);
        let rows = &cell.tables[range.table];
        let mut read = Checksum::default();
        match range.span {
            Span::Rows { .. } => {
                for i in operations {
                    let key = cell.key(phase, i);
                    let (Ok(nth) | Err(nth)) = rows.staged.find(&key);
                    let wanted = cell.wanted(phase, i) as usize;
                    let from = rows.in_key_order_from(nth).take(wanted);
                    from.for_each(|place| read += print(&values(rows, place)));
                }
            }
            Span::Last { of, time, .. } | Span::From { of, time, .. } => {
                let columns: Vec<usize> = of.into_iter().chain([time]).collect();
                let order = if rows.table.key.starts_with(&columns) {
                    None
                } else {
                    let new = || TimeOrder::new(rows, of, time);
                    Some(&*self.orders.entry(phase).or_insert_with(new))
                };
                for i in operations {
                    let (value, (from, to)) = (cell.range_value(phase, i), cell.times(phase, i));
                    let add = |place| read += print(&values(rows, place));
                    match order {
                        Some(order) => order.between(rows, value, from, to).for_each(add),
                        None => in_key_order(rows, value, from, to).for_each(add),
                    }
                }
            }
        }
        read
    }

    /// Returns what the first `ops` operations of a phase change in its table.
    pub fn touched(&self, phase: usize, ops: u64) -> Touched {
        let (cell, operations, mut touched) = (&*self.cell, 0..ops as usize, Touched::default());
        let work = cell.work(phase);
        let change = |touched: &mut Touched, i: usize, place: usize| match work {
            Work::Delete { .. } => touched.delete(place),
            _ => touched.set(cell, place, (phase, i), true),
        };
        match work {
            work if rows_at_once(work) > 1 => {
                for i in operations {
                    let places = cell.operation_keys[phase].span(i).iter();
                    places.for_each(|place| change(&mut touched, i, *place as usize));
                }
            }
            Work::Update { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { removed: Removed::Keys { .. }, .. } => {
                touched.by_key(cell, phase, operations, true);
            }
            Work::UpdateWhere { table, conditions, .. }
            | Work::Delete { table, removed: Removed::Where { conditions, .. } } => {
                let rows = &cell.tables[*table];
                let is_met = groups::met(rows, conditions);
                let met = (0..rows.loaded).filter(|place| is_met(*place));
                met.for_each(|place| change(&mut touched, 0, place));
            }
            Work::Delete { table, removed: Removed::Older { time, units } } => {
                let rows = &cell.tables[*table];
                let until = rows.older(*time, *units);
                let old = |place: &usize| matches!(rows.value(*place, *time), Value::Int(at) if at <= until);
                (0..rows.loaded).filter(old).for_each(|place| touched.delete(place));
            }
            _ => {}
        }
        if one_by_one(work).is_some() {
            touched.reach(ops);
        }
        touched
    }

    /// Returns the checksum of a table's first rows.
    pub fn first(&self, table: usize, rows: usize) -> Checksum {
        let of = &self.cell.tables[table];
        if rows == of.loaded {
            return self.loaded.get_or_init(|| {
                self.cell.tables.iter().map(|rows| first(rows, rows.loaded)).collect()
            })[table];
        }
        first(of, rows)
    }

    /// Returns the checksum of a table after these changes.
    pub fn after(&self, table: usize, touched: &Touched) -> Checksum {
        let mut left = self.first(table, self.cell.tables[table].loaded);
        touched.apply(&self.cell, table, &mut left);
        left
    }

    /// Returns how many operations concern a row that exists.
    pub(super) fn present(&self, phase: usize, ops: u64) -> u64 {
        existing(&self.cell, phase, 0..ops as usize).count() as u64
    }
}

/// Positions of the loaded rows in the order of a column and of time, without absent times.
pub(super) struct TimeOrder {
    of: Option<usize>,
    time: usize,
    places: Vec<u32>,
}

impl TimeOrder {
    pub(super) fn new(rows: &Rows, of: Option<usize>, time: usize) -> Self {
        let there = |place: &u32| rows.value(*place as usize, time) != Value::Null;
        let mut places: Vec<u32> = (0..rows.loaded as u32).filter(there).collect();
        let value = |place: u32, column: usize| rows.value(place as usize, column);
        places.sort_unstable_by(|a, b| {
            let of = of.map(|of| compare(&value(*a, of), &value(*b, of)));
            of.unwrap_or(std::cmp::Ordering::Equal)
                .then_with(|| compare(&value(*a, time), &value(*b, time)))
        });
        Self { of, time, places }
    }

    /// Returns the positions of the rows of a value between two times, the second exclusive.
    pub(super) fn between(
        &self,
        rows: &Rows,
        of: Option<Value<'_>>,
        from: i64,
        to: i64,
    ) -> impl Iterator<Item = usize> {
        let before = |limit: i64| {
            self.places.partition_point(|place| {
                let place = *place as usize;
                let value =
                    self.of.zip(of).map(|(column, of)| compare(&rows.value(place, column), &of));
                let time = compare(&rows.value(place, self.time), &Value::Int(limit));
                value.unwrap_or(std::cmp::Ordering::Equal).then(time).is_lt()
            })
        };
        // An absent value equals none.
        let absent = of == Some(Value::Null);
        let (from, to) = if absent { (0, 0) } else { (before(from), before(to)) };
        self.places[from..to.max(from)].iter().map(|place| *place as usize)
    }
}

/// Returns the same for a table whose key begins with the column, if there is one, and the time.
/// Nothing has to be sorted or kept.
pub(super) fn in_key_order<'a>(
    rows: &'a Rows,
    of: Option<Value<'a>>,
    from: i64,
    to: i64,
) -> impl Iterator<Item = usize> + 'a {
    let key = |time| -> Vec<Value<'a>> { of.into_iter().chain([Value::Int(time)]).collect() };
    let place = |time| {
        let (Ok(nth) | Err(nth)) = rows.staged.find(&key(time));
        nth
    };
    let places = (place(from)..place(to)).map(|nth| rows.staged.nth_by_key(nth));
    places.filter(|place| *place < rows.loaded)
}

pub(super) fn first(rows: &Rows, most: usize) -> Checksum {
    (0..most.min(rows.loaded)).map(|place| fingerprint(rows.row(place))).collect()
}
