//! The questions about the newest rows, and what is right.

use embermark_model::answer::Difference;

use super::rows::{Row, Rows, SENSORS};

/// Rows that come in from one question to the next.
pub(super) const EVERY: u64 = 100;

/// Moments of a range of one sensor, at most.
const RANGE: u64 = 120;

/// Moments of a mean over all sensors, at most.
const MEAN: u64 = 60;

/// The relative error that a mean may have: of another order of its sums none is exact to the last bit.
const CLOSE: f64 = 1e-9;

/// A question about the newest rows, when so many had come in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Question {
    /// The newest row of a sensor.
    Newest { sensor: i32 },
    /// The rows of a sensor from a time up to but without another.
    Range { sensor: i32, from_ms: i64, to_ms: i64 },
    /// The mean temperature of all sensors from a time up to but without another.
    Mean { from_ms: i64, to_ms: i64 },
}

/// What a store answered: room for as much as there can be.
pub(super) struct Found {
    pub rows: Vec<Row>,
    pub mean: Option<f64>,
}

impl Found {
    pub fn new() -> Self {
        Self { rows: Vec::with_capacity(2 * RANGE as usize), mean: None }
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.mean = None;
    }
}

impl Question {
    /// The `number`-th, when so many rows have come in, which are whole moments or not. Each kind in turn.
    pub fn number(rows: &Rows, number: u64, came: u64) -> Self {
        let sensor = (number.wrapping_mul(7) % SENSORS) as i32;
        let moments = came.div_ceil(SENSORS);
        let to_ms = rows.time_of(moments);
        let from_ms = |span| rows.time_of(moments.saturating_sub(span));
        match number % 3 {
            0 => Self::Newest { sensor },
            1 => Self::Range { sensor, from_ms: from_ms(RANGE), to_ms },
            _ => Self::Mean { from_ms: from_ms(MEAN), to_ms },
        }
    }

    /// Compares what was found with the rows that are there when so many have come in.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(&self, rows: &Rows, came: u64, found: &Found) -> Result<(), Difference> {
        let there = rows.there(came);
        let between = |from_ms: i64, to_ms: i64| {
            // The span begins at a moment, and ends after the last row.
            let from = rows.number_of(from_ms, 0).unwrap_or(0).max(there.start);
            let to = rows.number_of(to_ms, 0).unwrap_or(u64::MAX).min(there.end);
            (from..to).map(|number| rows.row(number))
        };
        match *self {
            Self::Newest { sensor } => {
                let newest = there.rev().find(|number| number % SENSORS == sensor as u64);
                let expected: Vec<Row> =
                    newest.map(|number| rows.row(number)).into_iter().collect();
                self.same(&expected, &found.rows)
            }
            Self::Range { sensor, from_ms, to_ms } => {
                let own = between(from_ms, to_ms).filter(|row| row.sensor == sensor);
                self.same(&own.collect::<Vec<_>>(), &found.rows)
            }
            Self::Mean { from_ms, to_ms } => {
                let (sum, count) = between(from_ms, to_ms)
                    .fold((0.0, 0_u64), |(sum, count), row| (sum + row.temperature, count + 1));
                let expected = (count > 0).then(|| sum / count as f64);
                let close = match (expected, found.mean) {
                    (Some(expected), Some(mean)) => {
                        (expected - mean).abs() <= CLOSE * expected.abs().max(1.0)
                    }
                    (expected, mean) => expected == mean,
                };
                if close { Ok(()) } else { Err(self.difference(expected, found.mean)) }
            }
        }
    }

    fn same(&self, expected: &[Row], found: &[Row]) -> Result<(), Difference> {
        match (expected.len() == found.len(), expected.iter().zip(found).find(|(e, f)| e != f)) {
            (_, Some((expected, found))) => Err(self.difference(expected, found)),
            (false, None) => {
                let rows = |rows: &[Row]| format!("{} rows", rows.len());
                Err(self.difference(rows(expected), rows(found)))
            }
            (true, None) => Ok(()),
        }
    }

    fn difference(
        &self,
        expected: impl std::fmt::Debug,
        found: impl std::fmt::Debug,
    ) -> Difference {
        Difference(format!("{self:?}: expected {expected:?}, found {found:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Question};
    use crate::retention::rows::{Row, Rows};

    fn rows() -> Rows {
        Rows::new(3, 480).unwrap()
    }

    /// What a store holds, asked row by row.
    fn answered(question: &Question, there: &[Row]) -> Found {
        let mut found = Found::new();
        match *question {
            Question::Newest { sensor } => {
                found.rows.extend(there.iter().rev().find(|row| row.sensor == sensor));
            }
            Question::Range { sensor, from_ms, to_ms } => {
                let own =
                    |row: &&Row| row.sensor == sensor && (from_ms..to_ms).contains(&row.time_ms);
                found.rows.extend(there.iter().filter(own));
            }
            Question::Mean { from_ms, to_ms } => {
                let within = there.iter().filter(|row| (from_ms..to_ms).contains(&row.time_ms));
                let values: Vec<f64> = within.map(|row| row.temperature).collect();
                found.mean =
                    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
            }
        }
        found
    }

    #[test]
    fn answers_of_the_rows_that_are_there_are_right_at_any_time() {
        let rows = rows();
        for came in [1, 19, 20, 21, 333, 480, 500, 777, 1_000, 1_234] {
            let there: Vec<Row> = rows.there(came).map(|number| rows.row(number)).collect();
            for number in 0..60 {
                let question = Question::number(&rows, number, came);
                question.check(&rows, came, &answered(&question, &there)).unwrap();
            }
        }
    }

    #[test]
    fn a_row_too_many_or_too_few_or_another_value_is_wrong() {
        let (rows, came) = (rows(), 777);
        let there: Vec<Row> = rows.there(came).map(|number| rows.row(number)).collect();
        let [newest, range, mean] = [0, 1, 2].map(|number| Question::number(&rows, number, came));
        let refused = |question: &Question, spoil: &dyn Fn(&mut Found)| {
            let mut found = answered(question, &there);
            spoil(&mut found);
            let wrong = question.check(&rows, came, &found).unwrap_err().0;
            assert!(wrong.contains("expected"), "{wrong}");
        };
        refused(&newest, &|found| found.rows.clear());
        refused(&newest, &|found| found.rows[0].battery += 1);
        refused(&range, &|found| _ = found.rows.pop());
        refused(&range, &|found| found.rows.push(Row::default()));
        refused(&range, &|found| found.rows[2].humidity += 0.25);
        refused(&mean, &|found| found.mean = None);
        refused(&mean, &|found| found.mean = found.mean.map(|mean| mean + 0.001));
    }

    #[test]
    fn expired_rows_are_in_no_answer() {
        let (rows, came) = (rows(), 520);
        let all: Vec<Row> = (0..came).map(|number| rows.row(number)).collect();
        // A range that is longer than the day.
        let question = Question::Range { sensor: 0, from_ms: all[0].time_ms, to_ms: i64::MAX };
        assert!(question.check(&rows, came, &answered(&question, &all)).is_err());
        assert!(question.check(&rows, came, &answered(&question, &all[20..])).is_ok());
    }
}
