//! The rows and keys of both sides.

use std::path::{Path, PathBuf};

use embermark_data::draw::Draw;
use embermark_data::table::StagedTable;
use embermark_language::parse;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::plan::DataSource;
use embermark_model::table::Value;
use embermark_model::{Key, Reading, Scale};
use embermark_workloads::defined::Defined;
use embermark_workloads::{Prepared, Spec, Workload};

use crate::Failure;

/// Seed of rows and keys.
pub const SEED: u64 = 42;
/// Number of sensors of the grid, from 1.
pub const SENSORS: u16 = 54;
/// First time of the grid, in microseconds since 1970-01-01 UTC: 2004-02-28 08:00.
pub const START: i64 = 1_077_955_200_000_000;
/// Microseconds between two times of the grid: an epoch of the published log.
pub const STEP: i64 = 31_000_000;

/// The work as a workload file. Rows are those of the workload `sensors`. Their keys are an even
/// grid of times by [`SENSORS`] sensors, in order of time, because pgbench can compute an existing
/// key, but not look one up.
const FILE: &str = r#"
name = "calibration"
[table.readings]
rows = 1
key = ["sensor", "ts"]
[table.readings.columns]
sensor = { type = "u16", make = "cycle", from = 1, distinct = 54 }
ts = { type = "timestamp", unit = "us", make = "sequence", from = "2004-02-28T08:00:00Z", step = "31s", repeat = 54 }
temperature = { type = "f64?", make = "random", from = 15, to = 30, absent = 0.02 }
humidity = { type = "f64?", make = "random", from = 20, to = 60, absent = 0.01 }
light = { type = "f64?", make = "random", from = 0, to = 1_000, absent = 0.01 }
voltage = { type = "f64?", make = "random", from = 2, to = 3 }
[phase.load]
do = "insert"
commit = "all"
[phase.read]
do = "get"
ops = "100%"
"#;

/// Index of the phase `read` in the file.
const READ: u64 = 1;

fn workload() -> Result<&'static dyn Workload, Failure> {
    Ok(Defined::leak(parse("calibration.toml", FILE, &[])?, PathBuf::new(), 0.0))
}

/// Stages the rows for this number of times of the grid.
pub fn stage(staged: &Path, times: u16) -> Result<(), Failure> {
    let rows = u64::from(times) * u64::from(SENSORS);
    let source = workload()?.source(&DataSource::Synthetic, SEED)?;
    source.stage(Scale::Rows(rows), staged)?;
    Ok(())
}

/// Prepares the work on staged rows, without an engine.
pub fn prepare(staged: &Path) -> Result<Box<dyn Prepared>, Failure> {
    Ok(workload()?.prepare(&Spec::of(staged.to_owned(), "as-written", SEED))?)
}

/// Returns the staged rows in order.
pub fn readings(staged: &Path) -> Result<Vec<Reading>, Failure> {
    let table = StagedTable::open(&staged.with_extension("readings.table"))?;
    let int = |place, column| match table.value(place, column) {
        Value::Int(value) => value,
        _ => 0,
    };
    let float = |place, column| match table.value(place, column) {
        Value::Float(value) => Some(value),
        _ => None,
    };
    let reading = |place| {
        let key = Key { sensor: int(place, 0) as u16, ts: int(place, 1) };
        Reading::new(key, std::array::from_fn(|value| float(place, 2 + value)))
    };
    Ok((0..table.rows()).map(reading).collect())
}

/// Returns the indexes of the rows that the phase `read` reads, in its order. They are drawn again
/// here so that the bare loops read the same. The answers check that they are equal.
pub fn drawn(rows: usize) -> Vec<usize> {
    let mut draw = Draw::new(SEED, 100 + READ);
    (0..rows).map(|_| draw.below(rows)).collect()
}

/// Returns what reading those rows must find, as the workload sums it up: by the bytes of the pairs
/// of a key-value store, or by values.
pub fn checksum(rows: &[Reading], drawn: &[usize], is_pairs: bool) -> Checksum {
    let of = |place: &usize| {
        let row = &rows[*place];
        if is_pairs {
            return Fingerprint::of_pair(&encoded_key(row.key()), &encoded_value(row));
        }
        fingerprint(row)
    };
    drawn.iter().map(of).collect()
}

/// Returns the fingerprint of a row's values.
pub fn fingerprint(row: &Reading) -> Fingerprint {
    let values = (0..row.values.len()).map(|column| match row.get(column) {
        Some(value) => (value + 0.0).to_bits().cast_signed(),
        None => i64::MIN + 1,
    });
    let key = Fingerprint::default().int(i64::from(row.sensor)).int(row.ts);
    values.fold(key, Fingerprint::int)
}

/// Encodes a key as a key-value store has it.
pub fn encoded_key(key: Key) -> [u8; 10] {
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&key.sensor.to_be_bytes());
    bytes[2..].copy_from_slice(&(key.ts as u64 ^ 1 << 63).to_be_bytes());
    bytes
}

/// Encodes a row's value as a key-value store has it.
pub fn encoded_value(reading: &Reading) -> [u8; 33] {
    let mut bytes = [0; 33];
    bytes[0] = reading.present as u8;
    for (slot, value) in bytes[1..].as_chunks_mut().0.iter_mut().zip(reading.values) {
        *slot = value.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_grid_has_every_sensor_at_every_time_once_in_order_of_time() {
        let folder = tempfile::tempdir().unwrap();
        let staged = folder.path().join("rows");
        stage(&staged, 20).unwrap();
        let rows = readings(&staged).unwrap();
        assert_eq!(rows.len(), 20 * usize::from(SENSORS));
        assert!(rows.is_sorted_by_key(|row| row.ts));
        let keys: BTreeSet<Key> = rows.iter().map(Reading::key).collect();
        assert_eq!(keys.len(), rows.len());
        let last = Key { sensor: SENSORS, ts: START + 19 * STEP };
        assert_eq!((rows[0].sensor, rows[0].ts, keys.last()), (1, START, Some(&last)));
        assert!(drawn(rows.len()).iter().all(|place| *place < rows.len()));
    }
}
