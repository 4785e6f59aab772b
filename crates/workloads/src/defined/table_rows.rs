//! The rows of a table in a cell.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use embermark_contract::EngineError;
use embermark_data::table::StagedTable;
use embermark_language::{Bound, Condition};
use embermark_model::table::{ColumnType, Table, TimeUnit, Value};
use smallvec::SmallVec;

use super::{Result, fingerprint};
use crate::WorkloadError;

/// Rows per value of a column from which a search per value is worth it.
const WORTH_A_LOOK_UP: usize = 20;

/// Number of first rows whose texts are measured.
const FIRST: usize = 1_000;

/// Values of a key, or of some columns.
pub(super) type Values<'a> = SmallVec<[Value<'a>; 8]>;

/// The rows of a table.
pub(super) struct Rows {
    /// The file's definition of it.
    pub table: &'static Table,
    /// Its rows.
    pub staged: StagedTable,
    /// Number of rows to load, from the first. Mixes insert the others.
    pub loaded: usize,
    /// By column, the least and the greatest integer or time of the loaded rows. Empty if all rows
    /// are loaded.
    pub extremes: Vec<Option<(i64, i64)>>,
    /// Number of rows in the database while a mix inserts some.
    pub there: AtomicUsize,
    /// Number of rows given out to insert, including the loaded ones.
    pub taken: AtomicUsize,
    /// How its rows repeat after the last, in a table of which a `keep` keeps a window.
    pub repetition: Option<Repetition>,
    /// Number of repetitions before the last row read. The next row is probably near it, and a
    /// division takes as long as ten values.
    pub lap: AtomicUsize,
}

/// Rows that repeat, each time later. A row after the table's last one is such a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repetition {
    /// The column of time, which orders the rows.
    pub time: usize,
    /// How much later they repeat, in the unit of time: longer than from the first row to the last.
    pub units: i64,
    /// Whether questions run while rows are inserted. Their `end` is the newest row so far.
    pub asked: bool,
}

impl Repetition {
    /// Creates a repetition of a table's rows that shifts them by a whole number of `step`, longer
    /// than from the first row to the last.
    ///
    /// # Errors
    /// [`WorkloadError::Unfit`] if the shift exceeds 64 bits.
    pub(super) fn new(rows: &Rows, time: usize, step: i64, asked: bool) -> Result<Self> {
        let (first, last) = rows.ends_of_all(time);
        let length = i128::from(last) - i128::from(first) + 1;
        let step = i128::from(step);
        match i64::try_from((length + step - 1) / step * step) {
            Ok(units) => Ok(Self { time, units, asked }),
            Err(_) => {
                let Table { name, columns, .. } = rows.table;
                Err(WorkloadError::Unfit(format!(
                    "table '{name}': its rows cannot come again with later times, because the \
                     times of '{}' already span 64 bits: {}",
                    columns[time].name,
                    rows.with_room(time)
                )))
            }
        }
    }
}

impl Rows {
    /// Sets the number of rows in the database before clients insert any.
    pub(super) fn begin(&self, there: usize) {
        self.there.store(there, Ordering::Relaxed);
        self.taken.store(there, Ordering::Relaxed);
    }

    /// Returns a value of a row, also of one that [repeats](Self::repetition).
    #[inline]
    pub(super) fn value(&self, place: usize, column: usize) -> Value<'_> {
        if place < self.staged.rows() {
            return self.staged.value(place, column);
        }
        self.repeated_value(place, column)
    }

    #[inline(never)]
    fn repeated_value(&self, place: usize, column: usize) -> Value<'_> {
        let all = self.staged.rows();
        let mut lap = self.lap.load(Ordering::Relaxed);
        if place.wrapping_sub(lap * all) >= all {
            lap = place / all;
            self.lap.store(lap, Ordering::Relaxed);
        }
        let place = place - lap * all;
        match (self.staged.value(place, column), self.repetition) {
            (Value::Int(at), Some(Repetition { time, units, .. })) if time == column => {
                // Phases that need rows beyond the last time are refused. Searches by time see them.
                Value::Int(at.saturating_add((lap as i64).saturating_mul(units)))
            }
            (value, _) => value,
        }
    }

    /// Returns the number of rows, repeated ones included, whose times are at least `margin` before
    /// the last one of 64 bits. Repetitions count as a whole.
    pub(super) fn most(&self, margin: i64) -> usize {
        let rows = self.staged.rows();
        let Some(Repetition { time, units, .. }) = self.repetition else { return rows };
        let (_, end) = self.ends_of_all(time);
        let left = i128::from(i64::MAX) - i128::from(end) - i128::from(margin);
        let laps = if left < 0 { 0 } else { left / i128::from(units.max(1)) + 1 };
        usize::try_from(laps).unwrap_or(usize::MAX).saturating_mul(rows)
    }

    /// Returns the error of a phase that needs more rows than [have times](Self::most). `shorter`
    /// is its key that bounds their number.
    pub(super) fn out_of_times(&self, most: usize, shorter: &str) -> EngineError {
        let Table { name, columns, .. } = self.table;
        let time = self.repetition.map_or(0, |repetition| repetition.time);
        EngineError::impossible(format!(
            "table '{name}': its rows come again with later times, and after {most} rows the times \
             of '{}' exceed 64 bits: {}, or write a shorter '{shorter}'",
            columns[time].name,
            self.with_room(time)
        ))
    }

    /// Returns what to write so that a column has room for later times.
    fn with_room(&self, time: usize) -> String {
        let coarser = match self.column_type(time) {
            ColumnType::Timestamp(TimeUnit::Nanoseconds) => TimeUnit::Microseconds,
            ColumnType::Timestamp(TimeUnit::Microseconds) => TimeUnit::Milliseconds,
            ColumnType::Timestamp(TimeUnit::Milliseconds) => TimeUnit::Seconds,
            _ => return "take rows of a shorter time".to_owned(),
        };
        format!("take unit = \"{}\"", coarser.name())
    }

    /// Returns all values of a row.
    pub(super) fn row(&self, place: usize) -> impl Iterator<Item = Value<'_>> {
        (0..self.table.columns.len()).map(move |column| self.value(place, column))
    }

    /// Returns the key of a row.
    pub(super) fn key(&self, place: usize) -> Values<'_> {
        self.table.key.iter().map(|column| self.value(place, *column)).collect()
    }

    /// Returns whether columns, each once and in the table's order, are all columns of the table.
    pub(super) const fn is_whole(&self, columns: &[usize]) -> bool {
        columns.len() == self.table.columns.len()
    }

    /// Returns the type of a column.
    pub(super) fn column_type(&self, column: usize) -> ColumnType {
        self.table.columns[column].of
    }

    /// Returns the positions of the loaded rows in key order, from the n-th key of all rows on.
    pub(super) fn in_key_order_from(&self, nth: usize) -> impl Iterator<Item = usize> {
        let places = (nth..self.staged.rows()).map(|nth| self.staged.nth_by_key(nth));
        places.filter(|place| *place < self.loaded)
    }

    /// Returns the value that a condition compares its column with.
    pub(super) fn bound<'a>(&'a self, condition: &'a Condition) -> Value<'a> {
        match &condition.bound {
            Bound::Constant(value) => value.as_value(),
            Bound::Start(units) => Value::Int(self.start(condition.column).saturating_add(*units)),
            Bound::End(units) => Value::Int(self.end(condition.column).saturating_add(*units)),
        }
    }

    /// Returns the last time of rows that are this old.
    pub(super) fn older(&self, time: usize, units: i64) -> i64 {
        self.end(time).saturating_sub(units)
    }

    /// Returns the bytes of the values of the first loaded rows, at the width of their types.
    pub(super) fn user_bytes(&self, rows: usize) -> u64 {
        (0..self.loaded.min(rows)).map(|place| self.staged.user_bytes(place)).sum()
    }

    /// Returns the approximate bytes of a row in a store, key and value. Texts count as long as the
    /// first ones.
    pub(super) fn bytes(&self) -> usize {
        (0..self.table.columns.len()).map(|column| self.bytes_of(column) + 1).sum()
    }

    /// Returns the approximate bytes of an encoded key.
    pub(super) fn key_bytes(&self) -> usize {
        self.table.key.iter().map(|column| self.bytes_of(*column).max(8)).sum()
    }

    fn bytes_of(&self, column: usize) -> usize {
        // A document has its name, punctuation, and digits.
        let name = self.table.columns[column].within.as_ref().map(|own| own.field.len() + 4);
        if let Some(width) = self.column_type(column).width() {
            return name.map_or(width as usize, |name| name + 20);
        }
        let of_text = |place| text_bytes(self.staged.value(place, column));
        let some = self.staged.rows().min(FIRST);
        // The bytes of its length, and a twentieth more than the first rows have.
        8 + name.unwrap_or_default() + (0..some).map(of_text).sum::<usize>() * 21 / 20 / some.max(1)
    }

    /// Returns the bytes of a column's longest text or byte string among the first `rows` rows.
    pub(super) fn longest(&self, column: usize, rows: usize) -> usize {
        let lengths = (0..rows).map(|place| text_bytes(self.staged.value(place, column)));
        lengths.max().unwrap_or_default()
    }

    /// Returns the first row of each value that the loaded rows have in a column, without absent
    /// ones.
    pub(super) fn places_of_distinct(&self, column: usize) -> impl Iterator<Item = usize> {
        let mut prints = HashSet::new();
        (0..self.loaded).filter(move |place| {
            let value = self.staged.value(*place, column);
            value != Value::Null && prints.insert(fingerprint([value]).bits())
        })
    }

    /// Returns whether a column has so few values that a search per value is worth it.
    pub(super) fn has_few(&self, column: usize) -> bool {
        self.places_of_distinct(column).count() * WORTH_A_LOOK_UP <= self.loaded
    }

    /// Returns whether the key is value and time, so that a value has one row per time.
    pub(super) fn is_one_at_a_time(&self, by: usize, time: usize) -> bool {
        let key = &self.table.key;
        *key == [by, time] || *key == [time, by]
    }

    /// Returns whether the key or an index begins with these columns in this order.
    pub(super) fn finds(&self, columns: &[usize]) -> bool {
        let mut orders = std::iter::once(&self.table.key).chain(&self.table.indexes);
        orders.any(|order| order.starts_with(columns))
    }

    /// Returns the greatest time of a column in the loaded rows: the `end` of conditions. Rows that
    /// only a mix inserts do not count, because without the mix they are not in the database. For
    /// rows that repeat endlessly it is the newest so far. 0 without rows.
    pub(super) fn end(&self, time: usize) -> i64 {
        if let Some(Repetition { time: by, asked: true, .. }) = self.repetition
            && by == time
        {
            let newest = self.there.load(Ordering::Relaxed).saturating_sub(1);
            return if let Value::Int(end) = self.value(newest, time) { end } else { 0 };
        }
        self.ends(time).1
    }

    /// Returns whether one of its times is before 1970.
    pub(super) fn early(&self) -> bool {
        let columns = self.table.columns.iter().enumerate();
        let mut times = columns.filter(|(_, of)| matches!(of.of, ColumnType::Timestamp(_)));
        times.any(|(column, _)| self.ends_of_all(column).0 < 0)
    }

    /// Returns the least time in the loaded rows: the `start` of conditions.
    pub(super) fn start(&self, time: usize) -> i64 {
        self.ends(time).0
    }

    /// Returns the least and the greatest time of the loaded rows.
    fn ends(&self, time: usize) -> (i64, i64) {
        let loaded = self.extremes.get(time).copied().flatten();
        loaded.unwrap_or_else(|| self.ends_of_all(time))
    }

    /// Returns the least and the greatest time of all rows, those that mixes insert included. 0
    /// without rows.
    pub(super) fn ends_of_all(&self, time: usize) -> (i64, i64) {
        match (self.staged.least(time), self.staged.greatest(time)) {
            (Value::Int(least), Value::Int(greatest)) => (least, greatest),
            _ => (0, 0),
        }
    }
}

/// Returns the bytes of a text or byte string. 0 for other values.
pub(super) const fn text_bytes(value: Value<'_>) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}
