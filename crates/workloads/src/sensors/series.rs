//! The log in a series store.

mod feed;

use embermark_contract::series::{FieldValue, Point, SeriesStore, TagValue};
use embermark_contract::sql::{ResultRow, Visit};
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;
use embermark_model::{Key, Reading};

use super::answers::{int, unfit, values};
use super::influxql::{Band, DAY, NANOS, Query};
use super::phase::Phase;
use super::port::{Anomaly, Change, Comparison, Day, Mean, Outage, SensorLog, Tally};
use super::query_results::QueryResults;
use super::range::{self, Span, SpanChange};
use super::row_source::RowSource;
use super::scan::{self, MOST};
use super::variant::Variant;
use crate::Strategy;
use crate::reopenable::Reopenable;
use feed::{AsPoint, PointFeed};

const READINGS: &str = "readings";

/// The names of a reading's values.
const VALUES: [&str; 4] = ["temperature", "humidity", "light", "voltage"];

/// The log in a series store: one measurement, a point a reading. A store of series commits point
/// by point, whatever the strategy, and does not tell how many it changed: what is counted is what
/// it took, and reading the store back shows whether that is true.
pub(super) struct SeriesLog {
    store: Reopenable<dyn SeriesStore>,
    /// Room for a statement.
    text: String,
}

impl SeriesLog {
    pub(super) fn new(store: Reopenable<dyn SeriesStore>) -> Self {
        Self { store, text: String::with_capacity(4_096) }
    }

    fn query(&mut self, query: Query<'_>, visit: &mut Visit<'_>) -> Result<()> {
        query.write(&mut self.text);
        self.store.query(&self.text, query.columns(), visit)
    }

    /// Sets a temperature by writing the field again: a point is its tags and its time.
    fn overwrite(&mut self, sensor: u16, time_ns: i64, temperature: f64) -> Result<()> {
        let tags = [("sensor", TagValue::Int(i64::from(sensor)))];
        let fields = [(VALUES[Reading::TEMPERATURE], FieldValue::Float(temperature))];
        self.store.write(READINGS, &Point { tags: &tags, fields: &fields, time_ns })
    }

    fn tallies(&mut self, found: &mut Vec<Tally>) -> Result<()> {
        self.query(Query::MostReadings, &mut |row| {
            found.push((sensor(row)?, int(row, 1)?));
            Ok(())
        })
    }

    fn means(&mut self, query: Query<'_>, found: &mut Vec<Mean>) -> Result<()> {
        self.query(query, &mut |row| {
            found.push((sensor(row)?, row.float(1)?));
            Ok(())
        })
    }

    /// In two questions: what is usual for each sensor, then what lies outside of it.
    fn anomalies(&mut self, of: Option<u16>, found: &mut Vec<Anomaly>) -> Result<()> {
        let mut bands = Vec::new();
        self.query(Query::Spread(of), &mut |row| {
            if let (Some(mean), Some(deviation)) = (row.float(1)?, row.float(2)?) {
                let (low, high) = (mean - 2.0 * deviation, mean + 2.0 * deviation);
                bands.push(Band { sensor: sensor(row)?, low, high });
            }
            Ok(())
        })?;
        if bands.is_empty() {
            return Ok(());
        }
        self.query(Query::Outside(&bands), &mut |row| {
            let temperature = row.float(2)?.ok_or_else(|| unfit(2, "NULL"))?;
            found.push(Anomaly { sensor: sensor(row)?, ts: ts(row, 1)?, temperature });
            Ok(())
        })
    }

    fn daily_summary(&mut self, of: Option<u16>, found: &mut Vec<Day>) -> Result<()> {
        self.query(Query::DailySummary(of), &mut |row| {
            found.push(Day {
                sensor: sensor(row)?,
                day: int(row, 1)?.div_euclid(DAY),
                min: row.float(2)?,
                max: row.float(3)?,
                mean: row.float(4)?,
                readings: int(row, 5)?,
            });
            Ok(())
        })
    }

    fn outages(&mut self, of: Option<u16>, found: &mut Vec<Outage>) -> Result<()> {
        self.query(Query::Outages(of), &mut |row| {
            let (to, gap) = (ts(row, 1)?, int(row, 2)?);
            found.push(Outage { sensor: sensor(row)?, from: to - gap, to });
            Ok(())
        })
    }

    fn topk_sensors(&mut self, found: &mut QueryResults) -> Result<()> {
        self.tallies(&mut found.tallies)?;
        scan::most_first(&mut found.tallies);
        found.tallies.truncate(MOST);
        self.means(Query::Hottest, &mut found.hottest)?;
        found.hottest.retain(|(_, mean)| mean.is_some());
        scan::hottest_first(&mut found.hottest);
        Ok(())
    }

    /// The engine makes the buckets; it has neither a join nor a correlation.
    fn compare_two(&mut self) -> Result<Comparison> {
        let mut tallies = Vec::new();
        self.tallies(&mut tallies)?;
        scan::most_first(&mut tallies);
        let [(first, _), (second, _), ..] = tallies[..] else { return Ok(Comparison::default()) };
        let (mut a, mut b) = (Vec::new(), Vec::new());
        self.query(Query::Buckets([first, second]), &mut |row| {
            if let Some(mean) = row.float(2)? {
                let side = if sensor(row)? == first { &mut a } else { &mut b };
                side.push((int(row, 1)?, mean));
            }
            Ok(())
        })?;
        Ok(scan::compare(&a, &b))
    }
}

/// The sensor, a tag and so text, in the first column.
fn sensor(row: &dyn ResultRow) -> Result<i64> {
    let text = row.text(0)?.ok_or_else(|| unfit(0, "NULL"))?;
    text.parse().map_err(|_| unfit(0, text))
}

/// A time as a reading has it.
fn ts(row: &dyn ResultRow, column: usize) -> Result<i64> {
    Ok(int(row, column)? / NANOS)
}

/// Nanoseconds of a time, if there are so many.
fn time_ns(ts: i64) -> Result<i64> {
    ts.checked_mul(NANOS).ok_or_else(|| {
        EngineError::unsupported("a series store", format!("the time {ts} µs, in nanoseconds"))
    })
}

impl SensorLog for SeriesLog {
    fn execution(&self, step: Phase, of: Variant) -> Execution {
        match step {
            Phase::CompareTwo => Execution::ClientSide,
            Phase::Update if of.changes_ranges(step) => Execution::ClientSide,
            _ => Execution::Native,
        }
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(READINGS)
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()
    }

    fn load(&mut self, rows: &[Reading], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let mut next = AsPoint::EMPTY;
        if by == Strategy::Bulk {
            let mut source =
                PointFeed { source: RowSource::new(rows, false, meter), next, error: None };
            let loaded = self.store.bulk(READINGS, &mut source)?;
            if let Some(error) = source.error {
                return Err(error);
            }
            source.source.count_given();
            self.store.flush()?;
            return Ok(loaded);
        }
        let loaded = meter.each(rows.len() as u64, |i| {
            next.set(&rows[i])?;
            self.store.write(READINGS, &next.point())
        })?;
        self.store.flush()?;
        Ok(loaded)
    }

    fn read(&mut self, keys: &[Key], meter: &mut Meter) -> Result<Checksum> {
        let mut found = Checksum::default();
        meter.each(keys.len() as u64, |i| {
            self.query(Query::Read(keys[i]), &mut |row| {
                found += &Reading::new(keys[i], values(row, 0)?);
                Ok(())
            })
        })?;
        Ok(found)
    }

    fn last_readings(
        &mut self,
        sensors: &[u16],
        meter: &mut Meter,
        found: &mut Vec<Reading>,
    ) -> Result<()> {
        if sensors.is_empty() {
            return Ok(());
        }
        self.query(Query::NewestOf(sensors), &mut |row| {
            let number = sensor(row)?;
            let sensor = u16::try_from(number).map_err(|_| unfit(0, number))?;
            found.push(Reading::new(Key { sensor, ts: ts(row, 1)? }, values(row, 2)?));
            Ok(())
        })?;
        meter.count(sensors.len() as u64);
        Ok(())
    }

    fn update(&mut self, changes: &[Change], _: Strategy, meter: &mut Meter) -> Result<u64> {
        let changed = meter.each(changes.len() as u64, |i| {
            let Change { key, temperature } = changes[i];
            self.overwrite(key.sensor, time_ns(key.ts)?, temperature)
        })?;
        self.store.flush()?;
        Ok(changed)
    }

    fn delete(&mut self, keys: &[Key], _: Strategy, meter: &mut Meter) -> Result<u64> {
        meter.each(keys.len() as u64, |i| {
            Query::Delete(keys[i]).write(&mut self.text);
            self.store.execute(&self.text)
        })
    }

    /// By asking for the points of each range, and writing the field of each again.
    fn update_ranges(
        &mut self,
        changes: &[SpanChange],
        _: Strategy,
        meter: &mut Meter,
    ) -> Result<u64> {
        let (mut changed, mut times) = (0, Vec::with_capacity(range::READINGS));
        meter.each(changes.len() as u64, |i| {
            let SpanChange { span, temperature } = changes[i];
            self.query(Query::TimesIn(span), &mut |row| {
                times.push(int(row, 0)?);
                Ok(())
            })?;
            changed += times.len() as u64;
            times.drain(..).try_for_each(|time| self.overwrite(span.sensor, time, temperature))
        })?;
        self.store.flush()?;
        Ok(changed)
    }

    fn delete_ranges(&mut self, spans: &[Span], _: Strategy, meter: &mut Meter) -> Result<u64> {
        let mut deleted = 0;
        meter.each(spans.len() as u64, |i| {
            Query::DeleteRange(spans[i]).write(&mut self.text);
            deleted += spans[i].readings;
            self.store.execute(&self.text)
        })?;
        Ok(deleted)
    }

    fn ask(&mut self, question: Phase, of: Option<u16>, found: &mut QueryResults) -> Result<()> {
        for part in question.parts() {
            match part {
                Phase::AvgSensor => self.means(Query::AvgSensor(of), &mut found.means)?,
                Phase::HotSensors => {
                    self.means(Query::HotSensors, &mut found.means)?;
                    scan::hottest_first(&mut found.means);
                }
                Phase::Anomalies => self.anomalies(of, &mut found.anomalies)?,
                Phase::DailySummary => self.daily_summary(of, &mut found.days)?,
                Phase::Outages => self.outages(of, &mut found.outages)?,
                Phase::TopkSensors => self.topk_sensors(found)?,
                Phase::CompareTwo => found.comparison = self.compare_two()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Reading)) -> Result<()> {
        let mut tallies = Vec::new();
        self.tallies(&mut tallies)?;
        tallies.sort_unstable();
        for (number, _) in tallies {
            let sensor = u16::try_from(number).map_err(|_| unfit(0, number))?;
            self.query(Query::Contents(number), &mut |row| {
                visit(&Reading::new(Key { sensor, ts: ts(row, 0)? }, values(row, 1)?));
                Ok(())
            })?;
        }
        Ok(())
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
