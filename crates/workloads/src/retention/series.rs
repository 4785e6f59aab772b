//! Rows in a series store: a point a row, its sensor a tag. What goes is an hour of time.

use std::fmt::Write as _;
use std::ops::Range;

use embermark_contract::series::{FieldValue, Point, Points, SeriesStore, TagValue};
use embermark_contract::sql::ResultRow;
use embermark_contract::{Lifecycle, Result};

use super::port::{RetentionLog, Visit, broken};
use super::questions::{Found, Question};
use super::rows::{HOUR_MS, Row, Rows};

const MEASUREMENT: &str = "reading";

/// Nanoseconds of a millisecond.
const MS: i64 = 1_000_000;

const COLUMNS: &[&str] = &["time", "sensor", "temperature", "humidity", "battery"];

pub(super) struct SeriesLog {
    store: Box<dyn SeriesStore>,
    /// The question that is asked next.
    text: String,
}

type Tags = [(&'static str, TagValue<'static>); 1];
type Fields = [(&'static str, FieldValue<'static>); 3];

const fn tags(row: &Row) -> Tags {
    [("sensor", TagValue::Int(row.sensor as i64))]
}

const fn fields(row: &Row) -> Fields {
    [
        ("temperature", FieldValue::Float(row.temperature)),
        ("humidity", FieldValue::Float(row.humidity)),
        ("battery", FieldValue::Int(row.battery as i64)),
    ]
}

/// A row that has its sensor among its columns, or is of a known one.
fn row_of(row: &dyn ResultRow, known: Option<i32>) -> Result<Row> {
    let absent = || broken("a column is NULL");
    let sensor = match known {
        Some(sensor) => sensor,
        None => {
            let tag = row.text(1)?.and_then(|text| text.parse().ok());
            tag.ok_or_else(|| broken("its sensor is no number"))?
        }
    };
    let narrow = |value: i64| i32::try_from(value).map_err(|_| broken("a number is too large"));
    Ok(Row {
        time_ms: row.int(0)?.ok_or_else(absent)? / MS,
        sensor,
        temperature: row.float(2)?.ok_or_else(absent)?,
        humidity: row.float(3)?.ok_or_else(absent)?,
        battery: narrow(row.int(4)?.ok_or_else(absent)?)?,
    })
}

/// Points of one request.
struct Batch<'a> {
    rows: &'a Rows,
    numbers: Range<u64>,
    tags: Tags,
    fields: Fields,
}

impl Points for Batch<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        let row = self.rows.row(self.numbers.next()?);
        (self.tags, self.fields) = (tags(&row), fields(&row));
        Some(Point { tags: &self.tags, fields: &self.fields, time_ns: row.time_ms * MS })
    }
}

impl SeriesLog {
    pub(super) fn new(store: Box<dyn SeriesStore>) -> Self {
        Self { store, text: String::with_capacity(512) }
    }
}

impl RetentionLog for SeriesLog {
    fn create(&mut self) -> Result<()> {
        self.store.clear(MEASUREMENT)?;
        self.store.keep_by(HOUR_MS * MS)
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        let point = Point { tags: &tags(row), fields: &fields(row), time_ns: row.time_ms * MS };
        self.store.write(MEASUREMENT, &point)
    }

    fn insert_all(&mut self, rows: &Rows, numbers: Range<u64>) -> Result<()> {
        let first = rows.row(numbers.start);
        let mut batch = Batch { rows, numbers, tags: tags(&first), fields: fields(&first) };
        self.store.bulk(MEASUREMENT, &mut batch).map(drop)
    }

    fn expire(&mut self, hour: u64) -> Result<()> {
        self.store.expire(MEASUREMENT, Rows::hour_ms(hour + 1) * MS)
    }

    fn expiry(&self) -> String {
        self.store.expires_by().to_owned()
    }

    fn word(&mut self, question: &Question) {
        const ROW: &str = "SELECT temperature, humidity, battery FROM reading WHERE";
        self.text.clear();
        let span = |from_ms: i64, to_ms: i64| {
            format!("time >= {} AND time < {}", from_ms * MS, to_ms * MS)
        };
        // Writing to a String cannot fail.
        let _ = match *question {
            Question::Newest { sensor } => {
                write!(self.text, "{ROW} sensor = '{sensor}' ORDER BY time DESC LIMIT 1")
            }
            Question::Range { sensor, from_ms, to_ms } => {
                write!(self.text, "{ROW} {} AND sensor = '{sensor}'", span(from_ms, to_ms))
            }
            Question::Mean { from_ms, to_ms } => {
                let span = span(from_ms, to_ms);
                write!(self.text, "SELECT MEAN(temperature) AS mean FROM reading WHERE {span}")
            }
        };
    }

    /// What was sent can be read when the answer begins.
    fn ask(&mut self, question: &Question, found: &mut Found) -> Result<()> {
        self.store.flush()?;
        match *question {
            Question::Newest { sensor } | Question::Range { sensor, .. } => {
                // The tag is no column of a question that names it alone.
                let columns = ["time", "temperature", "temperature", "humidity", "battery"];
                self.store.query(&self.text, &columns, &mut |row| {
                    found.rows.push(row_of(row, Some(sensor))?);
                    Ok(())
                })
            }
            Question::Mean { .. } => self.store.query(&self.text, &["mean"], &mut |row| {
                found.mean = row.float(0)?;
                Ok(())
            }),
        }
    }

    fn count(&mut self) -> Result<Option<u64>> {
        self.store.flush()?;
        let (question, mut count) = ("SELECT COUNT(battery) AS rows FROM reading", Some(0));
        self.store.query(question, &["rows"], &mut |row| {
            count = row.int(0)?.and_then(|count| u64::try_from(count).ok());
            Ok(())
        })?;
        Ok(count)
    }

    fn visit(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.store.flush()?;
        let question = "SELECT sensor, temperature, humidity, battery FROM reading";
        self.store.query(question, COLUMNS, &mut |row| visit(row_of(row, None)?))
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
