//! What the workload needs of a store, in its own words.

use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::events::{Event, Payload};
use embermark_meter::Meter;
use embermark_model::result::Execution;

use super::phase::Phase;
use super::query_results::QueryResults;

/// An event and its JSON text, which is made before any clock starts.
pub(super) struct Record {
    pub event: Event,
    pub json: String,
}

impl Record {
    pub(super) fn of(event: Event) -> Self {
        let mut json = String::new();
        event.data.json(&mut json);
        json.shrink_to_fit();
        Self { event, json }
    }
}

/// The names of what an event tells that is a number, in the order of [`Stored::numbers`].
pub(super) const NUMBERS: [&str; 4] = ["longitude", "latitude", "co2", "span_id"];

/// The names of what it tells that is a string, in the order of [`Stored::texts`].
pub(super) const TEXTS: [&str; 4] = ["level", "user", "message", "endpoint"];

/// An event as a store gives it back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stored<'a> {
    pub id: i64,
    pub timestamp: i64,
    pub bucket: &'a str,
    pub numbers: [Option<f64>; 4],
    pub texts: [Option<&'a str>; 4],
}

impl<'a> Stored<'a> {
    /// What a store must give back of an event.
    pub(super) fn of(event: &'a Event) -> Self {
        let (mut numbers, mut texts) = ([None; 4], [None; 4]);
        match &event.data {
            Payload::Location { longitude, latitude } => {
                (numbers[0], numbers[1]) = (Some(*longitude), Some(*latitude));
            }
            Payload::Co2 { co2 } => numbers[2] = Some(*co2),
            Payload::Log(line) => {
                numbers[3] = Some(line.span_id as f64);
                texts = [line.level(), &line.user, &line.message, &line.endpoint].map(Some);
            }
        }
        let (id, timestamp, bucket) = (event.id, event.timestamp, event.data.bucket());
        Self { id, timestamp, bucket, numbers, texts }
    }
}

/// The id of the first event.
pub(super) const FIRST: i64 = 1;

/// A row of id, timestamp and bucket, then [`NUMBERS`] and [`TEXTS`].
pub(super) fn stored(row: &dyn ResultRow) -> Result<Stored<'_>> {
    let (mut numbers, mut texts) = ([None; 4], [None; 4]);
    for (column, number) in (3..).zip(&mut numbers) {
        *number = row.float(column)?;
    }
    for (column, text) in (7..).zip(&mut texts) {
        *text = row.text(column)?;
    }
    let (id, timestamp) = (int(row, 0)?, int(row, 1)?);
    Ok(Stored { id, timestamp, bucket: text(row, 2)?, numbers, texts })
}

/// An integer column that may not be NULL.
pub(super) fn int(row: &dyn ResultRow, column: usize) -> Result<i64> {
    row.int(column)?.ok_or_else(|| null(column))
}

/// A number column that may not be NULL.
pub(super) fn float(row: &dyn ResultRow, column: usize) -> Result<f64> {
    row.float(column)?.ok_or_else(|| null(column))
}

/// A text column that may not be NULL.
pub(super) fn text(row: &dyn ResultRow, column: usize) -> Result<&str> {
    row.text(column)?.ok_or_else(|| null(column))
}

fn null(column: usize) -> EngineError {
    let why = format!("result column {column}, counted from 0, is NULL");
    EngineError::failed("the engine", "give back an event", why)
}

/// A table of events in a store. Inserting, asking and opening are timed.
pub(super) trait Telemetry {
    /// Who does a phase: the engine, or code of ours over its rows.
    fn execution(&self, _step: Phase) -> Execution {
        Execution::Native
    }

    /// Who answered the questions since the store was made [ready](Self::ready), where it has two
    /// copies of the rows that can.
    fn answered_by(&self) -> Option<Execution> {
        None
    }

    /// Makes the table anew, empty, with its index.
    fn clear(&mut self) -> Result<()>;

    /// Prepares what can be before the clock starts.
    fn ready(&mut self, _step: Phase) -> Result<()> {
        Ok(())
    }

    /// Inserts one by one, each committed, counting operations with the meter; how many the engine
    /// says there were.
    fn insert(&mut self, records: &[Record], meter: &mut Meter) -> Result<u64>;

    /// Inserts one, committed when this returns; how many the engine says there were.
    fn insert_one(&mut self, record: &Record) -> Result<u64>;

    /// Has what was inserted be there for a reader, where a commit alone does not.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Inserts a batch, as one commit where the store can; how many the engine says there were.
    fn insert_batch(&mut self, batch: &[Record]) -> Result<u64>;

    /// Asks a question once.
    fn ask(&mut self, question: Phase, found: &mut QueryResults) -> Result<()>;

    /// Visits every event, in any order.
    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()>;

    /// Closes the database and opens it again.
    fn reopen(&mut self) -> Result<()>;

    /// Reads the first event by its id; how many there are of that id.
    fn first(&mut self) -> Result<u64>;

    /// The store: its maintenance, and that the next [`reopen`](Self::reopen) is to recover what the
    /// log holds.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}
