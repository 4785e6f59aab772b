//! The rows of a table of a cell.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use embermark_data::table::StagedTable;
use embermark_language::{Bound, Condition};
use embermark_model::table::{ColumnType, Table, Value};
use smallvec::SmallVec;

use super::port::fingerprint;

/// How many rows each value of a column has, for it to be worth a look-up of its own.
const WORTH_A_LOOK_UP: usize = 20;

/// Rows whose texts say how long those of a column are.
const FIRST: usize = 1_000;

/// The values of a key, or of some columns.
pub(super) type Values<'a> = SmallVec<[Value<'a>; 8]>;

/// The rows of a table.
pub(super) struct Rows {
    /// What the file says of it.
    pub table: &'static Table,
    /// Its rows.
    pub staged: StagedTable,
    /// How many of them, from the first, are loaded: what is beyond is inserted by mixes.
    pub loaded: usize,
    /// How many are there while a mix inserts some.
    pub there: AtomicUsize,
    /// How many have been given out to be inserted, the loaded ones among them.
    pub taken: AtomicUsize,
    /// How its rows come again when all of them have come, of a table of which a `keep` keeps a window.
    pub again: Option<Again>,
    /// How often all have come before the row beyond the last that was looked at: the next one is likely beside it, and
    /// a division takes as long as ten values.
    pub lap: AtomicUsize,
}

/// Rows that come again, each time later: a row beyond the last one of the table is one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    /// The column of time, by which the rows are in order.
    pub time: usize,
    /// How much later, in its unit: longer than from the first row to the last.
    pub units: i64,
    /// Whether questions are asked meanwhile, whose `end` is then the newest row that has come.
    pub asked: bool,
}

/// A row that a mix inserts.
pub(super) struct Inserted<'a> {
    rows: &'a Rows,
    pub place: usize,
}

impl<'a> Inserted<'a> {
    /// The next one; `None` where all are used up.
    pub(super) fn next(rows: &'a Rows) -> Option<Self> {
        let place = rows.taken.fetch_add(1, Ordering::Relaxed);
        (place < rows.staged.rows()).then_some(Self { rows, place })
    }

    /// Its commit was acknowledged.
    pub(super) fn acknowledged(self) {
        self.rows.there.fetch_add(1, Ordering::Relaxed);
    }
}

impl Rows {
    /// So many rows are there before any is inserted by clients.
    pub(super) fn begin(&self, there: usize) {
        self.there.store(there, Ordering::Relaxed);
        self.taken.store(there, Ordering::Relaxed);
    }

    /// A value of a row, also of one that [comes again](Self::again).
    #[inline]
    pub(super) fn value(&self, place: usize, column: usize) -> Value<'_> {
        if place < self.staged.rows() {
            return self.staged.value(place, column);
        }
        self.value_again(place, column)
    }

    #[inline(never)]
    fn value_again(&self, place: usize, column: usize) -> Value<'_> {
        let all = self.staged.rows();
        let mut lap = self.lap.load(Ordering::Relaxed);
        if place.wrapping_sub(lap * all) >= all {
            lap = place / all;
            self.lap.store(lap, Ordering::Relaxed);
        }
        let place = place - lap * all;
        match (self.staged.value(place, column), self.again) {
            (Value::Int(at), Some(Again { time, units, .. })) if time == column => {
                Value::Int(at + lap as i64 * units)
            }
            (value, _) => value,
        }
    }

    /// All values of a row.
    pub(super) fn row(&self, place: usize) -> impl Iterator<Item = Value<'_>> {
        (0..self.table.columns.len()).map(move |column| self.value(place, column))
    }

    /// The key of a row.
    pub(super) fn key(&self, place: usize) -> Values<'_> {
        self.table.key.iter().map(|column| self.value(place, *column)).collect()
    }

    /// Whether some columns, each once and in the order of the table, are all there are.
    pub(super) const fn is_whole(&self, columns: &[usize]) -> bool {
        columns.len() == self.table.columns.len()
    }

    /// What stands in a column.
    pub(super) fn of(&self, column: usize) -> ColumnType {
        self.table.columns[column].of
    }

    /// Places of the loaded rows in the order of their keys, from the nth key of all on.
    pub(super) fn in_key_order_from(&self, nth: usize) -> impl Iterator<Item = usize> {
        let places = (nth..self.staged.rows()).map(|nth| self.staged.nth_by_key(nth));
        places.filter(|place| *place < self.loaded)
    }

    /// With what a condition compares its column.
    pub(super) fn bound<'a>(&'a self, condition: &'a Condition) -> Value<'a> {
        match &condition.bound {
            Bound::Constant(value) => value.as_value(),
            Bound::Start(units) => Value::Int(self.start(condition.column).saturating_add(*units)),
            Bound::End(units) => Value::Int(self.end(condition.column).saturating_add(*units)),
        }
    }

    /// Up to which time, itself included, rows are so old.
    pub(super) fn older(&self, time: usize, units: i64) -> i64 {
        self.end(time).saturating_sub(units)
    }

    /// Bytes of a row in a store, key and value, about: a text as long as the first ones are.
    pub(super) fn bytes(&self) -> usize {
        (0..self.table.columns.len()).map(|column| self.bytes_of(column) + 1).sum()
    }

    /// Bytes of a key as it is laid out, about.
    pub(super) fn key_bytes(&self) -> usize {
        self.table.key.iter().map(|column| self.bytes_of(*column).max(8)).sum()
    }

    fn bytes_of(&self, column: usize) -> usize {
        // In a document stand its name, marks, and digits.
        let name = self.table.columns[column].within.as_ref().map(|own| own.field.len() + 4);
        if let Some(width) = self.of(column).width() {
            return name.map_or(width as usize, |name| name + 20);
        }
        let of_text = |place| match self.staged.value(place, column) {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        let some = self.staged.rows().min(FIRST);
        // Where its length lies, and a twentieth more than these say.
        8 + name.unwrap_or_default() + (0..some).map(of_text).sum::<usize>() * 21 / 20 / some.max(1)
    }

    /// Bytes of the longest text, or bytes, of a column among the first `rows` rows.
    pub(super) fn longest(&self, column: usize, rows: usize) -> usize {
        let length = |place| match self.staged.value(place, column) {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        (0..rows).map(length).max().unwrap_or_default()
    }

    /// How many different values the loaded rows have in a column, absent ones apart.
    pub(super) fn distinct(&self, column: usize) -> usize {
        self.places_of_distinct(column).count()
    }

    /// The first row of each value that the loaded rows have in a column, absent ones apart.
    pub(super) fn places_of_distinct(&self, column: usize) -> impl Iterator<Item = usize> {
        let mut prints = HashSet::new();
        (0..self.loaded).filter(move |place| {
            let value = self.staged.value(*place, column);
            value != Value::Null && prints.insert(fingerprint([value]).bits())
        })
    }

    /// Whether the values of a column are so few that each is worth a look-up of its own.
    pub(super) fn has_few(&self, column: usize) -> bool {
        self.distinct(column) * WORTH_A_LOOK_UP <= self.loaded
    }

    /// Whether the key is a value and a time, so that a value has one row of a time.
    pub(super) fn is_one_at_a_time(&self, by: usize, time: usize) -> bool {
        let key = &self.table.key;
        *key == [by, time] || *key == [time, by]
    }

    /// Whether the key, or an index, begins with these columns in this order.
    pub(super) fn finds(&self, columns: &[usize]) -> bool {
        let mut orders = std::iter::once(&self.table.key).chain(&self.table.indexes);
        orders.any(|order| order.starts_with(columns))
    }

    /// The greatest time of a column among all rows, or among those that have come of such that come without end: the
    /// `end` of conditions. 0 where there is none.
    pub(super) fn end(&self, time: usize) -> i64 {
        if let Some(Again { time: by, asked: true, .. }) = self.again
            && by == time
        {
            let newest = self.there.load(Ordering::Relaxed).saturating_sub(1);
            return if let Value::Int(end) = self.value(newest, time) { end } else { 0 };
        }
        if let Value::Int(end) = self.staged.greatest(time) { end } else { 0 }
    }

    /// Whether a time of it lies before 1970.
    pub(super) fn early(&self) -> bool {
        let columns = self.table.columns.iter().enumerate();
        let mut times = columns.filter(|(_, of)| matches!(of.of, ColumnType::Timestamp(_)));
        times.any(|(column, _)| self.start(column) < 0)
    }

    /// The least.
    pub(super) fn start(&self, time: usize) -> i64 {
        if let Value::Int(start) = self.staged.least(time) { start } else { 0 }
    }
}
