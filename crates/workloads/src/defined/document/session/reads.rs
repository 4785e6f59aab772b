//! Reads documents by their keys and by conditions, and the newest ones.

use embermark_contract::Result;
use embermark_contract::document::{Filter, Find, Language, Order, Value as Stored};
use embermark_language::{Operator, Range, Span};
use embermark_model::table::{OwnedValue, Value};
use smallvec::SmallVec;

use super::super::stored::{Key, equalities, stored};
use super::DocumentSession;
use crate::defined::{Filters, Found, Op, filters, row};

/// Number of documents from the end of a collection that are searched first.
const FROM_END: u32 = 32;

impl DocumentSession<'_> {
    /// Visits the values, in the order of the columns, of every document that meets the conditions
    /// of a question.
    pub fn scan(&mut self, op: Op, visit: &mut dyn FnMut(&[Value<'_>])) -> Result<()> {
        self.scan_by(op.table, &filters(self.cell, op.phase, op.i), visit)
    }

    /// Visits the documents that meet any conditions. If the key can find them, it does.
    pub fn scan_by(
        &mut self,
        table: usize,
        filters: &Filters<'_>,
        visit: &mut dyn FnMut(&[Value<'_>]),
    ) -> Result<()> {
        let of = self.cell.tables[table].table;
        let first = filters.iter().find(|filter| {
            filter.operator == Operator::Equal && of.key.first() == Some(&filter.column)
        });
        let next = first.and_then(|filter| successor(filter.bound));
        let ends = first.zip(next.as_ref()).filter(|_| of.key.len() > 1);
        let ends = ends.map(|(from, to)| ([stored(from.bound)], [stored(to.as_value())]));
        let filter = match &ends {
            Some((from, to)) => Filter::Keys { from, to },
            None => Filter::All,
        };
        self.visit(table, filter, filters, visit)
    }

    /// Visits the values, in the order of the columns, of the documents that the store finds by a
    /// filter and that meet all conditions.
    fn visit(
        &mut self,
        table: usize,
        filter: Filter<'_>,
        filters: &Filters<'_>,
        visit: &mut dyn FnMut(&[Value<'_>]),
    ) -> Result<()> {
        let (of, columns) = (self.cell.tables[table].table, &self.tables[table].names);
        let find = Find { filter, order: Order::Any, limit: None, columns };
        self.store.find(self.tables[table].collection, &find, &mut |document| {
            let values = row::values(document, of)?;
            if filters.iter().all(|filter| filter.is_met(&values[filter.column])) {
                visit(&values);
            }
            Ok(())
        })
    }

    /// Reads whole documents.
    pub fn rows(
        &mut self,
        table: usize,
        filter: Filter<'_>,
        (order, limit): (Order, Option<u32>),
        found: &mut Found,
    ) -> Result<()> {
        let of = self.cell.tables[table].table;
        let find = Find { filter, order, limit, columns: &self.tables[table].names };
        self.store.find(self.tables[table].collection, &find, &mut |document| {
            found.rows += row::whole(document, of)?;
            Ok(())
        })
    }

    pub fn range(&mut self, op: Op, range: &Range, found: &mut Found) -> Result<()> {
        let (cell, Op { phase, i, .. }) = (self.cell, op);
        let table = cell.tables[range.table].table;
        let (of, time) = match range.span {
            Span::Rows { .. } => {
                let key = self.key(op);
                let most = u32::try_from(cell.wanted(phase, i)).unwrap_or(u32::MAX);
                let from = Filter::Keys { from: &key, to: &[] };
                return self.rows(range.table, from, (Order::Key, Some(most)), found);
            }
            Span::Last { of, time, .. } | Span::From { of, time, .. } => (of, time),
        };
        let value = cell.range_value(phase, i).map(stored);
        if value == Some(Stored::Null) {
            // An absent value equals nothing.
            return Ok(());
        }
        let (from, to) = cell.times(phase, i);
        let (from, to) = (Stored::Int(from), Stored::Int(to));
        let begins: SmallVec<[usize; 2]> = of.into_iter().chain([time]).collect();
        let unordered = (Order::Any, None);
        if table.key.starts_with(&begins) {
            let bound = |end| value.into_iter().chain([end]).collect::<Key<'_>>();
            let filter = Filter::Keys { from: &bound(from), to: &bound(to) };
            return self.rows(range.table, filter, unordered, found);
        }
        let names = &self.tables[range.table].names;
        let name = |column: usize| names[column];
        let (from_key, to_key) = ([from], [to]);
        let between = match table.key.first() == Some(&time) {
            true => Filter::Keys { from: &from_key, to: &to_key },
            false => Filter::Between { field: name(time), from, to },
        };
        match of.zip(value) {
            Some((of, value)) => {
                let both = [Filter::Equal(name(of), value), between];
                self.rows(range.table, Filter::Every(&both), unordered, found)
            }
            None => self.rows(range.table, between, unordered, found),
        }
    }

    /// Visits the documents that meet the conditions of a phase. If the store has a question for
    /// them, it answers with the columns of their keys. It also finds them if all conditions are
    /// equalities. Otherwise they are checked here.
    pub fn matching(&mut self, op: Op, visit: &mut dyn FnMut(&[Value<'_>])) -> Result<()> {
        let (cell, Op { phase, table, .. }) = (self.cell, op);
        let (of, filters) = (cell.tables[table].table, filters(cell, phase, 0));
        if let Some(question) = self.question(op) {
            return self.ask(table, question, &mut |document| {
                let mut values: row::Values<'_> = of.columns.iter().map(|_| Value::Null).collect();
                for (at, column) in of.key.iter().enumerate() {
                    values[*column] = row::value(document, at, of.columns[*column].of)?;
                }
                visit(&values);
                Ok(())
            });
        }
        let equal = equalities(of, &self.tables[table].names, &filters);
        let filter = equal.as_ref().map_or(Filter::All, |equal| Filter::Every(equal));
        self.visit(table, filter, &filters, visit)
    }

    /// Finds the newest documents by searches in the order of keys, if these are faster than a
    /// question or a scan. Returns whether they are.
    pub fn latest_by_key(
        &mut self,
        op: Op,
        (by, time): (usize, usize),
        found: &mut Found,
    ) -> Result<bool> {
        let (cell, Op { phase, table, .. }) = (self.cell, op);
        let key = &cell.tables[table].table.key;
        let each = cell.each(phase, op.i).filter(|(column, _)| *column == by);
        if let Some((_, value)) = each
            && *key == [by, time]
            && let Some(next) = successor(value)
        {
            // The last of the value's rows in key order.
            let (from, to) = ([stored(value)], [stored(next.as_value())]);
            let filter = Filter::Keys { from: &from, to: &to };
            self.rows(table, filter, (Order::KeyDescending, Some(1)), found)?;
        } else if let Some((_, value)) = each
            && *key == [time, by]
            && !matches!(self.store.language(), Language::Pipeline)
        {
            self.newest_from_end(table, (by, value), found)?;
        } else if self.seeks[phase] && !cell.adds_up(phase) {
            self.newest_by_key(table, by, found)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Finds the newest document of a value, where keys begin with the time: searches from the end,
    /// each time twice as many.
    fn newest_from_end(
        &mut self,
        table: usize,
        (by, value): (usize, Value<'_>),
        found: &mut Found,
    ) -> Result<()> {
        let of = self.cell.tables[table].table;
        let (order, mut some) = (Order::KeyDescending, FROM_END);
        loop {
            let (filter, columns) = (Filter::All, &self.tables[table].names);
            let find = Find { filter, order, limit: Some(some), columns };
            let (mut is_found, mut seen) = (false, 0);
            self.store.find(self.tables[table].collection, &find, &mut |document| {
                seen += 1;
                if !is_found && row::value(document, by, of.columns[by].of)? == value {
                    found.rows += row::whole(document, of)?;
                    is_found = true;
                }
                Ok(())
            })?;
            if is_found || seen < some {
                return Ok(());
            }
            some = some.saturating_mul(2);
        }
    }

    /// Finds the newest document of each value: the last one below the value found before.
    fn newest_by_key(&mut self, table: usize, by: usize, found: &mut Found) -> Result<()> {
        let of = self.cell.tables[table].table;
        let mut before: Option<OwnedValue> = None;
        loop {
            let to = before.as_ref().map(|value| [stored(value.as_value())]);
            let to = to.as_ref().map_or(&[][..], |to| &to[..]);
            let filter = Filter::Keys { from: &[], to };
            let order = Order::KeyDescending;
            let find = Find { filter, order, limit: Some(1), columns: &self.tables[table].names };
            let mut next = None;
            self.store.find(self.tables[table].collection, &find, &mut |document| {
                found.rows += row::whole(document, of)?;
                next = Some(row::value(document, by, of.columns[by].of)?.to_owned());
                Ok(())
            })?;
            if next.is_none() {
                return Ok(());
            }
            before = next;
        }
    }
}

/// Returns the least value of the same kind above a value.
pub(super) fn successor(value: Value<'_>) -> Option<OwnedValue> {
    match value {
        Value::Int(value) => value.checked_add(1).map(OwnedValue::Int),
        Value::Text(text) => Some(OwnedValue::Text(format!("{text}\0"))),
        _ => None,
    }
}
