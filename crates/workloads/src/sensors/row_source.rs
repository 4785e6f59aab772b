//! Rows on their way into a bulk load.

use embermark_contract::kv::Pairs;
use embermark_contract::sql::{Param, Rows};
use embermark_meter::Meter;
use embermark_model::Reading;

use super::codec::{self, KeyBytes, ValueBytes};

/// Gives readings one at a time, in the order wanted, until they or the time are used up.
pub(super) struct RowSource<'a> {
    rows: crate::row_source::RowSource<'a, Reading>,
    key: KeyBytes,
    value: ValueBytes,
    row: [Param<'static>; 6],
}

impl<'a> RowSource<'a> {
    /// Feeds `rows` as they come, or in key order: then they are sorted here, inside the clock,
    /// since it is the engine's wish.
    pub(super) fn new(rows: &'a [Reading], sorted: bool, meter: &'a mut Meter) -> Self {
        let rows = crate::row_source::RowSource::new(rows, sorted.then(|| by_key(rows)), meter);
        Self { rows, key: [0; _], value: [0; _], row: [Param::Null; 6] }
    }

    /// Counts the rows given as operations, once the load has ended.
    pub(super) const fn count_given(&mut self) {
        self.rows.count_given();
    }

    /// The next reading, until all or the time are used up.
    #[inline]
    pub(super) fn advance(&mut self) -> Option<&'a Reading> {
        self.rows.advance()
    }
}

impl Pairs for RowSource<'_> {
    #[inline]
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let reading = self.advance()?;
        self.key = codec::encode_key(reading.key());
        self.value = codec::encode_value(reading);
        Some((&self.key, &self.value))
    }
}

impl Rows for RowSource<'_> {
    #[inline]
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.row = params(self.advance()?);
        Some(&self.row)
    }
}

/// A reading as the values of a row.
#[inline]
pub(super) fn params(reading: &Reading) -> [Param<'static>; 6] {
    let value = |column| reading.get(column).map_or(Param::Null, Param::Float);
    [
        Param::Int(i64::from(reading.sensor)),
        Param::Int(reading.ts),
        value(Reading::TEMPERATURE),
        value(Reading::HUMIDITY),
        value(Reading::LIGHT),
        value(Reading::VOLTAGE),
    ]
}

/// The places of rows in key order. Rows that come in order of time are only dealt out to their
/// sensors; a sensor whose rows do not is sorted.
fn by_key(rows: &[Reading]) -> Vec<u32> {
    let (low, high) = rows
        .iter()
        .fold((u16::MAX, 0), |(low, high), row| (row.sensor.min(low), row.sensor.max(high)));
    let span = usize::from(high.saturating_sub(low)) + 1;
    let mut order = if span < rows.len() { dealt(rows, low, span) } else { sorted(rows) };
    for of_sensor in order.chunk_by_mut(|a, b| rows[*a as usize].sensor == rows[*b as usize].sensor)
    {
        let ts = |place: &u32| rows[*place as usize].ts;
        if !of_sensor.is_sorted_by_key(ts) {
            of_sensor.sort_unstable_by_key(ts);
        }
    }
    order
}

/// The places of rows by sensor, each sensor's in their own order, by counting: the faster way
/// where there are more rows than sensor numbers from `low` on.
fn dealt(rows: &[Reading], low: u16, span: usize) -> Vec<u32> {
    let slot = |row: &Reading| usize::from(row.sensor - low);
    let mut next = vec![0_u32; span + 1];
    for row in rows {
        next[slot(row) + 1] += 1;
    }
    for sensor in 1..=span {
        next[sensor] += next[sensor - 1];
    }
    let mut order = vec![0; rows.len()];
    for (place, row) in rows.iter().enumerate() {
        let next = &mut next[slot(row)];
        order[*next as usize] = place as u32;
        *next += 1;
    }
    order
}

/// The same by sorting.
fn sorted(rows: &[Reading]) -> Vec<u32> {
    let mut order: Vec<u64> =
        (0..).zip(rows).map(|(place, row)| u64::from(row.sensor) << 32 | place).collect();
    order.sort_unstable();
    order.into_iter().map(|packed| packed as u32).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use embermark_model::Key;

    use super::*;

    fn row(sensor: u16, ts: i64) -> Reading {
        Reading::new(Key { sensor, ts }, [Some(1.0), None, Some(3.0), None])
    }

    #[test]
    fn rows_are_fed_in_key_order_where_the_engine_wants_them_so() {
        for rows in [
            vec![row(2, 1), row(65_535, 2), row(0, 3), row(2, 4), row(65_535, 5), row(0, 6)],
            vec![row(2, 9), row(65_535, 2), row(2, 4), row(0, 3), row(0, -6)],
            vec![row(5, 1), row(4, 1), row(5, 2), row(4, 2), row(4, 3)],
            vec![row(5, 9), row(4, 1), row(5, 2), row(5, 3), row(4, -2)],
            vec![],
        ] {
            let mut meter = Meter::new(None);
            let mut source = RowSource::new(&rows, true, &mut meter);
            let mut keys = Vec::new();
            while let Some((key, _)) = Pairs::next(&mut source) {
                keys.push(codec::decode_key(key));
            }
            let mut expected: Vec<Key> = rows.iter().map(Reading::key).collect();
            expected.sort();
            assert_eq!(keys, expected);
            assert_eq!(source.rows.given(), rows.len() as u64);
        }
    }

    #[test]
    fn the_feed_ends_at_the_cap() {
        let rows: Vec<Reading> = (0..10_000).map(|ts| row(1, ts)).collect();
        let mut meter = Meter::new(Some(Duration::from_nanos(1)));
        meter.start();
        let mut source = RowSource::new(&rows, false, &mut meter);
        let mut given = 0;
        while let Some(row) = Rows::next(&mut source) {
            assert_eq!(row[1], Param::Int(given));
            assert_eq!(row[3], Param::Null);
            given += 1;
        }
        assert_eq!((given, source.rows.given()), (4_096, 4_096));
        assert!(meter.measured().capped);
    }
}
