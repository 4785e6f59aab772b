//! A machine's log in a series store: a point a sample with its five values as fields. Both layouts
//! are this one, since the engine itself keeps points of a time together; they differ in what a
//! request brings: one point, or those of a second.

use std::fmt::Write as _;

use embermark_contract::Result;
use embermark_contract::series::{FieldValue, Point, Points, SeriesStore};
use embermark_data::machine::{CHANNELS, EIGHTH, HALF, History, Sample, Stamp, Values};
use embermark_model::result::Execution;

use super::port::{MachineLog, Seek, Sums, Visit, broken, channel, keep};

const MEASUREMENT: &str = "sample";
const FIELDS: [&str; CHANNELS] = ["v0", "v1", "v2", "v3", "v4"];

pub(super) struct SeriesLog {
    store: Box<dyn SeriesStore>,
    question: String,
}

type Fields = [(&'static str, FieldValue<'static>); CHANNELS];

fn fields(values: &Values) -> Fields {
    std::array::from_fn(|number| (FIELDS[number], FieldValue::Int(i64::from(values[number]))))
}

struct SamplePoints<I> {
    samples: I,
    fields: Fields,
}

impl<I: Iterator<Item = Sample>> Points for SamplePoints<I> {
    fn next(&mut self) -> Option<Point<'_>> {
        let sample = self.samples.next()?;
        self.fields = fields(&sample.values);
        Some(Point { tags: &[], fields: &self.fields, time_ns: sample.at.nanoseconds() })
    }
}

impl SeriesLog {
    pub(super) const fn new(store: Box<dyn SeriesStore>) -> Self {
        Self { store, question: String::new() }
    }

    fn bulk(&mut self, samples: impl Iterator<Item = Sample>) -> Result<()> {
        let mut points = SamplePoints { samples, fields: fields(&Values::default()) };
        self.store.bulk(MEASUREMENT, &mut points).map(drop)
    }

    /// The time of the point that a question finds.
    fn time(
        &mut self,
        write: impl FnOnce(&mut String) -> std::fmt::Result,
    ) -> Result<Option<Stamp>> {
        self.question.clear();
        write(&mut self.question).map_err(broken)?;
        let mut found = None;
        self.store.query(&self.question, &["time"], &mut |row| {
            found = row.int(0)?.map(Stamp::of_nanoseconds);
            Ok(())
        })?;
        Ok(found)
    }

    /// The points of a condition with some of their channels.
    fn points(
        &mut self,
        first: usize,
        last: usize,
        condition: &str,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let channels = &FIELDS[first..=last];
        self.question.clear();
        write!(self.question, "SELECT {} FROM sample{condition}", channels.join(", "))
            .map_err(broken)?;
        let mut columns = ["time"; 1 + CHANNELS];
        columns[1..=channels.len()].copy_from_slice(channels);
        let mut enough = false;
        self.store.query(&self.question, &columns[..=channels.len()], &mut |row| {
            if enough {
                return Ok(());
            }
            let at = row.int(0)?.map(Stamp::of_nanoseconds);
            let at = at.ok_or_else(|| broken("a point has no time"))?;
            let mut values = Values::default();
            for (place, value) in values[first..=last].iter_mut().enumerate() {
                *value = channel(row.int(1 + place)?)?;
            }
            enough = visit(Sample { at, values }).is_break();
            Ok(())
        })
    }
}

fn range(from: Stamp, to: Stamp) -> String {
    format!(" WHERE time >= {} AND time < {}", from.nanoseconds(), to.nanoseconds())
}

fn whole(first: i64, last: i64) -> String {
    range(Stamp { s: first, ns: 0 }, Stamp { s: last + 1, ns: 0 })
}

impl MachineLog for SeriesLog {
    fn finds(&self) -> Execution {
        Execution::Native
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(MEASUREMENT)
    }

    fn open(&mut self) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, sample: &Sample) -> Result<()> {
        let fields = fields(&sample.values);
        let point = Point { tags: &[], fields: &fields, time_ns: sample.at.nanoseconds() };
        self.store.write(MEASUREMENT, &point)
    }

    fn write_second(&mut self, samples: &[Sample]) -> Result<()> {
        self.bulk(samples.iter().copied())
    }

    fn load(&mut self, history: &History) -> Result<()> {
        self.bulk(history.samples())?;
        self.store.flush()
    }

    fn flush(&mut self) -> Result<()> {
        self.store.flush()
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let (compare, order) = if seek.forward() { (">", "ASC") } else { ("<", "DESC") };
        let (than, angle) = if seek.above() { (">", HALF) } else { ("<", EIGHTH) };
        let at = at.nanoseconds();
        self.time(|text| {
            write!(
                text,
                "SELECT v0 FROM sample WHERE time {compare} {at} AND v0 {than} {angle} \
                 ORDER BY time {order} LIMIT 1"
            )
        })
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        let (after, before) = (after.nanoseconds(), before.nanoseconds());
        self.time(|text| {
            write!(text, "SELECT MIN(v0) FROM sample WHERE time > {after} AND time < {before}")
        })
    }

    fn samples(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()> {
        self.points(0, CHANNELS - 1, &range(from, to), &mut keep(into))
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        self.question.clear();
        self.question.push_str("SELECT ");
        for (number, field) in FIELDS.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(self.question, "{comma}SUM({field}) AS {field}").map_err(broken)?;
        }
        write!(self.question, " FROM sample{}", range(from, to)).map_err(broken)?;
        let mut sums = Sums::default();
        self.store.query(&self.question, &FIELDS, &mut |row| {
            for (number, sum) in sums.iter_mut().enumerate() {
                *sum = row.int(number)?.unwrap_or_default().cast_unsigned();
            }
            Ok(())
        })?;
        Ok(sums)
    }

    fn seconds(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()> {
        self.points(0, CHANNELS - 1, &whole(first, last), &mut keep(into))
    }

    fn angles(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()> {
        self.points(0, 0, &whole(first, last), &mut keep(into))
    }

    fn others(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()> {
        self.points(1, CHANNELS - 1, &range(from, to), &mut keep(into))
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        self.time(|text| write!(text, "SELECT LAST(v0) FROM sample"))
    }

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.points(0, CHANNELS - 1, "", visit)
    }

    fn maintain(&mut self) -> Result<()> {
        self.store.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
