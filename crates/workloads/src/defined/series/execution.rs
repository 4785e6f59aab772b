//! Which phases InfluxQL can express, and which client code does.

use embermark_contract::{EngineError, Result};
use embermark_language::{Keys, Range, Removed, Span, Work};
use embermark_model::result::Execution;

use super::super::access::filters;
use super::super::cell::Cell;
use super::super::kind::rows_at_once;
use super::influxql::Measured;
use super::influxql::groups::Groups;

/// The family in its error messages.
pub(super) const FAMILY: &str = "a series store";

/// Returns whether the engine or client code does the work of a phase, or why neither can.
pub(super) fn execution(
    tables: &[std::result::Result<Measured, String>],
    questions: &[Vec<Groups>],
    cell: &Cell,
    phase: usize,
) -> Result<Execution> {
    let unsupported = |what: &str| Err(EngineError::unsupported(FAMILY, what));
    let work = cell.work(phase);
    let Some(table) = work.table() else { return unsupported("SQL from the workload file") };
    let Measured { measurement, .. } = match &tables[table] {
        Ok(measured) => measured,
        Err(why) => return unsupported(why),
    };
    if measurement.time.is_none() && by_key(work) {
        let what =
            "rows by a key without a time: points are only found by their time, or by reading all";
        return unsupported(what);
    }
    let can_express = || measurement.can_express_all(&filters(cell, phase, 0));
    let native = match work {
        work if rows_at_once(work) > 1 => {
            if measurement.table.key.last().copied() != measurement.time {
                return unsupported("rows in the order of tags, only in the order of time");
            }
            matches!(work, Work::Delete { .. })
        }
        Work::Insert { .. } | Work::Upsert { .. } | Work::Get { .. } | Work::Open { .. } => true,
        // Updating a missing point would create it, so it is read first.
        Work::Update { keys, .. } => all_are_there(keys),
        Work::ReadModifyWrite { .. } | Work::Delete { removed: Removed::Keys { .. }, .. } => true,
        Work::Delete { removed: Removed::Older { time, .. }, .. } => {
            if Some(*time) != measurement.time {
                return unsupported("to delete by a field, only by tags and the time of points");
            }
            true
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
            !questions[phase].is_empty() && as_asked
        }
        Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => true,
    };
    Ok(if native { Execution::Native } else { Execution::ClientSide })
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

/// Returns whether none of the drawn keys is absent.
pub(super) fn all_are_there(keys: &Keys) -> bool {
    keys.absent == 0.0
}
