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
mod tests;
