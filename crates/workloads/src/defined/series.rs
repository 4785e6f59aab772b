//! The tables of a workload file in a series store: a measurement per table, a point per row. A
//! series store commits each point on its own, and does not report how many points it changed.

mod execution;
mod influxql;
mod point;
mod session;

use std::ops;
use std::sync::Arc;

use embermark_contract::series::SeriesStore;
use embermark_contract::{EngineError, Lifecycle, OfflineTask, Result, Scope};
use embermark_language::{Group, Keep, Operator, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::ColumnType;

use super::access::filters;
use super::arena::Arena;
use super::cell::Cell;
use super::port::{Database, SessionWork, TimeStep, VisitRow};
use super::row::OwnedKey;
use crate::reopenable::Reopenable;
use execution::{FAMILY, execution};
use influxql::groups::Groups;
use influxql::{Measured, Measurement};
use point::{Feed, Row, values};
use session::SeriesSession;

/// Nanoseconds of an hour.
const HOUR_NS: i128 = 3_600_000_000_000;

pub(super) struct SeriesTables {
    store: Reopenable<dyn SeriesStore>,
    cell: Arc<Cell>,
    /// Measurement of each table, or why it cannot be one.
    tables: Vec<std::result::Result<Measured, String>>,
    /// By phase, one per value that it asks about: the question for groups, if InfluxQL can express
    /// it.
    questions: Vec<Vec<Groups>>,
    /// Memory for a statement.
    text: String,
    arena: Arc<Arena>,
    /// Keys of points found, to change one by one.
    looked: Vec<OwnedKey>,
}

impl SeriesTables {
    pub(super) fn new(store: Reopenable<dyn SeriesStore>, cell: Arc<Cell>) -> Self {
        let measured = |measurement: Measurement| {
            let columns = measurement.columns();
            Measured { measurement, columns }
        };
        let tables = cell.tables.iter().enumerate().map(|(table, rows)| {
            Measurement::new(rows.table, &found_by(&cell, table)).map(measured)
        });
        let tables: Vec<_> = tables.collect();
        let phases = 0..cell.definition.phases.len();
        let questions = phases.map(|phase| match cell.work(phase) {
            Work::Group(group) => {
                let times = if cell.adds_up(phase) { cell.each[phase].len() } else { 1 };
                let Ok(measured) = &tables[group.table] else { return Vec::new() };
                let question = |i| measured.measurement.group(group, &filters(&cell, phase, i));
                (0..times).map(question).collect::<Option<_>>().unwrap_or_default()
            }
            _ => Vec::new(),
        });
        let questions = questions.collect();
        let (text, arena) = (String::with_capacity(4_096), Arc::default());
        Self { store, cell, tables, questions, text, arena, looked: Vec::new() }
    }
}

/// Returns the columns by whose values rows of a table are found: texts of few values that never
/// change, as the manual advises
/// (<https://docs.influxdata.com/influxdb/v1/concepts/schema_and_data_layout/>). Empty where rows
/// are read in key order, which is not the order of tags.
fn found_by(cell: &Cell, table: usize) -> Vec<usize> {
    let (rows, mut found) = (&cell.tables[table], Vec::new());
    for phase in &cell.definition.phases {
        let conditions = match &phase.work {
            work if work.table() != Some(table) => continue,
            Work::Find { conditions, .. } | Work::Group(Group { conditions, .. }) => conditions,
            Work::Insert { .. } | Work::Get { .. } | Work::Open { .. } => continue,
            _ => return Vec::new(),
        };
        let equal = conditions.iter().filter(|condition| condition.operator == Operator::Equal);
        found.extend(equal.map(|condition| condition.column).filter(|column| {
            let of = &rows.table.columns[*column];
            let is_plain = of.of == ColumnType::Text && !of.nullable && of.within.is_none();
            is_plain && !rows.table.key.contains(column) && rows.has_few(*column)
        }));
    }
    found.sort_unstable();
    found.dedup();
    found
}

impl Database for SeriesTables {
    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn reports_changes(&self) -> bool {
        false
    }

    fn execution(&self, phase: usize) -> Result<Execution> {
        execution(&self.tables, &self.questions, &self.cell, phase)
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        self.store.clear(&self.cell.tables[table].table.name)
    }

    /// Shards last whole hours and divide days evenly, so steps must do so too.
    fn keeps(&self, keep: &Keep) -> Result<()> {
        let Ok(Measured { measurement, .. }) = &self.tables[keep.table] else { return Ok(()) };
        let step = i128::from(keep.step) * i128::from(measurement.nanoseconds());
        if step % HOUR_NS == 0 && (24 * HOUR_NS) % step == 0 {
            return Ok(());
        }
        let what =
            "the expiry of old rows in steps that are not whole hours that divide a day evenly";
        Err(EngineError::unsupported(FAMILY, what))
    }

    fn clear_kept(&mut self, keep: &Keep, _: &TimeStep) -> Result<()> {
        self.clear(keep.table)?;
        let Ok(Measured { measurement, .. }) = &self.tables[keep.table] else { return Ok(()) };
        let step = measurement.time_ns(keep.step)?;
        self.store.keep_by(step)
    }

    fn expire(&mut self, keep: &Keep, step: &TimeStep) -> Result<()> {
        let Ok(Measured { measurement, .. }) = &self.tables[keep.table] else { return Ok(()) };
        let (name, before) = (&measurement.table.name, measurement.time_ns(step.to)?);
        self.store.expire(name, before)
    }

    fn expires_by(&self, _: &Keep) -> String {
        self.store.expires_by().to_owned()
    }

    /// Counts a field that every row has.
    fn count(&mut self, table: usize) -> Result<Option<u64>> {
        let Ok(Measured { measurement, .. }) = &self.tables[table] else { return Ok(None) };
        self.store.flush()?;
        let mut count = Some(0);
        self.store.query(&measurement.count(), &["rows"], &mut |row| {
            count = row.int(0)?.and_then(|count| u64::try_from(count).ok());
            Ok(())
        })?;
        Ok(count)
    }

    fn rebuild_question(&mut self, phase: usize, i: usize) {
        let (Work::Group(group), [_, ..]) = (self.cell.work(phase), &self.questions[phase][..])
        else {
            return;
        };
        let Ok(measured) = &self.tables[group.table] else { return };
        let question = measured.measurement.group(group, &filters(&self.cell, phase, i));
        self.questions[phase] = question.into_iter().collect();
    }

    fn lay_out(&self, phase: usize, operations: ops::Range<usize>, arena: &mut Arena) {
        self.cell.lay_keys(phase, operations, arena);
    }

    fn take(&mut self, arena: Arc<Arena>) {
        self.arena = arena;
    }

    /// Loads nothing into a table that cannot be a measurement, because its phases are refused.
    fn bulk(
        &mut self,
        table: usize,
        rows: usize,
        _: Option<usize>,
        meter: &mut Meter,
    ) -> Result<u64> {
        let Ok(measured) = &self.tables[table] else { return Ok(0) };
        let source = self.cell.tables[table].source(rows, false, meter);
        let (of, next) = (&measured.measurement, Row::default());
        let mut points = Feed { source, of, next, error: None };
        let loaded = self.store.bulk(&measured.measurement.table.name, &mut points)?;
        if let Some(error) = points.error {
            return Err(error);
        }
        points.source.count_given();
        Ok(loaded)
    }

    fn batch(&mut self, table: usize, rows: ops::Range<usize>, _: Option<usize>) -> Result<u64> {
        let Ok(measured) = &self.tables[table] else { return Ok(0) };
        let source = self.cell.tables[table].between(rows);
        let (of, next) = (&measured.measurement, Row::default());
        let mut points = Feed { source, of, next, error: None };
        let given = self.store.bulk(&measured.measurement.table.name, &mut points)?;
        points.error.map_or_else(|| self.store.flush(), Err)?;
        Ok(given)
    }

    fn within(&mut self, _: usize, _: Scope, work: &mut SessionWork<'_>) -> Result<()> {
        let Self { store, cell, tables, questions, text, arena, looked } = self;
        let store: &mut dyn SeriesStore = &mut **store;
        work(&mut SeriesSession { store, cell, tables, questions, text, arena, looked })
    }

    fn flush(&mut self) -> Result<()> {
        self.store.flush()
    }

    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()> {
        let Ok(Measured { measurement, columns }) = &self.tables[table] else { return Ok(()) };
        self.store.query(&measurement.every(), columns, &mut |point| {
            visit(&values(point, measurement)?);
            Ok(())
        })
    }

    /// Tags are what it indexes.
    fn lacks_index(&mut self, table: usize) -> Result<Option<String>> {
        let Ok(Measured { measurement, .. }) = &self.tables[table] else { return Ok(None) };
        let (name, mut known) = (&measurement.table.name, Vec::new());
        let tags = measurement.tags.iter().filter(|_| measurement.time.is_none());
        let mut tags = tags.map(|tag| &measurement.table.columns[*tag].name).peekable();
        if tags.peek().is_none() {
            return Ok(None);
        }
        let keys = format!("SHOW TAG KEYS FROM \"{name}\"");
        self.store.query(&keys, &["tagKey"], &mut |row| {
            known.extend(row.text(0)?.map(str::to_owned));
            Ok(())
        })?;
        Ok(tags.find(|tag| !known.contains(tag)).cloned())
    }

    fn reopen_after(&mut self, meanwhile: &mut OfflineTask<'_>) -> Result<()> {
        self.store.reopen_after(meanwhile)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
