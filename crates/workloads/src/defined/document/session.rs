//! Operations on a document store. The data model has no transactions over several documents: every
//! change is a commit, whatever the scope.

use embermark_contract::Result;
use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Filter, Find, Language, Order,
    Value as Stored,
};
use embermark_contract::row::ResultRow;
use embermark_language::{Correlate, Group, Operator, Range, Removed, Span, Work};
use embermark_model::answer;
use embermark_model::fingerprint::Checksum;
use embermark_model::table::{OwnedValue, Table, Value};
use smallvec::SmallVec;

use super::super::access::{self, Filters, filters, of_conditions};
use super::super::aggregate::Groups;
use super::super::arena::Arena;
use super::super::cell::Cell;
use super::super::correlate;
use super::super::gaps::Gaps;
use super::super::kind::rows_at_once;
use super::super::newest::Newest;
use super::super::outliers::Outliers;
use super::super::port::{Found, Session, fingerprint};
use super::super::row::{self, OwnedKey};
use super::{Fields, Key, Question, fields_of, harper_sql, key_of, stored};

/// Documents from the end of a collection among which the newest of a value is looked for first.
const FROM_END: u32 = 32;

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
    /// What question `i` of a phase asks in the store's language, where it has words for it.
    fn question(&self, phase: usize, i: usize) -> Option<&'a Question> {
        let questions = &self.questions[phase];
        questions.get(i % questions.len().max(1))
    }

    /// Visits the values of every document that meets the conditions of question `i`, in the order of its columns.
    fn scan(&mut self, phase: usize, i: usize, visit: &mut dyn FnMut(&[Value<'_>])) -> Result<()> {
        let (cell, filters) = (self.cell, filters(self.cell, phase, i));
        self.scan_by(cell.work(phase).table().unwrap_or_default(), &filters, visit)
    }

    /// The same of any conditions: those that the key finds are found by it.
    fn scan_by(
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
            let values = of.columns.iter().enumerate();
            let values = values.map(|(at, def)| row::value(document, at, def.of));
            let values = values.collect::<Result<row::Values<'_>>>()?;
            if filters.iter().all(|filter| filter.is_met(&values[filter.column])) {
                visit(&values);
            }
            Ok(())
        })
    }

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

    fn latest(&mut self, phase: usize, i: usize, table: usize, found: &mut Found) -> Result<()> {
        let (cell, collection) = (self.cell, self.collections[table]);
        cell.begin_question(phase, found);
        let of = cell.tables[table].table;
        let Work::Latest { by, time, .. } = cell.work(phase) else { return Ok(()) };
        let each = cell.each(phase, i).filter(|(column, _)| column == by && of.key == [*by, *time]);
        if let Some((_, value)) = each
            && let Some(next) = successor(value)
        {
            // The last of the value's rows, in the order of keys.
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
        if let Some(Question { text, columns }) = self.question(phase, i) {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            return self.store.query(collection, text, &columns, &mut |document| {
                found.rows += row::whole(document, of)?;
                Ok(())
            });
        }
        let mut newest = Newest::default();
        self.scan(phase, i, &mut |row| {
            newest.add(row[*by], row[*time], fingerprint(row.iter().copied()));
        })?;
        found.rows += newest.rows();
        Ok(())
    }

    /// The newest document of a value, in the order of keys, which begin with the time: among twice as many from the
    /// end each time.
    fn newest_from_end(
        &mut self,
        (phase, i): (usize, usize),
        table: usize,
        by: usize,
        found: &mut Found,
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

    fn group(
        &mut self,
        (phase, i): (usize, usize),
        group: &Group,
        found: &mut Found,
    ) -> Result<()> {
        let cell = self.cell;
        cell.begin_question(phase, found);
        let from = found.result.len();
        let (rows, collection) = (&cell.tables[group.table], self.collections[group.table]);
        let Some(Question { text, columns }) = self.question(phase, i) else {
            return self.group_here(group, &filters(cell, phase, i), &mut found.result);
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
        if group.by.is_empty() && found.result.len() == from {
            // No row meets the conditions: to a pipeline there is no group then.
            Groups::new(group).result(&mut found.result);
        }
        Ok(())
    }

    /// Groups all documents in client code.
    fn group_here(
        &mut self,
        group: &Group,
        filters: &Filters<'_>,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let mut groups = Groups::new(group);
        self.scan_by(group.table, filters, &mut |row| groups.add(|column| row[column]))?;
        groups.result(result);
        Ok(())
    }

    /// Finds values far from the mean of their group.
    fn outliers(
        &mut self,
        (phase, i): (usize, usize),
        table: usize,
        found: &mut Found,
    ) -> Result<()> {
        let (of_table, collection) = (self.cell.tables[table].table, self.collections[table]);
        let Work::Outliers { of, by, deviations, .. } = self.cell.work(phase) else {
            return Ok(());
        };
        self.cell.begin_question(phase, found);
        if let Some(Question { text, columns }) = self.question(phase, i) {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            return self.store.query(collection, text, &columns, &mut |document| {
                row::outlier(document, of_table, *of, &mut found.result)
            });
        }
        let mut outliers = Outliers::new(*deviations, false);
        self.scan(phase, i, &mut |row| {
            outliers.add(row[*by], row[*of], of_table.key.iter().map(|column| row[*column]));
        })?;
        outliers.result(&mut found.result);
        Ok(())
    }

    /// Correlates two groups: by a question of the store's, or by the means of each.
    fn correlate(&mut self, phase: usize, question: &Correlate, found: &mut Found) -> Result<()> {
        let (cell, collection) = (self.cell, self.collections[question.table]);
        cell.begin_question(phase, found);
        if let Some(Question { text, columns }) = self.question(phase, 0) {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            return self.store.query(collection, text, &columns, &mut |document| {
                row::correlation(document, false, &mut found.result)
            });
        }
        let rows = &cell.tables[question.table];
        correlate::answer(question, &mut found.result, &mut |group, result| {
            self.group_here(group, &of_conditions(rows, &group.conditions), result)
        })
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
        if let Some(Question { text, columns }) = self.question(phase, 0) {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            return self.store.query(collection, text, &columns, &mut each);
        }
        let equal = equalities(of, &self.names[table], &filters);
        let filter = equal.as_ref().map_or(Filter::All, |equal| Filter::Every(equal));
        let columns = &self.names[table];
        let find = Find { filter, order: Order::Any, limit: None, columns };
        self.store.find(collection, &find, &mut each)
    }

    /// Finds gaps in the times of each value of a field.
    fn gaps(
        &mut self,
        (phase, i): (usize, usize),
        table: usize,
        (by, time): (usize, usize),
        longer: i64,
        found: &mut Found,
    ) -> Result<()> {
        self.cell.begin_question(phase, found);
        let (of, collection) = (self.cell.tables[table].table, self.collections[table]);
        if let Some(Question { text, columns }) = self.question(phase, i) {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            return self.store.query(collection, text, &columns, &mut |document| {
                row::gap(document, of.columns[by].of, &mut found.result)
            });
        }
        let mut gaps = Gaps::new(longer, false);
        self.scan(phase, i, &mut |row| gaps.add(row[by], row[time]))?;
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
        if let Some(equal) =
            equalities(cell.tables[table].table, &self.names[table], &filters(cell, phase, 0))
        {
            return change(self.store, &Filter::Every(&equal));
        }
        let mut changed = 0;
        for n in 0..self.look(phase)? {
            changed += change(self.store, &Filter::Key(&stored_key(&self.looked[n])))?;
        }
        Ok(changed)
    }

    /// The first key of the rows that operation `i` of a phase changes at once, and the least above the last.
    fn ends(&self, phase: usize, i: usize) -> Option<[SmallVec<[OwnedValue; 4]>; 2]> {
        let [first, mut last] = self.cell.ends(phase, i);
        let next = successor(last.pop()?)?;
        let first = first.into_iter().map(Value::to_owned);
        let last = last.into_iter().map(Value::to_owned).chain([next]);
        Some([first.collect(), last.collect()])
    }

    fn update(&mut self, phase: usize, i: usize, table: usize) -> Result<u64> {
        if rows_at_once(self.cell.work(phase)) > 1
            && let Some(ends) = self.ends(phase, i)
        {
            let [from, to] = ends.each_ref().map(|end| stored_all(end));
            let (filter, set) = (Filter::Keys { from: &from, to: &to }, set(self.cell, phase, i));
            return self.store.update(self.collections[table], &filter, &set);
        }
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
            Removed::Keys { keys, .. }
                if keys.rows > 1
                    && let Some(ends) = self.ends(phase, i) =>
            {
                let [from, to] = ends.each_ref().map(|end| stored_all(end));
                self.store.delete(collection, &Filter::Keys { from: &from, to: &to })
            }
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
                let (field, from) = (self.names[table][*time], rows.start(*time));
                let from = Stored::Int(from);
                self.store.delete(collection, &Filter::Between { field, from, to })
            }
        }
    }
}

/// The least value of a kind above another.
fn successor(value: Value<'_>) -> Option<OwnedValue> {
    match value {
        Value::Int(value) => value.checked_add(1).map(OwnedValue::Int),
        Value::Text(text) => Some(OwnedValue::Text(format!("{text}\0"))),
        _ => None,
    }
}

/// Conditions as a filter of the store's, where all of them are equalities with fields beside the key.
pub(super) fn equalities<'a>(
    table: &Table,
    names: &[&'static str],
    filters: &[access::Filter<'a>],
) -> Option<SmallVec<[Filter<'a>; 4]>> {
    let each = filters.iter().map(|filter| {
        let is_equality = filter.operator == Operator::Equal && !table.key.contains(&filter.column);
        is_equality.then(|| Filter::Equal(names[filter.column], stored(filter.bound)))
    });
    each.collect()
}

/// What operation `i` of a phase sets.
fn set(cell: &Cell, phase: usize, i: usize) -> Fields<'_> {
    let (of, set) = (cell.rows_of(phase).table, cell.set(phase, i).iter());
    set.map(|at| (&*of.columns[*at].name, stored(cell.fresh(phase, i, *at)))).collect()
}

fn stored_all(values: &[OwnedValue]) -> Key<'_> {
    values.iter().map(|value| stored(value.as_value())).collect()
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
