//! Results of questions whose columns nobody knows beforehand, and where two of them differ.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::answer::{Value, close, show};

/// The result of a question: rows of as many columns each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultSet {
    /// How many columns a row has; 0 where there is no row.
    pub columns: usize,
    /// Whether the order of the rows is part of the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
    /// The values, row after row.
    pub values: Vec<Value>,
}

/// Where two results differ first: what stands in the one, and what in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDifference(pub String, pub String);

/// A row.
type Row<'a> = &'a [Value];

impl ResultSet {
    /// Its rows.
    pub fn rows(&self) -> impl Iterator<Item = &[Value]> {
        self.values.chunks_exact(self.columns.max(1))
    }

    /// Makes of every value what CSV makes of it: an empty text is NULL, and a text that is a number is
    /// that number.
    pub fn read_as_csv(&mut self) {
        for value in &mut self.values {
            let Value::Text(text) = value else { continue };
            if text.is_empty() {
                *value = Value::Null;
            } else if let Ok(number) = text.parse() {
                *value = Value::Int(number);
            } else if let Some(number) = text.parse().ok().filter(|number: &f64| number.is_finite())
            {
                *value = Value::Float(number);
            }
        }
    }

    /// Where it differs from another: rows are compared in their order where that is part of both, else
    /// in any; numbers within [`TOLERANCE`](crate::answer::TOLERANCE), relative, two integers and
    /// everything else exactly.
    pub fn first_difference(&self, other: &Self) -> Option<FirstDifference> {
        let lacking = self.values.is_empty() || other.values.is_empty();
        if self.columns != other.columns && !lacking {
            let columns = |set: &Self| format!("{} columns", set.columns);
            return Some(FirstDifference(columns(self), columns(other)));
        }
        let (these, others): (Vec<Row<'_>>, Vec<Row<'_>>) =
            (self.rows().collect(), other.rows().collect());
        if self.ordered && other.ordered {
            return in_order(&these, &others);
        }
        in_any_order(these, others)
    }
}

fn in_order(these: &[Row<'_>], others: &[Row<'_>]) -> Option<FirstDifference> {
    let rows = these.len().max(others.len());
    let differs = |at: &usize| match (these.get(*at), others.get(*at)) {
        (Some(this), Some(other)) => !same_rows(this, other),
        _ => true,
    };
    let at = (0..rows).find(differs)?;
    let tell = |rows: &[Row<'_>]| match rows.get(at) {
        Some(row) => format!("row {} {}", at + 1, show(row)),
        None => format!("{} rows", rows.len()),
    };
    Some(FirstDifference(tell(these), tell(others)))
}

/// Sorts both by the columns without floats and then by the others, and pairs row by row. Where floats
/// within tolerance stand in another order, the row is looked for among those like it.
fn in_any_order(mut these: Vec<Row<'_>>, mut others: Vec<Row<'_>>) -> Option<FirstDifference> {
    let columns = these.first().or(others.first()).map_or(0, |row| row.len());
    let is_exact = |column: &usize| {
        let mut rows = these.iter().chain(&others);
        rows.all(|row| !matches!(row[*column], Value::Float(_) | Value::Unit(_)))
    };
    let (exact, rough): (Vec<usize>, Vec<usize>) = (0..columns).partition(is_exact);
    let by = |columns: &[usize], a: Row<'_>, b: Row<'_>| {
        let each = columns.iter().map(|column| rank(&a[*column], &b[*column]));
        each.fold(Ordering::Equal, Ordering::then)
    };
    let order = |a: &Row<'_>, b: &Row<'_>| by(&exact, a, b).then_with(|| by(&rough, a, b));
    these.sort_by(order);
    others.sort_by(order);
    let alike = |a: Row<'_>, b: Row<'_>| {
        by(&exact, a, b).is_eq() && rough.first().is_some_and(|first| same(&a[*first], &b[*first]))
    };
    let none = || "no such row".to_owned();
    let as_many = these.len() == others.len();
    for at in 0..these.len().max(others.len()) {
        let (this, other) = match (these.get(at), others.get(at)) {
            (Some(this), Some(other)) => (*this, *other),
            (Some(this), None) => return Some(FirstDifference(show(this), none())),
            (None, Some(other)) => return Some(FirstDifference(none(), show(other))),
            (None, None) => return None,
        };
        if same_rows(this, other) {
            continue;
        }
        let like = (at + 1..others.len()).take_while(|later| alike(this, others[*later]));
        match like.into_iter().find(|later| same_rows(this, others[*later])) {
            Some(later) => others.swap(at, later),
            None => {
                return Some(match by(&exact, this, other) {
                    _ if as_many => FirstDifference(show(this), show(other)),
                    Ordering::Less => FirstDifference(show(this), none()),
                    Ordering::Greater => FirstDifference(none(), show(other)),
                    Ordering::Equal => FirstDifference(show(this), show(other)),
                });
            }
        }
    }
    None
}

fn same_rows(a: Row<'_>, b: Row<'_>) -> bool {
    a.iter().zip(b).all(|(a, b)| same(a, b))
}

fn same(a: &Value, b: &Value) -> bool {
    match (number(a), number(b)) {
        (Some(_), Some(_)) if matches!((a, b), (Value::Int(_), Value::Int(_))) => a == b,
        (Some(a), Some(b)) => close(a, b),
        _ => a == b,
    }
}

fn rank(a: &Value, b: &Value) -> Ordering {
    let kind = |value: &Value| match value {
        Value::Null | Value::Any => 0,
        Value::Int(_) | Value::Float(_) | Value::Unit(_) => 1,
        Value::Text(_) => 2,
    };
    kind(a).cmp(&kind(b)).then_with(|| match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => Ordering::Equal,
        },
    })
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) | Value::Unit(number) => Some(*number),
        Value::Null | Value::Text(_) | Value::Any => None,
    }
}

#[cfg(test)]
mod tests;
