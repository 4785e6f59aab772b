//! Finds values far from the mean of their group in client code, for stores that cannot.

use std::collections::HashMap;

use embermark_model::answer;
use embermark_model::table::{OwnedValue, Value};
use smallvec::SmallVec;

use super::fingerprint;
use super::row::owned;

/// The key of a row.
type Key = SmallVec<[OwnedValue; 2]>;

/// Finds rows whose value is more than this many sample standard deviations from the mean of their
/// group.
pub(super) struct Outliers {
    /// The square of the number of deviations.
    square: f64,
    found: Vec<answer::Value>,
    rows: Rows,
}

/// The rows so far.
enum Rows {
    /// Rows of a group are adjacent. Those of the current group.
    Together(Option<OwnedValue>, Vec<(Key, OwnedValue)>),
    /// They come in any order. By the fingerprint of their group.
    InAny(HashMap<u64, Vec<(Key, OwnedValue)>>),
}

impl Outliers {
    /// Creates it for rows that come group by group, or in any order.
    pub(super) fn new(deviations: f64, together: bool) -> Self {
        let rows = match together {
            true => Rows::Together(None, Vec::new()),
            false => Rows::InAny(HashMap::new()),
        };
        Self { square: deviations * deviations, found: Vec::new(), rows }
    }

    /// Adds a row. A row with an absent group or value does not count.
    #[inline]
    pub(super) fn add<'a>(
        &mut self,
        of: Value<'_>,
        value: Value<'_>,
        key: impl IntoIterator<Item = Value<'a>>,
    ) {
        if of == Value::Null || value == Value::Null {
            return;
        }
        let row = (key.into_iter().map(Value::to_owned).collect(), value.to_owned());
        match &mut self.rows {
            Rows::Together(group, rows) => {
                if group.as_ref().is_none_or(|group| group.as_value() != of) {
                    far(self.square, rows, &mut self.found);
                    *group = Some(of.to_owned());
                    rows.clear();
                }
                rows.push(row);
            }
            Rows::InAny(all) => all.entry(fingerprint([of]).bits()).or_default().push(row),
        }
    }

    /// Writes the result in any order: the key of each row, and its value.
    pub(super) fn result(mut self, to: &mut Vec<answer::Value>) {
        match self.rows {
            Rows::Together(_, rows) => far(self.square, &rows, &mut self.found),
            Rows::InAny(all) => {
                all.values().for_each(|rows| far(self.square, rows, &mut self.found));
            }
        }
        to.append(&mut self.found);
    }
}

/// Returns a value as a number.
pub(super) fn number(value: &OwnedValue) -> f64 {
    match value {
        OwnedValue::Int(value) => *value as f64,
        OwnedValue::Float(value) => *value,
        _ => f64::NAN,
    }
}

/// Adds the rows of a group that are far from its mean.
fn far(square: f64, rows: &[(Key, OwnedValue)], found: &mut Vec<answer::Value>) {
    let all = rows.iter().map(|(_, value)| number(value));
    let Some(band) = Band::new(square, all) else { return };
    for (key, value) in rows.iter().filter(|(_, value)| band.is_outside(number(value))) {
        found.extend(key.iter().chain([value]).map(|value| owned(value.as_value())));
    }
}

/// The band around the mean of a group.
pub(super) struct Band {
    mean: f64,
    /// Square of the largest distance within it. Comparing squares avoids a root.
    far: f64,
}

impl Band {
    /// Creates the band of these numbers. `None` for fewer than two, which have no deviation.
    pub(super) fn new(square: f64, numbers: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let (count, sum) = numbers.clone().fold((0_u64, 0.0), |(n, sum), x| (n + 1, sum + x));
        if count < 2 {
            return None;
        }
        let mean = sum / count as f64;
        let squares: f64 = numbers.map(|x| (x - mean) * (x - mean)).sum();
        Some(Self { mean, far: square * squares / (count - 1) as f64 })
    }

    /// Returns whether a number is outside the band.
    #[inline]
    pub(super) fn is_outside(&self, number: f64) -> bool {
        (number - self.mean) * (number - self.mean) > self.far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_far_from_the_mean_of_their_own_group_are_found_in_whatever_order_rows_come() {
        // Mean 21, squares 9 * 1 + 81 = 90, variance 90 / 9 = 10, deviation 3.162: 30 is 9 away.
        let mut rows: Vec<(i64, i64, Value<'_>)> =
            (0..9).map(|key| (1, key, Value::Float(20.0))).collect();
        rows.push((1, 9, Value::Float(30.0)));
        rows.push((1, 10, Value::Null));
        // One value has no deviation. Of two values, none is ever two deviations off.
        rows.extend([(2, 0, Value::Int(50)), (3, 0, Value::Int(0)), (3, 1, Value::Int(100))]);
        for together in [true, false] {
            let (mut outliers, mut found) = (Outliers::new(2.0, together), Vec::new());
            outliers.add(Value::Null, Value::Int(1_000), [Value::Int(0)]);
            for (of, key, value) in &rows {
                outliers.add(Value::Int(*of), *value, [Value::Int(*of), Value::Int(*key)]);
            }
            outliers.result(&mut found);
            assert_eq!(
                found,
                [answer::Value::Int(1), answer::Value::Int(9), answer::Value::Float(30.0)]
            );
        }
    }
}
