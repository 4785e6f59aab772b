//! Operations on a series store.

use embermark_contract::Result;
use embermark_contract::series::SeriesStore;
use embermark_language::{Group, Range, Removed, Span, Work};
use embermark_model::answer;
use embermark_model::fingerprint::Checksum;
use embermark_model::table::{OwnedValue, Value};
use smallvec::SmallVec;

use super::super::access::{Filters, filters, of_conditions};
use super::super::aggregate::{self, in_order};
use super::super::arena::Arena;
use super::super::cell::Cell;
use super::super::correlate;
use super::super::gaps::Gaps;
use super::super::kind::rows_at_once;
use super::super::newest::Newest;
use super::super::outliers::Outliers;
use super::super::port::{Found, Session, Shared, Steps, fingerprint};
use super::super::row::{OwnedKey, Values, aggregate as aggregated, owned};
use super::influxql::{DEVIATION, GAP, Groups, MEAN};
use super::{Measured, Row, all_are_there, value, values};

pub(super) struct SeriesSession<'a> {
    pub store: &'a mut dyn SeriesStore,
    pub cell: &'a Cell,
    pub tables: &'a [std::result::Result<Measured, String>],
    pub questions: &'a [Vec<Groups>],
    pub text: &'a mut String,
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
}

impl<'a> SeriesSession<'a> {
    /// Asks for the rows of the statement that was written, and visits each.
    fn read(&mut self, of: &Measured, visit: &mut dyn FnMut(Values<'_>)) -> Result<()> {
        let Measured { measurement, columns } = of;
        self.store.query(self.text, columns, &mut |point| {
            visit(values(point, measurement)?);
            Ok(())
        })
    }

    /// Visits rows that meet all filters: what InfluxQL cannot say of them is looked at here.
    fn filtered(
        &mut self,
        of: &Measured,
        filters: &Filters<'_>,
        visit: &mut dyn FnMut(Values<'_>),
    ) -> Result<()> {
        let all = of.measurement.rows(filters, self.text);
        self.read(of, &mut |row| {
            if all || filters.iter().all(|filter| filter.is_met(&row[filter.column])) {
                visit(row);
            }
        })
    }

    /// The same with some of the columns alone; the others are absent from the rows visited.
    fn filtered_some(
        &mut self,
        of: &Measured,
        filters: &Filters<'_>,
        columns: impl IntoIterator<Item = usize>,
        visit: &mut dyn FnMut(Values<'_>),
    ) -> Result<()> {
        let measurement = &of.measurement;
        let mut columns: SmallVec<[usize; 8]> = columns.into_iter().collect();
        if !measurement.says_all(filters) {
            columns.extend(filters.iter().map(|filter| filter.column));
        }
        columns.sort_unstable();
        columns.dedup();
        let names: SmallVec<[&str; 8]> = columns.iter().map(|column| of.columns[*column]).collect();
        let all = measurement.some(&columns, filters, self.text);
        let width = measurement.table.columns.len();
        self.store.query(self.text, &names, &mut |point| {
            let mut row: Values<'_> = SmallVec::from_elem(Value::Null, width);
            for (at, column) in columns.iter().enumerate() {
                let kind = measurement.table.columns[*column].of;
                row[*column] = value(point, at, *column, kind, measurement)?;
            }
            if all || filters.iter().all(|filter| filter.is_met(&row[filter.column])) {
                visit(row);
            }
            Ok(())
        })
    }

    /// Reads the row of an operation's key; whether it is there.
    fn get(&mut self, of: &Measured, phase: usize, i: usize, found: &mut Found) -> Result<bool> {
        of.measurement.get(&self.cell.key_in(self.arena, phase, i), self.text);
        let mut is_there = false;
        self.read(of, &mut |row| {
            found.rows += fingerprint(row);
            is_there = true;
        })?;
        Ok(is_there)
    }

    /// Writes fields of a point again.
    fn update(&mut self, of: &Measured, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let (cell, measurement) = (self.cell, &of.measurement);
        let mut row = Row::of_key(measurement, cell.key_in(self.arena, phase, i))?;
        for column in cell.set(phase, i) {
            row.set(measurement, *column, cell.fresh(phase, i, *column));
        }
        // What was absent stays so, and may be all there was to set.
        if !row.fields.is_empty() {
            self.store.write(&measurement.table.name, &row.point())?;
        }
        found.changed += 1;
        Ok(())
    }

    /// Changes points of a series that follow each other: deletes them, or finds them and writes each again.
    fn change_span(&mut self, of: &Measured, phase: usize, i: usize) -> Result<()> {
        let (cell, measurement) = (self.cell, &of.measurement);
        let [first, last] = cell.ends(phase, i);
        let Some(last) = last.last().copied() else { return Ok(()) };
        if let Work::Delete { .. } = cell.work(phase) {
            measurement.delete_between(&first, last, self.text);
            return self.store.execute(self.text);
        }
        let mut keys = std::mem::take(self.looked);
        keys.clear();
        measurement.rows(&measurement.between(&first, last), self.text);
        let key = &measurement.table.key;
        self.read(of, &mut |row| {
            keys.push(key.iter().map(|column| row[*column].to_owned()).collect());
        })?;
        for key in &keys {
            let mut row = Row::of_key(measurement, key.iter().map(OwnedValue::as_value))?;
            for column in cell.set(phase, i) {
                row.set(measurement, *column, cell.fresh(phase, i, *column));
            }
            self.store.write(&measurement.table.name, &row.point())?;
        }
        *self.looked = keys;
        Ok(())
    }

    /// Writes again, or deletes, the points that meet conditions, each by its key.
    fn change_where(&mut self, phase: usize, found: &mut Found) -> Result<()> {
        (0..self.look(phase)?).try_for_each(|n| self.change(phase, n, found))
    }

    fn latest(
        &mut self,
        of: &Measured,
        (phase, i): (usize, usize),
        (by, time): (usize, usize),
        found: &mut Found,
    ) -> Result<()> {
        let filters = filters(self.cell, phase, i);
        self.cell.begin_question(phase, found);
        if of.measurement.finds_latest(by, time) && of.measurement.says_all(&filters) {
            of.measurement.latest_of(&filters, self.text);
            return self.read(of, &mut |row| found.rows += fingerprint(row));
        }
        let mut newest = Newest::default();
        self.filtered(of, &filters, &mut |row| {
            newest.add(row[by], row[time], fingerprint(row.iter().copied()));
        })?;
        found.rows += newest.rows();
        Ok(())
    }

    /// Finds gaps in the times of each value of a column.
    fn gaps(
        &mut self,
        of: &Measured,
        (phase, i): (usize, usize),
        (by, time): (usize, usize),
        longer: i64,
        found: &mut Found,
    ) -> Result<()> {
        let (measurement, filters) = (&of.measurement, filters(self.cell, phase, i));
        self.cell.begin_question(phase, found);
        if !(measurement.finds_latest(by, time) && measurement.says_all(&filters)) {
            let mut gaps = Gaps::new(longer, false);
            self.filtered(of, &filters, &mut |row| gaps.add(row[by], row[time]))?;
            gaps.result(&mut found.result);
            return Ok(());
        }
        measurement.gaps(&filters, longer, self.text);
        let columns = [&*measurement.table.columns[by].name, "time", GAP];
        let kind = |column: usize| measurement.table.columns[column].of;
        self.store.query(self.text, &columns, &mut |row| {
            let value_of = owned(value(row, 0, by, kind(by), measurement)?);
            let until = value(row, 1, time, kind(time), measurement)?;
            let gap = row.int(2)?.unwrap_or_default();
            let Value::Int(until) = until else { return Ok(()) };
            let [from, until] = [until - gap, until].map(answer::Value::Int);
            found.result.extend([value_of, from, until]);
            Ok(())
        })
    }

    /// Finds values far from the mean of their group, where InfluxQL can say it in two questions: what is usual in each
    /// series, and then what lies outside of it.
    fn outliers(
        &mut self,
        of: &Measured,
        (phase, i): (usize, usize),
        (column, by): (usize, usize),
        deviations: f64,
        found: &mut Found,
    ) -> Result<()> {
        let (measurement, filters) = (&of.measurement, filters(self.cell, phase, i));
        let table = measurement.table;
        self.cell.begin_question(phase, found);
        if !(measurement.knows_spread(column, by) && measurement.says_all(&filters)) {
            let mut outliers = Outliers::new(deviations, false);
            self.filtered(of, &filters, &mut |row| {
                outliers.add(row[by], row[column], table.key.iter().map(|at| row[*at]));
            })?;
            outliers.result(&mut found.result);
            return Ok(());
        }
        measurement.spread(column, &filters, self.text);
        let (tag, mut bands) = (&*table.columns[by].name, Vec::new());
        self.store.query(self.text, &[tag, MEAN, DEVIATION], &mut |row| {
            if let (Some(mean), Some(deviation)) = (row.float(1)?, row.float(2)?) {
                let (near, of_tag) = (deviations * deviation, table.columns[by].of);
                let group = value(row, 0, by, of_tag, measurement)?.to_owned();
                bands.push((group, mean - near, mean + near));
            }
            Ok(())
        })?;
        if bands.is_empty() {
            return Ok(());
        }
        measurement.outside(column, &bands, self.text);
        let columns: Vec<usize> = table.key.iter().copied().chain([column]).collect();
        let name = |at: &usize| match Some(*at) == measurement.time {
            true => "time",
            false => &*table.columns[*at].name,
        };
        let names: Vec<&str> = columns.iter().map(name).collect();
        self.store.query(self.text, &names, &mut |row| {
            for (at, column) in columns.iter().enumerate() {
                let of = table.columns[*column].of;
                found.result.push(owned(value(row, at, *column, of, measurement)?));
            }
            Ok(())
        })
    }

    fn range(
        &mut self,
        of: &Measured,
        (phase, i): (usize, usize),
        range: &Range,
        found: &mut Found,
    ) -> Result<()> {
        let cell = self.cell;
        if let Span::Rows { .. } = range.span {
            let key = cell.key_in(self.arena, phase, i);
            of.measurement.from(key[0], cell.wanted(phase, i), self.text);
            return self.read(of, &mut |row| found.rows += fingerprint(row));
        }
        if cell.of(phase, i) == Some(Value::Null) {
            // What is absent is equal to nothing.
            return Ok(());
        }
        let filters = filters(cell, phase, i);
        self.filtered(of, &filters, &mut |row| found.rows += fingerprint(row))
    }

    /// Groups rows that meet conditions, by a question where InfluxQL has words for it.
    fn group(
        &mut self,
        of: &Measured,
        question: Option<&Groups>,
        group: &Group,
        filters: &Filters<'_>,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let Some(question) = question else {
            let mut groups = aggregate::Groups::new(group);
            let columns = group.by.iter().map(|by| by.column());
            let columns = columns.chain(group.compute.iter().filter_map(|compute| compute.column));
            self.filtered_some(of, filters, columns, &mut |row| groups.add(|column| row[column]))?;
            groups.result(result);
            return Ok(());
        };
        let rows = &self.cell.tables[group.table];
        let columns: Vec<&str> = question.columns.iter().map(String::as_str).collect();
        let mut all: Vec<SmallVec<[answer::Value; 4]>> = Vec::new();
        self.store.query(&question.text, &columns, &mut |row| {
            let mut values = SmallVec::new();
            for (at, by) in group.by.iter().enumerate() {
                let column = by.column();
                values.push(owned(value(row, at, column, rows.of(column), &of.measurement)?));
            }
            for (compute, at) in group.compute.iter().zip(group.by.len()..) {
                let column = compute.column.map(|column| rows.of(column));
                values.push(aggregated(row, at, compute.aggregate, column)?);
            }
            all.push(values);
            Ok(())
        })?;
        if all.is_empty() && group.by.is_empty() {
            // No row meets the conditions: to InfluxQL there is no group then.
            aggregate::Groups::new(group).result(result);
        } else {
            in_order(all, group, result);
        }
        Ok(())
    }
}

impl Session for SeriesSession<'_> {
    fn each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        let (cell, tables) = (self.cell, self.tables);
        if let (Work::Latest { table, by, time }, Some((column, _))) =
            (cell.work(phase), cell.each(phase, 0))
            && let Ok(of) = &tables[*table]
            && column == *by
            && of.measurement.finds_latest(*by, *time)
        {
            return part.part.at_once(|| {
                let values = cell.each[phase].iter().map(OwnedValue::as_value);
                of.measurement.latest_of_all(*by, values, self.text);
                self.read(of, &mut |row| found.rows += fingerprint(row))
            });
        }
        part.each(|i| self.perform(phase, i, found))
    }

    fn look(&mut self, phase: usize) -> Result<usize> {
        let (cell, tables) = (self.cell, self.tables);
        let Ok(of) = &tables[cell.work(phase).table().unwrap_or_default()] else { return Ok(0) };
        let (mut keys, filters) = (std::mem::take(self.looked), filters(cell, phase, 0));
        keys.clear();
        let key = &of.measurement.table.key;
        self.filtered(of, &filters, &mut |row| {
            keys.push(key.iter().map(|column| row[*column].to_owned()).collect());
        })?;
        *self.looked = keys;
        Ok(self.looked.len())
    }

    fn change(&mut self, phase: usize, n: usize, _: &mut Found) -> Result<()> {
        let (cell, tables, key) = (self.cell, self.tables, &self.looked[n]);
        let work = cell.work(phase);
        let Ok(of) = &tables[work.table().unwrap_or_default()] else { return Ok(()) };
        let measurement = &of.measurement;
        let key: Values<'_> = key.iter().map(OwnedValue::as_value).collect();
        if let Work::Delete { .. } = work {
            measurement.delete(&key, self.text);
            return self.store.execute(self.text);
        }
        let mut row = Row::of_key(measurement, key)?;
        for column in cell.set(phase, 0) {
            row.set(measurement, *column, cell.fresh(phase, 0, *column));
        }
        self.store.write(&measurement.table.name, &row.point())
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let (cell, tables) = (self.cell, self.tables);
        let work = cell.work(phase);
        let table = work.table().unwrap_or_default();
        // What is no measurement is refused before.
        let Ok(of) = &tables[table] else { return Ok(()) };
        match work {
            Work::Insert { .. } => {
                let row = Row::whole(&of.measurement, &cell.tables[table], i)?;
                self.store.write(&of.measurement.table.name, &row.point())?;
                found.changed += 1;
            }
            Work::Get { .. } | Work::Open { .. } => {
                self.get(of, phase, i, found)?;
            }
            Work::Upsert { .. } => {
                let values = cell.upserted(phase, i);
                let row = Row::of_values(&of.measurement, &values)?;
                self.store.write(&of.measurement.table.name, &row.point())?;
                found.changed += 1;
            }
            work if rows_at_once(work) > 1 => self.change_span(of, phase, i)?,
            Work::Update { keys, .. } => {
                let mut seen = Found::default();
                if all_are_there(keys) || self.get(of, phase, i, &mut seen)? {
                    self.update(of, phase, i, found)?;
                }
            }
            Work::ReadModifyWrite { .. } => {
                // It is to see what the one before has written.
                self.store.flush()?;
                if self.get(of, phase, i, found)? {
                    self.update(of, phase, i, found)?;
                }
            }
            Work::Delete { removed: Removed::Where { .. }, .. } => {
                self.change_where(phase, found)?
            }
            Work::Delete { removed, .. } => {
                match removed {
                    Removed::Where { .. } => return Ok(()),
                    Removed::Keys { .. } => {
                        of.measurement.delete(&cell.key_in(self.arena, phase, i), self.text)
                    }
                    Removed::Older { time, units } => {
                        let until = cell.tables[table].older(*time, *units);
                        of.measurement.delete_until(until, self.text);
                    }
                }
                self.store.execute(self.text)?;
            }
            Work::Latest { by, time, .. } => self.latest(of, (phase, i), (*by, *time), found)?,
            Work::Range(range) => self.range(of, (phase, i), range, found)?,
            Work::Gaps { by, time, longer, .. } => {
                self.gaps(of, (phase, i), (*by, *time), *longer, found)?;
            }
            Work::Outliers { of: column, by, deviations, .. } => {
                self.outliers(of, (phase, i), (*column, *by), *deviations, found)?;
            }
            Work::Correlate(question) => {
                cell.begin_question(phase, found);
                let rows = &cell.tables[table];
                correlate::answer(question, &mut found.result, &mut |group, result| {
                    let filters = of_conditions(rows, &group.conditions);
                    let words = of.measurement.group(group, &filters);
                    self.group(of, words.as_ref(), group, &filters, result)
                })?;
            }
            Work::Find { select, .. } => {
                let (mut rows, filters) = (Checksum::default(), filters(cell, phase, 0));
                self.filtered_some(of, &filters, select.iter().copied(), &mut |row| {
                    rows += fingerprint(select.iter().map(|column| row[*column]));
                })?;
                found.rows = rows;
            }
            Work::UpdateWhere { .. } => self.change_where(phase, found)?,
            Work::Group(group) => {
                let (questions, filters) = (&self.questions[phase], filters(cell, phase, i));
                let question = questions.get(i % questions.len().max(1));
                cell.begin_question(phase, found);
                self.group(of, question, group, &filters, &mut found.result)?;
            }
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {}
        }
        Ok(())
    }
}
