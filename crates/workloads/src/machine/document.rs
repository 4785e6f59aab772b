//! A machine's log in a document store: a document a sample, or a document a second with a list of
//! its samples.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use embermark_contract::Result;
use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_contract::sql::ResultRow;
use embermark_data::machine::{CHANNELS, EIGHTH, HALF, History, Sample, Stamp};
use embermark_model::result::Execution;

use super::port::{Layout, MachineLog, Seek, Sums, Visit, add, broken, channel, one_value, stamp};

static SAMPLE: CollectionDef = CollectionDef {
    name: "sample",
    key: &["s", "ns"],
    indexes: &[],
    fields: &["v0", "v1", "v2", "v3", "v4"],
};

static SECOND: CollectionDef =
    CollectionDef { name: "second", key: &["s"], indexes: &[], fields: &["samples"] };

const FIELDS: [&str; CHANNELS] = ["v0", "v1", "v2", "v3", "v4"];
const SAMPLES: &[&str] = &["s", "ns", "v0", "v1", "v2", "v3", "v4"];
const ANGLES: &[&str] = &["s", "ns", "v0"];
const OTHERS: &[&str] = &["s", "ns", "v1", "v2", "v3", "v4"];

/// Documents fetched at a time by a search that the engine cannot do itself: a cycle at 1 kHz has
/// 333.
const PAGE: u32 = 512;

/// Lists in the document of a second: of each sample its nanoseconds and its values.
const PART: usize = 1 + CHANNELS;

pub(super) struct DocumentLog {
    store: Box<dyn DocumentStore>,
    layout: Layout,
    collection: Option<Collection>,
    question: String,
}

impl DocumentLog {
    pub(super) const fn new(store: Box<dyn DocumentStore>, layout: Layout) -> Self {
        Self { store, layout, collection: None, question: String::new() }
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

    /// Whether the engine searches by more than its keys.
    fn searches(&self) -> bool {
        matches!(self.store.language(), Language::Pipeline)
    }

    fn singly(&self) -> Result<()> {
        if self.layout == Layout::Seconds { Err(one_value()) } else { Ok(()) }
    }

    /// The time that a pipeline of stages finds.
    fn time(
        &mut self,
        write: impl FnOnce(&mut String) -> std::fmt::Result,
    ) -> Result<Option<Stamp>> {
        self.question.clear();
        write(&mut self.question).map_err(broken)?;
        self.question.push_str(
            r#", {"$limit": 1}, {"$project": {"_id": 0, "s": "$_id.s", "ns": "$_id.ns"}}]"#,
        );
        let (collection, mut found) = (self.collection()?, None);
        self.store.query(collection, &self.question, &["s", "ns"], &mut |row| {
            found = Some(stamp(row.int(0)?, row.int(1)?)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Visits documents of samples between two keys.
    fn between(
        &mut self,
        [from, to]: [Stamp; 2],
        columns: &'static [&'static str],
        visit: &mut dyn FnMut(Sample),
    ) -> Result<()> {
        self.singly()?;
        let (from, to) = (key(from), key(to));
        let find = Find {
            filter: Filter::Keys { from: &from, to: &to },
            order: Order::Key,
            limit: None,
            columns,
        };
        let collection = self.collection()?;
        self.store.find(collection, &find, &mut |row| {
            visit(sample(row, columns)?);
            Ok(())
        })
    }

    /// Visits the documents of some seconds, or of all.
    fn documents(
        &mut self,
        seconds: Option<(i64, i64)>,
        columns: &'static [&'static str],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let bounds = seconds.map(|(first, last)| [Value::Int(first), Value::Int(last + 1)]);
        let filter = bounds.as_ref().map_or(Filter::All, |[from, to]| Filter::Keys {
            from: std::slice::from_ref(from),
            to: std::slice::from_ref(to),
        });
        self.visit(&Find { filter, order: Order::Key, limit: None, columns }, visit)
    }

    fn visit(&mut self, find: &Find<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (collection, layout, mut enough) = (self.collection()?, self.layout, false);
        self.store.find(collection, find, &mut |row| {
            if enough {
                return Ok(());
            }
            if layout == Layout::Samples {
                enough = visit(sample(row, find.columns)?).is_break();
                return Ok(());
            }
            let s = row.int(0)?.ok_or_else(|| broken("a second has no time"))?;
            let there = row.list(1, &mut |part| {
                let at = stamp(Some(s), part.int(0)?)?;
                let mut values = [0; CHANNELS];
                for (number, value) in values.iter_mut().enumerate() {
                    *value = channel(part.int(1 + number)?)?;
                }
                if !enough {
                    enough = visit(Sample { at, values }).is_break();
                }
                Ok(())
            })?;
            if there { Ok(()) } else { Err(broken("a second has no samples")) }
        })
    }

    /// A search by the client, page by page.
    fn seek_by_pages(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let (mut at, mut found) = (at, None);
        loop {
            let (from, to, order) = if seek.forward() {
                (at.next(), Stamp { s: i64::from(i32::MAX), ns: 0 }, Order::Key)
            } else {
                (Stamp { s: 0, ns: 0 }, at, Order::KeyDescending)
            };
            let (from, to) = (key(from), key(to));
            let filter = Filter::Keys { from: &from, to: &to };
            let find = Find { filter, order, limit: Some(PAGE), columns: ANGLES };
            let mut seen = 0;
            self.visit(&find, &mut |sample| {
                (seen, at) = (seen + 1, sample.at);
                if seek.wants(sample.values[0]) {
                    found = Some(sample.at);
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
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

/// A sample of a document's fields; channels that were not asked for are 0.
fn sample(row: &dyn ResultRow, columns: &[&str]) -> Result<Sample> {
    let mut values = [0; CHANNELS];
    for (place, column) in columns.iter().enumerate() {
        if let Some(number) = FIELDS.iter().position(|field| field == column) {
            values[number] = channel(row.int(place)?)?;
        }
    }
    Ok(Sample { at: stamp(row.int(0)?, row.int(1)?)?, values })
}

fn fields(sample: &Sample) -> [Field<'static>; CHANNELS] {
    std::array::from_fn(|number| (FIELDS[number], Value::Int(i64::from(sample.values[number]))))
}

/// The lists of a second's samples, whose items have to live somewhere.
fn parts(samples: impl Iterator<Item = Sample>) -> Vec<[Value<'static>; PART]> {
    let part = |sample: Sample| {
        std::array::from_fn(|place| match place {
            0 => Value::Int(i64::from(sample.at.ns)),
            _ => Value::Int(i64::from(sample.values[place - 1])),
        })
    };
    samples.map(part).collect()
}

struct HistoryDocuments {
    samples: Box<dyn Iterator<Item = Sample>>,
    key: [Value<'static>; 2],
    fields: [Field<'static>; CHANNELS],
}

impl Documents for HistoryDocuments {
    fn next(&mut self) -> Option<Document<'_>> {
        let sample = self.samples.next()?;
        (self.key, self.fields) = (key(sample.at), fields(&sample));
        Some(Document { key: &self.key, fields: &self.fields })
    }
}

impl MachineLog for DocumentLog {
    fn finds(&self) -> Execution {
        match self.layout {
            Layout::Samples if self.searches() => Execution::Native,
            _ => Execution::ClientSide,
        }
    }

    fn clear(&mut self) -> Result<()> {
        self.collection = Some(self.store.create(self.def())?);
        Ok(())
    }

    fn open(&mut self) -> Result<()> {
        self.collection = Some(self.store.collection(self.def())?);
        Ok(())
    }

    fn write(&mut self, sample: &Sample) -> Result<()> {
        let document = Document { key: &key(sample.at), fields: &fields(sample) };
        self.store.insert(self.collection()?, &document)
    }

    fn write_second(&mut self, samples: &[Sample]) -> Result<()> {
        let parts = parts(samples.iter().copied());
        let lists: Vec<Value<'_>> = parts.iter().map(|part| Value::List(part)).collect();
        let key = [Value::Int(samples[0].at.s)];
        let fields = [("samples", Value::List(&lists))];
        self.store.insert(self.collection()?, &Document { key: &key, fields: &fields })
    }

    fn load(&mut self, history: &History) -> Result<()> {
        let collection = self.collection()?;
        if self.layout == Layout::Samples {
            let samples = Box::new(history.samples());
            let none = ("", Value::Null);
            let mut documents =
                HistoryDocuments { samples, key: [Value::Null; 2], fields: [none; CHANNELS] };
            return self.store.bulk(collection, &mut documents).map(drop);
        }
        for second in history.seconds() {
            self.write_second(&second)?;
        }
        Ok(())
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        self.singly()?;
        if !self.searches() {
            return self.seek_by_pages(seek, at);
        }
        let (compare, order) = if seek.forward() { ("$gt", 1) } else { ("$lt", -1) };
        let wanted = match seek.above() {
            true => format!(r#"{{"$gt": {HALF}}}"#),
            false => format!(r#"{{"$lt": {EIGHTH}}}"#),
        };
        self.time(|text| {
            write!(
                text,
                r#"[{{"$match": {{"_id": {{"{compare}": {}}}, "v0": {wanted}}}}}, {{"$sort": {{"_id": {order}}}}}"#,
                Id(at)
            )
        })
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        if !self.searches() {
            let mut lowest: Option<(u16, Stamp)> = None;
            self.between([after.next(), before], ANGLES, &mut |sample| {
                let angle = sample.values[0];
                if lowest.is_none_or(|(least, _)| angle < least) {
                    lowest = Some((angle, sample.at));
                }
            })?;
            return Ok(lowest.map(|(_, at)| at));
        }
        self.time(|text| {
            write!(
                text,
                r#"[{{"$match": {{"_id": {{"$gt": {}, "$lt": {}}}}}}}, {{"$sort": {{"v0": 1, "_id": 1}}}}"#,
                Id(after),
                Id(before)
            )
        })
    }

    fn samples(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()> {
        self.between([from, to], SAMPLES, &mut |sample| into.push(sample))
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        let mut sums = [0; CHANNELS];
        if !self.searches() {
            self.between([from, to], SAMPLES, &mut |sample| {
                add(&mut sums, &sample);
            })?;
            return Ok(sums);
        }
        self.question.clear();
        write!(
            self.question,
            r#"[{{"$match": {{"_id": {{"$gte": {}, "$lt": {}}}}}}}, {{"$group": {{"_id": null, "v0": {{"$sum": "$v0"}}, "v1": {{"$sum": "$v1"}}, "v2": {{"$sum": "$v2"}}, "v3": {{"$sum": "$v3"}}, "v4": {{"$sum": "$v4"}}}}}}]"#,
            Id(from),
            Id(to)
        )
        .map_err(broken)?;
        let collection = self.collection()?;
        self.store.query(collection, &self.question, &FIELDS, &mut |row| {
            for (number, sum) in sums.iter_mut().enumerate() {
                *sum = row.int(number)?.unwrap_or_default().cast_unsigned();
            }
            Ok(())
        })?;
        Ok(sums)
    }

    fn seconds(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()> {
        let columns = match self.layout {
            Layout::Samples => SAMPLES,
            Layout::Seconds => &["s", "samples"],
        };
        self.documents(Some((first, last)), columns, &mut |sample| {
            into.push(sample);
            ControlFlow::Continue(())
        })
    }

    fn angles(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()> {
        self.singly()?;
        self.documents(Some((first, last)), ANGLES, &mut |sample| {
            into.push(sample);
            ControlFlow::Continue(())
        })
    }

    fn others(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()> {
        self.between([from, to], OTHERS, &mut |sample| into.push(sample))
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        let columns: &[&str] = match self.layout {
            Layout::Samples => ANGLES,
            Layout::Seconds => &["s", "samples"],
        };
        let find =
            Find { filter: Filter::All, order: Order::KeyDescending, limit: Some(1), columns };
        let mut newest = None;
        self.visit(&find, &mut |sample| {
            newest = newest.max(Some(sample.at));
            ControlFlow::Continue(())
        })?;
        Ok(newest)
    }

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let columns = match self.layout {
            Layout::Samples => SAMPLES,
            Layout::Seconds => &["s", "samples"],
        };
        self.documents(None, columns, visit)
    }

    fn maintain(&mut self) -> Result<()> {
        self.store.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// A key in a pipeline.
struct Id(Stamp);

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, r#"{{"s": {}, "ns": {}}}"#, self.0.s, self.0.ns)
    }
}
