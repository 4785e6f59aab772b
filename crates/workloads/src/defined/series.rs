//! The tables of a workload file in a series store: a measurement per table, a point per row. A
//! series store commits each point on its own, and does not report how many points it changed.

mod influxql;
mod point;
mod session;

use std::ops;
use std::sync::Arc;

use embermark_contract::series::SeriesStore;
use embermark_contract::{EngineError, Lifecycle, OfflineTask, Result, Scope};
use embermark_language::{Group, Keep, Operator, Range, Removed, Span, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::ColumnType;

use super::kind::rows_at_once;
use super::series::influxql::Measurement;
use super::series::point::{Feed, Row, values};
use super::series::session::SeriesSession;
use super::{Arena, Cell, Database, OwnedKey, Question, SessionWork, TimeStep, VisitRow, filters};
use crate::reopenable::Reopenable;

/// The family in its error messages.
const FAMILY: &str = "a series store";

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
        let questions = phases.map(|phase| match cell.work(phase) {
            Work::Group(group) => {
                let Ok(of) = &tables[group.table] else { return Vec::new() };
                let question = |i| of.group(group, &filters(&cell, phase, i));
                cell.asked(phase).map(question).collect::<Option<_>>().unwrap_or_default()
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
        let unsupported = |what: &str| Err(EngineError::unsupported(FAMILY, what));
        let work = self.cell.work(phase);
        let Some(table) = work.table() else { return unsupported("SQL from the workload file") };
        let measurement = match &self.tables[table] {
            Ok(measurement) => measurement,
            Err(why) => return unsupported(why),
        };
        if measurement.time.is_none() && by_key(work) {
            let what = "rows by a key without a time: points are only found by their time, or by \
                        reading all";
            return unsupported(what);
        }
        let can_express = || measurement.can_express_all(&filters(&self.cell, phase, 0));
        let native = match work {
            work if rows_at_once(work) > 1 => {
                if measurement.table.key.last().copied() != measurement.time {
                    return unsupported("rows in the order of tags, only in the order of time");
                }
                matches!(work, Work::Delete { .. })
            }
            // Updating a missing point would create it, so it is read first.
            Work::Update { keys, .. } => keys.absent == 0.0,
            Work::Delete { removed: Removed::Older { time, .. }, .. }
                if Some(*time) != measurement.time =>
            {
                return unsupported("to delete by a field, only by tags and the time of points");
            }
            Work::Find { .. } => can_express(),
            Work::Outliers { of, by, .. } => measurement.knows_spread(*of, *by) && can_express(),
            Work::Correlate(_)
            | Work::UpdateWhere { .. }
            | Work::Delete { removed: Removed::Where { .. }, .. } => false,
            Work::Latest { by, time, .. } | Work::Gaps { by, time, .. } => {
                measurement.finds_latest(*by, *time) && can_express()
            }
            Work::Range(range) => match range.span {
                Span::Rows { .. } if !measurement.tags.is_empty() => {
                    return unsupported("rows in the order of tags, only in the order of time");
                }
                Span::Rows { .. } => true,
                Span::Last { .. } | Span::From { .. } => can_express(),
            },
            // InfluxQL returns all groups, in no order.
            Work::Group(group) => {
                let as_asked =
                    group.order.is_empty() && group.limit.is_none() && group.having.is_empty();
                !self.questions[phase].is_empty() && as_asked
            }
            _ => true,
        };
        Ok(if native { Execution::Native } else { Execution::ClientSide })
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
        let (Work::Group(group), [_, ..]) = (self.cell.work(phase), &self.questions[phase][..])
        else {
            return;
        };
        let Ok(of) = &self.tables[group.table] else { return };
        let question = of.group(group, &filters(&self.cell, phase, i));
        self.questions[phase] = question.into_iter().collect();
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

/// Returns whether the operations of a phase concern rows by their keys.
const fn by_key(work: &Work) -> bool {
    !matches!(
        work,
        Work::Insert { .. }
            | Work::Open { reads: false, .. }
            | Work::Latest { .. }
            | Work::Find { .. }
            | Work::Gaps { .. }
            | Work::Group(_)
            | Work::Range(Range { span: Span::Last { .. } | Span::From { .. }, .. })
    )
}
