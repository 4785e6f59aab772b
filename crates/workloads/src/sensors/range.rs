//! Readings by sensor and time: what the statements of the variant `by-range` change.

use std::ops::Range;

use embermark_model::{Key, Reading};

use super::oracle::Oracle;
use super::sequence::Draw;

/// Readings of a range, where its sensor has as many.
pub(super) const READINGS: usize = 10;

/// Consecutive readings of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub sensor: u16,
    /// The times of the first and of the last of them, in µs.
    pub from: i64,
    pub to: i64,
    /// How many there are.
    pub readings: u64,
}

impl Span {
    /// Its first key, and the lowest one above its last.
    pub(super) const fn keys(&self) -> (Key, Key) {
        let Self { sensor, from, to, .. } = *self;
        (Key { sensor, ts: from }, Key { sensor, ts: to.saturating_add(1) })
    }
}

/// A new temperature in °C for every reading of a range, which none of them has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpanChange {
    pub span: Span,
    pub temperature: f64,
}

/// The ranges of the changes, disjoint in each of the two phases. Beside each stands where it lies among
/// the rows in key order, which the oracle needs.
#[derive(Default)]
pub(super) struct Ranges {
    pub changes: Vec<SpanChange>,
    pub changed: Vec<Range<usize>>,
    pub deletes: Vec<Span>,
    pub deleted: Vec<Range<usize>>,
}

impl Ranges {
    /// Draws a range of [`READINGS`] for twenty rows to update and for a hundred to delete, so that
    /// about half and a tenth of them change.
    pub(super) fn draw(rows: &[Reading], oracle: &Oracle, mut draw: Draw) -> Self {
        let all = tiled(rows, oracle, &mut draw);
        let mut some = |n: usize| -> Vec<Range<usize>> {
            let drawn = draw.distinct(all.len(), (rows.len() / n).max(1));
            drawn.into_iter().map(|tile| all[tile as usize].clone()).collect()
        };
        let (changed, deleted) = (some(20), some(100));
        let span = |range: &Range<usize>| {
            let of = |at: usize| &rows[oracle.order()[at] as usize];
            let (first, last) = (of(range.start), of(range.end - 1));
            Span { sensor: first.sensor, from: first.ts, to: last.ts, readings: range.len() as u64 }
        };
        let mut change = |range: &Range<usize>| {
            let places = &oracle.order()[range.clone()];
            let old = |temperature| {
                places.iter().any(|&place| rows[place as usize].temperature() == Some(temperature))
            };
            SpanChange { span: span(range), temperature: draw.temperature(old) }
        };
        let changes = changed.iter().map(&mut change).collect();
        let deletes = deleted.iter().map(span).collect();
        Self { changes, changed, deletes, deleted }
    }
}

/// Every sensor's rows cut into ranges, from one of its first rows on; a sensor of fewer rows has one.
fn tiled(rows: &[Reading], oracle: &Oracle, draw: &mut Draw) -> Vec<Range<usize>> {
    let (mut tiles, mut at) = (Vec::new(), 0);
    let sensor = |place: &u32| rows[*place as usize].sensor;
    for of_sensor in oracle.order().chunk_by(|a, b| sensor(a) == sensor(b)) {
        let (n, size) = (of_sensor.len(), of_sensor.len().min(READINGS));
        let first = at + draw.below(n % size + 1) as usize;
        tiles.extend((0..n / size).map(|tile| first + tile * size).map(|from| from..from + size));
        at += n;
    }
    tiles
}

#[cfg(test)]
mod tests;
