//! Keys of a phase's operations, drawn before a clock starts. They are the same for every engine.

use std::collections::HashSet;
use std::ops::Range;

use embermark_data::draw::Draw;
use embermark_data::zipf::{Zipf, scrambled};
use embermark_language::{Keys, KeysOf, Span, Work};
use embermark_model::table::{ColumnType, OwnedValue, Value, int_range};

use super::kind::{is_distinct, keys_of, rows_at_once};
use super::table_rows::Values;
use super::{Result, Rows};
use crate::WorkloadError;

/// Bit that marks a number as that of an absent key.
const ABSENT: u32 = 1 << 31;

/// Number of items from which YCSB draws before it scrambles their ranks over the rows. The size of
/// a table then does not determine how often its likeliest row is drawn
/// (`ScrambledZipfianGenerator` of YCSB).
const SCRAMBLED_OF: u64 = 10_000_000_000;

/// Keys of the operations of a phase. A phase with more operations repeats them.
#[derive(Default)]
pub(super) struct OperationKeys {
    /// Positions of rows. With the bit [`ABSENT`], numbers of absent keys. For the newest rows, the
    /// number of rows that are newer.
    drawn: Vec<u32>,
    /// Whether positions count back from the newest row, which other operations can insert.
    pub from_newest: bool,
    /// For each absent key: the row with its other columns, and its last column.
    absent: Vec<(u32, OwnedValue)>,
    /// Number of rows that each operation of a range reads.
    wanted: Vec<u32>,
    /// For changes of several rows at once: positions of rows in key order, and the part of them
    /// that each operation changes.
    order: Vec<u32>,
    spans: Vec<Range<usize>>,
}

/// Row or absent key of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawnKey {
    /// The row at a position.
    Row(usize),
    /// The absent key with a number.
    Absent(usize),
}

impl OperationKeys {
    /// Draws this many keys.
    ///
    /// # Errors
    /// Fails when absent keys are asked for, but every value of the key's last column exists.
    pub(super) fn new(keys: &Keys, ops: u64, rows: &Rows, draw: &mut Draw) -> Result<Self> {
        let loaded = rows.loaded.max(1) as u64;
        let zipf = match keys.of {
            KeysOf::Uniform | KeysOf::Distinct => None,
            KeysOf::Zipfian { skew } => Some(Zipf::new(SCRAMBLED_OF, skew)),
            KeysOf::Newest { skew } => Some(Zipf::new(loaded, skew)),
        };
        let from_newest = matches!(keys.of, KeysOf::Newest { .. });
        let mut all = Self { from_newest, ..Self::default() };
        all.drawn.reserve_exact(ops as usize);
        for _ in 0..ops {
            let place = match &zipf {
                None => draw.below(loaded as usize) as u64,
                Some(zipf) if from_newest => zipf.draw(draw),
                Some(zipf) => scrambled(zipf.draw(draw), loaded),
            } as u32;
            all.push(place, keys, rows, draw)?;
        }
        Ok(all)
    }

    /// Adds the key of a row, or in its place an absent one.
    fn push(&mut self, place: u32, keys: &Keys, rows: &Rows, draw: &mut Draw) -> Result<()> {
        if keys.absent > 0.0 && draw.unit() < keys.absent {
            self.drawn.push(ABSENT | self.absent.len() as u32);
            self.absent.push((place, absent(rows, place as usize, draw)?));
        } else {
            self.drawn.push(place);
        }
        Ok(())
    }

    /// Draws this many different rows, or every row if there are not more.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does.
    pub(super) fn distinct(keys: &Keys, rows: &Rows, draw: &mut Draw) -> Result<Self> {
        let loaded = rows.loaded as u64;
        let (ops, mut all) = (keys.ops.for_rows(loaded).min(loaded), Self::default());
        if 2 * ops > rows.loaded as u64 {
            // For most of the rows a distribution only decides which come first.
            for place in draw.distinct(rows.loaded, ops as usize) {
                all.push(place, keys, rows, draw)?;
            }
            return Ok(all);
        }
        let mut seen = HashSet::with_capacity(ops as usize);
        while (all.drawn.len() as u64) < ops {
            let some = Self::new(keys, ops, rows, draw)?;
            for i in 0..some.drawn.len() {
                match some.at(i, rows.loaded) {
                    DrawnKey::Absent(number) => {
                        all.drawn.push(ABSENT | all.absent.len() as u32);
                        all.absent.push(some.absent[number].clone());
                    }
                    DrawnKey::Row(place) if seen.insert(place) => all.drawn.push(place as u32),
                    DrawnKey::Row(_) => {}
                }
            }
            // A steep distribution finds few new rows. The rest is drawn evenly.
            let left = (ops as usize).saturating_sub(all.drawn.len());
            let evenly: Vec<_> = (0..left).map(|_| draw.below(rows.loaded)).collect();
            all.drawn.extend(evenly.into_iter().filter(|p| seen.insert(*p)).map(|p| p as u32));
        }
        all.drawn.truncate(ops as usize);
        Ok(all)
    }

    /// Draws ranges of this many rows that are adjacent in key order and share all columns of the
    /// key except the last. No row is in two. Where fewer rows are adjacent, a range has all of
    /// them.
    pub(super) fn ranges(keys: &Keys, rows: &Rows, draw: &mut Draw) -> Self {
        let order: Vec<u32> = rows.in_key_order_from(0).map(|place| place as u32).collect();
        let prefix = |place: &u32| {
            let mut key = rows.key(*place as usize);
            key.pop();
            key
        };
        let (mut tiles, mut at) = (Vec::new(), 0);
        for group in order.chunk_by(|a, b| prefix(a) == prefix(b)) {
            let (n, size) = (group.len(), group.len().min(keys.rows as usize));
            // Starts at one of the first rows, so that another seed gives other ranges.
            let first = at + draw.below(n % size + 1);
            tiles.extend(
                (0..n / size).map(|tile| first + tile * size).map(|from| from..from + size),
            );
            at += n;
        }
        let wanted = usize::try_from(keys.ops.for_rows(rows.loaded as u64)).unwrap_or(usize::MAX);
        let drawn = draw.distinct(tiles.len(), wanted).into_iter();
        let spans: Vec<Range<usize>> = drawn.map(|tile| tiles[tile as usize].clone()).collect();
        // The first row of each represents it.
        let drawn = spans.iter().map(|span| order[span.start]).collect();
        Self { drawn, order, spans, ..Self::default() }
    }

    /// Returns the positions of the rows that operation `i` changes at once, in key order.
    #[inline]
    pub(super) fn span(&self, i: usize) -> &[u32] {
        self.spans.get(i).map_or(&[], |span| &self.order[span.clone()])
    }

    /// Adds the number of rows that each operation reads.
    pub(super) fn wanting(mut self, span: &Span, draw: &mut Draw) -> Self {
        if let Span::Rows { from, to } = *span {
            let width = (to - from + 1) as usize;
            self.wanted =
                self.drawn.iter().map(|_| from as u32 + draw.below(width) as u32).collect();
        }
        self
    }

    /// Returns the row or absent key of operation `i`, in a table of this many rows.
    #[inline]
    pub(super) fn at(&self, i: usize, rows: usize) -> DrawnKey {
        let drawn = self.drawn[begun_again(i, self.drawn.len())];
        if drawn & ABSENT != 0 {
            DrawnKey::Absent((drawn & !ABSENT) as usize)
        } else if self.from_newest {
            DrawnKey::Row(rows.saturating_sub(1 + drawn as usize))
        } else {
            DrawnKey::Row(drawn as usize)
        }
    }

    /// Returns the number of operations drawn.
    pub(super) const fn len(&self) -> usize {
        self.drawn.len()
    }

    /// Returns the row with the other columns of an absent key, and its last column.
    pub(super) fn absent(&self, number: usize) -> (usize, Value<'_>) {
        let (place, last) = &self.absent[number];
        (*place as usize, last.as_value())
    }

    /// Returns the number of rows that operation `i` of a range reads.
    #[inline]
    pub(super) fn wanted(&self, i: usize) -> u64 {
        u64::from(self.wanted[begun_again(i, self.wanted.len())])
    }
}

/// Returns the index of operation `i`, repeated. A division takes as long as a read of a fast
/// engine.
#[inline]
const fn begun_again(i: usize, length: usize) -> usize {
    if i < length { i } else { i % length }
}

/// Returns the number of operations of a phase that runs on its own, in a table of this many rows.
/// More can be drawn, for mixes.
pub(super) fn operations(work: &Work, rows: usize, draws: &OperationKeys) -> u64 {
    match keys_of(work) {
        Some(keys) if rows_at_once(work) == 1 && !is_distinct(work) => {
            keys.ops.for_rows(rows as u64)
        }
        // Not more than there are different rows.
        _ => draws.drawn.len() as u64,
    }
}

/// Returns this many different values of a column of the loaded rows, or all if there are not more.
pub(super) fn values(rows: &Rows, column: usize, count: u64, draw: &mut Draw) -> Vec<OwnedValue> {
    let places: Vec<usize> = rows.places_of_distinct(column).collect();
    let drawn = draw.distinct(places.len(), usize::try_from(count).unwrap_or(usize::MAX));
    let value = |drawn: u32| rows.value(places[drawn as usize], column).to_owned();
    drawn.into_iter().map(value).collect()
}

/// Returns a value of the last column of a row's key with which no row has that key.
fn absent(rows: &Rows, place: usize, draw: &mut Draw) -> Result<OwnedValue> {
    let mut key = rows.key(place);
    let column = rows.table.key.last().copied().unwrap_or_default();
    let last = key.len().saturating_sub(1);
    for attempt in 0..64 {
        let value = match (rows.column_type(column), key[last]) {
            (ColumnType::Int { bits, signed }, Value::Int(_)) => {
                between(rows, column, int_range(bits, signed), attempt, draw)
            }
            (ColumnType::Timestamp(_), Value::Int(_)) => {
                between(rows, column, (0, i64::MAX), attempt, draw)
            }
            (ColumnType::Float, Value::Float(value)) => OwnedValue::Float(value + draw.unit()),
            (ColumnType::Text, Value::Text(text)) => {
                OwnedValue::Text(format!("{text}~{}", draw.below(1_000)))
            }
            (ColumnType::Bytes, Value::Bytes(bytes)) => {
                OwnedValue::Bytes([bytes, &draw.bits().to_le_bytes()].concat())
            }
            _ => break,
        };
        let mut other: Values<'_> = key[..last].iter().copied().collect();
        other.push(value.as_value());
        if rows.staged.find(&other).is_err() {
            drop(other);
            return Ok(value);
        }
        key[last] = rows.value(draw.below(rows.loaded.max(1)), column);
    }
    Err(WorkloadError::NoAbsentKey { table: rows.table.name.clone() })
}

/// Draws an integer, at first between the least and the greatest of the column, then anywhere.
fn between(
    rows: &Rows,
    column: usize,
    (least, most): (i64, i64),
    attempt: u32,
    draw: &mut Draw,
) -> OwnedValue {
    let (from, to) = if attempt < 32 {
        (rows.start(column).max(least), rows.end(column).min(most))
    } else {
        (least, most)
    };
    let width = u64::try_from(i128::from(to) - i128::from(from)).unwrap_or(u64::MAX);
    let step = ((u128::from(draw.bits()) * (u128::from(width) + 1)) >> 64) as u64;
    OwnedValue::Int(from.wrapping_add_unsigned(step))
}

#[cfg(test)]
mod tests;
