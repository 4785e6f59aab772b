//! Operations on a document store. The data model has no transactions over several documents: every
//! change is a commit, whatever the scope.

use embermark_contract::Result;
use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Filter, Find, Language, Order,
    Value as Stored,
};
use embermark_contract::row::ResultRow;
use embermark_language::{Group, Operator, Range, Removed, Span, Work};
use embermark_model::answer;
use embermark_model::fingerprint::Checksum;
use embermark_model::table::{OwnedValue, Table, Value};
use smallvec::SmallVec;

use super::super::access::{self, filters};
use super::super::aggregate::Groups;
use super::super::arena::Arena;
use super::super::cell::Cell;
use super::super::gaps::Gaps;
use super::super::newest::Newest;
use super::super::port::{Found, Session, fingerprint};
use super::super::row;
use super::super::sql::OwnedKey;
use super::{Fields, Key, Question, fields_of, harper_sql, key_of, stored};

pub(super) struct DocumentSession<'a> {
    pub store: &'a mut dyn DocumentStore,
    pub cell: &'a Cell,
    pub defs: &'a [&'static CollectionDef],
    pub collections: &'a [Collection],
    pub names: &'a [Vec<&'static str>],
    pub questions: &'a [Option<Question>],
    pub seeks: &'a [bool],
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
}

impl DocumentSession<'_> {
    /// Reads whole documents.
    fn rows(
        &mut self,
        table: usize,
        filter: Filter<'_>,
        (order, limit): (Order, Option<u32>),
        found: &mut Found,
    ) -> Result<()> {
        let of = self.cell.tables[table].table;
        let find = Find { filter, order, limit, columns: &self.names[table] };
        self.store.find(self.collections[table], &find, &mut |document| {
            found.rows += row::whole(document, of)?;
            Ok(())
        })
    }

    fn range(&mut self, phase: usize, i: usize, range: &Range, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let table = cell.tables[range.table].table;
        let (of, time) = match range.span {
            Span::Rows { .. } => {
                let key: Key<'_> =
                    cell.key_in(self.arena, phase, i).into_iter().map(stored).collect();
                let most = u32::try_from(cell.wanted(phase, i)).unwrap_or(u32::MAX);
                let from = Filter::Keys { from: &key, to: &[] };
                return self.rows(range.table, from, (Order::Key, Some(most)), found);
            }
            Span::Last { of, time, .. } | Span::From { of, time, .. } => (of, time),
        };
        let value = cell.of(phase, i).map(stored);
        if value == Some(Stored::Null) {
            // What is absent is equal to nothing.
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
        let name = |column: usize| &*table.columns[column].name;
        let between = Filter::Between { field: name(time), from, to };
        match of.zip(value) {
            Some((of, value)) => {
                let both = [Filter::Equal(name(of), value), between];
                self.rows(range.table, Filter::Every(&both), unordered, found)
            }
            None => self.rows(range.table, between, unordered, found),
        }
    }

    fn latest(&mut self, phase: usize, table: usize, found: &mut Found) -> Result<()> {
        found.rows = Checksum::default();
        let (cell, collection) = (self.cell, self.collections[table]);
        let of = cell.tables[table].table;
        let Work::Latest { by, time, .. } = cell.work(phase) else { return Ok(()) };
        if self.seeks[phase] {
            return self.newest_by_key(table, *by, found);
        }
        if let Some(Question { text, columns }) = &self.questions[phase] {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            return self.store.query(collection, text, &columns, &mut |document| {
                found.rows += row::whole(document, of)?;
                Ok(())
            });
        }
        let mut newest = Newest::default();
        let columns = &self.names[table];
        let all = Find { filter: Filter::All, order: Order::Any, limit: None, columns };
        self.store.find(collection, &all, &mut |document| {
            let value = |column: usize| row::value(document, column, of.columns[column].of);
            newest.add(value(*by)?, value(*time)?, row::whole(document, of)?);
            Ok(())
        })?;
        found.rows = newest.rows();
        Ok(())
    }

    /// The newest document of each value, which is the last below that of the value found before.
    fn newest_by_key(&mut self, table: usize, by: usize, found: &mut Found) -> Result<()> {
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

    fn group(&mut self, phase: usize, group: &Group, found: &mut Found) -> Result<()> {
        found.result.clear();
        let cell = self.cell;
        let (rows, collection) = (&cell.tables[group.table], self.collections[group.table]);
        let Some(Question { text, columns }) = &self.questions[phase] else {
            return self.group_here(phase, group, found);
        };
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let width = group.by.len() + group.compute.len();
        let is_sql = matches!(self.store.language(), Language::Sql(_));
        self.store.query(collection, text, &columns, &mut |document| {
            let from = found.result.len();
            row::group(document, group, rows, &mut found.result)?;
            if is_sql {
                // Of no values there is no sum.
                for ((sum, _), count) in harper_sql::sums(group).zip(width..) {
                    if document.int(count)?.unwrap_or_default() == 0 {
                        found.result[from + sum] = answer::Value::Null;
                    }
                }
            }
            Ok(())
        })?;
        if group.by.is_empty() && found.result.is_empty() {
            // No row meets the conditions: to a pipeline there is no group then.
            Groups::new(group).result(&mut found.result);
        }
        Ok(())
    }

    /// Groups all documents in client code.
    fn group_here(&mut self, phase: usize, group: &Group, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let (of, filters) = (cell.tables[group.table].table, filters(cell, phase, 0));
        let (mut groups, columns) = (Groups::new(group), &self.names[group.table]);
        let all = Find { filter: Filter::All, order: Order::Any, limit: None, columns };
        self.store.find(self.collections[group.table], &all, &mut |document| {
            let values = of.columns.iter().enumerate();
            let values = values.map(|(at, def)| row::value(document, at, def.of));
            let values = values.collect::<Result<SmallVec<[Value<'_>; 12]>>>()?;
            if filters.iter().all(|filter| filter.is_met(&values[filter.column])) {
                groups.add(|column| values[column]);
            }
            Ok(())
        })?;
        groups.result(&mut found.result);
        Ok(())
    }

    /// Visits the documents that meet the conditions of a phase: found by the store where all of them are
    /// equalities, or it has a question for them, else looked at here.
    fn matching(
        &mut self,
        phase: usize,
        table: usize,
        visit: &mut dyn FnMut(&[Value<'_>]),
    ) -> Result<()> {
        let (cell, collection) = (self.cell, self.collections[table]);
        let (of, filters) = (cell.tables[table].table, filters(cell, phase, 0));
        let mut each = |document: &dyn ResultRow| {
            let values = of.columns.iter().enumerate();
            let values = values.map(|(at, def)| row::value(document, at, def.of));
            let values = values.collect::<Result<row::Values<'_>>>()?;
            if filters.iter().all(|filter| filter.is_met(&values[filter.column])) {
                visit(&values);
            }
            Ok(())
        };
        if let Some(Question { text, columns }) = &self.questions[phase] {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            return self.store.query(collection, text, &columns, &mut each);
        }
        let equal = equalities(of, &filters);
        let filter = equal.as_ref().map_or(Filter::All, |equal| Filter::Every(equal));
        let columns = &self.names[table];
        let find = Find { filter, order: Order::Any, limit: None, columns };
        self.store.find(collection, &find, &mut each)
    }

    /// Finds gaps in the times of each value of a field.
    fn gaps(
        &mut self,
        phase: usize,
        table: usize,
        (by, time): (usize, usize),
        longer: i64,
        found: &mut Found,
    ) -> Result<()> {
        found.result.clear();
        let (of, collection) = (self.cell.tables[table].table, self.collections[table]);
        if let Some(Question { text, columns }) = &self.questions[phase] {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            return self.store.query(collection, text, &columns, &mut |document| {
                row::gap(document, of.columns[by].of, &mut found.result)
            });
        }
        let mut gaps = Gaps::new(longer, false);
        let columns = &self.names[table];
        let all = Find { filter: Filter::All, order: Order::Any, limit: None, columns };
        self.store.find(collection, &all, &mut |document| {
            let value = |column: usize| row::value(document, column, of.columns[column].of);
            gaps.add(value(by)?, value(time)?);
            Ok(())
        })?;
        gaps.result(&mut found.result);
        Ok(())
    }

    fn find(
        &mut self,
        phase: usize,
        table: usize,
        select: &[usize],
        found: &mut Found,
    ) -> Result<()> {
        let mut rows = Checksum::default();
        self.matching(phase, table, &mut |row| {
            rows += fingerprint(select.iter().map(|column| row[*column]));
        })?;
        found.rows = rows;
        Ok(())
    }

    /// Sets fields of the documents that meet conditions: all at once where these are equalities, else each by
    /// its key.
    fn update_where(&mut self, phase: usize, table: usize) -> Result<u64> {
        let (set, collection) = (set(self.cell, phase, 0), self.collections[table]);
        self.change_where(phase, table, |store, filter| store.update(collection, filter, &set))
    }

    /// Deletes the documents that meet conditions, in the same ways.
    fn delete_where(&mut self, phase: usize, table: usize) -> Result<u64> {
        let collection = self.collections[table];
        self.change_where(phase, table, |store, filter| store.delete(collection, filter))
    }

    /// Changes the documents that meet conditions; how many.
    fn change_where(
        &mut self,
        phase: usize,
        table: usize,
        change: impl Fn(&mut dyn DocumentStore, &Filter<'_>) -> Result<u64>,
    ) -> Result<u64> {
        let cell = self.cell;
        if let Some(equal) = equalities(cell.tables[table].table, &filters(cell, phase, 0)) {
            return change(self.store, &Filter::Every(&equal));
        }
        let mut changed = 0;
        for n in 0..self.look(phase)? {
            changed += change(self.store, &Filter::Key(&stored_key(&self.looked[n])))?;
        }
        Ok(changed)
    }

    fn update(&mut self, phase: usize, i: usize, table: usize) -> Result<u64> {
        let key = self.cell.key_in(self.arena, phase, i).into_iter().map(stored);
        let (key, set): (Key<'_>, _) = (key.collect(), set(self.cell, phase, i));
        self.store.update(self.collections[table], &Filter::Key(&key), &set)
    }

    fn delete(&mut self, phase: usize, i: usize, removed: &Removed) -> Result<u64> {
        let cell = self.cell;
        let rows = cell.rows_of(phase);
        let table = cell.work(phase).table().unwrap_or_default();
        let collection = self.collections[table];
        match removed {
            Removed::Keys { .. } => {
                let key: Key<'_> =
                    cell.key_in(self.arena, phase, i).into_iter().map(stored).collect();
                self.store.delete(collection, &Filter::Key(&key))
            }
            Removed::Where { .. } => self.delete_where(phase, table),
            Removed::Older { time, units } => {
                let to = Stored::Int(rows.older(*time, *units).saturating_add(1));
                if rows.table.key.first() == Some(time) {
                    return self.store.delete(collection, &Filter::Keys { from: &[], to: &[to] });
                }
                let (field, from) = (&*rows.table.columns[*time].name, rows.start(*time));
                let from = Stored::Int(from);
                self.store.delete(collection, &Filter::Between { field, from, to })
            }
        }
    }
}

/// Conditions as a filter of the store's, where all of them are equalities with fields beside the key.
pub(super) fn equalities<'a>(
    table: &'a Table,
    filters: &[access::Filter<'a>],
) -> Option<SmallVec<[Filter<'a>; 4]>> {
    let each = filters.iter().map(|filter| {
        let is_equality = filter.operator == Operator::Equal && !table.key.contains(&filter.column);
        is_equality.then(|| Filter::Equal(&table.columns[filter.column].name, stored(filter.bound)))
    });
    each.collect()
}

/// What operation `i` of a phase sets.
fn set(cell: &Cell, phase: usize, i: usize) -> Fields<'_> {
    let (of, set) = (cell.rows_of(phase).table, cell.set(phase, i).iter());
    set.map(|at| (&*of.columns[*at].name, stored(cell.fresh(phase, i, *at)))).collect()
}

fn stored_key(key: &OwnedKey) -> Key<'_> {
    key.iter().map(|value| stored(value.as_value())).collect()
}

impl Session for DocumentSession<'_> {
    fn look(&mut self, phase: usize) -> Result<usize> {
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

    fn change(&mut self, phase: usize, n: usize, found: &mut Found) -> Result<()> {
        let work = self.cell.work(phase);
        let collection = self.collections[work.table().unwrap_or_default()];
        let (set, key) = (set(self.cell, phase, 0), stored_key(&self.looked[n]));
        let filter = Filter::Key(&key);
        found.changed += match work {
            Work::Delete { .. } => self.store.delete(collection, &filter)?,
            _ => self.store.update(collection, &filter, &set)?,
        };
        Ok(())
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let work = cell.work(phase);
        let table = work.table().unwrap_or_default();
        match work {
            Work::Insert { .. } => {
                let (rows, def) = (&cell.tables[table], self.defs[table]);
                let (key, fields) = (key_of(rows, i), fields_of(rows, i, def));
                let document = Document { key: &key, fields: &fields };
                self.store.insert(self.collections[table], &document)?;
                found.changed += 1;
            }
            Work::Get { .. } | Work::Open { .. } | Work::ReadModifyWrite { .. } => {
                let key: Key<'_> =
                    cell.key_in(self.arena, phase, i).into_iter().map(stored).collect();
                self.rows(table, Filter::Key(&key), (Order::Any, None), found)?;
                if matches!(work, Work::ReadModifyWrite { .. }) {
                    found.changed += self.update(phase, i, table)?;
                }
            }
            Work::Upsert { .. } => {
                let (row, def, of) =
                    (cell.upserted(phase, i), self.defs[table], &cell.tables[table]);
                let key = of.table.key.iter().map(|column| stored(row[*column]));
                let key: Key<'_> = key.collect();
                let beside = (0..row.len()).filter(|column| !of.table.key.contains(column));
                let fields = def.fields.iter().zip(beside);
                let fields = fields.map(|(name, column)| (*name, stored(row[column])));
                let fields: Fields<'_> =
                    fields.filter(|(_, value)| *value != Stored::Null).collect();
                let document = Document { key: &key, fields: &fields };
                self.store.upsert(self.collections[table], &document)?;
                found.changed += 1;
            }
            Work::Update { .. } => found.changed += self.update(phase, i, table)?,
            Work::Latest { .. } => self.latest(phase, table, found)?,
            Work::Range(range) => self.range(phase, i, range, found)?,
            Work::Gaps { by, time, longer, .. } => {
                self.gaps(phase, table, (*by, *time), *longer, found)?;
            }
            Work::Find { select, .. } => self.find(phase, table, select, found)?,
            Work::UpdateWhere { .. } => found.changed += self.update_where(phase, table)?,
            Work::Group(group) => self.group(phase, group, found)?,
            Work::Delete { removed, .. } => found.changed += self.delete(phase, i, removed)?,
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) => {}
        }
        Ok(())
    }
}
