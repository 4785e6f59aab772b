//! A machine's log in an SQL database: five rows a sample (time, number of the channel, value), as
//! the source has it, or a row a second with all its samples as JSON.

use std::ops::ControlFlow;

use embermark_contract::Result;
use embermark_contract::sql::{
    Nullable, Param, QueryKind, ResultRow, Rows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_data::machine::{CHANNELS, History, Sample, Stamp};
use embermark_model::result::Execution;

use super::packed;
use super::port::{Layout, MachineLog, Seek, Sums, Visit, broken, channel, keep, one_value, stamp};
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
    /// Prepared since the table was made, by the numbers of the questions.
    prepared: [Option<Statement>; Question::COUNT],
    json: String,
}

impl SqlLog {
    pub(super) fn new(store: Box<dyn SqlStore>, layout: Layout) -> Result<Self> {
        Ok(Self { store, layout, prepared: [None; Question::COUNT], json: String::new() })
    }

    fn prepared(&mut self, question: Question) -> Result<Statement> {
        if let Some(statement) = self.prepared[question.number()] {
            return Ok(statement);
        }
        let text = questions::text(question, self.store.dialect());
        let statement = self.store.prepare(&text)?;
        self.prepared[question.number()] = Some(statement);
        Ok(statement)
    }

    /// Every statement of the layout, prepared before a clock starts.
    fn prepare(&mut self) -> Result<()> {
        self.store.expect(QueryKind::Point)?;
        for question in Question::of(self.layout) {
            self.prepared(question)?;
        }
        Ok(())
    }

    fn query(
        &mut self,
        question: Question,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn ResultRow) -> Result<()>,
    ) -> Result<()> {
        if self.layout == Layout::Seconds && !question.of_seconds() {
            return Err(one_value());
        }
        let statement = self.prepared(question)?;
        self.store.query(statement, params, visit)
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
        let (mut open, mut enough) = (None::<Sample>, false);
        self.query(question, params, &mut |row| {
            if enough {
                return Ok(());
            }
            let at = stamp(row.int(0)?, row.int(1)?)?;
            let number = row.int(2)?.and_then(|number| usize::try_from(number).ok());
            let number = number.filter(|number| *number < CHANNELS);
            let number = number.ok_or_else(|| broken("there is no such channel"))?;
            let value = channel(row.int(3)?)?;
            match &mut open {
                Some(sample) if sample.at == at => sample.values[number] = value,
                _ => {
                    let mut values = [0; CHANNELS];
                    values[number] = value;
                    if let Some(whole) = open.replace(Sample { at, values }) {
                        enough = visit(whole).is_break();
                    }
                }
            }
            Ok(())
        })?;
        if let Some(last) = open.filter(|_| !enough) {
            let _ = visit(last);
        }
        Ok(())
    }

    fn json(
        &mut self,
        question: Question,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let mut enough = false;
        self.query(question, params, &mut |row| {
            let s = row.int(0)?.ok_or_else(|| broken("a second has no time"))?;
            let text = row.text(1)?.ok_or_else(|| broken("a second is NULL"))?;
            packed::read_json(s, text, |sample| {
                if !enough {
                    enough = visit(sample).is_break();
                }
            })
        })
    }
}

const fn params(sample: &Sample) -> [Param<'_>; 4 * CHANNELS] {
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

struct HistoryRows {
    history: History,
    /// The next sample, and the next channel of it.
    next: (u64, usize),
    current: Sample,
    row: [Param<'static>; 4],
}

impl Rows for HistoryRows {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (number, channel) = self.next;
        if number >= self.history.len {
            return None;
        }
        if channel == 0 {
            self.current = self.history.sample(number);
        }
        self.next = if channel + 1 < CHANNELS { (number, channel + 1) } else { (number + 1, 0) };
        let Sample { at, values } = self.current;
        self.row = [
            Param::Int(at.s),
            Param::Int(i64::from(at.ns)),
            Param::Int(channel as i64),
            Param::Int(i64::from(values[channel])),
        ];
        Some(&self.row)
    }
}

/// The seconds of a history as JSON.
fn seconds_of(history: &History) -> Vec<(i64, String)> {
    let json = |samples: Vec<Sample>| {
        let mut text = String::new();
        packed::write_json(&samples, &mut text);
        (samples[0].at.s, text)
    };
    history.seconds().map(json).collect()
}

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
    fn finds(&self) -> Execution {
        match self.layout {
            Layout::Samples => Execution::Native,
            Layout::Seconds => Execution::ClientSide,
        }
    }

    fn clear(&mut self) -> Result<()> {
        self.prepared = [None; Question::COUNT];
        let dialect = self.store.dialect();
        let create = match self.layout {
            Layout::Samples => dialect.create_table(&SAMPLE),
            Layout::Seconds => {
                let json = dialect.json().map(|json| ("data", json));
                dialect.create_table_of(&SECOND, json.as_slice())
            }
        };
        let table = match self.layout {
            Layout::Samples => SAMPLE.name,
            Layout::Seconds => SECOND.name,
        };
        self.store.batch(&format!("DROP TABLE IF EXISTS {table}"))?;
        self.store.batch(&create)?;
        self.prepare()
    }

    fn open(&mut self) -> Result<()> {
        self.prepare()
    }

    /// The five rows by one statement: a transaction of its own.
    fn write(&mut self, sample: &Sample) -> Result<()> {
        let insert = self.prepared(Question::Insert)?;
        self.store.run(insert, &params(sample)).map(drop)
    }

    fn write_second(&mut self, samples: &[Sample]) -> Result<()> {
        let insert = self.prepared(Question::InsertSecond)?;
        packed::write_json(samples, &mut self.json);
        let row = [Param::Int(samples[0].at.s), Param::Text(&self.json)];
        self.store.run(insert, &row).map(drop)
    }

    fn load(&mut self, history: &History) -> Result<()> {
        match self.layout {
            Layout::Samples => {
                let mut rows = HistoryRows {
                    history: *history,
                    next: (0, 0),
                    current: Sample::default(),
                    row: [Param::Null; 4],
                };
                self.store.bulk_insert(&SAMPLE, &mut rows).map(drop)
            }
            Layout::Seconds => {
                let seconds = seconds_of(history);
                let mut rows = SecondRows { seconds: seconds.iter(), row: [Param::Null; 2] };
                self.store.bulk_insert(&SECOND, &mut rows).map(drop)
            }
        }
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let (s, ns) = (Param::Int(at.s), Param::Int(i64::from(at.ns)));
        self.time(Question::Seek(seek), &[s, s, ns])
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        self.time(Question::Lowest, &range(after, before))
    }

    fn samples(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()> {
        self.rows(Question::Samples, &range(from, to), &mut keep(into))
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

    fn seconds(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()> {
        let params = [Param::Int(first), Param::Int(last)];
        match self.layout {
            Layout::Samples => self.rows(Question::Seconds, &params, &mut keep(into)),
            Layout::Seconds => self.json(Question::SecondsJson, &params, &mut keep(into)),
        }
    }

    fn angles(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()> {
        let params = [Param::Int(first), Param::Int(last)];
        self.rows(Question::Angles, &params, &mut keep(into))
    }

    fn others(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()> {
        self.rows(Question::Others, &range(from, to), &mut keep(into))
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        if self.layout == Layout::Samples {
            return self.time(Question::Newest, &[]);
        }
        let mut newest = None;
        self.json(Question::NewestJson, &[], &mut |sample| {
            newest = Some(sample.at);
            ControlFlow::Continue(())
        })?;
        Ok(newest)
    }

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let params = [Param::Int(i64::MIN), Param::Int(i64::MAX)];
        match self.layout {
            Layout::Samples => self.rows(Question::Seconds, &params, visit),
            Layout::Seconds => self.json(Question::SecondsJson, &params, visit),
        }
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
