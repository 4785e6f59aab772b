//! A machine's log in a document store, in the published design: a document per sample,
//! with a date and a list of its channels, or a document per second with its date and a list of
//! such documents. The date is indexed, and the server makes the key. A date has milliseconds, so
//! finer times are lost. Samples of one millisecond differ by their channels and by the order in
//! which they were inserted.

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::machine::{CHANNELS, EIGHTH, HALF, History, Sample, Stamp};
use embermark_model::result::Execution;

use super::machine_log::{
    Channels, FIELDS, Layout, MachineLog, Seek, Span, Sums, Visit, broken, channel, sums_in,
};

static SAMPLE: CollectionDef = CollectionDef {
    name: "datapoint",
    key: &[],
    indexes: &[&["time"]],
    fields: &["time", "sensors"],
};

static SECOND: CollectionDef = CollectionDef {
    name: "datapoints",
    key: &[],
    indexes: &[&["time"]],
    fields: &["time", "measurements"],
};

const MILLISECOND: i64 = 1_000_000;

pub(super) struct PublishedDocumentLog {
    store: Box<dyn DocumentStore>,
    layout: Layout,
    collection: Option<Collection>,
}

/// Returns the date of a sample.
const fn date(at: Stamp) -> i64 {
    at.nanoseconds().div_euclid(MILLISECOND)
}

/// Returns the first date at or after a moment. Dates before it are samples before the moment.
const fn bound(at: Stamp) -> i64 {
    -(-at.nanoseconds()).div_euclid(MILLISECOND)
}

fn stamp(date: Option<i64>) -> Result<Stamp> {
    let ns = date.and_then(|date| date.checked_mul(MILLISECOND));
    ns.map(Stamp::from_nanoseconds).ok_or_else(|| broken("a date is missing"))
}

/// Formats a date for a query.
fn quoted(date: i64) -> String {
    format!(r#"{{"$date": {{"$numberLong": "{date}"}}}}"#)
}

fn values(sample: &Sample) -> [Value<'static>; CHANNELS] {
    sample.values.map(|value| Value::Int(i64::from(value)))
}

/// Decodes a sample from a date in column 0 and a list of channels in column 1.
fn sample(row: &dyn ResultRow) -> Result<Sample> {
    let mut sample = Sample { at: stamp(row.int(0)?)?, ..Sample::default() };
    let mut number = 0;
    row.list(1, &mut |item| {
        let place = sample.values.get_mut(number).ok_or_else(|| broken("too many channels"))?;
        *place = channel(item.int(0)?)?;
        number += 1;
        Ok(())
    })?;
    if number == CHANNELS { Ok(sample) } else { Err(broken("a sample lacks channels")) }
}

impl PublishedDocumentLog {
    /// Creates the log.
    ///
    /// # Errors
    /// Unsupported when the engine does not run pipelines, which all queries here are.
    pub(super) fn new(store: Box<dyn DocumentStore>, layout: Layout) -> Result<Self> {
        match store.language() {
            Language::Pipeline => Ok(Self { store, layout, collection: None }),
            Language::Sql(_) => Err(EngineError::unsupported(
                "this document store",
                "the published documents, which have dates: its requests are JSON, which has no dates",
            )),
        }
    }

    const fn def(&self) -> &'static CollectionDef {
        match self.layout {
            Layout::Samples => &SAMPLE,
            Layout::Seconds => &SECOND,
        }
    }

    fn collection(&self) -> Result<Collection> {
        self.collection.ok_or_else(|| broken("its collection was not opened"))
    }

    /// Returns the first time that a pipeline with a filter and an order finds.
    fn first(&mut self, filter: &str, order: &str) -> Result<Option<Stamp>> {
        let pipeline = format!(
            r#"[{{"$match": {filter}}}, {{"$sort": {order}}}, {{"$limit": 1}}, {{"$project": {{"_id": 0, "time": 1}}}}]"#
        );
        let (collection, mut found) = (self.collection()?, None);
        self.store.query(collection, &pipeline, &["time"], &mut |row| {
            found = Some(stamp(row.int(0)?)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Visits the samples of the documents found.
    fn find(
        &mut self,
        filter: Filter<'_>,
        order: Order,
        limit: Option<u32>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let (collection, layout) = (self.collection()?, self.layout);
        let find = Find { filter, order, limit, columns: self.def().fields };
        self.store.find(collection, &find, &mut |row| {
            if layout == Layout::Samples {
                visit(sample(row)?);
                return Ok(());
            }
            let there = row.list(1, &mut |part| {
                visit(sample(part)?);
                Ok(())
            })?;
            if there { Ok(()) } else { Err(broken("a second has no samples")) }
        })
    }

    /// Inserts the samples of one second as a document.
    fn insert_second(&mut self, samples: &[Sample]) -> Result<()> {
        let channels: Vec<[Value<'_>; CHANNELS]> = samples.iter().map(values).collect();
        let fields: Vec<[Field<'_>; 2]> = samples
            .iter()
            .zip(&channels)
            .map(|(sample, channels)| {
                [("time", Value::Date(date(sample.at))), ("sensors", Value::List(channels))]
            })
            .collect();
        let parts: Vec<Value<'_>> = fields.iter().map(|part| Value::Fields(part)).collect();
        let second = Value::Date(samples[0].at.s * 1_000);
        let fields = [("time", second), ("measurements", Value::List(&parts))];
        self.store.insert(self.collection()?, &Document { key: &[], fields: &fields })
    }

    fn insert_sample(&mut self, sample: &Sample) -> Result<()> {
        let channels = values(sample);
        let fields = [("time", Value::Date(date(sample.at))), ("sensors", Value::List(&channels))];
        self.store.insert(self.collection()?, &Document { key: &[], fields: &fields })
    }
}

/// Documents of single samples, for a load.
struct HistoryDocuments<'a> {
    samples: std::slice::Iter<'a, (Sample, [Value<'static>; CHANNELS])>,
    fields: [Field<'a>; 2],
}

impl Documents for HistoryDocuments<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        let (sample, channels) = self.samples.next()?;
        self.fields = [("time", Value::Date(date(sample.at))), ("sensors", Value::List(channels))];
        Some(Document { key: &[], fields: &self.fields })
    }
}

impl MachineLog for PublishedDocumentLog {
    fn unit_ns(&self) -> i64 {
        MILLISECOND
    }

    fn search_execution(&self) -> Option<Execution> {
        (self.layout == Layout::Samples).then_some(Execution::Native)
    }

    fn clear(&mut self) -> Result<()> {
        self.collection = Some(self.store.create(self.def())?);
        Ok(())
    }

    fn open(&mut self) -> Result<()> {
        self.collection = Some(self.store.collection(self.def())?);
        Ok(())
    }

    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        match self.layout {
            Layout::Samples => self.insert_sample(&samples[0]),
            Layout::Seconds => self.insert_second(samples),
        }
    }

    fn load(&mut self, history: &History) -> Result<()> {
        if self.layout == Layout::Seconds {
            return history.seconds().try_for_each(|second| self.insert_second(&second));
        }
        let samples: Vec<_> = history.samples().map(|one| (one, values(&one))).collect();
        let fields = [("time", Value::Null), ("sensors", Value::Null)];
        let mut documents = HistoryDocuments { samples: samples.iter(), fields };
        self.store.bulk(self.collection()?, &mut documents).map(drop)
    }

    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        let filter = span.bounds().map_or(Filter::All, |[from, to]| Filter::Between {
            field: "time",
            from: Value::Date(bound(from)),
            to: Value::Date(bound(to)),
        });
        self.find(filter, Order::By("time"), None, &mut |sample| visit(channels.select(sample)))
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        let (order, mut newest) = (Order::ByDescending("time"), None);
        self.find(Filter::All, order, Some(1), &mut |sample| {
            newest = newest.max(Some(sample.at));
        })?;
        Ok(newest)
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let (compare, order, at) = match seek.forward() {
            true => ("$gt", 1, date(at)),
            false => ("$lt", -1, bound(at)),
        };
        let (than, angle) = if seek.above() { ("$gt", HALF) } else { ("$lt", EIGHTH) };
        let at = quoted(at);
        self.first(
            &format!(r#"{{"time": {{"{compare}": {at}}}, "sensors.0": {{"{than}": {angle}}}}}"#),
            &format!(r#"{{"time": {order}}}"#),
        )
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        let (after, before) = (quoted(date(after)), quoted(bound(before)));
        self.first(
            &format!(r#"{{"time": {{"$gt": {after}, "$lt": {before}}}}}"#),
            r#"{"sensors.0": 1, "time": 1}"#,
        )
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        let (from, to) = (quoted(bound(from)), quoted(bound(to)));
        let sum = |number: usize| {
            let field = FIELDS[number];
            format!(r#""{field}": {{"$sum": {{"$arrayElemAt": ["$sensors", {number}]}}}}"#)
        };
        let sums: [String; CHANNELS] = std::array::from_fn(sum);
        let sums = sums.join(", ");
        let pipeline = format!(
            r#"[{{"$match": {{"time": {{"$gte": {from}, "$lt": {to}}}}}}}, {{"$group": {{"_id": null, {sums}}}}}]"#
        );
        let (collection, mut sums) = (self.collection()?, Sums::default());
        self.store.query(collection, &pipeline, &FIELDS, &mut |row| {
            sums = sums_in(row)?;
            Ok(())
        })?;
        Ok(sums)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
