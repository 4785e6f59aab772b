//! A machine's log in a document store: a document per sample, or a document per second with a list
//! of its samples.
//!
//! In embermark's design the time is the key, and the channels of a document per sample have names.
//! In the published design a sample has a date and a list of its channels, and a second has its date
//! and a list of such documents. The date is indexed, and the server makes the key. A date has
//! milliseconds, so finer times are lost. Samples of one millisecond differ by their channels and by
//! the order in which they were inserted.

use std::fmt::{self, Display, Formatter};

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::machine::{CHANNELS, EIGHTH, HALF, History, Sample, Stamp};
use embermark_model::result::Execution;

use super::machine_log::{
    Channels, FIELDS, Form, Layout, MachineLog, Seek, Span, Sums, Visit, broken, channel, sample,
    stamp, sums_in,
};

static SAMPLE: CollectionDef =
    CollectionDef { name: "sample", key: &["s", "ns"], indexes: &[], fields: &FIELDS };

static SECOND: CollectionDef =
    CollectionDef { name: "second", key: &["s"], indexes: &[], fields: &["samples"] };

static PUBLISHED_SAMPLE: CollectionDef = CollectionDef {
    name: "datapoint",
    key: &[],
    indexes: &[&["time"]],
    fields: &["time", "sensors"],
};

static PUBLISHED_SECOND: CollectionDef = CollectionDef {
    name: "datapoints",
    key: &[],
    indexes: &[&["time"]],
    fields: &["time", "measurements"],
};

const COLUMNS: &[&str] = &["s", "ns", "v0", "v1", "v2", "v3", "v4"];
const OTHERS: &[&str] = &["s", "ns", "v1", "v2", "v3", "v4"];

/// Documents read at a time by a search that the engine cannot do itself. A cycle at 1 kHz has 333.
const PAGE: u32 = 512;

/// Values of a sample in the list of its second: its nanoseconds and its channels.
const PART: usize = 1 + CHANNELS;

const MILLISECOND: i64 = 1_000_000;

pub(super) struct DocumentLog {
    store: Box<dyn DocumentStore>,
    layout: Layout,
    form: Form,
    collection: Option<Collection>,
}

impl DocumentLog {
    /// Creates the log.
    ///
    /// # Errors
    /// Unsupported for the published design when the engine does not run pipelines, which all
    /// queries of that design are.
    pub(super) fn new(store: Box<dyn DocumentStore>, layout: Layout, form: Form) -> Result<Self> {
        if let (Form::Published, Language::Sql(_)) = (form, store.language()) {
            return Err(EngineError::unsupported(
                "this document store",
                "the published documents, which have dates: its requests are JSON, which has no dates",
            ));
        }
        Ok(Self { store, layout, form, collection: None })
    }

    const fn def(&self) -> &'static CollectionDef {
        match (self.form, self.layout) {
            (Form::Own, Layout::Samples) => &SAMPLE,
            (Form::Own, Layout::Seconds) => &SECOND,
            (Form::Published, Layout::Samples) => &PUBLISHED_SAMPLE,
            (Form::Published, Layout::Seconds) => &PUBLISHED_SECOND,
        }
    }

    fn collection(&self) -> Result<Collection> {
        self.collection.ok_or_else(|| broken("its collection was not opened"))
    }

    /// Returns whether the engine can search by more than its keys.
    fn searches(&self) -> bool {
        matches!(self.store.language(), Language::Pipeline)
    }

    /// Returns the ascending and the descending order of times.
    const fn orders(&self) -> [Order; 2] {
        match self.form {
            Form::Own => [Order::Key, Order::KeyDescending],
            Form::Published => [Order::By("time"), Order::ByDescending("time")],
        }
    }

    /// Returns the names of the time and of the angle in pipelines.
    const fn names(&self) -> [&'static str; 2] {
        match self.form {
            Form::Own => ["_id", "v0"],
            Form::Published => ["time", "sensors.0"],
        }
    }

    /// Returns the bound below all times after a moment.
    const fn below(&self, at: Stamp) -> Bound {
        match self.form {
            Form::Own => Bound::Key(at),
            Form::Published => Bound::Date(date(at)),
        }
    }

    /// Returns the first bound at or above a moment. Times below it are before the moment.
    const fn above(&self, at: Stamp) -> Bound {
        match self.form {
            Form::Own => Bound::Key(at),
            Form::Published => Bound::Date(first_date(at)),
        }
    }

    /// Returns the first time that a pipeline with a filter and an order finds.
    fn first(&mut self, filter: impl Display, order: impl Display) -> Result<Option<Stamp>> {
        let (collection, form) = (self.collection()?, self.form);
        let (project, columns): (&str, &[&str]) = match form {
            Form::Own => (r#""s": "$_id.s", "ns": "$_id.ns""#, &["s", "ns"]),
            Form::Published => (r#""time": 1"#, &["time"]),
        };
        let pipeline = format!(
            r#"[{{"$match": {filter}}}, {{"$sort": {order}}}, {{"$limit": 1}}, {{"$project": {{"_id": 0, {project}}}}}]"#
        );
        let mut found = None;
        self.store.query(collection, &pipeline, columns, &mut |row| {
            found = Some(match form {
                Form::Own => stamp(row.int(0)?, row.int(1)?)?,
                Form::Published => time_of(row.int(0)?)?,
            });
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
        channels: Channels,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let (collection, layout, form) = (self.collection()?, self.layout, self.form);
        let columns: &[&str] = match (form, layout, channels) {
            (Form::Published, ..) => self.def().fields,
            (_, Layout::Seconds, _) => &["s", "samples"],
            (.., Channels::All) => COLUMNS,
            (.., Channels::Angle) => &COLUMNS[..3],
            (.., Channels::Others) => OTHERS,
        };
        let find = Find { filter, order, limit, columns };
        self.store.find(collection, &find, &mut |row| {
            if layout == Layout::Samples {
                visit(match form {
                    Form::Own => sample(stamp(row.int(0)?, row.int(1)?)?, row, 2, channels)?,
                    Form::Published => channels.select(dated_sample(row)?),
                });
                return Ok(());
            }
            let s = row.int(0)?.ok_or_else(|| broken("a second has no time"))?;
            let there = row.list(1, &mut |part| {
                visit(match form {
                    Form::Own => sample(stamp(Some(s), part.int(0)?)?, part, 1, channels)?,
                    Form::Published => channels.select(dated_sample(part)?),
                });
                Ok(())
            })?;
            if there { Ok(()) } else { Err(broken("a second has no samples")) }
        })
    }

    /// Searches in the client, page by page.
    fn seek_by_pages(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let (mut at, mut found) = (at, None);
        loop {
            let (from, to, order) = match seek.forward() {
                true => (at.next(), Stamp { s: i64::from(i32::MAX), ns: 0 }, Order::Key),
                false => (Stamp { s: 0, ns: 0 }, at, Order::KeyDescending),
            };
            let keys = Filter::Keys { from: &key(from), to: &key(to) };
            let mut seen = 0;
            self.find(keys, order, Some(PAGE), Channels::Angle, &mut |sample| {
                (seen, at) = (seen + 1, sample.at);
                if found.is_none() && seek.wants(sample.values[0]) {
                    found = Some(sample.at);
                }
            })?;
            if found.is_some() || seen < PAGE {
                return Ok(found);
            }
        }
    }
}

/// A bound of times in a pipeline.
enum Bound {
    Key(Stamp),
    Date(i64),
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(at) => write!(f, r#"{{"s": {}, "ns": {}}}"#, at.s, at.ns),
            Self::Date(date) => write!(f, r#"{{"$date": {{"$numberLong": "{date}"}}}}"#),
        }
    }
}

const fn key(at: Stamp) -> [Value<'static>; 2] {
    [Value::Int(at.s), Value::Int(at.ns as i64)]
}

/// Returns the date of a sample.
const fn date(at: Stamp) -> i64 {
    at.nanoseconds().div_euclid(MILLISECOND)
}

/// Returns the first date at or after a moment.
const fn first_date(at: Stamp) -> i64 {
    -(-at.nanoseconds()).div_euclid(MILLISECOND)
}

/// Returns the time of a date.
fn time_of(date: Option<i64>) -> Result<Stamp> {
    let ns = date.and_then(|date| date.checked_mul(MILLISECOND));
    ns.map(Stamp::from_nanoseconds).ok_or_else(|| broken("a date is missing"))
}

/// Decodes a sample from a date in column 0 and a list of channels in column 1.
fn dated_sample(row: &dyn ResultRow) -> Result<Sample> {
    let mut sample = Sample { at: time_of(row.int(0)?)?, ..Sample::default() };
    let mut number = 0;
    row.list(1, &mut |item| {
        let place = sample.values.get_mut(number).ok_or_else(|| broken("too many channels"))?;
        *place = channel(item.int(0)?)?;
        number += 1;
        Ok(())
    })?;
    if number == CHANNELS { Ok(sample) } else { Err(broken("a sample lacks channels")) }
}

fn values(sample: &Sample) -> [Value<'static>; CHANNELS] {
    sample.values.map(|value| Value::Int(i64::from(value)))
}

/// Returns the channels by their names.
fn fields(sample: &Sample) -> [Field<'static>; CHANNELS] {
    let values = values(sample);
    std::array::from_fn(|number| (FIELDS[number], values[number]))
}

/// Returns the fields of a sample in the published design.
const fn dated<'a>(sample: &Sample, channels: &'a [Value<'a>]) -> [Field<'a>; 2] {
    [("time", Value::Date(date(sample.at))), ("sensors", Value::List(channels))]
}

struct HistoryDocuments<I> {
    samples: I,
    key: [Value<'static>; 2],
    fields: [Field<'static>; CHANNELS],
}

impl<I: Iterator<Item = Sample>> Documents for HistoryDocuments<I> {
    fn next(&mut self) -> Option<Document<'_>> {
        let sample = self.samples.next()?;
        (self.key, self.fields) = (key(sample.at), fields(&sample));
        Some(Document { key: &self.key, fields: &self.fields })
    }
}

/// The same in the published design.
struct DatedDocuments<'a> {
    samples: std::slice::Iter<'a, (Sample, [Value<'static>; CHANNELS])>,
    fields: [Field<'a>; 2],
}

impl Documents for DatedDocuments<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        let (sample, channels) = self.samples.next()?;
        self.fields = dated(sample, channels);
        Some(Document { key: &[], fields: &self.fields })
    }
}

impl MachineLog for DocumentLog {
    fn unit_ns(&self) -> i64 {
        match self.form {
            Form::Own => 1,
            Form::Published => MILLISECOND,
        }
    }

    fn search_execution(&self) -> Option<Execution> {
        let by = if self.searches() { Execution::Native } else { Execution::ClientSide };
        (self.layout == Layout::Samples).then_some(by)
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
        let (collection, first) = (self.collection()?, &samples[0]);
        match (self.form, self.layout) {
            (Form::Own, Layout::Samples) => {
                let document = Document { key: &key(first.at), fields: &fields(first) };
                self.store.insert(collection, &document)
            }
            (Form::Own, Layout::Seconds) => {
                let part = |sample: &Sample| -> [Value<'static>; PART] {
                    std::array::from_fn(|place| match place {
                        0 => Value::Int(i64::from(sample.at.ns)),
                        _ => Value::Int(i64::from(sample.values[place - 1])),
                    })
                };
                let parts: Vec<[Value<'_>; PART]> = samples.iter().map(part).collect();
                let lists: Vec<Value<'_>> = parts.iter().map(|part| Value::List(part)).collect();
                let fields = [("samples", Value::List(&lists))];
                let document = Document { key: &key(first.at)[..1], fields: &fields };
                self.store.insert(collection, &document)
            }
            (Form::Published, Layout::Samples) => {
                let channels = values(first);
                let fields = dated(first, &channels);
                self.store.insert(collection, &Document { key: &[], fields: &fields })
            }
            (Form::Published, Layout::Seconds) => {
                let channels: Vec<[Value<'_>; CHANNELS]> = samples.iter().map(values).collect();
                let parts = samples.iter().zip(&channels);
                let parts: Vec<[Field<'_>; 2]> =
                    parts.map(|(sample, channels)| dated(sample, channels)).collect();
                let list: Vec<Value<'_>> = parts.iter().map(|part| Value::Fields(part)).collect();
                let second = Value::Date(first.at.s * 1_000);
                let fields = [("time", second), ("measurements", Value::List(&list))];
                self.store.insert(collection, &Document { key: &[], fields: &fields })
            }
        }
    }

    fn load(&mut self, history: &History) -> Result<()> {
        if self.layout == Layout::Seconds {
            return history.seconds().try_for_each(|second| self.write(&second));
        }
        let (collection, samples) = (self.collection()?, history.samples());
        let loaded = match self.form {
            Form::Own => {
                let (key, fields) = ([Value::Null; 2], fields(&Sample::default()));
                self.store.bulk(collection, &mut HistoryDocuments { samples, key, fields })
            }
            Form::Published => {
                let samples: Vec<_> = samples.map(|sample| (sample, values(&sample))).collect();
                let fields = dated(&Sample::default(), &[]);
                let mut documents = DatedDocuments { samples: samples.iter(), fields };
                self.store.bulk(collection, &mut documents)
            }
        };
        loaded.map(drop)
    }

    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        let [order, _] = self.orders();
        let Some(ends) = span.bounds() else {
            return self.find(Filter::All, order, None, channels, visit);
        };
        match self.form {
            Form::Own => {
                let ([from, to], parts) = (ends.map(key), self.def().key.len());
                let keys = Filter::Keys { from: &from[..parts], to: &to[..parts] };
                self.find(keys, order, None, channels, visit)
            }
            Form::Published => {
                let [from, to] = ends.map(|at| Value::Date(first_date(at)));
                let dates = Filter::Between { field: "time", from, to };
                self.find(dates, order, None, channels, visit)
            }
        }
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        let ([_, order], mut newest) = (self.orders(), None);
        self.find(Filter::All, order, Some(1), Channels::Angle, &mut |sample| {
            newest = newest.max(Some(sample.at));
        })?;
        Ok(newest)
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        if !self.searches() {
            return self.seek_by_pages(seek, at);
        }
        let (compare, order, at) = match seek.forward() {
            true => ("$gt", 1, self.below(at)),
            false => ("$lt", -1, self.above(at)),
        };
        let (than, limit) = if seek.above() { ("$gt", HALF) } else { ("$lt", EIGHTH) };
        let [time, angle] = self.names();
        self.first(
            format_args!(
                r#"{{"{time}": {{"{compare}": {at}}}, "{angle}": {{"{than}": {limit}}}}}"#
            ),
            format_args!(r#"{{"{time}": {order}}}"#),
        )
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        if !self.searches() {
            return super::machine_log::lowest(self, after, before);
        }
        let (after, before) = (self.below(after), self.above(before));
        let [time, angle] = self.names();
        self.first(
            format_args!(r#"{{"{time}": {{"$gt": {after}, "$lt": {before}}}}}"#),
            format_args!(r#"{{"{angle}": 1, "{time}": 1}}"#),
        )
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        if !self.searches() {
            return super::machine_log::sums(self, from, to);
        }
        let (collection, form, [time, _]) = (self.collection()?, self.form, self.names());
        let (from, to) = (self.above(from), self.above(to));
        let sum = |number: usize| {
            let field = FIELDS[number];
            match form {
                Form::Own => format!(r#""{field}": {{"$sum": "${field}"}}"#),
                Form::Published => {
                    format!(r#""{field}": {{"$sum": {{"$arrayElemAt": ["$sensors", {number}]}}}}"#)
                }
            }
        };
        let sums: [String; CHANNELS] = std::array::from_fn(sum);
        let sums = sums.join(", ");
        let pipeline = format!(
            r#"[{{"$match": {{"{time}": {{"$gte": {from}, "$lt": {to}}}}}}}, {{"$group": {{"_id": null, {sums}}}}}]"#
        );
        let mut sums = Sums::default();
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
