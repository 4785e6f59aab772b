//! A machine's log in an SQL database: five rows a sample (time, number of the channel, value), as
//! the source has it, or a row a second with all its samples as JSON.

use embermark_contract::Result;
use embermark_contract::sql::{
    Nullable, Param, QueryKind, ResultRow, Rows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_data::machine::{CHANNELS, History, Sample, Stamp};
use embermark_model::result::Execution;

use super::packed;
use super::port::{
    Channels, Layout, MachineLog, Seek, Span, Sums, Visit, broken, channel, one_value, stamp,
};
use super::questions::{self, Question};

static SAMPLE: TableDef = TableDef {
    name: "sample",
    columns: &[
        ("s", SqlType::Big, Nullable::No),
        ("ns", SqlType::Int, Nullable::No),
        ("number", SqlType::Int, Nullable::No),
        ("value", SqlType::Int, Nullable::No),
    ],
    key: &["s", "ns", "number"],
};

static SECOND: TableDef = TableDef {
    name: "second",
    columns: &[("s", SqlType::Big, Nullable::No), ("data", SqlType::Text, Nullable::No)],
    key: &["s"],
};

pub(super) struct SqlLog {
    store: Box<dyn SqlStore>,
    layout: Layout,
    /// Prepared since the table was made.
    prepared: Vec<(Question, Statement)>,
    json: String,
}

impl SqlLog {
    pub(super) const fn new(store: Box<dyn SqlStore>, layout: Layout) -> Self {
        Self { store, layout, prepared: Vec::new(), json: String::new() }
    }

    const fn table(&self) -> &'static TableDef {
        match self.layout {
            Layout::Samples => &SAMPLE,
            Layout::Seconds => &SECOND,
        }
    }

    fn prepared(&self, question: Question) -> Result<Statement> {
        let known = self.prepared.iter().find(|(known, _)| *known == question);
        known.map(|(_, statement)| *statement).ok_or_else(one_value)
    }

    fn query(
        &mut self,
        question: Question,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn ResultRow) -> Result<()>,
    ) -> Result<()> {
        self.store.query(self.prepared(question)?, params, visit)
    }

    fn time(&mut self, question: Question, params: &[Param<'_>]) -> Result<Option<Stamp>> {
        let mut found = None;
        self.query(question, params, &mut |row| {
            found = Some(stamp(row.int(0)?, row.int(1)?)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Rows of single channels, put together to samples.
    fn rows(
        &mut self,
        question: Question,
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
            *place.ok_or_else(|| broken("there is no such channel"))? = channel(row.int(3)?)?;
            Ok(())
        })?;
        open.into_iter().for_each(visit);
        Ok(())
    }

    /// Rows of seconds, taken apart to samples.
    fn json(
        &mut self,
        question: Question,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.query(question, params, &mut |row| {
            let s = row.int(0)?.ok_or_else(|| broken("a second has no time"))?;
            let text = row.text(1)?.ok_or_else(|| broken("a second is NULL"))?;
            packed::read_json(s, text, &mut *visit)
        })
    }
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

/// The parameters of a range, each where a statement compares it.
const fn range(from: Stamp, to: Stamp) -> [Param<'static>; 6] {
    let (from, from_ns, to, to_ns) = (
        Param::Int(from.s),
        Param::Int(from.ns as i64),
        Param::Int(to.s),
        Param::Int(to.ns as i64),
    );
    [from, to, from, from_ns, to, to_ns]
}

/// Five rows a sample.
struct SampleRows<I> {
    samples: I,
    params: [Param<'static>; 4 * CHANNELS],
    /// The next channel of the sample under way.
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

/// A row a second, made before the load.
struct SecondRows<'a> {
    seconds: std::slice::Iter<'a, (i64, String)>,
    row: [Param<'a>; 2],
}

impl Rows for SecondRows<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (s, text) = self.seconds.next()?;
        self.row = [Param::Int(*s), Param::Text(text)];
        Some(&self.row)
    }
}

impl MachineLog for SqlLog {
    fn finds(&self) -> Option<Execution> {
        (self.layout == Layout::Samples).then_some(Execution::Native)
    }

    fn clear(&mut self) -> Result<()> {
        let (table, dialect) = (self.table(), self.store.dialect());
        let json = dialect.json().map(|json| ("data", json));
        let create = match self.layout {
            Layout::Samples => dialect.create_table(table),
            Layout::Seconds => dialect.create_table_of(table, json.as_slice()),
        };
        self.store.batch(&format!("DROP TABLE IF EXISTS {}", table.name))?;
        self.store.batch(&create)?;
        self.open()
    }

    /// Every statement of the layout is prepared here, before a clock starts.
    fn open(&mut self) -> Result<()> {
        self.prepared.clear();
        self.store.expect(QueryKind::Point)?;
        for (question, text) in questions::all(self.layout, self.store.dialect()) {
            self.prepared.push((question, self.store.prepare(&text)?));
        }
        Ok(())
    }

    /// By one statement: a transaction of its own.
    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        if self.layout == Layout::Samples {
            let insert = self.prepared(Question::Insert)?;
            return self.store.run(insert, &params(&samples[0])).map(drop);
        }
        packed::write_json(samples, &mut self.json);
        let row = [Param::Int(samples[0].at.s), Param::Text(&self.json)];
        self.store.run(self.prepared(Question::InsertSecond)?, &row).map(drop)
    }

    fn load(&mut self, history: &History) -> Result<()> {
        if self.layout == Layout::Samples {
            let (params, channel) = (params(&Sample::default()), CHANNELS);
            let mut rows = SampleRows { samples: history.samples(), params, channel };
            return self.store.bulk_insert(&SAMPLE, &mut rows).map(drop);
        }
        let json = |samples: Vec<Sample>| {
            let mut text = String::new();
            packed::write_json(&samples, &mut text);
            (samples[0].at.s, text)
        };
        let seconds: Vec<(i64, String)> = history.seconds().map(json).collect();
        let mut rows = SecondRows { seconds: seconds.iter(), row: [Param::Null; 2] };
        self.store.bulk_insert(&SECOND, &mut rows).map(drop)
    }

    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        let seconds = |first, last| vec![Param::Int(first), Param::Int(last)];
        let (question, params) = match (span, channels) {
            (Span::Between(from, to), Channels::Others) => {
                (Question::Others, range(from, to).to_vec())
            }
            (Span::Between(from, to), _) => (Question::Samples, range(from, to).to_vec()),
            (Span::Seconds(first, last), Channels::Angle) => {
                (Question::Angles, seconds(first, last))
            }
            (Span::Seconds(first, last), _) => (Question::Seconds, seconds(first, last)),
            (Span::All, _) => (Question::Seconds, seconds(i64::MIN, i64::MAX)),
        };
        let visit = &mut |sample| visit(channels.of(sample));
        match self.layout {
            Layout::Samples => self.rows(question, &params, visit),
            Layout::Seconds => self.json(Question::SecondsJson, &params, visit),
        }
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        if self.layout == Layout::Samples {
            return self.time(Question::Newest, &[]);
        }
        let mut newest = None;
        self.json(Question::NewestJson, &[], &mut |sample| newest = Some(sample.at))?;
        Ok(newest)
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let (s, ns) = (Param::Int(at.s), Param::Int(i64::from(at.ns)));
        self.time(Question::Seek(seek), &[s, s, ns])
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        self.time(Question::Lowest, &range(after, before))
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        let (mut sums, mut number) = ([0; CHANNELS], 0);
        self.query(Question::Sums, &range(from, to), &mut |row| {
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

    fn maintain(&mut self) -> Result<()> {
        self.store.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
