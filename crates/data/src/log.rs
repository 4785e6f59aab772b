//! Readings of a sensor log, and remarks on unusual ones.

use std::collections::BTreeMap;

use embermark_model::Reading;
use embermark_model::plan::Dataset;

/// Microseconds per second.
pub(crate) const SECOND: i64 = 1_000_000;

/// Sensor numbers of the lab's own roster: the 54 motes with known locations.
const ROSTER: std::ops::RangeInclusive<u16> = 1..=54;

/// Temperature in °C that a mote reports once its battery is too weak to convert: the largest value
/// of its 14-bit converter.
pub(crate) const SATURATED_TEMPERATURE: f64 = 122.153;

/// Remark on rows that came after a later row of the same sensor.
pub(crate) const OUT_OF_ORDER: &str = "row out of time order within its sensor";

/// Readings with distinct keys in chronological order, and a record of their origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// Sorted by time. Readings of the same time are in the order in which they arrived.
    pub readings: Vec<Reading>,
    /// Origin, counts, dropped lines and unusual readings, for the manifest.
    pub dataset: Dataset,
}

/// Returns the number of different sensors among `readings`.
pub(crate) fn distinct_sensors(readings: &[Reading]) -> u64 {
    let mut seen = vec![false; usize::from(u16::MAX) + 1];
    for reading in readings {
        seen[usize::from(reading.sensor)] = true;
    }
    seen.into_iter().map(u64::from).sum()
}

/// Counts unusual readings by kind. Leaves out kinds that do not occur.
pub(crate) fn remarks(readings: &[Reading]) -> BTreeMap<String, u64> {
    let mut outside_roster = 0;
    let mut saturated = 0;
    let mut absent = [0; Reading::COLUMNS.len()];
    for reading in readings {
        outside_roster += u64::from(!ROSTER.contains(&reading.sensor));
        saturated += u64::from(reading.temperature() == Some(SATURATED_TEMPERATURE));
        for (column, count) in absent.iter_mut().enumerate() {
            *count += u64::from(reading.present >> column & 1 == 0);
        }
    }
    let mut remarks = BTreeMap::new();
    add_count(&mut remarks, "mote id outside 1-54", outside_roster);
    add_count(&mut remarks, "temperature 122.153: failing battery", saturated);
    for (column, count) in Reading::COLUMNS.into_iter().zip(absent) {
        add_count(&mut remarks, &format!("NULL {column}"), count);
    }
    remarks
}

/// Adds `count` occurrences of `what`, if there are any.
pub(crate) fn add_count(counts: &mut BTreeMap<String, u64>, what: &str, count: u64) {
    if count > 0 {
        *counts.entry(what.to_owned()).or_default() += count;
    }
}
