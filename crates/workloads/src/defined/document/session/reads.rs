//! Reads documents by their keys and by conditions.

use embermark_contract::Result;
use embermark_contract::document::{Filter, Find, Order, Value as Stored};
use embermark_contract::row::ResultRow;
use embermark_language::{Operator, Range, Span};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::{OwnedValue, Table, Value};
use smallvec::SmallVec;

use super::super::questions::wanted;
use super::super::stored::{Key, equalities, stored};
use super::DocumentSession;
use crate::defined::access::{Filters, filters};
use crate::defined::port::{OperationResults, fingerprint};
use crate::defined::row;

/// Visits the values of a document, in the order of the columns, if they meet all conditions.
fn visit_if_met(
    of: &Table,
    filters: &Filters<'_>,
    document: &dyn ResultRow,
    visit: &mut dyn FnMut(&[Value<'_>]),
) -> Result<()> {
    let values = of.columns.iter().enumerate();
    let values = values.map(|(at, def)| row::value(document, at, def.of));
    let values = values.collect::<Result<row::Values<'_>>>()?;
    if filters.iter().all(|filter| filter.is_met(&values[filter.column])) {
        visit(&values);
    }
    Ok(())
}

impl DocumentSession<'_> {
    /// Visits the values, in the order of the columns, of every document that meets the conditions
    /// of question `i`.
    pub(super) fn scan(
        &mut self,
        phase: usize,
        i: usize,
        visit: &mut dyn FnMut(&[Value<'_>]),
    ) -> Result<()> {
        let (cell, filters) = (self.cell, filters(self.cell, phase, i));
        self.scan_by(cell.work(phase).table().unwrap_or_default(), &filters, visit)
    }

    /// Visits the documents that meet any conditions. If the key can find them, it does.
    pub(super) fn scan_by(
        &mut self,
        table: usize,
        filters: &Filters<'_>,
        visit: &mut dyn FnMut(&[Value<'_>]),
    ) -> Result<()> {
        let (of, columns) = (self.cell.tables[table].table, &self.names[table]);
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
        let find = Find { filter, order: Order::Any, limit: None, columns };
        self.store.find(self.collections[table], &find, &mut |document| {
            visit_if_met(of, filters, document, visit)
        })
    }

    /// Reads whole documents.
    pub(super) fn rows(
        &mut self,
        table: usize,
        filter: Filter<'_>,
        (order, limit): (Order, Option<u32>),
        found: &mut OperationResults,
    ) -> Result<()> {
        let of = self.cell.tables[table].table;
        let find = Find { filter, order, limit, columns: &self.names[table] };
        self.store.find(self.collections[table], &find, &mut |document| {
            found.rows += row::whole(document, of)?;
            Ok(())
        })
    }

    pub(super) fn range(
        &mut self,
        phase: usize,
        i: usize,
        range: &Range,
        found: &mut OperationResults,
    ) -> Result<()> {
        let cell = self.cell;
        let table = cell.tables[range.table].table;
        let (of, time) = match range.span {
            Span::Rows { .. } => {
                let key = self.key(phase, i);
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
        let names = &self.names[range.table];
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

    /// Visits the documents that meet the conditions of a phase, with at least the columns that it
    /// needs. The store finds them if all conditions are equalities or it has a question for them.
    /// Otherwise they are checked here.
    pub(super) fn matching(
        &mut self,
        phase: usize,
        table: usize,
        visit: &mut dyn FnMut(&[Value<'_>]),
    ) -> Result<()> {
        let cell = self.cell;
        let (of, filters) = (cell.tables[table].table, filters(cell, phase, 0));
        if let Some(question) = self.question(phase, 0) {
            let wanted = wanted(cell, phase);
            return self.ask(table, question, &mut |document| {
                let mut values: row::Values<'_> = of.columns.iter().map(|_| Value::Null).collect();
                for (at, column) in wanted.iter().enumerate() {
                    values[*column] = row::value(document, at, of.columns[*column].of)?;
                }
                visit(&values);
                Ok(())
            });
        }
        let equal = equalities(of, &self.names[table], &filters);
        let filter = equal.as_ref().map_or(Filter::All, |equal| Filter::Every(equal));
        let columns = &self.names[table];
        let find = Find { filter, order: Order::Any, limit: None, columns };
        self.store.find(self.collections[table], &find, &mut |document| {
            visit_if_met(of, &filters, document, visit)
        })
    }

    pub(super) fn find(
        &mut self,
        phase: usize,
        table: usize,
        select: &[usize],
        found: &mut OperationResults,
    ) -> Result<()> {
        let mut rows = Checksum::default();
        self.matching(phase, table, &mut |row| {
            rows += fingerprint(select.iter().map(|column| row[*column]));
        })?;
        found.rows = rows;
        Ok(())
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
