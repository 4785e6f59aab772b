//! Grouping in client code, the newest rows of groups, and gaps in their times, for stores that
//! cannot.

use std::cmp::Ordering;
use std::collections::HashMap;

use embermark_data::table::compare;
use embermark_language::{Aggregate, Compute, Group, Grouped, Having, OrderBy};
use embermark_model::answer;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::table::{OwnedValue, Value};
use smallvec::SmallVec;

use super::row::owned;
use super::{fingerprint, month};

/// What identifies a group: a word per number, and the length and bytes per text.
type Identity = SmallVec<[u8; 24]>;

/// Groups rows.
pub(super) struct Groups<'a> {
    group: &'a Group,
    places: HashMap<Identity, usize>,
    /// Each group's identity and what was computed of it, in the order of arrival.
    rows: Vec<OneGroup>,
    /// The group of the last row. Rows of one group are often adjacent.
    last: Option<(Identity, usize)>,
    identity: Identity,
}

/// A group's identity, and what was computed of it.
type OneGroup = (SmallVec<[answer::Value; 2]>, SmallVec<[Computed; 2]>);

/// What was computed so far.
#[derive(Clone, Debug)]
enum Computed {
    Count(i64),
    Sum { sum: f64, count: u64 },
    Mean { sum: f64, count: u64 },
    Best(OwnedValue),
}

impl<'a> Groups<'a> {
    pub(super) fn new(group: &'a Group) -> Self {
        let (places, identity) = (HashMap::new(), Identity::new());
        Self { group, places, rows: Vec::new(), last: None, identity }
    }

    /// Adds a row. `get` returns its columns.
    #[inline]
    pub(super) fn add<'v>(&mut self, get: impl Fn(usize) -> Value<'v>) {
        self.identity.clear();
        for by in &self.group.by {
            match bucketed(*by, &get) {
                Value::Null => self.identity.push(0),
                Value::Int(value) => self.word(1, value.cast_unsigned()),
                Value::Float(value) => self.word(2, (value + 0.0).to_bits()),
                Value::Text(text) => self.bytes(text.as_bytes()),
                Value::Bytes(bytes) => self.bytes(bytes),
            }
        }
        let place = match &self.last {
            Some((identity, place)) if *identity == self.identity => *place,
            _ => self.find(&get),
        };
        let (_, computed) = &mut self.rows[place];
        for (compute, computed) in self.group.compute.iter().zip(computed) {
            computed.add(compute, compute.column.map(&get));
        }
    }

    fn word(&mut self, kind: u8, word: u64) {
        self.identity.push(kind);
        self.identity.extend_from_slice(&word.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(3, bytes.len() as u64);
        self.identity.extend_from_slice(bytes);
    }

    fn find<'v>(&mut self, get: &impl Fn(usize) -> Value<'v>) -> usize {
        let known = self.places.get(&self.identity).copied();
        let place = known.unwrap_or_else(|| {
            let by = self.group.by.iter().map(|by| owned(bucketed(*by, get))).collect();
            self.rows.push((by, self.group.compute.iter().map(Computed::new).collect()));
            self.places.insert(self.identity.clone(), self.rows.len() - 1);
            self.rows.len() - 1
        });
        self.last = Some((self.identity.clone(), place));
        place
    }

    /// Writes the result, row by row. Without rows there is one group if rows are not grouped.
    pub(super) fn result(mut self, to: &mut Vec<answer::Value>) {
        if self.rows.is_empty() && self.group.by.is_empty() {
            let computed = self.group.compute.iter().map(Computed::new).collect();
            self.rows.push((SmallVec::new(), computed));
        }
        let rows = self.rows.into_iter().map(|(by, computed)| {
            by.into_iter().chain(computed.into_iter().map(Computed::value)).collect()
        });
        in_order(rows.collect(), self.group, to);
    }
}

/// Writes the rows of a result that meet its conditions, sorted and limited.
pub(super) fn in_order(
    mut rows: Vec<SmallVec<[answer::Value; 4]>>,
    group: &Group,
    to: &mut Vec<answer::Value>,
) {
    rows.retain(|row| {
        group.having.iter().all(|having| is_met(having, &row[group.by.len() + having.compute]))
    });
    if !group.order.is_empty() {
        rows.sort_by(|a, b| order(&group.order, a, b));
    }
    let limit = group.limit.map_or(usize::MAX, |limit| limit as usize);
    to.extend(rows.into_iter().take(limit).flatten());
}

/// Returns whether a computed value meets a condition. An absent value does not.
fn is_met(having: &Having, computed: &answer::Value) -> bool {
    let order = match (computed, &having.bound) {
        (answer::Value::Int(computed), OwnedValue::Int(bound)) => computed.cmp(bound),
        (answer::Value::Float(computed), OwnedValue::Float(bound)) => computed.total_cmp(bound),
        _ => return false,
    };
    having.operator.accepts(order)
}

fn order(by: &[OrderBy], a: &[answer::Value], b: &[answer::Value]) -> Ordering {
    let each = by.iter().map(|OrderBy { column, descending }| {
        let order = ranked(&a[*column], &b[*column]);
        if *descending { order.reverse() } else { order }
    });
    each.fold(Ordering::Equal, Ordering::then)
}

/// Returns the order of two values of a column: an absent one first, numbers of two kinds equal,
/// which a column does not have.
fn ranked(a: &answer::Value, b: &answer::Value) -> Ordering {
    use answer::Value::{Float, Int, Null, Text};
    match (a, b) {
        (Null, Null) => Ordering::Equal,
        (Null, _) => Ordering::Less,
        (_, Null) => Ordering::Greater,
        (Int(a), Int(b)) => a.cmp(b),
        (Float(a), Float(b)) => a.total_cmp(b),
        (Text(a), Text(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

/// Returns the value that a row is grouped by.
#[inline]
fn bucketed<'v>(by: Grouped, get: &impl Fn(usize) -> Value<'v>) -> Value<'v> {
    match by {
        Grouped::Column(column) => get(column),
        Grouped::Bucket { column, units } => match get(column) {
            Value::Int(time) => Value::Int(time - time.rem_euclid(units)),
            _ => Value::Null,
        },
        Grouped::Month { column, unit } => match get(column) {
            Value::Int(time) => Value::Int(month::begin(time, unit)),
            _ => Value::Null,
        },
    }
}

impl Computed {
    fn new(compute: &Compute) -> Self {
        match compute.aggregate {
            Aggregate::Count => Self::Count(0),
            Aggregate::Sum => Self::Sum { sum: 0.0, count: 0 },
            Aggregate::Avg => Self::Mean { sum: 0.0, count: 0 },
            Aggregate::Min | Aggregate::Max => Self::Best(OwnedValue::Null),
        }
    }

    #[inline]
    fn add(&mut self, compute: &Compute, value: Option<Value<'_>>) {
        match (self, value) {
            (_, Some(Value::Null)) => {}
            (Self::Count(count), _) => *count += 1,
            (Self::Sum { sum, count } | Self::Mean { sum, count }, Some(value)) => {
                *sum += match value {
                    Value::Int(value) => value as f64,
                    Value::Float(value) => value,
                    _ => 0.0,
                };
                *count += 1;
            }
            (Self::Best(best), Some(value)) => {
                let order = compare(&value, &best.as_value());
                let wanted = match compute.aggregate {
                    Aggregate::Min => Ordering::Less,
                    _ => Ordering::Greater,
                };
                if *best == OwnedValue::Null || order == wanted {
                    *best = value.to_owned();
                }
            }
            (Self::Sum { .. } | Self::Mean { .. } | Self::Best(_), None) => {}
        }
    }

    fn value(self) -> answer::Value {
        match self {
            Self::Count(count) => answer::Value::Int(count),
            Self::Sum { count: 0, .. } | Self::Mean { count: 0, .. } => answer::Value::Null,
            Self::Sum { sum, .. } => answer::Value::Float(sum),
            Self::Mean { sum, count } => answer::Value::Float(sum / count as f64),
            Self::Best(best) => owned(best.as_value()),
        }
    }
}

/// Keeps the newest rows, and all of them if several have the same time.
#[derive(Default)]
pub(super) struct LatestRows(HashMap<u64, (i64, Checksum)>);

impl LatestRows {
    /// Adds a row. A row with an absent value or time does not count.
    #[inline]
    pub(super) fn add(&mut self, of: Value<'_>, time: Value<'_>, row: Fingerprint) {
        let Value::Int(time) = time else { return };
        if of == Value::Null {
            return;
        }
        let newest = self.0.entry(fingerprint([of]).bits());
        let (at, rows) = newest.or_insert((i64::MIN, Checksum::default()));
        if time > *at {
            (*at, *rows) = (time, Checksum::default());
        }
        if time == *at {
            *rows += row;
        }
    }

    /// Returns the newest rows.
    pub(super) fn rows(self) -> Checksum {
        self.0.into_values().map(|(_, rows)| rows).collect()
    }
}

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
