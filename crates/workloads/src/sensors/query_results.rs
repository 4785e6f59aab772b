//! What a run found, in typed rows; made into a canonical answer after the clock has stopped.

use embermark_model::Reading;
use embermark_model::answer::{Answer, Row, Value};
use embermark_model::fingerprint::Checksum;

use super::oracle::Oracle;
use super::phase::Phase;
use super::port::{Anomaly, Comparison, Day, Mean, Outage, Tally};

/// Room for the results of every step.
#[derive(Default)]
pub(super) struct QueryResults {
    /// Rows loaded or changed.
    pub changed: u64,
    pub checksum: Checksum,
    pub newest: Vec<Reading>,
    pub means: Vec<Mean>,
    pub anomalies: Vec<Anomaly>,
    pub days: Vec<Day>,
    pub outages: Vec<Outage>,
    pub tallies: Vec<Tally>,
    pub hottest: Vec<Mean>,
    pub comparison: Comparison,
}

impl QueryResults {
    /// Forgets what was found and makes room for the right answers.
    pub(super) fn empty(&mut self, oracle: &Oracle) {
        let sensors = oracle.sensors().len();
        make_room(&mut self.newest, sensors);
        make_room(&mut self.means, sensors);
        make_room(&mut self.tallies, sensors);
        make_room(&mut self.hottest, sensors);
        make_room(&mut self.anomalies, oracle.rows_of(Phase::Anomalies));
        make_room(&mut self.days, oracle.rows_of(Phase::DailySummary));
        make_room(&mut self.outages, oracle.rows_of(Phase::Outages));
    }

    /// How many rows were found, of each kind of those that questions give.
    pub(super) const fn lengths(&self) -> [usize; 6] {
        let Self { means, anomalies, days, outages, tallies, hottest, .. } = self;
        let (means, anomalies, days) = (means.len(), anomalies.len(), days.len());
        [means, anomalies, days, outages.len(), tallies.len(), hottest.len()]
    }

    /// Forgets the rows that were found since there were so many, and keeps the room.
    pub(super) fn truncate(&mut self, lengths: [usize; 6]) {
        let [means, anomalies, days, outages, tallies, hottest] = lengths;
        self.means.truncate(means);
        self.anomalies.truncate(anomalies);
        self.days.truncate(days);
        self.outages.truncate(outages);
        self.tallies.truncate(tallies);
        self.hottest.truncate(hottest);
    }

    /// The answer to a step.
    pub(super) fn answer(&self, step: Phase) -> Answer {
        match step {
            Phase::Load | Phase::Update | Phase::Delete => Answer::Count(self.changed),
            Phase::Read => Answer::Checksum(self.checksum),
            Phase::LastReadings => rows(&self.newest, reading),
            Phase::AvgSensor | Phase::HotSensors => rows(&self.means, mean),
            Phase::Anomalies => rows(&self.anomalies, |found| {
                vec![int(found.sensor), int(found.ts), Value::Float(found.temperature)]
            }),
            Phase::DailySummary => rows(&self.days, |found| {
                let Day { sensor, day, min, max, mean, readings } = *found;
                vec![int(sensor), int(day), float(min), float(max), float(mean), int(readings)]
            }),
            Phase::Outages => {
                rows(&self.outages, |found| vec![int(found.sensor), int(found.from), int(found.to)])
            }
            Phase::TopkSensors => Answer::Parts(vec![
                ("readings", rows(&self.tallies, |&(sensor, n)| vec![int(sensor), int(n)])),
                ("hottest", rows(&self.hottest, mean)),
            ]),
            Phase::CompareTwo => {
                let Comparison { buckets, correlation } = self.comparison;
                let correlation = correlation.map_or(Value::Null, Value::Unit);
                Answer::Rows(vec![vec![int(buckets), correlation]])
            }
            Phase::FullProfile => Answer::Parts(
                step.parts().iter().map(|part| (part.name(), self.answer(*part))).collect(),
            ),
        }
    }
}

fn make_room<T>(rows: &mut Vec<T>, most: usize) {
    rows.clear();
    rows.reserve(most);
}

fn rows<T>(found: &[T], row: impl Fn(&T) -> Row) -> Answer {
    Answer::Rows(found.iter().map(row).collect())
}

const fn int(value: i64) -> Value {
    Value::Int(value)
}

fn float(value: Option<f64>) -> Value {
    value.map_or(Value::Null, Value::Float)
}

fn mean(&(sensor, mean): &Mean) -> Row {
    vec![int(sensor), float(mean)]
}

/// A reading as a row of an answer.
pub(super) fn reading(reading: &Reading) -> Row {
    let values = (0..reading.values.len()).map(|column| float(reading.get(column)));
    [int(i64::from(reading.sensor)), int(reading.ts)].into_iter().chain(values).collect()
}
