//! What a question found, in room that is used again by the next request; and the answers made by
//! code of ours, where an engine gives rows only.

use std::collections::HashMap;

use arrayvec::ArrayString;
use embermark_contract::Result;
use embermark_contract::sql::ResultRow;
use embermark_data::events::YEAR;
use embermark_model::answer::{Answer, Value};

use super::phase::Phase;
use super::port::{float, int, text};

/// Errors later than this count, in milliseconds since 1970: those of the last 90 days of the year.
pub(super) const ERRORS_SINCE: i64 = YEAR.end - 90 * DAY_MS;

/// The rectangle of `gps`, whose edges are outside: degrees east, degrees north.
pub(super) const WITHIN: [std::ops::Range<i64>; 2] = [6..10, 45..50];

const DAY_MS: i64 = 86_400_000;

/// The days of the year before each month, and all of them.
const DAYS_BEFORE: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/// As long as the longest endpoint.
pub(super) type Endpoint = ArrayString<48>;

/// The milliseconds since 1970 of a month of the year, 1 to 12.
pub(super) fn month(month: usize) -> std::ops::Range<i64> {
    let start = |n: usize| YEAR.start + DAYS_BEFORE[n] * DAY_MS;
    start(month - 1)..start(month)
}

/// What a request found.
#[derive(Debug, Default)]
pub(super) struct QueryResults {
    /// Longitude and latitude.
    pub points: Vec<(f64, f64)>,
    /// Month and mean.
    pub means: Vec<(i64, f64)>,
    /// Endpoint and errors, in the order of the answer.
    pub errors: Vec<(Endpoint, i64)>,
    /// Sum and number of the values of each month, added up here.
    sums: [(f64, u64); 12],
    /// Errors counted here.
    counted: HashMap<Endpoint, i64>,
}

impl QueryResults {
    /// Forgets what was found, and keeps the room.
    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.means.clear();
        self.errors.clear();
        self.sums = [(0.0, 0); 12];
        self.counted.clear();
    }

    /// A row of the answer to a question, in its columns' order.
    pub(super) fn keep(&mut self, question: Phase, row: &dyn ResultRow) -> Result<()> {
        match question {
            Phase::Gps => self.point(float(row, 0)?, float(row, 1)?),
            Phase::Co2 => self.mean(int(row, 0)?, float(row, 1)?),
            _ => self.errors(text(row, 0)?, int(row, 1)?),
        }
        Ok(())
    }

    /// A row of `gps`.
    pub(super) fn point(&mut self, longitude: f64, latitude: f64) {
        self.points.push((longitude, latitude));
    }

    /// A row of `co2`.
    pub(super) fn mean(&mut self, month: i64, mean: f64) {
        self.means.push((month, mean));
    }

    /// A row of `logs`.
    pub(super) fn errors(&mut self, endpoint: &str, count: i64) {
        self.errors.push((name(endpoint), count));
    }

    /// A point, to be kept if it is within.
    pub(super) fn see_point(&mut self, longitude: f64, latitude: f64) {
        let inside =
            |x: f64, edges: &std::ops::Range<i64>| x > edges.start as f64 && x < edges.end as f64;
        if inside(longitude, &WITHIN[0]) && inside(latitude, &WITHIN[1]) {
            self.point(longitude, latitude);
        }
    }

    /// A value of carbon dioxide, to be added up.
    pub(super) fn see_co2(&mut self, timestamp: i64, co2: f64) {
        let day = (timestamp - YEAR.start).div_euclid(DAY_MS);
        let month = DAYS_BEFORE[1..12].partition_point(|before| *before <= day);
        let (sum, count) = &mut self.sums[month];
        *sum += co2;
        *count += 1;
    }

    /// An error, to be counted.
    pub(super) fn see_error(&mut self, endpoint: &str) {
        match self.counted.get_mut(endpoint) {
            Some(count) => *count += 1,
            None => drop(self.counted.insert(name(endpoint), 1)),
        }
    }

    /// Makes rows of what was added up and counted.
    pub(super) fn conclude(&mut self) {
        for (month, (sum, count)) in (1..).zip(self.sums) {
            if count > 0 {
                self.means.push((month, sum / count as f64));
            }
        }
        if !self.counted.is_empty() {
            self.errors.extend(self.counted.drain());
            self.errors.sort_unstable_by_key(|(_, count)| *count);
        }
    }

    /// The answer to a question.
    pub(super) fn answer(&self, question: Phase) -> Answer {
        let float = Value::Float;
        Answer::Rows(match question {
            Phase::Gps => self.points.iter().map(|(x, y)| vec![float(*x), float(*y)]).collect(),
            Phase::Co2 => self.means.iter().map(|(m, x)| vec![Value::Int(*m), float(*x)]).collect(),
            _ => {
                let row = |(endpoint, count): &(Endpoint, i64)| {
                    vec![Value::Text(endpoint.to_string()), Value::Int(*count)]
                };
                self.errors.iter().map(row).collect()
            }
        })
    }
}

/// What is longer than every endpoint is none, and nothing is right to be found in its place.
fn name(endpoint: &str) -> Endpoint {
    Endpoint::from(endpoint).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_at_its_first_millisecond() {
        for number in 1..=12 {
            let span = month(number);
            for timestamp in [span.start, span.end - 1] {
                let mut found = QueryResults::default();
                found.see_co2(timestamp, 7.0);
                found.conclude();
                assert_eq!(found.means, [(number as i64, 7.0)]);
            }
        }
        assert_eq!((month(1).start, month(12).end), (YEAR.start, YEAR.end));
    }

    #[test]
    fn room_that_is_used_again_holds_nothing_of_the_request_before() {
        let mut found = QueryResults::default();
        for _ in 0..2 {
            found.clear();
            found.see_point(7.0, 46.0);
            found.see_point(6.0, 46.0);
            found.see_error("a");
            found.see_error("b");
            found.see_error("a");
            found.conclude();
            assert_eq!((found.points.len(), found.means.len(), found.errors.len()), (1, 0, 2));
            assert_eq!(found.errors[1].1, 2);
        }
    }
}
