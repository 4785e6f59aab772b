//! What the workload needs of a store, in its own words.

use embermark_contract::sql::CsvFile;
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;
use embermark_model::{Key, Reading};

use super::phase::Phase;
use super::query_results::QueryResults;
use super::range::{Span, SpanChange};
use super::variant::Variant;
use crate::Strategy;

/// A new temperature for a reading that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// Which reading.
    pub key: Key,
    /// Its new temperature in °C.
    pub temperature: f64,
}

/// A sensor and its mean temperature in °C.
pub(super) type Mean = (i64, Option<f64>);

/// A sensor and the number of its readings.
pub(super) type Tally = (i64, i64);

/// A reading far from its sensor's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Anomaly {
    pub sensor: i64,
    pub ts: i64,
    pub temperature: f64,
}

/// A sensor's temperatures on one UTC day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Day {
    pub sensor: i64,
    /// Days since 1970-01-01.
    pub day: i64,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub mean: Option<f64>,
    /// Readings, with or without a temperature.
    pub readings: i64,
}

/// A time in which a sensor was silent: its readings before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outage {
    pub sensor: i64,
    pub from: i64,
    pub to: i64,
}

/// Two sensors compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Comparison {
    /// Five-minute buckets in which both have a temperature.
    pub buckets: i64,
    /// Pearson's correlation of their mean temperatures in these.
    pub correlation: Option<f64>,
}

/// The sensors' log in a store. Timed methods count their operations with the meter, which runs;
/// results go to vectors with room for them, so that nothing is allocated inside the clock.
pub(super) trait SensorLog {
    /// Who does a step of a variant: the engine, or code of ours over its scans. Of a load the variant
    /// makes no difference to it: see [`loads_csv`](Self::loads_csv).
    fn execution(&self, _step: Phase, _of: Variant) -> Execution {
        Execution::Native
    }

    /// Who answered the questions since the log was made [ready](Self::ready), where a store has two
    /// copies of the rows that can.
    fn answered_by(&self) -> Option<Execution> {
        None
    }

    /// Removes all readings, giving their space back.
    fn clear(&mut self) -> Result<()>;

    /// Prepares for a step: whatever can be done before its clock starts.
    fn ready(&mut self, _step: Phase, _of: Variant) -> Result<()> {
        Ok(())
    }

    /// Closes the database and opens it again, with tables and statements as before.
    fn reopen(&mut self) -> Result<()>;

    /// Puts rows into the empty log; returns the number of rows that the engine says it took.
    fn load(&mut self, rows: &[Reading], by: Strategy, meter: &mut Meter) -> Result<u64>;

    /// Whether the engine itself puts the rows of a CSV file in.
    fn loads_csv(&self) -> bool {
        false
    }

    /// Has it do so, into the empty log; returns the number of rows that it says it took.
    fn load_csv(&mut self, _file: &CsvFile<'_>) -> Result<u64> {
        Err(EngineError::unsupported("this engine", "to load a CSV file by itself"))
    }

    /// Reads one key after the other in one snapshot; returns the checksum of what was found.
    fn read(&mut self, keys: &[Key], meter: &mut Meter) -> Result<Checksum>;

    /// Finds the newest reading of each of the sensors.
    fn last_readings(
        &mut self,
        sensors: &[u16],
        meter: &mut Meter,
        found: &mut Vec<Reading>,
    ) -> Result<()>;

    /// Sets temperatures one by one; returns the number of rows changed.
    fn update(&mut self, changes: &[Change], by: Strategy, meter: &mut Meter) -> Result<u64>;

    /// Deletes keys one by one; returns the number of rows deleted.
    fn delete(&mut self, keys: &[Key], by: Strategy, meter: &mut Meter) -> Result<u64>;

    /// Sets the temperatures of ranges, a statement each; returns the number of rows changed.
    fn update_ranges(
        &mut self,
        changes: &[SpanChange],
        by: Strategy,
        meter: &mut Meter,
    ) -> Result<u64>;

    /// Deletes ranges, a statement each; returns the number of rows deleted.
    fn delete_ranges(&mut self, spans: &[Span], by: Strategy, meter: &mut Meter) -> Result<u64>;

    /// Answers a question over many rows: all of them, or those `of` one sensor.
    fn ask(&mut self, question: Phase, of: Option<u16>, found: &mut QueryResults) -> Result<()>;

    /// Visits every reading in key order.
    fn contents(&mut self, visit: &mut dyn FnMut(&Reading)) -> Result<()>;

    /// The store: its maintenance, and the way in for further clients.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}
