//! The right answers, from the rows alone.

mod content;
mod correlate;
mod gaps;
mod groups;
mod newest;
mod outliers;
mod places;
mod statistics;
mod times;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use embermark_data::table::compare;
use embermark_language::{Bound, Condition, Operator, Phase, Range, Removed, Span, Work};
use embermark_model::answer::{Difference, Expected, Value as Answered};
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::table::Value;

use super::cell::Cell;
use super::draws::Drawn;
use super::kind::{one_by_one, rows_at_once};
use super::port::{Database, Found, fingerprint};
use super::row::Values;
use super::table_rows::Rows;
pub(super) use content::{Content, Touched};
pub(super) use newest::check as check_newest;
pub(super) use places::Places;
use times::TimeOrder;

/// What a row counts as in what a phase finds, as its database has it.
pub(super) type Print<'a> = dyn Fn(&[Value<'_>]) -> Fingerprint + 'a;

/// What a row counts as in what a phase finds.
pub(super) fn print_of(
    cell: &Cell,
    database: &dyn Database,
    phase: usize,
    row: &[Value<'_>],
) -> Fingerprint {
    database.print(phase, row).unwrap_or_else(|| match cell.work(phase) {
        Work::Find { select, .. } => fingerprint(select.iter().map(|column| row[*column])),
        _ => fingerprint(row.iter().copied()),
    })
}

/// Knows what every phase must find and leave.
pub(super) struct Oracle {
    cell: Arc<Cell>,
    /// The checksum of every table's loaded rows.
    loaded: OnceCell<Vec<Checksum>>,
    /// By phase, where a range by time needs one.
    orders: HashMap<usize, TimeOrder>,
    /// Answers that were right, as hashes: of a phase, of so many operations, over so many rows.
    right: HashMap<(usize, u64, usize), u64>,
}

impl Oracle {
    pub(super) fn new(cell: Arc<Cell>) -> Self {
        Self { cell, loaded: OnceCell::new(), orders: HashMap::new(), right: HashMap::new() }
    }

    /// Compares what the first `ops` operations of a phase found with what they must.
    ///
    /// # Errors
    /// The first difference.
    pub(super) fn check(
        &mut self,
        phase: usize,
        ops: u64,
        found: &Found,
        tells_changes: bool,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        let rows = self.cell.work(phase).table().map_or(0, |table| self.cell.tables[table].loaded);
        self.once((phase, ops, rows), found, |oracle| {
            oracle.compare(phase, ops, found, tells_changes, print)
        })
    }

    /// Checks an answer, unless the same was right before. To compute again what is right would also take what the
    /// next run reads out of the processor's caches.
    fn once(
        &mut self,
        of: (usize, u64, usize),
        found: &Found,
        check: impl FnOnce(&mut Self) -> Result<(), Difference>,
    ) -> Result<(), Difference> {
        let digest = found.digest();
        if self.right.get(&of) == Some(&digest) {
            return Ok(());
        }
        check(self)?;
        self.right.insert(of, digest);
        Ok(())
    }

    fn compare(
        &mut self,
        phase: usize,
        ops: u64,
        found: &Found,
        tells_changes: bool,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        let cell = Arc::clone(&self.cell);
        let work = cell.work(phase);
        let counted = |expected: u64| {
            if !tells_changes || found.changed == expected {
                return Ok(());
            }
            let got = found.changed;
            Err(Difference(format!("expected {expected} rows changed, the engine says {got}")))
        };
        let rows = |expected: Checksum| {
            Expected::Checksum(expected)
                .check(&embermark_model::answer::Answer::Checksum(found.rows))
        };
        match work {
            Work::Insert { .. } | Work::Upsert { .. } => counted(ops),
            Work::Get { .. } | Work::Open { reads: true, .. } => rows(self.got(phase, ops, print)),
            Work::Open { .. } => Ok(()),
            Work::Range(range) => rows(self.ranged(phase, range, ops, print)),
            Work::UpdateWhere { .. } => counted(self.touched(phase, ops).changed()),
            Work::Update { keys, .. } if keys.rows > 1 => {
                counted(self.touched(phase, ops).changed())
            }
            Work::Update { .. } => counted(self.present(phase, ops)),
            Work::ReadModifyWrite { .. } => {
                rows(self.read_before(phase, ops, print))?;
                counted(self.present(phase, ops))
            }
            Work::Delete { .. } => counted(self.touched(phase, ops).gone()),
            Work::Latest { .. }
            | Work::Find { .. }
            | Work::Gaps { .. }
            | Work::Outliers { .. }
            | Work::Correlate(_)
            | Work::Group(_) => {
                let loaded = cell.rows_of(phase).loaded;
                self.answered(phase, (&Places::First(loaded), ops), found, print)
            }
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {
                Ok(())
            }
        }
    }

    /// Compares what a question found, asked so often, with what it must where these rows of its table are there.
    ///
    /// # Errors
    /// The first difference.
    pub(super) fn answers(
        &mut self,
        phase: usize,
        (there, asked): (&Places, u64),
        found: &Found,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        match there {
            Places::First(rows) => self.once((phase, asked, *rows), found, |oracle| {
                oracle.answered(phase, (there, asked), found, print)
            }),
            Places::Marked(_) | Places::These(_) => {
                self.answered(phase, (there, asked), found, print)
            }
        }
    }

    fn answered(
        &self,
        phase: usize,
        (there, asked): (&Places, u64),
        found: &Found,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        let (cell, of) = (&*self.cell, self.cell.rows_of(phase));
        let each = |check: &Check<'_>| each(cell, phase, (there, asked), found, check);
        let rows = |expected: Checksum| {
            Expected::Checksum(expected)
                .check(&embermark_model::answer::Answer::Checksum(found.rows))
        };
        match self.cell.work(phase) {
            Work::Latest { by, time, .. } if cell.adds_up(phase) => {
                let newest = (0..asked as usize)
                    .map(|i| latest(of, &of_question(cell, phase, i, there), (*by, *time), print));
                rows(newest.fold(Checksum::default(), |mut all, newest| {
                    all += newest;
                    all
                }))
            }
            Work::Latest { by, time, .. } => rows(latest(of, there, (*by, *time), print)),
            Work::Find { conditions, .. } => {
                let is_met = groups::met(of, conditions);
                let met = there.each().filter(|place| is_met(*place));
                rows(met.map(|place| print(&values(of, place))).collect())
            }
            Work::Gaps { by, time, longer, .. } => {
                each(&|there, found| gaps::check(of, there, (*by, *time), *longer, found))
            }
            Work::Outliers { of: column, by, deviations, .. } => {
                each(&|there, found| outliers::check(of, there, (*column, *by), *deviations, found))
            }
            Work::Correlate(question) => correlate::check(of, there, question, &found.result),
            Work::Group(group) => {
                each(&|there, found| groups::check(group, groups::all(of, there, group), found))
            }
            _ => Ok(()),
        }
    }

    /// What the first `ops` operations of a phase change in its table.
    pub(super) fn touched(&self, phase: usize, ops: u64) -> Touched {
        let mut touched = Touched::default();
        match self.cell.work(phase) {
            work if rows_at_once(work) > 1 => {
                for i in 0..ops as usize {
                    for place in self.cell.draws[phase].span(i).iter().map(|place| *place as usize)
                    {
                        match work {
                            Work::Delete { .. } => touched.delete(place),
                            _ => touched.set(&self.cell, place, phase, i),
                        }
                    }
                }
            }
            Work::Update { .. } | Work::ReadModifyWrite { .. } => {
                for i in 0..ops as usize {
                    if let Drawn::Row(place) = self.cell.drawn(phase, i) {
                        touched.set(&self.cell, place, phase, i);
                    }
                }
            }
            Work::Upsert { .. } => {
                for i in 0..ops as usize {
                    match self.cell.drawn(phase, i) {
                        Drawn::Row(place) => touched.set(&self.cell, place, phase, i),
                        Drawn::Absent(_) => touched.put(&self.cell, phase, i, true),
                    }
                }
            }
            Work::Delete { removed: Removed::Keys { .. }, .. } => {
                for i in 0..ops as usize {
                    if let Drawn::Row(place) = self.cell.drawn(phase, i) {
                        touched.delete(place);
                    }
                }
            }
            Work::UpdateWhere { table, conditions, .. } => {
                let rows = &self.cell.tables[*table];
                let is_met = groups::met(rows, conditions);
                let met = (0..rows.loaded).filter(|place| is_met(*place));
                met.for_each(|place| touched.set(&self.cell, place, phase, 0));
            }
            Work::Delete { table, removed: Removed::Where { conditions, .. } } => {
                let rows = &self.cell.tables[*table];
                let is_met = groups::met(rows, conditions);
                let met = (0..rows.loaded).filter(|place| is_met(*place));
                met.for_each(|place| touched.delete(place));
            }
            Work::Delete { table, removed: Removed::Older { time, units } } => {
                let rows = &self.cell.tables[*table];
                let until = rows.older(*time, *units);
                let old = |place: &usize| matches!(rows.value(*place, *time), Value::Int(at) if at <= until);
                (0..rows.loaded).filter(old).for_each(|place| touched.delete(place));
            }
            _ => {}
        }
        if one_by_one(self.cell.work(phase)).is_some() {
            touched.reach(ops);
        }
        touched
    }

    /// The checksum of a table's first rows.
    pub(super) fn first(&self, table: usize, rows: usize) -> Checksum {
        let of = &self.cell.tables[table];
        if rows == of.loaded {
            return self.loaded.get_or_init(|| {
                self.cell.tables.iter().map(|rows| first(rows, rows.loaded)).collect()
            })[table];
        }
        first(of, rows)
    }

    /// The checksum of a table after rows of it were changed.
    pub(super) fn after(&self, table: usize, touched: &Touched) -> Checksum {
        let mut left = self.first(table, self.cell.tables[table].loaded);
        touched.apply(&self.cell, table, &mut left);
        left
    }

    fn got(&self, phase: usize, ops: u64, print: &Print<'_>) -> Checksum {
        let rows = self.cell.rows_of(phase);
        let drawn = (0..ops as usize).map(|i| self.cell.drawn(phase, i));
        let there = drawn.filter_map(|drawn| match drawn {
            Drawn::Row(place) => Some(print(&values(rows, place))),
            Drawn::Absent(_) => None,
        });
        there.collect()
    }

    /// How many operations concern a row that is there.
    fn present(&self, phase: usize, ops: u64) -> u64 {
        let drawn = (0..ops as usize).map(|i| self.cell.drawn(phase, i));
        drawn.filter(|drawn| matches!(drawn, Drawn::Row(_))).count() as u64
    }

    /// Rows as each operation of a read-modify-write finds them.
    fn read_before(&self, phase: usize, ops: u64, print: &Print<'_>) -> Checksum {
        let (mut touched, mut read) = (Touched::default(), Checksum::default());
        for i in 0..ops as usize {
            if let Drawn::Row(place) = self.cell.drawn(phase, i) {
                let rows = self.cell.rows_of(phase);
                read += print(&touched.row(&self.cell, rows, place));
                touched.set(&self.cell, place, phase, i);
            }
        }
        read
    }

    fn ranged(&mut self, phase: usize, range: &Range, ops: u64, print: &Print<'_>) -> Checksum {
        let cell = Arc::clone(&self.cell);
        let rows = &cell.tables[range.table];
        let mut read = Checksum::default();
        match range.span {
            Span::Rows { .. } => {
                for i in 0..ops as usize {
                    let key = cell.key(phase, i);
                    let (Ok(nth) | Err(nth)) = rows.staged.find(&key);
                    let wanted = cell.wanted(phase, i) as usize;
                    let from = rows.in_key_order_from(nth).take(wanted);
                    from.for_each(|place| read += print(&values(rows, place)));
                }
            }
            Span::Last { of, time, .. } | Span::From { of, time, .. } => {
                let order: Vec<usize> = of.into_iter().chain([time]).collect();
                if rows.table.key.starts_with(&order) {
                    for i in 0..ops as usize {
                        let (from, to) = cell.times(phase, i);
                        let places = times::in_key_order(rows, cell.of(phase, i), from, to);
                        places.for_each(|place| read += print(&values(rows, place)));
                    }
                    return read;
                }
                let order =
                    self.orders.entry(phase).or_insert_with(|| TimeOrder::of(rows, of, time));
                for i in 0..ops as usize {
                    let (from, to) = cell.times(phase, i);
                    for place in order.between(rows, cell.of(phase, i), from, to) {
                        read += print(&values(rows, place));
                    }
                }
            }
        }
        read
    }
}

/// How many rows meet the conditions of a phase, where it counts its operations by them; else 0.
pub(super) fn met(phase: &Phase, tables: &[Rows]) -> u64 {
    let count = |table: usize, conditions: &[Condition]| {
        let rows = &tables[table];
        let is_met = groups::met(rows, conditions);
        (0..rows.loaded).filter(|place| is_met(*place)).count() as u64
    };
    match &phase.work {
        work if !phase.per_row && one_by_one(work).is_none() => 0,
        Work::Find { table, conditions, .. }
        | Work::UpdateWhere { table, conditions, .. }
        | Work::Delete { table, removed: Removed::Where { conditions, .. } } => {
            count(*table, conditions)
        }
        Work::Delete { table, removed: Removed::Older { time, units } } => {
            let old = [Condition {
                column: *time,
                operator: Operator::AtMost,
                bound: Bound::End(units.saturating_neg()),
            }];
            count(*table, &old)
        }
        _ => 0,
    }
}

/// The values of a row.
pub(super) fn values(rows: &Rows, place: usize) -> Values<'_> {
    rows.row(place).collect()
}

fn first(rows: &Rows, most: usize) -> Checksum {
    (0..most.min(rows.loaded)).map(|place| fingerprint(rows.row(place))).collect()
}

/// Checks the answer to a question of the rows that are there.
type Check<'a> = dyn Fn(&Places, &[Answered]) -> Result<(), Difference> + 'a;

/// Checks the answer of each question that was asked, of different rows, which of those that are there.
fn each(
    cell: &Cell,
    phase: usize,
    (there, asked): (&Places, u64),
    found: &Found,
    check: &Check<'_>,
) -> Result<(), Difference> {
    if !cell.adds_up(phase) {
        return check(there, &found.result);
    }
    let mut from = 0;
    for i in 0..asked as usize {
        let Some(to) = found.ends.get(i).copied() else {
            return Err(Difference(format!("there are answers to {i} of {asked} questions")));
        };
        let of = cell.each(phase, i).map(|(_, value)| value);
        check(&of_question(cell, phase, i, there), &found.result[from..to])
            .map_err(|Difference(what)| Difference(format!("of {of:?}: {what}")))?;
        from = to;
    }
    Ok(())
}

/// The rows, of those that are there, that question `i` of a phase is about.
fn of_question(cell: &Cell, phase: usize, i: usize, there: &Places) -> Places {
    let rows = cell.rows_of(phase);
    let mut marks = vec![false; rows.staged.rows()];
    for place in there.each() {
        marks[place] = cell
            .each(phase, i)
            .is_none_or(|(column, value)| compare(&rows.value(place, column), &value).is_eq());
    }
    Places::Marked(marks)
}

/// The newest rows of each value of a column, several where they are of the same time.
fn latest(rows: &Rows, there: &Places, (by, time): (usize, usize), print: &Print<'_>) -> Checksum {
    let mut newest: HashMap<u64, (i64, Checksum)> = HashMap::new();
    for place in there.each() {
        let (of, Value::Int(at)) = (rows.value(place, by), rows.value(place, time)) else {
            continue;
        };
        if of == Value::Null {
            continue;
        }
        let newest =
            newest.entry(fingerprint([of]).bits()).or_insert((i64::MIN, Checksum::default()));
        if at > newest.0 {
            *newest = (at, Checksum::default());
        }
        if at == newest.0 {
            newest.1 += print(&values(rows, place));
        }
    }
    newest.into_values().fold(Checksum::default(), |mut all, (_, rows)| {
        all += rows;
        all
    })
}

#[cfg(test)]
mod by_hand;
#[cfg(test)]
mod tests;
