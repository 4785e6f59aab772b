//! Expected content of a table after a phase, row by row.

use std::collections::{HashMap, HashSet};

use embermark_language::Work;
use embermark_model::answer::Difference;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::operation_keys::DrawnKey;
use super::super::port::with;
use super::super::row::Values;
use super::super::{Cell, Rows, fingerprint};

/// Changed rows of a table, with their changes.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    rows: HashMap<usize, Fate>,
    /// New rows, by the fingerprints of their keys, with the operations that inserted them. With
    /// concurrent clients any of these can have been the last.
    new: HashMap<u64, SmallVec<[(usize, usize); 1]>>,
    /// By the fingerprints of absent keys, the operations of other clients that set columns if a new
    /// row was there.
    set_new: HashMap<u64, SmallVec<[(usize, usize); 1]>>,
    /// Number of these rows that were changed, if it is unknown which. `None`: all.
    reached: Option<u64>,
}

/// Changes of a row.
#[derive(Clone, Debug)]
enum Fate {
    /// Columns were last set by these operations: column, phase, operation. With concurrent clients
    /// there can be several for a column.
    Set(SmallVec<[(usize, usize, usize); 2]>),
    /// It was deleted.
    Gone,
}

impl Touched {
    /// Notes the changes of operations of a phase that changes rows by their keys. With `last`,
    /// each comes after all others. Otherwise they are those of one of several clients, any of
    /// which can have been the last.
    pub fn by_key(
        &mut self,
        cell: &Cell,
        phase: usize,
        operations: impl Iterator<Item = usize>,
        last: bool,
    ) {
        let work = cell.work(phase);
        for i in operations {
            match (cell.drawn(phase, i), work) {
                (DrawnKey::Row(place), Work::Delete { .. }) => self.delete(place),
                (DrawnKey::Row(place), _) => self.set(cell, place, (phase, i), last),
                (DrawnKey::Absent(_), Work::Upsert { .. }) => self.put(cell, phase, i, last),
                (DrawnKey::Absent(_), _) if last => {}
                (DrawnKey::Absent(_), _) => {
                    let key = fingerprint(cell.key(phase, i)).bits();
                    self.set_new.entry(key).or_default().push((phase, i));
                }
            }
        }
    }

    /// Notes that an operation sets columns of a row.
    pub(super) fn set(
        &mut self,
        cell: &Cell,
        place: usize,
        (phase, i): (usize, usize),
        last: bool,
    ) {
        let set = cell.set(phase, i);
        let fate = self.rows.entry(place).or_insert_with(|| Fate::Set(SmallVec::new()));
        if let Fate::Set(columns) = fate {
            columns.retain(|(column, ..)| !last || !set.contains(column));
            columns.extend(set.iter().map(|column| (*column, phase, i)));
        }
    }

    /// Notes that operation `i` of a phase inserts a row whose key was absent.
    fn put(&mut self, cell: &Cell, phase: usize, i: usize, last: bool) {
        let row = cell.upserted(phase, i);
        let puts = self.new.entry(key_of(cell.rows_of(phase), &row)).or_default();
        if last {
            puts.clear();
        }
        puts.push((phase, i));
    }

    pub fn delete(&mut self, place: usize) {
        self.rows.insert(place, Fate::Gone);
    }

    /// Limits the changes to this many rows, in an order that only the engine knows.
    pub(super) fn reach(&mut self, ops: u64) {
        self.reached = Some(ops).filter(|ops| *ops < self.rows.len() as u64);
    }

    /// Returns whether it is known which rows changed.
    pub const fn is_certain(&self) -> bool {
        self.reached.is_none()
    }

    /// Returns how many rows are changed or deleted.
    pub(super) fn changed(&self) -> u64 {
        self.reached.unwrap_or(self.rows.len() as u64)
    }

    /// Returns how many rows are deleted.
    pub(super) fn gone(&self) -> u64 {
        let gone = self.rows.values().filter(|fate| matches!(fate, Fate::Gone)).count() as u64;
        self.reached.map_or(gone, |reached| reached.min(gone))
    }

    /// Returns the value of a column of an existing row.
    fn value<'a>(&self, cell: &'a Cell, rows: &'a Rows, place: usize, column: usize) -> Value<'a> {
        if let Some(Fate::Set(columns)) = self.rows.get(&place)
            && let Some((_, phase, i)) = columns.iter().find(|(set, ..)| *set == column)
        {
            return cell.update_value(*phase, *i, column);
        }
        rows.value(place, column)
    }

    /// Returns the values of an existing row.
    pub(super) fn row<'a>(&self, cell: &'a Cell, rows: &'a Rows, place: usize) -> Values<'a> {
        let columns = 0..rows.table.columns.len();
        columns.map(|column| self.value(cell, rows, place, column)).collect()
    }

    /// Turns the checksum of a table's loaded rows into that of the changed table.
    pub(super) fn apply(&self, cell: &Cell, table: usize, sum: &mut Checksum) {
        let rows = &cell.tables[table];
        for (place, fate) in &self.rows {
            *sum -= fingerprint(rows.row(*place));
            if let Fate::Set(_) = fate {
                *sum += fingerprint(self.row(cell, rows, *place));
            }
        }
        for (phase, i) in self.new.values().filter_map(|puts| puts.last()) {
            *sum += fingerprint(cell.upserted(*phase, *i));
        }
    }
}

/// Compares the rows of a whole table, in any order, with the expected ones, and keeps the first
/// difference. Used for a table whose checksum is wrong.
pub struct Content<'a> {
    cell: &'a Cell,
    rows: &'a Rows,
    touched: &'a Touched,
    /// Number of rows inserted, from the first.
    put: usize,
    /// Whether each row of the table was seen.
    pub seen: Vec<bool>,
    /// Fingerprints of the keys of new rows that were seen.
    seen_new: HashSet<u64>,
    /// Rows seen that can be changed or not: those found unchanged, and those that are the same
    /// either way.
    unreached: u64,
    either: u64,
    difference: Option<String>,
}

impl<'a> Content<'a> {
    pub fn new(cell: &'a Cell, table: usize, touched: &'a Touched, put: usize) -> Self {
        let rows = &cell.tables[table];
        let seen = vec![false; rows.staged.rows()];
        let (seen_new, difference) = (HashSet::new(), None);
        let (unreached, either) = (0, 0);
        Self { cell, rows, touched, put, seen, seen_new, unreached, either, difference }
    }

    /// Takes a row of the table.
    pub fn see(&mut self, got: &[Value<'_>]) {
        if self.difference.is_none() {
            self.difference = self.compare(got).err();
        }
    }

    fn compare(&mut self, got: &[Value<'_>]) -> Result<(), String> {
        let rows = self.rows;
        let key: SmallVec<[Value<'_>; 4]> = rows.table.key.iter().map(|c| got[*c]).collect();
        let shown = show(rows, got);
        let place = rows.staged.find(&key).map(|nth| rows.staged.nth_by_key(nth));
        let place = place.ok().filter(|place| *place < self.put);
        let Some(place) = place else {
            return self.compare_new(got, shown);
        };
        if std::mem::replace(&mut self.seen[place], true) {
            return Err(format!("{shown} is in the table twice"));
        }
        if !self.touched.is_certain() && self.touched.rows.contains_key(&place) {
            let as_it_was = got.iter().zip(rows.row(place)).all(|(a, b)| same(*a, b));
            let after = self.touched.row(self.cell, rows, place);
            let changed = !matches!(self.touched.rows.get(&place), Some(Fate::Gone))
                && got.iter().zip(after).all(|(a, b)| same(*a, b));
            self.either += u64::from(as_it_was && changed);
            self.unreached += u64::from(as_it_was && !changed);
            if as_it_was || changed {
                return Ok(());
            }
        } else if let Some(Fate::Gone) = self.touched.rows.get(&place) {
            return Err(format!("{shown} was deleted and is in the table"));
        }
        for (column, got) in got.iter().enumerate() {
            let expected = self.touched.value(self.cell, rows, place, column);
            if !same(expected, *got) && !self.may_be(place, column, *got) {
                let name = &rows.table.columns[column].name;
                return Err(format!("{shown}: {name} is {got:?}, expected {expected:?}"));
            }
        }
        Ok(())
    }

    /// Returns whether an operation can have set a column of a row to this value. An upsert writes
    /// every column, also those that it does not set: as they were loaded.
    fn may_be(&self, place: usize, column: usize, got: Value<'_>) -> bool {
        let Self { cell, rows, touched, .. } = self;
        let Some(Fate::Set(columns)) = touched.rows.get(&place) else { return false };
        columns.iter().any(|(set, phase, i)| {
            let restores = matches!(cell.work(*phase), Work::Upsert { .. })
                && !cell.set(*phase, *i).contains(&column);
            *set == column && same(cell.update_value(*phase, *i, column), got)
                || restores && same(rows.value(place, column), got)
        })
    }

    /// Compares a row whose key none of the table's rows has.
    fn compare_new(&mut self, got: &[Value<'_>], shown: String) -> Result<(), String> {
        let key = key_of(self.rows, got);
        let Some(puts) = self.touched.new.get(&key) else {
            return Err(format!("{shown} should not be in the table"));
        };
        if !self.seen_new.insert(key) {
            return Err(format!("{shown} is in the table twice"));
        }
        let (cell, sets) = (self.cell, self.touched.set_new.get(&key));
        let may_be = |column: usize, got: Value<'_>| {
            sets.into_iter().flatten().any(|(phase, i)| {
                cell.set(*phase, *i).contains(&column)
                    && same(cell.update_value(*phase, *i, column), got)
            })
        };
        let is_it = |(phase, i): &(usize, usize)| {
            let row = cell.upserted(*phase, *i);
            let mut columns = row.iter().zip(got).enumerate();
            columns.all(|(column, (a, b))| same(*a, *b) || may_be(column, *b))
        };
        if puts.iter().any(is_it) {
            return Ok(());
        }
        Err(format!("{shown} differs from the row that was written: {got:?}"))
    }

    /// Returns whether the rows seen were right, and, with `all`, whether all rows were seen.
    pub fn finish(self, all: bool) -> Result<(), Difference> {
        if let Some(difference) = self.difference {
            return Err(Difference(difference));
        }
        if !all {
            return Ok(());
        }
        if self.seen_new.len() != self.touched.new.len() {
            let (seen, put) = (self.seen_new.len(), self.touched.new.len());
            return Err(Difference(format!("{seen} of {put} new rows are in the table")));
        }
        if let Some(reached) = self.touched.reached {
            let most = (self.touched.rows.len() as u64).saturating_sub(self.unreached);
            if !(most.saturating_sub(self.either)..=most).contains(&reached) {
                let text = format!("{reached} rows were changed, in the table it is {most}");
                return Err(Difference(text));
            }
        }
        let gone = |place: &usize| matches!(self.touched.rows.get(place), Some(Fate::Gone));
        let mut missing = (0..self.put).filter(|place| !self.seen[*place] && !gone(place));
        match missing.next() {
            None => Ok(()),
            Some(place) => {
                let row: Vec<Value<'_>> = self.rows.row(place).collect();
                Err(Difference(format!("{} is missing", show(self.rows, &row))))
            }
        }
    }
}

/// Returns the fingerprint of a row's key.
fn key_of(rows: &Rows, row: &[Value<'_>]) -> u64 {
    fingerprint(rows.table.key.iter().map(|column| row[*column])).bits()
}

/// Returns whether two values of a column are equal.
fn same(a: Value<'_>, b: Value<'_>) -> bool {
    with(Fingerprint::default(), a) == with(Fingerprint::default(), b)
}

/// Describes a row by its key.
fn show(rows: &Rows, row: &[Value<'_>]) -> String {
    let key = rows.table.key.iter();
    let key = key.map(|column| format!("{} {:?}", rows.table.columns[*column].name, row[*column]));
    format!("the row of {} with {}", rows.table.name, key.collect::<Vec<_>>().join(", "))
}
