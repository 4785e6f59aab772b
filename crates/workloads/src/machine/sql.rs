//! A machine's log in an SQL database: five rows per sample (time, channel number, value), as
//! published, or a row per second with all its samples as JSON.

use embermark_contract::sql::{Param, QueryKind, ResultRow, Rows, SqlStore, Statement};
use embermark_contract::{Lifecycle, Result};
use embermark_data::machine::{CHANNELS, History, Sample, Stamp};
use embermark_model::result::Execution;

use super::encoding;
use super::machine_log::{
    Channels, Form, Layout, MachineLog, Seek, Span, Sums, Visit, broken, channel, one_value, stamp,
};
use super::schema::{self, table};
use super::statements::{self, StatementKind};

pub(super) struct SqlLog {
    store: Box<dyn SqlStore>,
    layout: Layout,
    form: Form,
    /// Statements prepared since the table was created.
    prepared: Vec<(StatementKind, Statement)>,
    json: String,
}

impl SqlLog {
    pub(super) const fn new(store: Box<dyn SqlStore>, layout: Layout, form: Form) -> Self {
        Self { store, layout, form, prepared: Vec::new(), json: String::new() }
    }

    fn prepared(&self, question: StatementKind) -> Result<Statement> {
        let known = self.prepared.iter().find(|(known, _)| *known == question);
        known.map(|(_, statement)| *statement).ok_or_else(one_value)
    }

    fn query(
        &mut self,
        question: StatementKind,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn ResultRow) -> Result<()>,
    ) -> Result<()> {
        self.store.query(self.prepared(question)?, params, visit)
    }

    fn time(&mut self, question: StatementKind, params: &[Param<'_>]) -> Result<Option<Stamp>> {
        let mut found = None;
        self.query(question, params, &mut |row| {
            found = Some(stamp(row.int(0)?, row.int(1)?)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Reads rows of single channels and combines them to samples.
    fn rows(
        &mut self,
        question: StatementKind,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let mut open = None::<Sample>;
        self.query(question, params, &mut |row| {
            let at = stamp(row.int(0)?, row.int(1)?)?;
            if let Some(whole) = open.take_if(|sample| sample.at != at) {
                visit(whole);
            }
            let values = &mut open.get_or_insert(Sample { at, values: [0; CHANNELS] }).values;
            let number = row.int(2)?.and_then(|number| usize::try_from(number).ok());
            let place = number.and_then(|number| values.get_mut(number));
            *place.ok_or_else(|| broken("a channel number is out of range"))? =
                channel(row.int(3)?)?;
            Ok(())
        })?;
        open.into_iter().for_each(visit);
        Ok(())
    }

    /// Reads rows of seconds and splits them into samples.
    fn json(
        &mut self,
        question: StatementKind,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let form = self.form;
        self.query(question, params, &mut |row| {
            let s = row.int(0)?.ok_or_else(|| broken("a second has no time"))?;
            let text = |column| row.text(column)?.ok_or_else(|| broken("a second is NULL"));
            if form == Form::Own {
                return encoding::read_json(s, text(1)?, &mut *visit);
            }
            let text = text(2)?;
            match row.int(1)? == Some(text.len() as i64) {
                true => encoding::read_published_json(s, text, &mut *visit),
                false => {
                    Err(broken("the size column of a second differs from the length of its text"))
                }
            }
        })
    }
}

/// Writes the samples of a second as JSON.
fn write_json(form: Form, samples: &[Sample], into: &mut String) {
    match form {
        Form::Own => encoding::write_json(samples, into),
        Form::Published => encoding::write_published_json(samples, into),
    }
}

/// Returns the row of a second, with two or three columns.
const fn second_row(s: i64, text: &str, columns: usize) -> [Param<'_>; 3] {
    let (s, size, text) = (Param::Int(s), Param::Int(text.len() as i64), Param::Text(text));
    if columns == 2 { [s, text, Param::Null] } else { [s, size, text] }
}

const fn params(sample: &Sample) -> [Param<'static>; 4 * CHANNELS] {
    let mut params = [Param::Null; 4 * CHANNELS];
    let mut number = 0;
    while number < CHANNELS {
        params[4 * number] = Param::Int(sample.at.s);
        params[4 * number + 1] = Param::Int(sample.at.ns as i64);
        params[4 * number + 2] = Param::Int(number as i64);
        params[4 * number + 3] = Param::Int(sample.values[number] as i64);
        number += 1;
    }
    params
}

/// Returns the parameters of a range, in the order in which a statement compares them.
const fn range(from: Stamp, to: Stamp) -> [Param<'static>; 6] {
    let (from, from_ns, to, to_ns) = (
        Param::Int(from.s),
        Param::Int(from.ns as i64),
        Param::Int(to.s),
        Param::Int(to.ns as i64),
    );
    [from, to, from, from_ns, to, to_ns]
}

/// Five rows per sample.
struct SampleRows<I> {
    samples: I,
    params: [Param<'static>; 4 * CHANNELS],
    /// Next channel of the current sample.
    channel: usize,
}

impl<I: Iterator<Item = Sample>> Rows for SampleRows<I> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        if self.channel == CHANNELS {
            (self.params, self.channel) = (params(&self.samples.next()?), 0);
        }
        self.channel += 1;
        self.params.chunks_exact(4).nth(self.channel - 1)
    }
}

/// Rows of seconds, made before the load.
struct SecondRows<'a> {
    seconds: std::slice::Iter<'a, (i64, String)>,
    row: [Param<'a>; 3],
    columns: usize,
}

impl Rows for SecondRows<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (s, text) = self.seconds.next()?;
        self.row = second_row(*s, text, self.columns);
        Some(&self.row[..self.columns])
    }
}

impl MachineLog for SqlLog {
    fn search_execution(&self) -> Option<Execution> {
        (self.layout == Layout::Samples).then_some(Execution::Native)
    }

    fn clear(&mut self) -> Result<()> {
        let dialect = self.store.dialect();
        self.store.batch(&dialect.drop_table(table(self.form, self.layout).name))?;
        for statement in schema::create(self.form, self.layout, dialect) {
            self.store.batch(&statement)?;
        }
        self.open()
    }

    /// Prepares every statement of the layout, before a clock starts.
    fn open(&mut self) -> Result<()> {
        self.prepared.clear();
        self.store.expect(QueryKind::Point)?;
        for (question, text) in statements::all(self.form, self.layout, self.store.dialect()) {
            self.prepared.push((question, self.store.prepare(&text)?));
        }
        Ok(())
    }

    /// Inserts by one statement, which is its own transaction.
    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        let insert = self.prepared(StatementKind::Insert)?;
        if self.layout == Layout::Samples {
            return self.store.run(insert, &params(&samples[0])).map(drop);
        }
        write_json(self.form, samples, &mut self.json);
        let columns = table(self.form, self.layout).columns.len();
        let row = second_row(samples[0].at.s, &self.json, columns);
        self.store.run(insert, &row[..columns]).map(drop)
    }

    fn load(&mut self, history: &History) -> Result<()> {
        let (form, table) = (self.form, table(self.form, self.layout));
        if self.layout == Layout::Samples {
            let (params, channel) = (params(&Sample::default()), CHANNELS);
            let mut rows = SampleRows { samples: history.samples(), params, channel };
            return self.store.bulk_insert(table, &mut rows).map(drop);
        }
        let json = |samples: Vec<Sample>| {
            let mut text = String::new();
            write_json(form, &samples, &mut text);
            (samples[0].at.s, text)
        };
        let seconds: Vec<(i64, String)> = history.seconds().map(json).collect();
        let (row, columns) = ([Param::Null; 3], table.columns.len());
        let mut rows = SecondRows { seconds: seconds.iter(), row, columns };
        self.store.bulk_insert(table, &mut rows).map(drop)
    }

    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        let seconds = |first, last| vec![Param::Int(first), Param::Int(last)];
        let (question, params) = match (span, channels) {
            (Span::Between(from, to), Channels::Others) => {
                (StatementKind::Others, range(from, to).to_vec())
            }
            (Span::Between(from, to), _) => (StatementKind::Samples, range(from, to).to_vec()),
            (Span::Seconds(first, last), Channels::Angle) => {
                (StatementKind::Angles, seconds(first, last))
            }
            (Span::Seconds(first, last), _) => (StatementKind::Seconds, seconds(first, last)),
            (Span::All, _) => (StatementKind::Seconds, seconds(i64::MIN, i64::MAX)),
        };
        let visit = &mut |sample| visit(channels.select(sample));
        match self.layout {
            Layout::Samples => self.rows(question, &params, visit),
            Layout::Seconds => self.json(question, &params, visit),
        }
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        if self.layout == Layout::Samples {
            return self.time(StatementKind::Newest, &[]);
        }
        let mut newest = None;
        self.json(StatementKind::Newest, &[], &mut |sample| newest = Some(sample.at))?;
        Ok(newest)
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let (s, ns) = (Param::Int(at.s), Param::Int(i64::from(at.ns)));
        self.time(StatementKind::Seek(seek), &[s, s, ns])
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        self.time(StatementKind::Lowest, &range(after, before))
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        let (mut sums, mut number) = ([0; CHANNELS], 0);
        self.query(StatementKind::Sums, &range(from, to), &mut |row| {
            let sum = row.float(0)?.ok_or_else(|| broken("a sum is NULL"))?;
            let place = sums.get_mut(number).ok_or_else(|| broken("more sums than channels"))?;
            (*place, number) = (sum as u64, number + 1);
            Ok(())
        })?;
        Ok(sums)
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        self.store.checkpoints()
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
