//! Operations on a series store.

mod changes;
mod reads;
mod statistics;

use embermark_contract::Result;
use embermark_contract::series::SeriesStore;
use embermark_language::Work;
use embermark_model::table::OwnedValue;

use super::super::access::filters;
use super::super::arena::Arena;
use super::super::cell::Cell;
use super::super::kind::rows_at_once;
use super::super::port::{OperationResults, Session, Shared, Steps, fingerprint};
use super::super::row::{OwnedKey, Values};
use super::execution::all_are_there;
use super::influxql::Measured;
use super::influxql::groups::Groups;
use super::point::Row;
use changes::write_set;

pub(super) struct SeriesSession<'a> {
    pub store: &'a mut dyn SeriesStore,
    pub cell: &'a Cell,
    pub tables: &'a [std::result::Result<Measured, String>],
    pub questions: &'a [Vec<Groups>],
    pub text: &'a mut String,
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
}

impl Session for SeriesSession<'_> {
    fn each(
        &mut self,
        phase: usize,
        part: Shared<'_>,
        found: &mut OperationResults,
    ) -> Result<u64> {
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

    fn find_rows(&mut self, phase: usize) -> Result<usize> {
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

    fn change(&mut self, phase: usize, n: usize, _: &mut OperationResults) -> Result<()> {
        let (cell, tables, key) = (self.cell, self.tables, &self.looked[n]);
        let work = cell.work(phase);
        let Ok(of) = &tables[work.table().unwrap_or_default()] else { return Ok(()) };
        let measurement = &of.measurement;
        let key: Values<'_> = key.iter().map(OwnedValue::as_value).collect();
        if let Work::Delete { .. } = work {
            measurement.delete(&key, self.text);
            return self.store.execute(self.text);
        }
        write_set(self.store, cell, measurement, (phase, 0), key)
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut OperationResults) -> Result<()> {
        let (cell, tables) = (self.cell, self.tables);
        let work = cell.work(phase);
        let table = work.table().unwrap_or_default();
        // Tables that cannot be measurements are refused earlier.
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
                let mut seen = OperationResults::default();
                if all_are_there(keys) || self.get(of, phase, i, &mut seen)? {
                    self.update(of, phase, i, found)?;
                }
            }
            Work::ReadModifyWrite { .. } => {
                // It must see what the one before has written.
                self.store.flush()?;
                if self.get(of, phase, i, found)? {
                    self.update(of, phase, i, found)?;
                }
            }
            Work::Delete { removed, .. } => self.delete(of, (phase, i), removed, found)?,
            Work::Latest { by, time, .. } => self.latest(of, (phase, i), (*by, *time), found)?,
            Work::Range(range) => self.range(of, (phase, i), range, found)?,
            Work::Gaps { by, time, longer, .. } => {
                self.gaps(of, (phase, i), (*by, *time), *longer, found)?;
            }
            Work::Outliers { of: column, by, deviations, .. } => {
                self.outliers(of, (phase, i), (*column, *by), *deviations, found)?;
            }
            Work::Correlate(question) => self.correlate(of, phase, question, found)?,
            Work::Find { select, .. } => self.find(of, phase, select, found)?,
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
