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
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// As many rows of each sensor, in turns.
    fn rows(of_each: &[i64]) -> Vec<Reading> {
        let most = of_each.iter().copied().max().unwrap_or(0);
        let row = |(sensor, ts): (u16, i64)| Reading::new(Key { sensor, ts }, [Some(20.0); 4]);
        let turn =
            |ts| (0..).zip(of_each).filter(move |(_, n)| ts < **n).map(move |(s, _)| (s, ts));
        (0..most).flat_map(turn).map(row).collect()
    }

    fn drawn(rows: &[Reading], seed: u64) -> Ranges {
        Ranges::draw(rows, &Oracle::new(rows), Draw::new(seed))
    }

    /// The readings between the times of a range.
    fn between<'a>(rows: &'a [Reading], span: &Span) -> Vec<&'a Reading> {
        let (from, to) = span.keys();
        rows.iter().filter(|row| from <= row.key() && row.key() < to).collect()
    }

    #[test]
    fn ranges_are_ten_consecutive_readings_of_one_sensor_and_disjoint() {
        let rows = rows(&[300, 207, 393, 95, 5]);
        for seed in 0..20 {
            let ranges = drawn(&rows, seed);
            assert_eq!((ranges.changes.len(), ranges.deletes.len()), (50, 10));
            let updates: Vec<Span> = ranges.changes.iter().map(|change| change.span).collect();
            for spans in [&updates, &ranges.deletes] {
                let mut seen = BTreeSet::new();
                for span in spans {
                    let found = between(&rows, span);
                    let all = rows.iter().filter(|row| row.sensor == span.sensor).count();
                    assert_eq!(found.len(), all.min(READINGS), "{span:?}");
                    assert_eq!(found.len() as u64, span.readings);
                    assert!(found.iter().all(|row| seen.insert(row.key())), "{span:?} overlaps");
                }
            }
        }
    }

    #[test]
    fn the_places_beside_the_ranges_are_those_of_their_rows() {
        let rows = rows(&[40, 40]);
        let (oracle, ranges) = (Oracle::new(&rows), drawn(&rows, 3));
        for (range, span) in ranges.deleted.iter().zip(&ranges.deletes) {
            let places = oracle.order()[range.clone()].iter().map(|place| &rows[*place as usize]);
            assert_eq!(places.collect::<Vec<_>>(), between(&rows, span));
        }
    }

    #[test]
    fn a_range_gets_a_temperature_that_none_of_its_readings_has() {
        let mut all = rows(&[1_000]);
        for (row, i) in all.iter_mut().zip(0..) {
            row.set(Reading::TEMPERATURE, Some(f64::from(i % 6_000) / 100.0));
        }
        for change in (0..10).flat_map(|seed| drawn(&all, seed).changes) {
            let found = between(&all, &change.span);
            assert!(found.iter().all(|row| row.temperature() != Some(change.temperature)));
        }
    }

    #[test]
    fn the_smallest_logs_have_a_range_and_sensors_of_few_rows_enough_of_them() {
        assert_eq!(drawn(&rows(&[1]), 1).changes.len(), 1);
        assert_eq!(drawn(&[], 1).changes.len(), 0);
        for of_each in [1, 2, 9, 10, 11, 19] {
            let rows = rows(&[of_each; 54]);
            let expected = (rows.len() / 20).max(1);
            assert_eq!(drawn(&rows, 1).changes.len(), expected, "{of_each} of each");
        }
    }
}
