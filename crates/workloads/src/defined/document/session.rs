//! Operations on a document store. The data model has no transactions over several documents, so
//! every change is a commit, whatever the scope.

mod changes;
mod latest;
pub(super) mod reads;
mod statistics;

use embermark_contract::Result;
use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Filter, Order,
};
use embermark_contract::row::Visit;
use embermark_language::Work;
use embermark_model::table::OwnedValue;

use super::super::arena::Arena;
use super::super::cell::Cell;
use super::super::port::{OperationResults, Session};
use super::super::row::OwnedKey;
use super::questions::Question;
use super::stored::{Fields, Key, key_and_fields, stored};

pub(super) struct DocumentSession<'a> {
    pub store: &'a mut dyn DocumentStore,
    pub cell: &'a Cell,
    pub defs: &'a [&'static CollectionDef],
    pub collections: &'a [Collection],
    pub names: &'a [Vec<&'static str>],
    pub questions: &'a [Vec<Question>],
    pub seeks: &'a [bool],
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
}

impl<'a> DocumentSession<'a> {
    /// Returns question `i` of a phase in the store's language, if it can be expressed.
    fn question(&self, phase: usize, i: usize) -> Option<&'a Question> {
        let questions = &self.questions[phase];
        questions.get(i % questions.len().max(1))
    }

    /// Asks a question about a collection.
    fn ask(&mut self, table: usize, question: &Question, visit: &mut Visit<'_>) -> Result<()> {
        let columns: Vec<&str> = question.columns.iter().map(String::as_str).collect();
        self.store.query(self.collections[table], &question.text, &columns, visit)
    }

    /// Returns the key of operation `i` of a phase.
    fn key(&self, phase: usize, i: usize) -> Key<'a> {
        self.cell.key_in(self.arena, phase, i).into_iter().map(stored).collect()
    }
}

/// Returns the fields that operation `i` of a phase sets.
fn set(cell: &Cell, phase: usize, i: usize) -> Fields<'_> {
    let (of, set) = (cell.rows_of(phase).table, cell.set(phase, i).iter());
    set.map(|at| (&*of.columns[*at].name, stored(cell.update_value(phase, i, *at)))).collect()
}

fn stored_all(values: &[OwnedValue]) -> Key<'_> {
    values.iter().map(|value| stored(value.as_value())).collect()
}

impl Session for DocumentSession<'_> {
    fn find_rows(&mut self, phase: usize) -> Result<usize> {
        let table = self.cell.work(phase).table().unwrap_or_default();
        let mut keys = std::mem::take(self.looked);
        keys.clear();
        let key = &self.cell.tables[table].table.key;
        self.matching(phase, table, &mut |row| {
            keys.push(key.iter().map(|column| row[*column].to_owned()).collect());
        })?;
        *self.looked = keys;
        Ok(self.looked.len())
    }

    fn change(&mut self, phase: usize, n: usize, found: &mut OperationResults) -> Result<()> {
        let work = self.cell.work(phase);
        let collection = self.collections[work.table().unwrap_or_default()];
        let (set, key) = (set(self.cell, phase, 0), stored_all(&self.looked[n]));
        let filter = Filter::Key(&key);
        found.changed += match work {
            Work::Delete { .. } => self.store.delete(collection, &filter)?,
            _ => self.store.update(collection, &filter, &set)?,
        };
        Ok(())
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut OperationResults) -> Result<()> {
        let cell = self.cell;
        let work = cell.work(phase);
        let table = work.table().unwrap_or_default();
        match work {
            Work::Insert { .. } => {
                let (rows, def) = (&cell.tables[table], self.defs[table]);
                let get = |column| rows.value(i, column);
                let (key, fields) = key_and_fields(rows.table, def, get);
                let document = Document { key: &key, fields: &fields };
                self.store.insert(self.collections[table], &document)?;
                found.changed += 1;
            }
            Work::Get { .. } | Work::Open { .. } | Work::ReadModifyWrite { .. } => {
                let key = self.key(phase, i);
                self.rows(table, Filter::Key(&key), (Order::Any, None), found)?;
                if matches!(work, Work::ReadModifyWrite { .. }) {
                    found.changed += self.update(phase, i, table)?;
                }
            }
            Work::Upsert { .. } => {
                let (row, of) = (cell.upserted(phase, i), cell.tables[table].table);
                let (key, fields) = key_and_fields(of, self.defs[table], |column| row[column]);
                let document = Document { key: &key, fields: &fields };
                self.store.upsert(self.collections[table], &document)?;
                found.changed += 1;
            }
            Work::Update { .. } => found.changed += self.update(phase, i, table)?,
            Work::Latest { .. } => self.latest(phase, i, table, found)?,
            Work::Range(range) => self.range(phase, i, range, found)?,
            Work::Gaps { by, time, longer, .. } => {
                self.gaps((phase, i), table, (*by, *time), *longer, found)?;
            }
            Work::Outliers { .. } => self.outliers((phase, i), table, found)?,
            Work::Correlate(question) => self.correlate(phase, question, found)?,
            Work::Find { select, .. } => self.find(phase, table, select, found)?,
            Work::UpdateWhere { .. } => found.changed += self.update_where(phase, table)?,
            Work::Group(group) => self.group((phase, i), group, found)?,
            Work::Delete { removed, .. } => found.changed += self.delete(phase, i, removed)?,
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {}
        }
        Ok(())
    }
}
