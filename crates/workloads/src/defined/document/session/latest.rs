//! The newest documents.

use embermark_contract::Result;
use embermark_contract::document::{Filter, Find, Language, Order};
use embermark_language::Work;
use embermark_model::table::OwnedValue;

use super::super::stored::stored;
use super::DocumentSession;
use super::reads::successor;
use crate::defined::latest_rows::LatestRows;
use crate::defined::port::{OperationResults, fingerprint};
use crate::defined::row;

/// Number of documents from the end of a collection that are searched first.
const FROM_END: u32 = 32;

impl DocumentSession<'_> {
    pub(super) fn latest(
        &mut self,
        phase: usize,
        i: usize,
        table: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        let cell = self.cell;
        cell.begin_question(phase, found);
        let of = cell.tables[table].table;
        let Work::Latest { by, time, .. } = cell.work(phase) else { return Ok(()) };
        let each = cell.each(phase, i).filter(|(column, _)| column == by && of.key == [*by, *time]);
        if let Some((_, value)) = each
            && let Some(next) = successor(value)
        {
            // The last of the value's rows in key order.
            let (from, to) = ([stored(value)], [stored(next.as_value())]);
            let filter = Filter::Keys { from: &from, to: &to };
            return self.rows(table, filter, (Order::KeyDescending, Some(1)), found);
        }
        if cell.each(phase, i).is_some_and(|(column, _)| column == *by)
            && of.key == [*time, *by]
            && !matches!(self.store.language(), Language::Pipeline)
        {
            return self.newest_from_end((phase, i), table, *by, found);
        }
        if self.seeks[phase] && !cell.adds_up(phase) {
            return self.newest_by_key(table, *by, found);
        }
        if let Some(question) = self.question(phase, i) {
            return self.ask(table, question, &mut |document| {
                found.rows += row::whole(document, of)?;
                Ok(())
            });
        }
        let mut newest = LatestRows::default();
        self.scan(phase, i, &mut |row| {
            newest.add(row[*by], row[*time], fingerprint(row.iter().copied()));
        })?;
        found.rows += newest.rows();
        Ok(())
    }

    /// Finds the newest document of a value, where keys begin with the time: searches from the end,
    /// each time twice as many.
    fn newest_from_end(
        &mut self,
        (phase, i): (usize, usize),
        table: usize,
        by: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        let (cell, of) = (self.cell, self.cell.tables[table].table);
        let Some((_, value)) = cell.each(phase, i) else { return Ok(()) };
        let (order, mut some) = (Order::KeyDescending, FROM_END);
        loop {
            let find =
                Find { filter: Filter::All, order, limit: Some(some), columns: &self.names[table] };
            let (mut newest, mut seen) = (None, 0);
            self.store.find(self.collections[table], &find, &mut |document| {
                seen += 1;
                if newest.is_none() && row::value(document, by, of.columns[by].of)? == value {
                    newest = Some(row::whole(document, of)?);
                }
                Ok(())
            })?;
            if let Some(newest) = newest {
                found.rows += newest;
                return Ok(());
            }
            if seen < some {
                return Ok(());
            }
            some = some.saturating_mul(2);
        }
    }

    /// Finds the newest document of each value: the last one below the value found before.
    fn newest_by_key(
        &mut self,
        table: usize,
        by: usize,
        found: &mut OperationResults,
    ) -> Result<()> {
        let of = self.cell.tables[table].table;
        let mut before: Option<OwnedValue> = None;
        loop {
            let to = before.as_ref().map(|value| [stored(value.as_value())]);
            let to = to.as_ref().map_or(&[][..], |to| &to[..]);
            let filter = Filter::Keys { from: &[], to };
            let order = Order::KeyDescending;
            let find = Find { filter, order, limit: Some(1), columns: &self.names[table] };
            let mut next = None;
            self.store.find(self.collections[table], &find, &mut |document| {
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
