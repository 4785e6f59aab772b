//! Changes of documents: by their keys, by a range of them, and by conditions.

use embermark_contract::Result;
use embermark_contract::document::{DocumentStore, Filter, Value as Stored};
use embermark_language::Removed;
use embermark_model::table::{OwnedValue, Value};
use smallvec::SmallVec;

use super::super::stored::equalities;
use super::reads::successor;
use super::{DocumentSession, set, stored_all};
use crate::defined::access::filters;
use crate::defined::kind::rows_at_once;
use crate::defined::port::Session;

impl DocumentSession<'_> {
    /// Sets fields of the documents that meet conditions: all at once if the conditions are
    /// equalities, otherwise each by its key.
    pub(super) fn update_where(&mut self, phase: usize, table: usize) -> Result<u64> {
        let (set, collection) = (set(self.cell, phase, 0), self.collections[table]);
        self.change_where(phase, table, |store, filter| store.update(collection, filter, &set))
    }

    /// Deletes the documents that meet conditions, in the same ways.
    fn delete_where(&mut self, phase: usize, table: usize) -> Result<u64> {
        let collection = self.collections[table];
        self.change_where(phase, table, |store, filter| store.delete(collection, filter))
    }

    /// Changes the documents that meet conditions. Returns their number.
    fn change_where(
        &mut self,
        phase: usize,
        table: usize,
        change: impl Fn(&mut dyn DocumentStore, &Filter<'_>) -> Result<u64>,
    ) -> Result<u64> {
        let cell = self.cell;
        if let Some(equal) =
            equalities(cell.tables[table].table, &self.names[table], &filters(cell, phase, 0))
        {
            return change(self.store, &Filter::Every(&equal));
        }
        let mut changed = 0;
        for n in 0..self.find_rows(phase)? {
            changed += change(self.store, &Filter::Key(&stored_all(&self.looked[n])))?;
        }
        Ok(changed)
    }

    /// Returns the first key of the rows that operation `i` of a phase changes at once, and the
    /// least key above the last.
    pub(super) fn ends(&self, phase: usize, i: usize) -> Option<[SmallVec<[OwnedValue; 4]>; 2]> {
        let [first, mut last] = self.cell.ends(phase, i);
        let next = successor(last.pop()?)?;
        let first = first.into_iter().map(Value::to_owned);
        let last = last.into_iter().map(Value::to_owned).chain([next]);
        Some([first.collect(), last.collect()])
    }

    pub(super) fn update(&mut self, phase: usize, i: usize, table: usize) -> Result<u64> {
        if rows_at_once(self.cell.work(phase)) > 1
            && let Some(ends) = self.ends(phase, i)
        {
            let [from, to] = ends.each_ref().map(|end| stored_all(end));
            let (filter, set) = (Filter::Keys { from: &from, to: &to }, set(self.cell, phase, i));
            return self.store.update(self.collections[table], &filter, &set);
        }
        let (key, set) = (self.key(phase, i), set(self.cell, phase, i));
        self.store.update(self.collections[table], &Filter::Key(&key), &set)
    }

    pub(super) fn delete(&mut self, phase: usize, i: usize, removed: &Removed) -> Result<u64> {
        let cell = self.cell;
        let rows = cell.rows_of(phase);
        let table = cell.work(phase).table().unwrap_or_default();
        let collection = self.collections[table];
        match removed {
            Removed::Keys { keys, .. }
                if keys.rows > 1
                    && let Some(ends) = self.ends(phase, i) =>
            {
                let [from, to] = ends.each_ref().map(|end| stored_all(end));
                self.store.delete(collection, &Filter::Keys { from: &from, to: &to })
            }
            Removed::Keys { .. } => {
                let key = self.key(phase, i);
                self.store.delete(collection, &Filter::Key(&key))
            }
            Removed::Where { .. } => self.delete_where(phase, table),
            Removed::Older { time, units } => {
                let to = Stored::Int(rows.older(*time, *units).saturating_add(1));
                if rows.table.key.first() == Some(time) {
                    return self.store.delete(collection, &Filter::Keys { from: &[], to: &[to] });
                }
                let (field, from) = (self.names[table][*time], rows.start(*time));
                let from = Stored::Int(from);
                self.store.delete(collection, &Filter::Between { field, from, to })
            }
        }
    }
}
