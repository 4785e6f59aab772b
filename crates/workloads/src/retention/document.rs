//! Rows in a document store: a document a row, under a key of time and sensor. What goes is a range of keys.

use std::ops::Range;

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_contract::sql::ResultRow;
use embermark_contract::{Lifecycle, Result};

use super::port::{RetentionLog, Visit, broken};
use super::questions::{Found, Question};
use super::rows::{Row, Rows, SENSORS};

static READINGS: CollectionDef = CollectionDef {
    name: "reading",
    key: &["time_ms", "sensor"],
    indexes: &[],
    fields: &["temperature", "humidity", "battery"],
};

const COLUMNS: &[&str] = &["time_ms", "sensor", "temperature", "humidity", "battery"];

pub(super) struct DocumentLog {
    store: Box<dyn DocumentStore>,
    collection: Option<Collection>,
    /// The question that is asked next, in the engine's words, where it is asked in such.
    text: String,
}

impl DocumentLog {
    pub(super) const fn new(store: Box<dyn DocumentStore>) -> Self {
        Self { store, collection: None, text: String::new() }
    }

    fn collection(&self) -> Result<Collection> {
        self.collection.ok_or_else(|| broken("its collection was not made"))
    }

    fn find(
        &mut self,
        filter: Filter<'_>,
        order: Order,
        limit: Option<u32>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let find = Find { filter, order, limit, columns: COLUMNS };
        self.store.find(self.collection()?, &find, &mut |row| visit(row_of(row)?))
    }

    /// The rows of a span of time.
    fn between(&mut self, from_ms: i64, to_ms: i64, visit: &mut Visit<'_>) -> Result<()> {
        let (from, to) = ([Value::Int(from_ms)], [Value::Int(to_ms)]);
        self.find(Filter::Keys { from: &from, to: &to }, Order::Key, None, visit)
    }

    /// Whether the engine answers pipelines.
    fn has_pipelines(&self) -> bool {
        matches!(self.store.language(), Language::Pipeline)
    }
}

/// A question as a pipeline.
fn pipeline(question: &Question) -> String {
    const ROW: &str = r#"{"$project": {"_id": 0, "time_ms": "$_id.time_ms", "sensor": "$_id.sensor", "temperature": 1, "humidity": 1, "battery": 1}}"#;
    let span = |from_ms: i64, to_ms: i64| {
        format!(r#""_id": {{"$gte": {{"time_ms": {from_ms}}}, "$lt": {{"time_ms": {to_ms}}}}}"#)
    };
    match *question {
        Question::Newest { sensor } => format!(
            r#"[{{"$match": {{"_id.sensor": {sensor}}}}}, {{"$sort": {{"_id": -1}}}}, {{"$limit": 1}}, {ROW}]"#
        ),
        Question::Range { sensor, from_ms, to_ms } => format!(
            r#"[{{"$match": {{{}, "_id.sensor": {sensor}}}}}, {{"$sort": {{"_id": 1}}}}, {ROW}]"#,
            span(from_ms, to_ms)
        ),
        Question::Mean { from_ms, to_ms } => format!(
            r#"[{{"$match": {{{}}}}}, {{"$group": {{"_id": null, "mean": {{"$avg": "$temperature"}}}}}}]"#,
            span(from_ms, to_ms)
        ),
    }
}

fn row_of(row: &dyn ResultRow) -> Result<Row> {
    let absent = || broken("a field is not there");
    let int = |column| row.int(column)?.ok_or_else(absent);
    let narrow = |column| i32::try_from(int(column)?).map_err(|_| broken("a number is too large"));
    Ok(Row {
        time_ms: int(0)?,
        sensor: narrow(1)?,
        temperature: row.float(2)?.ok_or_else(absent)?,
        humidity: row.float(3)?.ok_or_else(absent)?,
        battery: narrow(4)?,
    })
}

const fn key(row: &Row) -> [Value<'static>; 2] {
    [Value::Int(row.time_ms), Value::Int(row.sensor as i64)]
}

const fn fields(row: &Row) -> [Field<'static>; 3] {
    [
        ("temperature", Value::Float(row.temperature)),
        ("humidity", Value::Float(row.humidity)),
        ("battery", Value::Int(row.battery as i64)),
    ]
}

/// Documents of one request.
struct Batch<'a> {
    rows: &'a Rows,
    numbers: Range<u64>,
    key: [Value<'static>; 2],
    fields: [Field<'static>; 3],
}

impl Documents for Batch<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        let row = self.rows.row(self.numbers.next()?);
        (self.key, self.fields) = (key(&row), fields(&row));
        Some(Document { key: &self.key, fields: &self.fields })
    }
}

impl RetentionLog for DocumentLog {
    fn create(&mut self) -> Result<()> {
        self.collection = Some(self.store.create(&READINGS)?);
        Ok(())
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        let document = Document { key: &key(row), fields: &fields(row) };
        self.store.insert(self.collection()?, &document)
    }

    /// By one request.
    fn insert_all(&mut self, rows: &Rows, numbers: Range<u64>) -> Result<()> {
        let (key, fields) = ([Value::Null; 2], fields(&Row::default()));
        let mut batch = Batch { rows, numbers, key, fields };
        self.store.bulk(self.collection()?, &mut batch).map(drop)
    }

    fn expire(&mut self, hour: u64) -> Result<()> {
        let [from, to] = [hour, hour + 1].map(|hour| [Value::Int(Rows::hour_ms(hour))]);
        let filter = Filter::Keys { from: &from, to: &to };
        self.store.delete(self.collection()?, &filter).map(drop)
    }

    fn expiry(&self) -> String {
        "a delete of many documents by a range of their keys".to_owned()
    }

    fn word(&mut self, question: &Question) {
        if self.has_pipelines() {
            self.text = pipeline(question);
        }
    }

    fn ask(&mut self, question: &Question, found: &mut Found) -> Result<()> {
        if self.has_pipelines() {
            let collection = self.collection()?;
            let is_mean = matches!(question, Question::Mean { .. });
            let columns = if is_mean { &["mean"] } else { COLUMNS };
            return self.store.query(collection, &self.text, columns, &mut |row| {
                match is_mean {
                    true => found.mean = row.float(0)?,
                    false => found.rows.push(row_of(row)?),
                }
                Ok(())
            });
        }
        match *question {
            // All sensors report in turn: every one is among the last rows.
            Question::Newest { sensor } => {
                let (order, last) = (Order::KeyDescending, Some(SENSORS as u32));
                self.find(Filter::All, order, last, &mut |row| {
                    if row.sensor == sensor && found.rows.is_empty() {
                        found.rows.push(row);
                    }
                    Ok(())
                })
            }
            Question::Range { sensor, from_ms, to_ms } => {
                self.between(from_ms, to_ms, &mut |row| {
                    found.rows.extend((row.sensor == sensor).then_some(row));
                    Ok(())
                })
            }
            Question::Mean { from_ms, to_ms } => {
                let (mut sum, mut count) = (0.0, 0_u64);
                self.between(from_ms, to_ms, &mut |row| {
                    (sum, count) = (sum + row.temperature, count + 1);
                    Ok(())
                })?;
                found.mean = (count > 0).then(|| sum / count as f64);
                Ok(())
            }
        }
    }

    fn count(&mut self) -> Result<Option<u64>> {
        if !self.has_pipelines() {
            return Ok(None);
        }
        let (collection, mut count) = (self.collection()?, Some(0));
        self.store.query(collection, r#"[{"$count": "rows"}]"#, &["rows"], &mut |row| {
            count = row.int(0)?.and_then(|count| u64::try_from(count).ok());
            Ok(())
        })?;
        Ok(count)
    }

    fn visit(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.find(Filter::All, Order::Key, None, visit)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
