//! The answer to one of many requests, compared without an allocation.

use embermark_model::answer::{Row, Value, close};
use embermark_model::fingerprint::{Checksum, Fingerprint};

use super::super::phase::Phase;
use super::super::query_results::QueryResults;

/// What the right answers come to, whatever the order of their rows.
pub(super) struct RequestCheck {
    /// Of the points' places on the grid of ten-thousandths of a degree.
    points: Checksum,
    /// By month, where there is one.
    means: [Option<f64>; 12],
    /// Of endpoints and their errors.
    errors: Checksum,
}

impl RequestCheck {
    /// Of the right rows: points with their places on the grid, months and means, endpoints and
    /// errors.
    pub(super) fn new(gps: &[Row], co2: &[Row], logs: &[Row]) -> Self {
        let mut right =
            Self { points: Checksum::default(), means: [None; 12], errors: Checksum::default() };
        for row in gps {
            if let [_, _, Value::Int(x), Value::Int(y)] = row[..] {
                right.points += point(x, y);
            }
        }
        for row in co2 {
            if let [Value::Int(month), Value::Float(mean)] = row[..]
                && let Some(place) = right.means.get_mut(place(month))
            {
                *place = Some(mean);
            }
        }
        for row in logs {
            if let [Value::Text(endpoint), Value::Int(count)] = &row[..] {
                right.errors += errors(endpoint, *count);
            }
        }
        right
    }

    /// Whether what a request found is the right answer.
    pub(super) fn accepts(&self, question: Phase, found: &QueryResults) -> bool {
        match question {
            Phase::Gps => self.accepts_points(&found.points),
            Phase::Co2 => self.accepts_means(&found.means),
            _ => {
                let rows = &found.errors;
                let sum: Checksum = rows.iter().map(|(of, count)| errors(of, *count)).collect();
                let counts = || rows.iter().map(|(_, count)| *count);
                sum == self.errors && (counts().is_sorted() || counts().rev().is_sorted())
            }
        }
    }

    /// Each point must lie on its place of the grid, and the places must be the right ones.
    fn accepts_points(&self, points: &[(f64, f64)]) -> bool {
        let mut sum = Checksum::default();
        for (longitude, latitude) in points {
            let place = |degrees: f64| (degrees * 10_000.0).round();
            let (x, y) = (place(*longitude), place(*latitude));
            if !close(*longitude, x / 10_000.0) || !close(*latitude, y / 10_000.0) {
                return false;
            }
            sum += point(x as i64, y as i64);
        }
        sum == self.points
    }

    fn accepts_means(&self, means: &[(i64, f64)]) -> bool {
        let mut missing = self.means;
        for (month, mean) in means {
            let right = missing.get_mut(place(*month)).and_then(Option::take);
            if !right.is_some_and(|right| close(right, *mean)) {
                return false;
            }
        }
        missing.iter().all(Option::is_none)
    }
}

/// The place of a month, 1 to 12; of any other number none that there is.
fn place(month: i64) -> usize {
    usize::try_from(month).unwrap_or(0).wrapping_sub(1)
}

fn point(x: i64, y: i64) -> Fingerprint {
    Fingerprint::default().int(x).int(y)
}

fn errors(endpoint: &str, count: i64) -> Fingerprint {
    Fingerprint::default().text(endpoint).int(count)
}
