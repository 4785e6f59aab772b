//! Computes groups and aggregates in plain code, and compares answers with them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use embermark_data::table::compare;
use embermark_language::{Aggregate, Condition, Group, Grouped, Operator, OrderBy};
use embermark_model::answer::{Difference, TOLERANCE, Value as Answered};
use embermark_model::table::{OwnedValue, TimeUnit, Value};

use super::super::Rows;
use super::super::row::owned;
use super::RowSet;
use super::statistics::number;

/// A group, and what is computed of it.
#[derive(Debug)]
pub(super) struct Expected {
    row: Vec<Answered>,
    /// Tolerance of each number. Sums have one for rounding, in proportion to their terms.
    off: Vec<f64>,
}

/// Returns all groups of the existing rows, in no order.
pub(super) fn all(rows: &Rows, there: &RowSet, group: &Group) -> Vec<Expected> {
    let mut groups: BTreeMap<String, (Vec<Answered>, Vec<Accumulated>)> = BTreeMap::new();
    let nothing = || vec![Accumulated::default(); group.compute.len()];
    let met = met(rows, &group.conditions);
    if group.by.is_empty() {
        // There is one group even without rows.
        groups.insert(String::new(), (Vec::new(), nothing()));
    }
    for place in there.each().filter(|place| met(*place)) {
        let by: Vec<Answered> = group.by.iter().map(|by| group_value(rows, place, *by)).collect();
        let (_, sums) = groups.entry(key_of(&by)).or_insert_with(|| (by, nothing()));
        for (compute, sum) in group.compute.iter().zip(sums) {
            match compute.column.map(|column| rows.value(place, column)) {
                None => sum.count += 1,
                Some(Value::Null) => {}
                Some(value) => sum.add(value),
            }
        }
    }
    let expected = groups.into_values().map(|(mut row, sums)| {
        let mut off = vec![0.0; row.len()];
        for (compute, sum) in group.compute.iter().zip(sums) {
            let (value, by) = sum.value(compute.aggregate);
            row.push(value);
            off.push(by);
        }
        Expected { row, off }
    });
    expected.collect()
}

/// Returns a function that tells whether a row meets all conditions.
pub(super) fn met<'a>(rows: &'a Rows, conditions: &'a [Condition]) -> impl Fn(usize) -> bool + 'a {
    let bounds: Vec<Value<'a>> = conditions.iter().map(|of| rows.bound(of)).collect();
    move |place| {
        conditions.iter().zip(&bounds).all(|(condition, bound)| {
            let value = rows.value(place, condition.column);
            value != Value::Null && holds(condition.operator, compare(&value, bound))
        })
    }
}

/// Returns whether an operator accepts the result of a comparison. The oracle has its own, so that a
/// mistake in what it judges shows.
const fn holds(operator: Operator, order: Ordering) -> bool {
    match operator {
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::AtMost => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::AtLeast => order.is_ge(),
    }
}

/// Returns the value that a row is grouped by.
fn group_value(rows: &Rows, place: usize, by: Grouped) -> Answered {
    match by {
        Grouped::Column(column) => owned(rows.value(place, column)),
        Grouped::Bucket { column, units } => match rows.value(place, column) {
            Value::Int(time) => Answered::Int(time.div_euclid(units) * units),
            _ => Answered::Null,
        },
        Grouped::Month { column, unit } => match rows.value(place, column) {
            Value::Int(time) => Answered::Int(month(time, unit)),
            _ => Answered::Null,
        },
    }
}

/// Returns the beginning of a time's month by a library's calendar. Beyond its range it returns the
/// time itself, which no answer has.
fn month(time: i64, unit: TimeUnit) -> i64 {
    let of_second = unit.per_second();
    let epoch = jiff::civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    let since = jiff::SignedDuration::from_secs(time.div_euclid(of_second));
    let begin = epoch.checked_add(since).ok().map(|at| {
        let first = at.date().first_of_month().to_datetime(jiff::civil::Time::midnight());
        first.duration_since(epoch).as_secs() * of_second
    });
    begin.unwrap_or(time)
}

fn key_of(by: &[Answered]) -> String {
    by.iter().map(|value| format!("{value}\u{1f}")).collect()
}

#[derive(Clone, Debug, Default)]
struct Accumulated {
    count: i64,
    sum: f64,
    /// Sum of the absolute values.
    size: f64,
    least: Option<OwnedValue>,
    greatest: Option<OwnedValue>,
}

impl Accumulated {
    fn add(&mut self, value: Value<'_>) {
        self.count += 1;
        let number = number(value).unwrap_or(0.0);
        self.sum += number;
        self.size += number.abs();
        let below = |a: &Option<OwnedValue>, order: Ordering| {
            a.as_ref().is_none_or(|a| compare(&value, &a.as_value()) == order)
        };
        if below(&self.least, Ordering::Less) {
            self.least = Some(value.to_owned());
        }
        if below(&self.greatest, Ordering::Greater) {
            self.greatest = Some(value.to_owned());
        }
    }

    fn value(&self, aggregate: Aggregate) -> (Answered, f64) {
        let best = |best: &Option<OwnedValue>| {
            best.as_ref().map_or(Answered::Null, |best| owned(best.as_value()))
        };
        match aggregate {
            Aggregate::Count => (Answered::Int(self.count), 0.0),
            Aggregate::Sum | Aggregate::Avg if self.count == 0 => (Answered::Null, 0.0),
            Aggregate::Sum => (Answered::Float(self.sum), TOLERANCE * self.size),
            Aggregate::Avg => {
                let rows = self.count as f64;
                (Answered::Float(self.sum / rows), TOLERANCE * self.size / rows)
            }
            Aggregate::Min => (best(&self.least), 0.0),
            Aggregate::Max => (best(&self.greatest), 0.0),
        }
    }
}

/// Compares an answer, row by row, with all groups.
///
/// # Errors
/// Returns the first difference.
pub(super) fn check(
    group: &Group,
    all: Vec<Expected>,
    answer: &[Answered],
) -> Result<(), Difference> {
    let width = group.by.len() + group.compute.len();
    let got: Vec<&[Answered]> = answer.chunks(width).collect();
    let limit = group.limit.map_or(usize::MAX, |limit| limit as usize);
    let by = group.by.len();
    // Each with whether it must be in the answer. A group too close to a bound is optional.
    let met = all.into_iter().filter_map(|expected| {
        let met = is_met(group, &expected)?;
        Some((key_of(&expected.row[..by]), (expected, met)))
    });
    let mut left: BTreeMap<String, (Expected, bool)> = met.collect();
    let must = left.values().filter(|(_, must)| *must).count();
    let (least, most) = (must.min(limit), left.len().min(limit));
    if !(least..=most).contains(&got.len()) {
        return differ(format!("expected {most} groups, got {}", got.len()));
    }
    for row in &got {
        let Some((expected, _)) = left.remove(&key_of(&row[..by])) else {
            return differ(format!("group {} should not be in the answer", show(row)));
        };
        let agrees = |at: usize| agree(&expected.row[at], &row[at], expected.off[at]);
        if !(by..width).all(agrees) {
            return differ(format!("expected group {}, got {}", show(&expected.row), show(row)));
        }
    }
    // A group without a value to order by may stand first or last: engines differ.
    let has_place =
        |row: &&&[Answered]| group.order.iter().all(|by| row[by.column] != Answered::Null);
    let ranked: Vec<&[Answered]> = got.iter().filter(has_place).copied().collect();
    for pair in ranked.windows(2) {
        if order(&group.order, pair[0], pair[1]).is_gt() {
            let (above, below) = (show(pair[0]), show(pair[1]));
            return differ(format!("group {above} comes before group {below}"));
        }
    }
    let last = ranked.last().filter(|_| !group.order.is_empty());
    let is_missing = |expected: &Expected| {
        got.len() < limit
            || has_place(&&&*expected.row)
                && last.is_some_and(|last| order(&group.order, &expected.row, last).is_lt())
    };
    let missing = left.values().find(|(expected, must)| *must && is_missing(expected));
    match missing {
        Some((expected, _)) => differ(format!("group {} is missing", show(&expected.row))),
        None => Ok(()),
    }
}

/// Returns whether a group must be in the answer, or can be. `None`: it must not be.
fn is_met(group: &Group, expected: &Expected) -> Option<bool> {
    let mut must = true;
    for having in &group.having {
        let at = group.by.len() + having.compute;
        let order = match (&expected.row[at], &having.bound) {
            (Answered::Int(value), OwnedValue::Int(bound)) => value.cmp(bound),
            (Answered::Float(value), OwnedValue::Float(bound)) => {
                if near(*bound, *value, expected.off[at]) {
                    must = false;
                    continue;
                }
                value.total_cmp(bound)
            }
            _ => return None,
        };
        if !holds(having.operator, order) {
            return None;
        }
    }
    Some(must)
}

fn differ<T>(text: String) -> Result<T, Difference> {
    Err(Difference(text))
}

pub(super) fn show(row: &[Answered]) -> String {
    let values: Vec<String> = row.iter().map(Answered::to_string).collect();
    format!("({})", values.join(", "))
}

fn agree(expected: &Answered, got: &Answered, off: f64) -> bool {
    match (expected, got) {
        (Answered::Float(a), Answered::Float(b)) => near(*a, *b, off),
        (a, b) => a == b,
    }
}

/// Returns whether a float counts as the one expected. `off` is infinite where a sum can overflow.
fn near(expected: f64, got: f64, off: f64) -> bool {
    // The difference of two infinite floats is no number.
    expected == got || (expected - got).abs() <= off.max(TOLERANCE * expected.abs().min(f64::MAX))
}

/// Returns the required order of two rows. They are equal where numbers are too close or a value is
/// absent.
fn order(by: &[OrderBy], a: &[Answered], b: &[Answered]) -> Ordering {
    for OrderBy { column, descending } in by {
        let order = match (&a[*column], &b[*column]) {
            (Answered::Int(a), Answered::Int(b)) => a.cmp(b),
            (Answered::Text(a), Answered::Text(b)) => a.cmp(b),
            (Answered::Float(a), Answered::Float(b)) => {
                if (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).min(f64::MAX) {
                    return Ordering::Equal;
                }
                a.total_cmp(b)
            }
            _ => return Ordering::Equal,
        };
        if order != Ordering::Equal {
            return if *descending { order.reverse() } else { order };
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_on_its_first_day_from_before_1970_to_the_end_of_9999() {
        for (time, begin) in [
            (0, 0),
            (-1, -2_678_400),
            (1_709_251_199, 1_706_745_600),
            (253_402_300_799, 253_399_622_400),
        ] {
            assert_eq!(month(time, TimeUnit::Seconds), begin, "{time}");
            let milliseconds = month(time * 1_000, TimeUnit::Milliseconds);
            assert_eq!(milliseconds, begin * 1_000, "{time}");
        }
    }
}
