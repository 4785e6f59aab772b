//! Conditions on a table, and the order of rows by which a key-value store finds the rows that meet
//! them.

use embermark_data::table::compare;
use embermark_language::{Condition, Operator, Range, Removed, Span, Work};
use embermark_model::table::{ColumnType, Table, Value, int_range};
use smallvec::SmallVec;

use super::codec::PRESENT;
use super::kind::conditions_of;
use super::{Cell, Codec, Rows};

/// A condition with its bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter<'a> {
    pub column: usize,
    pub operator: Operator,
    pub bound: Value<'a>,
}

/// Conditions that must all hold for a row.
pub(super) type Filters<'a> = SmallVec<[Filter<'a>; 4]>;

/// Returns conditions with their bounds.
pub(super) fn of_conditions<'a>(rows: &'a Rows, conditions: &'a [Condition]) -> Filters<'a> {
    let filter = |of: &'a Condition| Filter {
        column: of.column,
        operator: of.operator,
        bound: rows.bound(of),
    };
    conditions.iter().map(filter).collect()
}

/// Returns the conditions on the rows of operation `i` of a phase.
pub(super) fn filters(cell: &Cell, phase: usize, i: usize) -> Filters<'_> {
    let rows = cell.rows_of(phase);
    let each = cell.each(phase, i);
    let each = each.map(|(column, bound)| Filter { column, operator: Operator::Equal, bound });
    let mut all: Filters<'_> = match cell.work(phase) {
        Work::Range(Range {
            span: Span::Last { of, time, .. } | Span::From { of, time, .. },
            ..
        }) => {
            let (from, to) = cell.times(phase, i);
            let at = |operator, bound| Filter { column: *time, operator, bound: Value::Int(bound) };
            let mut all = Filters::from_iter([at(Operator::AtLeast, from), at(Operator::Less, to)]);
            if let Some((column, bound)) = of.zip(cell.range_value(phase, i)) {
                all.push(Filter { column, operator: Operator::Equal, bound });
            }
            all
        }
        Work::Delete { removed: Removed::Older { time, units }, .. } => {
            let bound = Value::Int(rows.older(*time, *units));
            Filters::from_iter([Filter { column: *time, operator: Operator::AtMost, bound }])
        }
        work => of_conditions(rows, conditions_of(work)),
    };
    all.extend(each);
    all
}

impl Filter<'_> {
    /// Returns whether it bounds its column from below.
    const fn is_low(&self) -> bool {
        matches!(self.operator, Operator::Greater | Operator::AtLeast)
    }

    /// Whether its bound has a place among the values of its column: a number beyond the range of
    /// the column's type has no bytes in keys and indexes.
    fn has_place(&self, table: &Table) -> bool {
        let (ColumnType::Int { bits, signed }, Value::Int(bound)) =
            (table.columns[self.column].of, self.bound)
        else {
            return true;
        };
        let (least, most) = int_range(bits, signed);
        (least..=most).contains(&bound)
    }

    /// Returns whether a value meets it. An absent value does not.
    #[inline]
    pub(super) fn is_met(&self, value: &Value<'_>) -> bool {
        if *value == Value::Null {
            return false;
        }
        self.operator.accepts(compare(value, &self.bound))
    }
}

/// The order by which rows are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Every row is read.
    All,
    /// By the key.
    Key,
    /// By the index with this number.
    Index(usize),
}

/// How rows that meet conditions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub by: By,
    /// Number of leading columns of that order with one value.
    equal: usize,
    /// Whether the next column has bounds.
    bounded: bool,
    /// Whether every row found meets all conditions.
    pub exact: bool,
}

impl Access {
    /// Returns the order of a table that leaves the fewest rows, as far as the conditions show it.
    pub(super) fn best(table: &Table, filters: &[Filter<'_>]) -> Self {
        let orders = std::iter::once((By::Key, &table.key))
            .chain(table.indexes.iter().enumerate().map(|(n, index)| (By::Index(n), index)));
        let mut best = Self { by: By::All, equal: 0, bounded: false, exact: filters.is_empty() };
        let narrows = |f: &Filter<'_>, column: usize| f.column == column && f.has_place(table);
        for (by, columns) in orders {
            let is_equal = |column: &&usize| {
                filters.iter().any(|f| narrows(f, **column) && f.operator == Operator::Equal)
            };
            let equal = columns.iter().take_while(is_equal).count();
            let bounded = columns.get(equal).is_some_and(|column| {
                filters.iter().any(|f| narrows(f, *column) && f.operator != Operator::NotEqual)
            });
            let mut access = Self { by, equal, bounded, exact: false };
            access.exact = filters.iter().all(|filter| access.decides(table, filters, filter));
            if 2 * equal + usize::from(bounded) > 2 * best.equal + usize::from(best.bounded) {
                best = access;
            }
        }
        best
    }

    /// Returns the columns of the order, if there is one.
    fn columns<'a>(&self, table: &'a Table) -> Option<&'a [usize]> {
        match self.by {
            By::All => None,
            By::Key => Some(&table.key),
            By::Index(n) => Some(&table.indexes[n]),
        }
    }

    /// Returns whether every row found meets one of the conditions.
    fn decides(&self, table: &Table, filters: &[Filter<'_>], of: &Filter<'_>) -> bool {
        let Some(columns) = self.columns(table) else { return false };
        // Texts in an index are cut, and the last text of a key has no end mark.
        let is_whole = match table.columns[of.column].of {
            ColumnType::Text | ColumnType::Bytes => {
                let is_last = columns.last() == Some(&of.column);
                self.by == By::Key && of.operator == Operator::Equal && !is_last
            }
            _ => !matches!(of.operator, Operator::NotEqual | Operator::Greater),
        };
        let mut beside = filters.iter().filter(|other| {
            let is_like = of.operator == Operator::Equal || of.is_low() == other.is_low();
            other.column == of.column && is_like && other.has_place(table)
        });
        let used = &columns[..self.equal + usize::from(self.bounded)];
        // An absent value is found in an index, but equals nothing.
        let is_found = of.bound != Value::Null && of.has_place(table);
        is_found && is_whole && used.contains(&of.column) && beside.nth(1).is_none()
    }

    /// Returns the conditions that must still be checked on the rows found.
    pub(super) fn left<'a>(&self, table: &Table, filters: &Filters<'a>) -> Filters<'a> {
        filters.iter().filter(|of| !self.decides(table, filters, of)).copied().collect()
    }

    /// Writes the bytes from which rows are found, and the bytes before which. Returns whether
    /// there is such an end.
    pub(super) fn bounds(
        &self,
        table: &Table,
        codec: &Codec,
        filters: &[Filter<'_>],
        from: &mut Vec<u8>,
        to: &mut Vec<u8>,
    ) -> bool {
        let Some(columns) = self.columns(table) else {
            from.clear();
            return false;
        };
        let of = |column: usize, is: fn(Operator) -> bool| {
            let mut filters = filters.iter().filter(|f| f.has_place(table));
            filters.find(|f| f.column == column && is(f.operator))
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
            } else if matches!(self.by, By::Index(_)) {
                // Absent values are first in an index, and meet no condition.
                from.push(PRESENT);
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

/// Turns bytes into the lowest bytes above everything that begins with them. Returns whether there
/// are any.
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
