//! Events in a series store: a point each, the bucket its tag, what it tells its fields.
//!
//! The endpoint is a field: a tag of as many values as there are bursts of log lines is what the
//! manual warns of. What is grouped by a field is grouped here.

use arrayvec::ArrayVec;
use embermark_contract::series::{FieldValue, Point, Points, SeriesStore, TagValue};
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::events::Payload;
use embermark_meter::Meter;
use embermark_model::result::Execution;

use super::phase::Phase;
use super::port::{Record, Stored, Telemetry, float, stored, text};
use super::query_results::{ERRORS_SINCE, QueryResults, WITHIN, month};
use super::variant::{Index, Variant};
use crate::reopenable::Reopenable;

const METRICS: &str = "metrics";

/// Nanoseconds in a millisecond.
const NANOS: i64 = 1_000_000;

pub(super) struct SeriesEvents {
    store: Reopenable<dyn SeriesStore>,
    gps: String,
    /// The mean of each month: calendar months are no intervals to group by.
    co2: Vec<String>,
    logs: String,
}

impl SeriesEvents {
    pub(super) fn new(store: Reopenable<dyn SeriesStore>, variant: Variant) -> Result<Self> {
        variant.in_one_form("a series store")?;
        if variant.index != Index::None {
            let what = "an index to choose: its own of tags and time is always there";
            return Err(EngineError::unsupported("a series store", what));
        }
        let [east, north] = WITHIN;
        let gps = format!(
            "SELECT longitude, latitude FROM {METRICS} WHERE bucket = 'location' \
             AND longitude > {} AND longitude < {} AND latitude > {} AND latitude < {}",
            east.start, east.end, north.start, north.end
        );
        let mean = |number| {
            let span = month(number);
            format!(
                "SELECT MEAN(co2) AS mean FROM {METRICS} WHERE bucket = 'co2' \
                 AND time >= {} AND time < {}",
                span.start * NANOS,
                span.end * NANOS
            )
        };
        let logs = format!(
            "SELECT endpoint FROM {METRICS} WHERE bucket = 'logs' AND level = 'error' AND time > {}",
            ERRORS_SINCE * NANOS
        );
        Ok(Self { store, gps, co2: (1..=12).map(mean).collect(), logs })
    }
}

/// An event as a point: a field for what it tells, and no other.
struct AsPoint<'a> {
    tags: [(&'static str, TagValue<'a>); 1],
    fields: ArrayVec<(&'static str, FieldValue<'a>), 6>,
    time_ns: i64,
}

impl<'a> AsPoint<'a> {
    fn of(record: &'a Record) -> Self {
        let event = &record.event;
        let mut fields = ArrayVec::new();
        fields.push(("id", FieldValue::Int(event.id)));
        match &event.data {
            Payload::Location { longitude, latitude } => {
                fields.push(("longitude", FieldValue::Float(*longitude)));
                fields.push(("latitude", FieldValue::Float(*latitude)));
            }
            Payload::Co2 { co2 } => fields.push(("co2", FieldValue::Float(*co2))),
            Payload::Log(line) => {
                fields.push(("span_id", FieldValue::Int(line.span_id)));
                fields.push(("level", FieldValue::Text(line.level())));
                fields.push(("user", FieldValue::Text(&line.user)));
                fields.push(("message", FieldValue::Text(&line.message)));
                fields.push(("endpoint", FieldValue::Text(&line.endpoint)));
            }
        }
        let tags = [("bucket", TagValue::Text(event.data.bucket()))];
        Self { tags, fields, time_ns: event.timestamp * NANOS }
    }

    fn point(&self) -> Point<'_> {
        Point { tags: &self.tags, fields: &self.fields, time_ns: self.time_ns }
    }
}

struct EventPoints<'a> {
    records: std::slice::Iter<'a, Record>,
    next: Option<AsPoint<'a>>,
}

impl Points for EventPoints<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        self.next = self.records.next().map(AsPoint::of);
        self.next.as_ref().map(AsPoint::point)
    }
}

impl Telemetry for SeriesEvents {
    fn execution(&self, step: Phase) -> Execution {
        if step == Phase::Logs { Execution::ClientSide } else { Execution::Native }
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(METRICS)
    }

    fn insert(&mut self, records: &[Record], meter: &mut Meter) -> Result<u64> {
        let done = meter.each(records.len() as u64, |i| {
            self.store.write(METRICS, &AsPoint::of(&records[i]).point())
        })?;
        self.store.flush()?;
        Ok(done)
    }

    fn insert_one(&mut self, record: &Record) -> Result<u64> {
        self.store.write(METRICS, &AsPoint::of(record).point())?;
        Ok(1)
    }

    fn flush(&mut self) -> Result<()> {
        self.store.flush()
    }

    fn insert_batch(&mut self, batch: &[Record]) -> Result<u64> {
        let mut points = EventPoints { records: batch.iter(), next: None };
        let given = self.store.bulk(METRICS, &mut points)?;
        self.store.flush()?;
        Ok(given)
    }

    fn ask(&mut self, question: Phase, found: &mut QueryResults) -> Result<()> {
        let Self { store, gps, co2, logs } = self;
        match question {
            Phase::Gps => store.query(gps, &["longitude", "latitude"], &mut |row| {
                found.point(float(row, 0)?, float(row, 1)?);
                Ok(())
            }),
            Phase::Co2 => (1..).zip(co2).try_for_each(|(month, query)| {
                store.query(query, &["mean"], &mut |row| {
                    found.mean(month, float(row, 0)?);
                    Ok(())
                })
            }),
            _ => {
                store.query(logs, &["endpoint"], &mut |row| {
                    found.see_error(text(row, 0)?);
                    Ok(())
                })?;
                found.conclude();
                Ok(())
            }
        }
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let columns = &[
            "id",
            "time",
            "bucket",
            "longitude",
            "latitude",
            "co2",
            "span_id",
            "level",
            "user",
            "message",
            "endpoint",
        ];
        let all = r#"SELECT id, bucket, longitude, latitude, co2, span_id, level, "user", message, endpoint FROM metrics"#;
        self.store.query(all, columns, &mut |row| {
            let event = stored(row)?;
            visit(&Stored { timestamp: event.timestamp / NANOS, ..event });
            Ok(())
        })
    }

    /// The first point in place of the one of an id, which is no key here.
    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()
    }

    fn first(&mut self) -> Result<u64> {
        let mut found = 0;
        let first = "SELECT id FROM metrics ORDER BY time LIMIT 1";
        self.store.query(first, &["id"], &mut |_| {
            found += 1;
            Ok(())
        })?;
        Ok(found)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
