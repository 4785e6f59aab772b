//! Finds gaps in time in client code, for stores that cannot.

use std::collections::HashMap;

use embermark_model::answer;
use embermark_model::table::{OwnedValue, Value};

use super::port::fingerprint;
use super::row::owned;

/// Finds adjacent times of one value that are further apart than a length.
pub(super) struct Gaps {
    longer: i64,
    found: Vec<answer::Value>,
    rows: Rows,
}

/// The rows so far.
enum Rows {
    /// They come by value and time. The last one.
    InOrder(Option<(OwnedValue, i64)>),
    /// They come in any order. The times of each value.
    InAny(HashMap<u64, (OwnedValue, Vec<i64>)>),
}

impl Gaps {
    /// Finds gaps of more than this many units, in rows that come by value and time or in any
    /// order.
    pub(super) fn new(longer: i64, in_order: bool) -> Self {
        let rows = if in_order { Rows::InOrder(None) } else { Rows::InAny(HashMap::new()) };
        Self { longer, found: Vec::new(), rows }
    }

    /// Adds a row. A row with an absent value has no neighbours.
    #[inline]
    pub(super) fn add(&mut self, of: Value<'_>, time: Value<'_>) {
        let Value::Int(time) = time else { return };
        if of == Value::Null {
            return;
        }
        match &mut self.rows {
            Rows::InOrder(before) => match before {
                Some((value, at)) if value.as_value() == of => {
                    if time.saturating_sub(*at) > self.longer {
                        let [from, to] = [*at, time].map(answer::Value::Int);
                        self.found.extend([owned(of), from, to]);
                    }
                    *at = time;
                }
                _ => *before = Some((of.to_owned(), time)),
            },
            Rows::InAny(all) => {
                let new = || (of.to_owned(), Vec::new());
                all.entry(fingerprint([of]).bits()).or_insert_with(new).1.push(time);
            }
        }
    }

    /// Writes the gaps in any order: value, first time, last time.
    pub(super) fn result(mut self, to: &mut Vec<answer::Value>) {
        if let Rows::InAny(all) = std::mem::replace(&mut self.rows, Rows::InOrder(None)) {
            for (of, mut times) in all.into_values() {
                times.sort_unstable();
                self.rows = Rows::InOrder(None);
                times.into_iter().for_each(|time| self.add(of.as_value(), Value::Int(time)));
            }
        }
        to.append(&mut self.found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_of_one_value_that_are_longer_in_whatever_order_rows_come() {
        let mut rows = [(1, 0), (1, 10), (1, 21), (1, 21), (2, 0), (2, 50), (3, 7)];
        let expected = [[1, 10, 21], [2, 0, 50]];
        for in_order in [true, false] {
            let (mut gaps, mut found) = (Gaps::new(10, in_order), Vec::new());
            gaps.add(Value::Null, Value::Int(0));
            for (of, time) in rows {
                gaps.add(Value::Int(of), Value::Int(time));
            }
            gaps.result(&mut found);
            let mut found: Vec<Vec<answer::Value>> = found.chunks(3).map(<[_]>::to_vec).collect();
            found.sort_by_key(|row| format!("{row:?}"));
            assert_eq!(found, expected.map(|row| row.map(answer::Value::Int).to_vec()));
            rows.reverse();
        }
    }
}
