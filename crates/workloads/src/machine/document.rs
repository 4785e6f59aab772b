//! A machine's log in a document store: a document per sample, or a document per second with a list
//! of its samples.

use std::fmt::Display;

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_contract::sql::ResultRow;
use embermark_contract::{Lifecycle, Result};
use embermark_data::machine::{CHANNELS, EIGHTH, HALF, History, Sample, Stamp};
use embermark_model::result::Execution;

use super::machine_log::{
    Channels, FIELDS, Layout, MachineLog, Seek, Span, Sums, Visit, broken, channel, stamp, sums_in,
};

static SAMPLE: CollectionDef =
    CollectionDef { name: "sample", key: &["s", "ns"], indexes: &[], fields: &FIELDS };

static SECOND: CollectionDef =
    CollectionDef { name: "second", key: &["s"], indexes: &[], fields: &["samples"] };

const COLUMNS: &[&str] = &["s", "ns", "v0", "v1", "v2", "v3", "v4"];
const OTHERS: &[&str] = &["s", "ns", "v1", "v2", "v3", "v4"];

/// Documents read at a time by a search that the engine cannot do itself. A cycle at 1 kHz has 333.
const PAGE: u32 = 512;

/// Values of a sample in the list of its second: its nanoseconds and its channels.
const PART: usize = 1 + CHANNELS;

pub(super) struct DocumentLog {
    store: Box<dyn DocumentStore>,
    layout: Layout,
    collection: Option<Collection>,
}

impl DocumentLog {
    pub(super) const fn new(store: Box<dyn DocumentStore>, layout: Layout) -> Self {
        Self { store, layout, collection: None }
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

    /// Returns whether the engine can search by more than its keys.
    fn searches(&self) -> bool {
        matches!(self.store.language(), Language::Pipeline)
    }

    /// Returns the first time that a pipeline with a filter and an order finds.
    fn first(&mut self, filter: impl Display, order: impl Display) -> Result<Option<Stamp>> {
        let pipeline = format!(
            r#"[{{"$match": {filter}}}, {{"$sort": {order}}}, {{"$limit": 1}}, {{"$project": {{"_id": 0, "s": "$_id.s", "ns": "$_id.ns"}}}}]"#
        );
        let (collection, mut found) = (self.collection()?, None);
        self.store.query(collection, &pipeline, &["s", "ns"], &mut |row| {
            found = Some(stamp(row.int(0)?, row.int(1)?)?);
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
        let (collection, layout) = (self.collection()?, self.layout);
        let columns = match (layout, channels) {
            (Layout::Seconds, _) => &["s", "samples"],
            (_, Channels::All) => COLUMNS,
            (_, Channels::Angle) => &COLUMNS[..3],
            (_, Channels::Others) => OTHERS,
        };
        let find = Find { filter, order, limit, columns };
        self.store.find(collection, &find, &mut |row| {
            if layout == Layout::Samples {
                visit(sample(stamp(row.int(0)?, row.int(1)?)?, row, 2, channels)?);
                return Ok(());
            }
            let s = row.int(0)?.ok_or_else(|| broken("a second has no time"))?;
            let there = row.list(1, &mut |part| {
                visit(sample(stamp(Some(s), part.int(0)?)?, part, 1, channels)?);
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

const fn key(at: Stamp) -> [Value<'static>; 2] {
    [Value::Int(at.s), Value::Int(at.ns as i64)]
}

/// Decodes a sample whose channels begin at column `first`.
fn sample(at: Stamp, row: &dyn ResultRow, first: usize, channels: Channels) -> Result<Sample> {
    let mut values = [0; CHANNELS];
    for (place, value) in values[channels.numbers()].iter_mut().enumerate() {
        *value = channel(row.int(first + place)?)?;
    }
    Ok(Sample { at, values })
}

fn fields(sample: &Sample) -> [Field<'static>; CHANNELS] {
    std::array::from_fn(|number| (FIELDS[number], Value::Int(i64::from(sample.values[number]))))
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

impl MachineLog for DocumentLog {
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
        if self.layout == Layout::Samples {
            let document = Document { key: &key(first.at), fields: &fields(first) };
            return self.store.insert(collection, &document);
        }
        let part = |sample: &Sample| -> [Value<'static>; PART] {
            std::array::from_fn(|place| match place {
                0 => Value::Int(i64::from(sample.at.ns)),
                _ => Value::Int(i64::from(sample.values[place - 1])),
            })
        };
        let parts: Vec<[Value<'_>; PART]> = samples.iter().map(part).collect();
        let lists: Vec<Value<'_>> = parts.iter().map(|part| Value::List(part)).collect();
        let fields = [("samples", Value::List(&lists))];
        self.store.insert(collection, &Document { key: &key(first.at)[..1], fields: &fields })
    }

    fn load(&mut self, history: &History) -> Result<()> {
        if self.layout == Layout::Seconds {
            return history.seconds().try_for_each(|second| self.write(&second));
        }
        let (samples, fields) = (history.samples(), fields(&Sample::default()));
        let mut documents = HistoryDocuments { samples, key: [Value::Null; 2], fields };
        self.store.bulk(self.collection()?, &mut documents).map(drop)
    }

    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        let parts = self.def().key.len();
        let keys = span.bounds().map(|ends| ends.map(key));
        let filter = keys.as_ref().map_or(Filter::All, |[from, to]| Filter::Keys {
            from: &from[..parts],
            to: &to[..parts],
        });
        self.find(filter, Order::Key, None, channels, visit)
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        let (order, mut newest) = (Order::KeyDescending, None);
        self.find(Filter::All, order, Some(1), Channels::Angle, &mut |sample| {
            newest = newest.max(Some(sample.at));
        })?;
        Ok(newest)
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        if !self.searches() {
            return self.seek_by_pages(seek, at);
        }
        let (compare, order) = if seek.forward() { ("$gt", 1) } else { ("$lt", -1) };
        let (than, angle) = if seek.above() { ("$gt", HALF) } else { ("$lt", EIGHTH) };
        let id = Id(at);
        self.first(
            format_args!(r#"{{"_id": {{"{compare}": {id}}}, "v0": {{"{than}": {angle}}}}}"#),
            format_args!(r#"{{"_id": {order}}}"#),
        )
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        if !self.searches() {
            return super::machine_log::lowest(self, after, before);
        }
        let (after, before) = (Id(after), Id(before));
        self.first(
            format_args!(r#"{{"_id": {{"$gt": {after}, "$lt": {before}}}}}"#),
            r#"{"v0": 1, "_id": 1}"#,
        )
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        if !self.searches() {
            return super::machine_log::sums(self, from, to);
        }
        let (from, to) = (Id(from), Id(to));
        let sums = FIELDS.map(|field| format!(r#""{field}": {{"$sum": "${field}"}}"#)).join(", ");
        let pipeline = format!(
            r#"[{{"$match": {{"_id": {{"$gte": {from}, "$lt": {to}}}}}}}, {{"$group": {{"_id": null, {sums}}}}}]"#
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

/// A key in a pipeline.
struct Id(Stamp);

impl Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, r#"{{"s": {}, "ns": {}}}"#, self.0.s, self.0.ns)
    }
}
