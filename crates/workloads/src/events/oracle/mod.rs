//! The right answers, from the rows alone.

mod content;
mod request;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use embermark_data::events::{Event, Payload};
use embermark_model::answer::{Answer, Difference, Expected, Row, Value};

use request::RequestCheck;

pub(super) use content::Content;

use super::phase::Phase;
use super::port::Record;
use super::query_results::QueryResults;

/// The right answers, the rows of each in any order.
pub(super) struct Oracle {
    gps: Expected,
    co2: Expected,
    logs: Expected,
    request: RequestCheck,
}

impl Oracle {
    pub(super) fn new(records: &[Record]) -> Self {
        let events = || records.iter().map(|record| &record.event);
        let (gps, co2, logs) = (gps(events()), co2(events()), logs(events()));
        let request = RequestCheck::new(&gps, &co2, &logs);
        let any_order = |rows| Expected::Set { rows, optional: Vec::new() };
        Self { gps: any_order(gps), co2: any_order(co2), logs: any_order(logs), request }
    }

    /// Compares what one of many requests found with the right answer, inside the clock: nothing is
    /// allocated unless it is wrong.
    pub(super) fn check_request(
        &self,
        question: Phase,
        found: &QueryResults,
    ) -> Result<(), Difference> {
        if self.request.accepts(question, found) {
            return Ok(());
        }
        self.check(question, &found.answer(question))
    }

    /// Compares an engine's answer to a question with the right one.
    pub(super) fn check(&self, question: Phase, answer: &Answer) -> Result<(), Difference> {
        let expected = match question {
            Phase::Gps => &self.gps,
            Phase::Co2 => &self.co2,
            _ => &self.logs,
        };
        match (question, answer) {
            (Phase::Gps, Answer::Rows(rows)) => {
                expected.check(&Answer::Rows(rows.iter().cloned().map(located).collect()))
            }
            (Phase::Logs, Answer::Rows(rows)) => {
                expected.check(answer)?;
                ordered(rows)
            }
            _ => expected.check(answer),
        }
    }
}

/// A point with its place on the grid of ten-thousandths, by which it is found among the others.
fn located(mut point: Row) -> Row {
    for column in 0..point.len() {
        if let Value::Float(degrees) = point[column] {
            point.push(Value::Int((degrees * 10_000.0).round() as i64));
        }
    }
    point
}

fn gps<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<Row> {
    let mut rows = Vec::new();
    for event in events {
        if let Payload::Location { longitude, latitude } = event.data
            && longitude > 6.0
            && longitude < 10.0
            && latitude > 45.0
            && latitude < 50.0
        {
            rows.push(located(vec![Value::Float(longitude), Value::Float(latitude)]));
        }
    }
    rows
}

fn co2<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<Row> {
    let mut months: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for event in events {
        if let Payload::Co2 { co2 } = event.data {
            months.entry(month(event.timestamp)).or_default().push(co2);
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let row =
        |(month, values): (i64, Vec<f64>)| vec![Value::Int(month), Value::Float(mean(&values))];
    months.into_iter().map(row).collect()
}

fn logs<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<Row> {
    // 2023-10-03, ninety days before the year's end.
    const SINCE: i64 = 1_696_291_200_000;
    let mut errors: BTreeMap<&str, i64> = BTreeMap::new();
    for event in events {
        if let Payload::Log(line) = &event.data
            && line.is_error
            && event.timestamp > SINCE
        {
            *errors.entry(&line.endpoint).or_default() += 1;
        }
    }
    let row =
        |(endpoint, count): (&str, i64)| vec![Value::Text(endpoint.to_owned()), Value::Int(count)];
    errors.into_iter().map(row).collect()
}

/// The month of milliseconds since 1970 in the civil calendar (H. Hinnant, chrono-Compatible
/// Low-Level Date Algorithms, `civil_from_days`).
fn month(milliseconds: i64) -> i64 {
    let days = milliseconds.div_euclid(86_400_000) + 719_468;
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    if from_march < 10 { from_march + 3 } else { from_march - 9 }
}

/// Whether counts rise, or fall, from row to row.
fn ordered(rows: &[Row]) -> Result<(), Difference> {
    let counts: Vec<i64> = rows
        .iter()
        .filter_map(|row| match row.get(1) {
            Some(Value::Int(count)) => Some(*count),
            _ => None,
        })
        .collect();
    if counts.is_sorted() || counts.is_sorted_by(|above, below| above >= below) {
        return Ok(());
    }
    Err(Difference("the endpoints are not in the order of their errors".to_owned()))
}
