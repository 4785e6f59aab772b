//! Which phases a dialect can express.

use embermark_contract::sql::Dialect;
use embermark_contract::{EngineError, Result};
use embermark_language::{Group, Grouped, Work};
use embermark_model::result::Execution;

use super::super::cell::Cell;

/// Returns whether the engine or client code does the work of a phase, or why this dialect cannot
/// express it.
pub(super) fn execution(dialect: &dyn Dialect, cell: &Cell, phase: usize) -> Result<Execution> {
    match cell.work(phase) {
        Work::Sql(sql) => cell.text_of(sql).map(|_| Execution::Native),
        Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {
            Err(EngineError::unsupported("SQL", "this phase"))
        }
        work => {
            let unsupported = |what| Err(EngineError::unsupported("this engine's SQL", what));
            match work {
                Work::Update { .. }
                | Work::UpdateWhere { .. }
                | Work::Upsert { .. }
                | Work::ReadModifyWrite { .. }
                | Work::Delete { .. }
                    if cell.appends_only =>
                {
                    unsupported("changing or deleting rows: they are only added")
                }
                Work::Gaps { .. } | Work::Outliers { .. } | Work::Correlate(_)
                    if !dialect.derived_tables() =>
                {
                    unsupported("queries of queries")
                }
                Work::Gaps { .. } if !dialect.windows() => unsupported("window functions"),
                Work::Group(group) if by_month(group) && dialect.month("a").is_none() => {
                    unsupported("the month of a time")
                }
                Work::Group(group) if by_month(group) && cell.rows_of(phase).early() => {
                    unsupported("the month of a time before 1970")
                }
                Work::Correlate(_) if !dialect.windows() && !dialect.joins_derived_tables() => {
                    unsupported("window functions")
                }
                _ => Ok(Execution::Native),
            }
        }
    }
}

/// Returns whether rows are grouped by month.
fn by_month(group: &Group) -> bool {
    group.by.iter().any(|by| matches!(by, Grouped::Month { .. }))
}
