//! The tables of a workload file in a series store: a measurement per table, a point per row. A
//! series store commits each point on its own, and does not report how many points it changed.

mod influxql;
mod native;
mod point;
mod session;

use std::ops;
use std::sync::Arc;

use embermark_contract::series::SeriesStore;
use embermark_contract::{EngineError, Lifecycle, OfflineTask, Result, Scope};
use embermark_language::{Keep, Query, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;

use super::series::influxql::Measurement;
use super::series::native::{FAMILY, execution, found_by};
use super::series::point::{Feed, Row, values};
use super::series::session::SeriesSession;
use super::{Arena, Cell, Database, OwnedKey, Question, SessionWork, TimeStep, VisitRow, filters};
use crate::reopenable::Reopenable;

/// Nanoseconds of an hour.
const HOUR_NS: i128 = 3_600_000_000_000;

pub(super) struct SeriesTables {
    store: Reopenable<dyn SeriesStore>,
    cell: Arc<Cell>,
    /// Measurement of each table, or why it cannot be one.
    tables: Vec<std::result::Result<Measurement, String>>,
    /// By phase, one per value that it asks about: the question for groups, if InfluxQL can express
    /// it.
    questions: Vec<Vec<Question>>,
    /// Memory for a statement.
    text: String,
    arena: Arc<Arena>,
    /// Keys of points found, to change one by one.
    looked: Vec<OwnedKey>,
}

impl SeriesTables {
    pub(super) fn new(store: Reopenable<dyn SeriesStore>, cell: Arc<Cell>) -> Self {
        let tables = cell.tables.iter().enumerate();
        let tables = tables.map(|(n, rows)| Measurement::new(rows.table, &found_by(&cell, n)));
        let tables: Vec<_> = tables.collect();
        let phases = 0..cell.definition.phases.len();
        let questions = phases.map(|phase| {
            let built = cell.asked(phase).map(|i| built(&cell, &tables, phase, i));
            built.collect::<Option<Vec<_>>>().unwrap_or_default()
        });
        let questions = questions.collect();
        let (text, arena) = (String::with_capacity(4_096), Arc::default());
        Self { store, cell, tables, questions, text, arena, looked: Vec::new() }
    }
}

/// Returns question `i` of a phase if it is built before it is asked: for groups, if InfluxQL can
/// express it.
fn built(
    cell: &Cell,
    tables: &[std::result::Result<Measurement, String>],
    phase: usize,
    i: usize,
) -> Option<Question> {
    let Work::Ask { table, query: Query::Group(group) } = cell.work(phase) else { return None };
    tables[*table].as_ref().ok()?.group(group, &filters(cell, phase, i))
}

impl Database for SeriesTables {
    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn reports_changes(&self) -> bool {
        false
    }

    fn execution(&self, phase: usize) -> Result<Execution> {
        execution(&self.cell, &self.tables, &self.questions, phase)
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        self.store.clear(&self.cell.tables[table].table.name)
    }

    /// Shards last whole hours and divide days evenly, so steps must do so too.
    fn keeps(&self, keep: &Keep) -> Result<()> {
        let Ok(of) = &self.tables[keep.table] else { return Ok(()) };
        let step = i128::from(keep.step) * i128::from(of.nanoseconds());
        if step % HOUR_NS == 0 && (24 * HOUR_NS) % step == 0 {
            return Ok(());
        }
        let what =
            "the expiry of old rows in steps that are not whole hours that divide a day evenly";
        Err(EngineError::unsupported(FAMILY, what))
    }

    fn clear_kept(&mut self, keep: &Keep, _: &TimeStep) -> Result<()> {
        self.clear(keep.table)?;
        let Ok(of) = &self.tables[keep.table] else { return Ok(()) };
        self.store.keep_by(of.time_ns(keep.step)?)
    }

    fn expire(&mut self, keep: &Keep, step: &TimeStep) -> Result<()> {
        let Ok(of) = &self.tables[keep.table] else { return Ok(()) };
        self.store.expire(&of.table.name, of.time_ns(step.to)?)
    }

    fn expires_by(&self, _: &Keep) -> String {
        self.store.expires_by().to_owned()
    }

    /// Counts a field that every row has.
    fn count(&mut self, table: usize) -> Result<Option<u64>> {
        let Ok(of) = &self.tables[table] else { return Ok(None) };
        self.store.flush()?;
        let mut count = Some(0);
        self.store.query(&of.count(), &["rows"], &mut |row| {
            count = row.int(0)?.and_then(|count| u64::try_from(count).ok());
            Ok(())
        })?;
        Ok(count)
    }

    fn rebuild_question(&mut self, phase: usize, i: usize) {
        if !self.questions[phase].is_empty() {
            let question = built(&self.cell, &self.tables, phase, i);
            self.questions[phase] = question.into_iter().collect();
        }
    }

    fn lay_out(&self, phase: usize, operations: ops::Range<usize>, arena: &mut Arena) {
        self.cell.lay_keys(phase, operations, arena);
    }

    fn take(&mut self, arena: Arc<Arena>) {
        self.arena = arena;
    }

    /// Loads nothing into a table that cannot be a measurement, because its phases are refused.
    fn bulk(&mut self, table: usize, _: Option<usize>, meter: &mut Meter) -> Result<u64> {
        let Ok(of) = &self.tables[table] else { return Ok(0) };
        let source = self.cell.tables[table].source(false, meter);
        let mut points = Feed { source, of, next: Row::default(), error: None };
        let loaded = self.store.bulk(&of.table.name, &mut points)?;
        if let Some(error) = points.error {
            return Err(error);
        }
        points.source.count_given();
        Ok(loaded)
    }

    fn batch(&mut self, table: usize, rows: ops::Range<usize>, _: Option<usize>) -> Result<u64> {
        let Ok(of) = &self.tables[table] else { return Ok(0) };
        let source = self.cell.tables[table].between(rows);
        let mut points = Feed { source, of, next: Row::default(), error: None };
        let given = self.store.bulk(&of.table.name, &mut points)?;
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
        let Ok(of) = &self.tables[table] else { return Ok(()) };
        self.store.query(&of.every(), &of.columns, &mut |point| {
            visit(&values(point, of)?);
            Ok(())
        })
    }

    /// Tags are what it indexes.
    fn lacks_index(&mut self, table: usize) -> Result<Option<String>> {
        let Ok(of) = &self.tables[table] else { return Ok(None) };
        if of.time.is_some() || of.tags.is_empty() {
            return Ok(None);
        }
        let (keys, mut known) = (format!("SHOW TAG KEYS FROM \"{}\"", of.table.name), Vec::new());
        self.store.query(&keys, &["tagKey"], &mut |row| {
            known.extend(row.text(0)?.map(str::to_owned));
            Ok(())
        })?;
        let mut tags = of.tags.iter().map(|tag| &of.table.columns[*tag].name);
        Ok(tags.find(|tag| !known.contains(tag)).cloned())
    }

    fn reopen_after(&mut self, meanwhile: &mut OfflineTask<'_>) -> Result<()> {
        self.store.reopen_after(meanwhile)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
