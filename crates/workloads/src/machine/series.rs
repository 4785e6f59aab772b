//! A machine's log in a series store: a point per sample with its five values as fields. Both
//! layouts are the same points, because the engine itself stores the points of a time together.
//! They differ in their requests: one point, or the points of a second.

use embermark_contract::series::{FieldValue, Point, Points, SeriesStore};
use embermark_contract::{Lifecycle, Result};
use embermark_data::machine::{CHANNELS, EIGHTH, HALF, History, Sample, Stamp, Values};
use embermark_model::result::Execution;

use super::machine_log::{
    Channels, FIELDS, MachineLog, Seek, Span, Sums, Visit, broken, sample, sums_in,
};

const MEASUREMENT: &str = "sample";

pub(super) struct SeriesLog(pub Box<dyn SeriesStore>);

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
    fn bulk(&mut self, samples: impl Iterator<Item = Sample>) -> Result<()> {
        let mut points = SamplePoints { samples, fields: fields(&Values::default()) };
        self.0.bulk(MEASUREMENT, &mut points).map(drop)
    }

    /// Returns the time of the point that a query finds.
    fn time(&mut self, question: &str) -> Result<Option<Stamp>> {
        let mut found = None;
        self.0.query(question, &["time"], &mut |row| {
            found = row.int(0)?.map(Stamp::from_nanoseconds);
            Ok(())
        })?;
        Ok(found)
    }
}

/// Returns the condition for times in a span.
fn within(span: Span) -> String {
    let Some([from, to]) = span.bounds() else { return String::new() };
    format!(" WHERE time >= {} AND time < {}", from.nanoseconds(), to.nanoseconds())
}

impl MachineLog for SeriesLog {
    fn search_execution(&self) -> Option<Execution> {
        Some(Execution::Native)
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear(MEASUREMENT)
    }

    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        let [sample] = samples else { return self.bulk(samples.iter().copied()) };
        let fields = fields(&sample.values);
        let point = Point { tags: &[], fields: &fields, time_ns: sample.at.nanoseconds() };
        self.0.write(MEASUREMENT, &point)
    }

    fn load(&mut self, history: &History) -> Result<()> {
        self.bulk(history.samples())?;
        self.0.flush()
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }

    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        let fields = &FIELDS[channels.numbers()];
        let question = format!("SELECT {} FROM sample{}", fields.join(", "), within(span));
        let columns = [&["time"], fields].concat();
        self.0.query(&question, &columns, &mut |row| {
            let at = row.int(0)?.map(Stamp::from_nanoseconds);
            let at = at.ok_or_else(|| broken("a point has no time"))?;
            visit(sample(at, row, 1, channels)?);
            Ok(())
        })
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        self.time("SELECT LAST(v0) FROM sample")
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let (compare, order) = if seek.forward() { (">", "ASC") } else { ("<", "DESC") };
        let (than, angle) = if seek.above() { (">", HALF) } else { ("<", EIGHTH) };
        let at = at.nanoseconds();
        self.time(&format!(
            "SELECT v0 FROM sample WHERE time {compare} {at} AND v0 {than} {angle} \
             ORDER BY time {order} LIMIT 1"
        ))
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        let (after, before) = (after.nanoseconds(), before.nanoseconds());
        self.time(&format!("SELECT MIN(v0) FROM sample WHERE time > {after} AND time < {before}"))
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        let fields = FIELDS.map(|field| format!("SUM({field}) AS {field}")).join(", ");
        let question = format!("SELECT {fields} FROM sample{}", within(Span::Between(from, to)));
        let mut sums = Sums::default();
        self.0.query(&question, &FIELDS, &mut |row| {
            sums = sums_in(row)?;
            Ok(())
        })?;
        Ok(sums)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.0
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.0.close()
    }
}
