//! Events in a key-value store, whose documents are read for every row that a question meets. In a value
//! the bucket comes first so that an index can begin with it.

use std::ops::ControlFlow;

use embermark_contract::kv::{
    IndexDef, Indexed, KvStore, Operations, Range, Table, TableDef, Visit,
};
use embermark_contract::{EngineError, Lifecycle, Reopener, Result, Scope};
use embermark_meter::Meter;
use embermark_model::result::Execution;

use super::columns::{self, Columns, Statements};
use super::json::{self, Value as Json};
use super::pair::{self, CO2, HEAD, LOCATION, LOGS};
use super::phase::Phase;
use super::port::{FIRST, Record, Stored, Telemetry};
use super::query_results::{ERRORS_SINCE, QueryResults};
use super::variant::{Index, Variant};
use crate::mirrored::Mirrored;
use crate::reopenable::Reopenable;

/// The places of the index, which is the only one.
const fn index(of: Index) -> Option<IndexDef<'static>> {
    let (name, at, length) = match of {
        Index::None => return None,
        Index::Timestamp => ("timestamp", 1, 8),
        Index::Bucket => ("bucket", 0, 1),
        Index::Combined => ("buckettimestamp", 0, 9),
    };
    Some(IndexDef { name, at, length })
}

pub(super) struct KvEvents {
    store: Reopenable<dyn KvStore>,
    table: Table,
    index: Index,
    /// The same in columns.
    mirrored: Statements,
    /// Room for a value.
    value: Vec<u8>,
}

/// The table, of keys of one length.
fn table(store: &mut dyn KvStore, index: Index) -> Result<Table> {
    let index = self::index(index);
    let def = TableDef { name: "metrics", key_length: Some(8), indexes: index.as_slice() };
    store.table(&def)
}

impl KvEvents {
    pub(super) fn new(
        store: Box<dyn KvStore>,
        reopener: Reopener,
        variant: Variant,
    ) -> Result<Self> {
        variant.in_one_form("a key-value store")?;
        let index = variant.index;
        let mut store = match index {
            Index::None => Reopenable::new(store, reopener),
            _ => Reopenable::new(Indexed::new(store), Indexed::reopener(reopener)),
        };
        let table = table(&mut *store, index)?;
        let mirrored = Mirrored::show(&mut *store, table, Columns)?;
        Ok(Self { store, table, index, mirrored, value: Vec::new() })
    }
}

fn put(
    operations: &mut dyn Operations,
    table: Table,
    record: &Record,
    value: &mut Vec<u8>,
) -> Result<()> {
    pair::encode(record, value);
    operations.put(table, &record.event.id.to_be_bytes(), value)
}

/// Visits the rows among which an answer is, and maybe others: by the index where it leaves most of
/// the rows out, else all in the order of their keys.
fn candidates(
    snapshot: &mut dyn Operations,
    (table, index): (Table, Index),
    question: Phase,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let bucket = if question == Phase::Gps { LOCATION } else { LOGS };
    let (mut from, to) = ([bucket; HEAD], [bucket + 1]);
    from[1..].copy_from_slice(&ERRORS_SINCE.to_be_bytes());
    let range = match (question, index) {
        // Four rows in five: the way over an index would be the longer one.
        (Phase::Co2, _) | (_, Index::None) | (Phase::Gps, Index::Timestamp) => None,
        (_, Index::Timestamp) => Some(Range::between(&from[1..], None)),
        (Phase::Logs, Index::Combined) => Some(Range::between(&from, Some(&to))),
        _ => Some(Range::between(&from[..1], Some(&to))),
    };
    match range {
        Some(range) => snapshot.find(table, 0, range, visit),
        None => snapshot.scan(table, Range::default(), visit),
    }
}

/// The numbers of a document under these names.
fn numbers<const N: usize>(json: &str, names: [&str; N]) -> Option<[f64; N]> {
    let mut found = [f64::NAN; N];
    let is_whole = json::members(json, |name, value| {
        if let (Some(place), Json::Number(number)) = (names.iter().position(|n| *n == name), value)
        {
            found[place] = number;
        }
    });
    (is_whole && !found.iter().any(|number| number.is_nan())).then_some(found)
}

/// Takes a row into the answer if it belongs there; `None` if it is none.
fn see(question: Phase, value: &[u8], found: &mut QueryResults) -> Option<()> {
    let (bucket, timestamp, json) = pair::decode(value)?;
    match (question, bucket) {
        (Phase::Gps, LOCATION) => {
            let [longitude, latitude] = numbers(json, ["longitude", "latitude"])?;
            found.see_point(longitude, latitude);
        }
        (Phase::Co2, CO2) => {
            let [co2] = numbers(json, ["co2"])?;
            found.see_co2(timestamp, co2);
        }
        (Phase::Logs, LOGS) if timestamp > ERRORS_SINCE => {
            let (mut is_error, mut endpoint) = (false, None);
            json::members(json, |name, value| match (name, value) {
                ("level", Json::Text(level)) => is_error = level == "error",
                ("endpoint", Json::Text(text)) => endpoint = Some(text),
                _ => {}
            })
            .then_some(())?;
            if is_error {
                found.see_error(endpoint?);
            }
        }
        _ => {}
    }
    Some(())
}

/// Answers a question from the pairs.
fn answer(
    store: &mut dyn KvStore,
    place: (Table, Index),
    question: Phase,
    found: &mut QueryResults,
) -> Result<()> {
    let mut failed = None;
    store.within(Scope::Snapshot, |snapshot| {
        candidates(snapshot, place, question, &mut |_, value| match see(question, value, found) {
            Some(()) => ControlFlow::Continue(()),
            None => {
                failed = Some(broken(value));
                ControlFlow::Break(())
            }
        })
    })?;
    found.conclude();
    failed.map_or(Ok(()), Err)
}

fn broken(value: &[u8]) -> EngineError {
    let what = format!("{value:?} is no value that was put");
    EngineError::failed("the store", "give back an event", what)
}

impl Telemetry for KvEvents {
    fn execution(&self, step: Phase) -> Execution {
        if step.is_question() { Execution::ClientSide } else { Execution::Native }
    }

    fn answered_by(&self) -> Option<Execution> {
        self.mirrored.answered_by(Execution::ClientSide)
    }

    fn ready(&mut self, _: Phase) -> Result<()> {
        self.mirrored.begin();
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(self.table)
    }

    fn insert(&mut self, records: &[Record], meter: &mut Meter) -> Result<u64> {
        let Self { store, table, value, .. } = self;
        store.within(Scope::PerOperation, |each| {
            meter.each(records.len() as u64, |i| put(each, *table, &records[i], value))
        })
    }

    fn insert_one(&mut self, record: &Record) -> Result<u64> {
        let Self { store, table, value, .. } = self;
        store.within(Scope::PerOperation, |each| put(each, *table, record, value))?;
        Ok(1)
    }

    /// In a transaction: the bulk path is for an empty table.
    fn insert_batch(&mut self, records: &[Record]) -> Result<u64> {
        let Self { store, table, value, .. } = self;
        store.within(Scope::Batch, |batch| {
            records.iter().try_for_each(|record| put(batch, *table, record, value))
        })?;
        Ok(records.len() as u64)
    }

    fn ask(&mut self, question: Phase, found: &mut QueryResults) -> Result<()> {
        let Self { store, table, index, mirrored, .. } = self;
        let place = (*table, *index);
        let side = store.ask(
            question.name(),
            found,
            &mut |store, found| {
                found.clear();
                answer(store, place, question, found)
            },
            &mut |sql, number, found| {
                found.clear();
                columns::ask((sql, number), mirrored, question, found)
            },
        )?;
        mirrored.answered(side);
        Ok(())
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let (mut failed, table) = (None, self.table);
        self.store.within(Scope::Snapshot, |snapshot| {
            snapshot.scan(table, Range::default(), &mut |key, value| {
                match pair::id(key).and_then(|id| pair::stored(id, value)) {
                    Some(event) => visit(&event),
                    None => failed = Some(broken(value)),
                }
                ControlFlow::Continue(())
            })
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()?;
        self.table = table(&mut *self.store, self.index)?;
        self.mirrored = Mirrored::show(&mut *self.store, self.table, Columns)?;
        Ok(())
    }

    fn first(&mut self) -> Result<u64> {
        let (key, table) = (FIRST.to_be_bytes(), self.table);
        self.store
            .within(Scope::PerOperation, |each| Ok(u64::from(each.get(table, &key)?.is_some())))
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
