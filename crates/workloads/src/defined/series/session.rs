//! Operations on a series store.

mod reads;
mod statistics;

use embermark_contract::series::SeriesStore;
use embermark_contract::{EngineError, Result};
use embermark_language::{Operator, Query, Removed, Work};
use embermark_model::table::{OwnedValue, Value};

use super::super::kind::rows_at_once;
use super::super::row::Values;
use super::super::{
    Arena, Cell, Filters, Found, Op, OwnedKey, Question, Session, Shared, Steps, filters,
    fingerprint,
};
use super::influxql::Measurement;
use super::native::FAMILY;
use super::point::Row;

pub(super) struct SeriesSession<'a> {
    pub store: &'a mut dyn SeriesStore,
    pub cell: &'a Cell,
    pub tables: &'a [std::result::Result<Measurement, String>],
    pub questions: &'a [Vec<Question>],
    pub text: &'a mut String,
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
}

impl Session for SeriesSession<'_> {
    fn each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        let (cell, tables) = (self.cell, self.tables);
        if let (Work::Ask { table, query: Query::Latest { by, time } }, Some((column, _))) =
            (cell.work(phase), cell.each(phase, 0))
            && let Ok(of) = &tables[*table]
            && column == *by
            && of.finds_latest(*by, *time)
        {
            return part.part.at_once(|| {
                let values = cell.each[phase].iter().map(OwnedValue::as_value);
                of.latest_of_all(*by, values, self.text);
                self.read(of, &mut |row| found.rows += fingerprint(row))
            });
        }
        part.each(|i| self.perform(phase, i, found))
    }

    fn find_rows(&mut self, phase: usize) -> Result<usize> {
        let (cell, tables) = (self.cell, self.tables);
        let Ok(of) = &tables[Op::new(cell, phase, 0).table] else { return Ok(0) };
        self.find_keys(of, &filters(cell, phase, 0))?;
        Ok(self.looked.len())
    }

    fn change(&mut self, phase: usize, n: usize, _: &mut Found) -> Result<()> {
        let (op, tables, key) = (Op::new(self.cell, phase, 0), self.tables, &self.looked[n]);
        let Ok(of) = &tables[op.table] else { return Ok(()) };
        let key: Values<'_> = key.iter().map(OwnedValue::as_value).collect();
        if let Work::Delete { .. } = op.work {
            of.delete(&of.is_key(&key), self.text);
            return self.store.execute(self.text);
        }
        write_set(self.store, self.cell, of, op, key)
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let (cell, tables, op) = (self.cell, self.tables, Op::new(self.cell, phase, i));
        let Op { work, table, .. } = op;
        // Tables that cannot be measurements are refused earlier.
        let Ok(of) = &tables[table] else { return Ok(()) };
        match work {
            Work::Insert { .. } | Work::Upsert { .. } => {
                let row = match work {
                    Work::Insert { .. } => Row::whole(of, &cell.tables[table], i)?,
                    _ => Row::of_values(of, &cell.upserted(phase, i))?,
                };
                self.store.write(&of.table.name, &row.point())?;
                found.changed += 1;
            }
            Work::Get { .. } | Work::Open { .. } => {
                self.get(of, op, found)?;
            }
            work if rows_at_once(work) > 1 => self.change_span(of, op)?,
            Work::Update { keys, .. } => {
                let mut seen = Found::default();
                if keys.absent == 0.0 || self.get(of, op, &mut seen)? {
                    self.update(of, op, found)?;
                }
            }
            Work::ReadModifyWrite { .. } => {
                // It must see what the one before has written.
                self.store.flush()?;
                if self.get(of, op, found)? {
                    self.update(of, op, found)?;
                }
            }
            Work::Delete { removed, .. } => self.delete(of, op, removed, found)?,
            Work::Range(range) => self.range(of, op, range, found)?,
            Work::UpdateWhere { .. } => self.change_where(phase, found)?,
            Work::Ask { query, .. } => self.answer(of, op, query, found)?,
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {}
        }
        Ok(())
    }
}

impl SeriesSession<'_> {
    /// Rewrites fields of a point.
    fn update(&mut self, of: &Measurement, op: Op, found: &mut Found) -> Result<()> {
        let key = self.cell.key_in(self.arena, op.phase, op.i);
        write_set(self.store, self.cell, of, op, key)?;
        found.changed += 1;
        Ok(())
    }

    /// Deletes points: by a key, by conditions, or by their age.
    fn delete(
        &mut self,
        of: &Measurement,
        op: Op,
        removed: &Removed,
        found: &mut Found,
    ) -> Result<()> {
        let cell = self.cell;
        let filters = match removed {
            Removed::Where { .. } => return self.change_where(op.phase, found),
            Removed::Keys { .. } => of.is_key(&cell.key_in(self.arena, op.phase, op.i)),
            Removed::Older { time, units } => {
                let until = cell.tables[op.table].older(*time, *units);
                of.by_time(Operator::AtMost, Value::Int(until))
            }
        };
        of.delete(&filters, self.text);
        self.store.execute(self.text)
    }

    /// Changes adjacent points of a series: deletes them, or finds and rewrites each.
    fn change_span(&mut self, of: &Measurement, op: Op) -> Result<()> {
        let cell = self.cell;
        let [first, last] = cell.ends(op.phase, op.i);
        let Some(last) = last.last().copied() else { return Ok(()) };
        if let Work::Delete { .. } = op.work {
            of.delete(&of.between(&first, last), self.text);
            return self.store.execute(self.text);
        }
        self.find_keys(of, &of.between(&first, last))?;
        for key in &*self.looked {
            let key = key.iter().map(OwnedValue::as_value);
            write_set(self.store, cell, of, op, key)?;
        }
        Ok(())
    }

    /// Finds the keys of the points that meet all filters.
    fn find_keys(&mut self, of: &Measurement, filters: &Filters<'_>) -> Result<()> {
        let (mut keys, key) = (std::mem::take(self.looked), &of.table.key);
        keys.clear();
        self.filtered(of, filters, &mut |row| {
            keys.push(key.iter().map(|column| row[*column].to_owned()).collect());
        })?;
        *self.looked = keys;
        Ok(())
    }

    /// Rewrites or deletes the points that meet conditions, each by its key.
    fn change_where(&mut self, phase: usize, found: &mut Found) -> Result<()> {
        (0..self.find_rows(phase)?).try_for_each(|n| self.change(phase, n, found))
    }
}

/// Writes the fields that an operation sets into the point of a key.
fn write_set<'a>(
    store: &mut dyn SeriesStore,
    cell: &'a Cell,
    measurement: &Measurement,
    Op { work, phase, i, .. }: Op,
    key: impl IntoIterator<Item = Value<'a>>,
) -> Result<()> {
    let mut row = Row::of_key(measurement, key)?;
    for column in cell.set(phase, i) {
        let value = cell.update_value(phase, i, *column);
        let is_of_many = || rows_at_once(work) > 1 || matches!(work, Work::UpdateWhere { .. });
        if matches!(value, Value::Null) && is_of_many() {
            let what = "to make values absent: a point cannot lose a field";
            return Err(EngineError::unsupported(FAMILY, what));
        }
        row.set(measurement, *column, value);
    }
    // A value of a single row is absent where it was absent before, and can be all there was to set.
    if row.fields.is_empty() {
        return Ok(());
    }
    store.write(&measurement.table.name, &row.point())
}
