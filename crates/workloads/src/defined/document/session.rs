//! Operations on a document store. The data model has no transactions over several documents, so
//! every change is a commit, whatever the scope.

pub(super) mod reads;
mod statistics;

use embermark_contract::Result;
use embermark_contract::document::{Document, DocumentStore, Filter, Order, Value as Stored};
use embermark_contract::row::Visit;
use embermark_language::{Removed, Work};
use embermark_model::table::{OwnedValue, Value};
use smallvec::SmallVec;

use super::super::kind::rows_at_once;
use super::super::{Arena, Cell, Found, Op, OwnedKey, Question, Session, filters};
use super::TableCollection;
use super::session::reads::successor;
use super::stored::{Fields, Key, equalities, key_and_fields, stored};

pub(super) struct DocumentSession<'a> {
    pub store: &'a mut dyn DocumentStore,
    pub cell: &'a Cell,
    pub tables: &'a [TableCollection],
    pub questions: &'a [Vec<Question>],
    pub seeks: &'a [bool],
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
}

impl<'a> DocumentSession<'a> {
    /// Returns a question in the store's language, if it can be expressed.
    fn question(&self, op: Op) -> Option<&'a Question> {
        let questions = &self.questions[op.phase];
        questions.get(op.i % questions.len().max(1))
    }

    /// Asks a question about a collection.
    fn ask(&mut self, table: usize, question: &Question, visit: &mut Visit<'_>) -> Result<()> {
        self.store.query(self.tables[table].collection, &question.text, &question.names(), visit)
    }

    fn key(&self, op: Op) -> Key<'a> {
        self.cell.key_in(self.arena, op.phase, op.i).into_iter().map(stored).collect()
    }
}

/// Returns the fields that an operation sets.
fn set(cell: &Cell, Op { phase, i, table, .. }: Op) -> Fields<'_> {
    let (of, set) = (cell.tables[table].table, cell.set(phase, i).iter());
    set.map(|at| (&*of.columns[*at].name, stored(cell.update_value(phase, i, *at)))).collect()
}

fn stored_all(values: &[OwnedValue]) -> Key<'_> {
    values.iter().map(|value| stored(value.as_value())).collect()
}

impl Session for DocumentSession<'_> {
    fn find_rows(&mut self, phase: usize) -> Result<usize> {
        let op = Op::new(self.cell, phase, 0);
        let mut keys = std::mem::take(self.looked);
        keys.clear();
        let key = &self.cell.tables[op.table].table.key;
        self.matching(op, &mut |row| {
            keys.push(key.iter().map(|column| row[*column].to_owned()).collect());
        })?;
        *self.looked = keys;
        Ok(self.looked.len())
    }

    fn change(&mut self, phase: usize, n: usize, found: &mut Found) -> Result<()> {
        let op = Op::new(self.cell, phase, 0);
        let collection = self.tables[op.table].collection;
        let (set, key) = (set(self.cell, op), stored_all(&self.looked[n]));
        let filter = Filter::Key(&key);
        found.changed += match op.work {
            Work::Delete { .. } => self.store.delete(collection, &filter)?,
            _ => self.store.update(collection, &filter, &set)?,
        };
        Ok(())
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let op = Op::new(cell, phase, i);
        let Op { work, table, .. } = op;
        match work {
            Work::Insert { .. } => {
                let (rows, def) = (&cell.tables[table], self.tables[table].def);
                let get = |column| rows.value(i, column);
                let (key, fields) = key_and_fields(rows.table, def, get);
                let document = Document { key: &key, fields: &fields };
                self.store.insert(self.tables[table].collection, &document)?;
                found.changed += 1;
            }
            Work::Get { .. } | Work::Open { .. } | Work::ReadModifyWrite { .. } => {
                let key = self.key(op);
                self.rows(table, Filter::Key(&key), (Order::Any, None), found)?;
                if matches!(work, Work::ReadModifyWrite { .. }) {
                    found.changed += self.update(op)?;
                }
            }
            Work::Upsert { .. } => {
                let (row, of) = (cell.upserted(phase, i), cell.tables[table].table);
                let (key, fields) =
                    key_and_fields(of, self.tables[table].def, |column| row[column]);
                let document = Document { key: &key, fields: &fields };
                self.store.upsert(self.tables[table].collection, &document)?;
                found.changed += 1;
            }
            Work::Update { .. } => found.changed += self.update(op)?,
            Work::Range(range) => self.range(op, range, found)?,
            Work::UpdateWhere { .. } => found.changed += self.update_where(op)?,
            Work::Delete { removed, .. } => found.changed += self.delete(op, removed)?,
            Work::Ask { query, .. } => self.answer(op, query, found)?,
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {}
        }
        Ok(())
    }
}

impl DocumentSession<'_> {
    /// Sets fields of the documents that meet conditions: all at once if the conditions are
    /// equalities, otherwise each by its key.
    fn update_where(&mut self, op: Op) -> Result<u64> {
        let (set, collection) = (set(self.cell, op), self.tables[op.table].collection);
        self.change_where(op, |store, filter| store.update(collection, filter, &set))
    }

    /// Changes the documents that meet conditions. Returns their number.
    fn change_where(
        &mut self,
        op: Op,
        change: impl Fn(&mut dyn DocumentStore, &Filter<'_>) -> Result<u64>,
    ) -> Result<u64> {
        let (of, filters) = (self.cell.tables[op.table].table, filters(self.cell, op.phase, 0));
        if let Some(equal) = equalities(of, &self.tables[op.table].names, &filters) {
            return change(self.store, &Filter::Every(&equal));
        }
        let mut changed = 0;
        for n in 0..self.find_rows(op.phase)? {
            changed += change(self.store, &Filter::Key(&stored_all(&self.looked[n])))?;
        }
        Ok(changed)
    }

    /// Returns the first key of the rows that an operation changes at once, and the least key above
    /// the last.
    fn ends(&self, op: Op) -> Option<[SmallVec<[OwnedValue; 4]>; 2]> {
        let [first, mut last] = self.cell.ends(op.phase, op.i);
        let next = successor(last.pop()?)?;
        let first = first.into_iter().map(Value::to_owned);
        let last = last.into_iter().map(Value::to_owned).chain([next]);
        Some([first.collect(), last.collect()])
    }

    /// Changes the document of an operation's key, or the adjacent ones that it changes at once.
    /// Returns their number.
    fn change_by_key(
        &mut self,
        op: Op,
        change: impl Fn(&mut dyn DocumentStore, &Filter<'_>) -> Result<u64>,
    ) -> Result<u64> {
        if rows_at_once(op.work) > 1
            && let Some(ends) = self.ends(op)
        {
            let [from, to] = ends.each_ref().map(|end| stored_all(end));
            return change(self.store, &Filter::Keys { from: &from, to: &to });
        }
        let key = self.key(op);
        change(self.store, &Filter::Key(&key))
    }

    fn update(&mut self, op: Op) -> Result<u64> {
        let (set, collection) = (set(self.cell, op), self.tables[op.table].collection);
        self.change_by_key(op, |store, filter| store.update(collection, filter, &set))
    }

    fn delete(&mut self, op: Op, removed: &Removed) -> Result<u64> {
        let (rows, collection) = (&self.cell.tables[op.table], self.tables[op.table].collection);
        match removed {
            Removed::Keys { .. } => {
                self.change_by_key(op, |store, filter| store.delete(collection, filter))
            }
            Removed::Where { .. } => {
                self.change_where(op, |store, filter| store.delete(collection, filter))
            }
            Removed::Older { time, units } => {
                let to = Stored::Int(rows.older(*time, *units).saturating_add(1));
                if rows.table.key.first() == Some(time) {
                    return self.store.delete(collection, &Filter::Keys { from: &[], to: &[to] });
                }
                let (field, from) = (self.tables[op.table].names[*time], rows.ends_of_all(*time));
                let from = Stored::Int(from.0);
                self.store.delete(collection, &Filter::Between { field, from, to })
            }
        }
    }
}
