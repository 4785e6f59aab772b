//! Conditions on a table, and by which order of its rows a key-value store finds those that meet them.

use std::cmp::Ordering;

use embermark_data::table::compare;
use embermark_language::{Operator, Range, Removed, Span, Work};
use embermark_model::table::{ColumnType, Table, Value};
use smallvec::SmallVec;

use super::cell::Cell;
use super::codec::Codec;

/// A condition with its bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter<'a> {
    pub column: usize,
    pub operator: Operator,
    pub bound: Value<'a>,
}

/// Conditions all of which a row meets.
pub(super) type Filters<'a> = SmallVec<[Filter<'a>; 4]>;

/// The conditions that rows of a phase meet, for operation `i`.
pub(super) fn filters(cell: &Cell, phase: usize, i: usize) -> Filters<'_> {
    let rows = cell.rows_of(phase);
    match cell.work(phase) {
        Work::Group(group) => (group.conditions.iter())
            .map(|c| Filter { column: c.column, operator: c.operator, bound: rows.bound(c) })
            .collect(),
        Work::Range(Range {
            span: Span::Last { of, time, .. } | Span::From { of, time, .. },
            ..
        }) => {
            let (from, to) = cell.times(phase, i);
            let at = |operator, bound| Filter { column: *time, operator, bound: Value::Int(bound) };
            let mut all = Filters::from_iter([at(Operator::AtLeast, from), at(Operator::Less, to)]);
            if let Some((column, bound)) = of.zip(cell.of(phase, i)) {
                all.push(Filter { column, operator: Operator::Equal, bound });
            }
            all
        }
        Work::Delete { removed: Removed::Older { time, units }, .. } => {
            let bound = Value::Int(rows.older(*time, *units));
            Filters::from_iter([Filter { column: *time, operator: Operator::AtMost, bound }])
        }
        _ => Filters::new(),
    }
}

impl Filter<'_> {
    /// Whether it bounds its column from below.
    const fn is_low(&self) -> bool {
        matches!(self.operator, Operator::Greater | Operator::AtLeast)
    }

    /// Whether a value meets it. An absent one meets none.
    #[inline]
    pub(super) fn is_met(&self, value: &Value<'_>) -> bool {
        if *value == Value::Null {
            return false;
        }
        let order = compare(value, &self.bound);
        match self.operator {
            Operator::Equal => order == Ordering::Equal,
            Operator::NotEqual => order != Ordering::Equal,
            Operator::Less => order == Ordering::Less,
            Operator::AtMost => order != Ordering::Greater,
            Operator::Greater => order == Ordering::Greater,
            Operator::AtLeast => order != Ordering::Less,
        }
    }
}

/// The order by which rows are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// All rows are read.
    All,
    /// By the key.
    Key,
    /// By the index of that number.
    Index(usize),
}

/// How rows that meet conditions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub by: By,
    /// How many columns of that order have one value.
    equal: usize,
    /// Whether the next one has bounds.
    bounded: bool,
    /// Whether every row found meets all conditions.
    pub exact: bool,
}

impl Access {
    /// The order of a table that leaves the fewest rows, as far as it can be said without looking.
    pub(super) fn of(table: &Table, filters: &[Filter<'_>]) -> Self {
        let orders = std::iter::once((By::Key, &table.key))
            .chain(table.indexes.iter().enumerate().map(|(n, index)| (By::Index(n), index)));
        let mut best = Self { by: By::All, equal: 0, bounded: false, exact: filters.is_empty() };
        for (by, columns) in orders {
            let is_equal = |column: &&usize| {
                filters.iter().any(|f| f.column == **column && f.operator == Operator::Equal)
            };
            let equal = columns.iter().take_while(is_equal).count();
            let bounded = columns.get(equal).is_some_and(|column| {
                filters.iter().any(|f| f.column == *column && f.operator != Operator::NotEqual)
            });
            let used = &columns[..equal + usize::from(bounded)];
            // Texts in an index are cut off, and the last of a key has no end.
            let last = columns.last();
            let whole = |f: &Filter<'_>| match table.columns[f.column].of {
                ColumnType::Text | ColumnType::Bytes => {
                    by == By::Key && f.operator == Operator::Equal && last != Some(&f.column)
                }
                _ => !matches!(f.operator, Operator::NotEqual | Operator::Greater),
            };
            let alone = |f: &Filter<'_>| {
                let beside = filters.iter().filter(|other| {
                    other.column == f.column
                        && (f.operator == Operator::Equal || f.is_low() == other.is_low())
                });
                beside.count() == 1
            };
            let exact = filters.iter().all(|f| used.contains(&f.column) && whole(f) && alone(f));
            if 2 * equal + usize::from(bounded) > 2 * best.equal + usize::from(best.bounded) {
                best = Self { by, equal, bounded, exact };
            }
        }
        best
    }

    /// The bytes from which on rows are found, and before which; whether there is such an end.
    pub(super) fn bounds(
        &self,
        table: &Table,
        codec: &Codec,
        filters: &[Filter<'_>],
        from: &mut Vec<u8>,
        to: &mut Vec<u8>,
    ) -> bool {
        let columns = match self.by {
            By::All => {
                from.clear();
                return false;
            }
            By::Key => &table.key,
            By::Index(n) => &table.indexes[n],
        };
        let of = |column: usize, is: fn(Operator) -> bool| {
            filters.iter().find(|f| f.column == column && is(f.operator))
        };
        let mut values: SmallVec<[Value<'_>; 8]> = (columns[..self.equal].iter())
            .filter_map(|column| of(*column, |is| is == Operator::Equal).map(|f| f.bound))
            .collect();
        let bytes = |values: &[Value<'_>], to: &mut Vec<u8>| match self.by {
            By::Index(_) => codec.index(columns, values.iter().copied(), to),
            _ => codec.key(values.iter().copied(), to),
        };
        bytes(&values, from);
        bytes(&values, to);
        let mut ends = beyond(to);
        if self.bounded {
            let column = columns[self.equal];
            let low = of(column, |is| matches!(is, Operator::Greater | Operator::AtLeast));
            let high = of(column, |is| matches!(is, Operator::Less | Operator::AtMost));
            if let Some(low) = low {
                values.push(low.bound);
                bytes(&values, from);
                values.pop();
            }
            if let Some(high) = high {
                values.push(high.bound);
                bytes(&values, to);
                let cut = matches!(high.bound, Value::Text(_) | Value::Bytes(_));
                ends = if high.operator == Operator::AtMost || cut { beyond(to) } else { true };
            }
        }
        ends
    }
}

/// Makes of bytes the lowest above everything that begins with them; whether there are any.
pub(super) fn beyond(bytes: &mut Vec<u8>) -> bool {
    while let Some(last) = bytes.last_mut() {
        if *last < u8::MAX {
            *last += 1;
            return true;
        }
        bytes.pop();
    }
    false
}

#[cfg(test)]
mod tests;
