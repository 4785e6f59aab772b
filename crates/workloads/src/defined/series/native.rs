//! What a series store does by its own operations, and what it cannot, as the measurement of a table
//! allows.

use embermark_contract::{EngineError, Result};
use embermark_language::{Operator, Query, Range, Removed, Span, Work};
use embermark_model::result::Execution;
use embermark_model::table::ColumnType;

use super::super::kind::{changes_rows, conditions_of, rows_at_once};
use super::super::{Cell, Filters, Question, filters};
use super::influxql::Measurement;

/// The family in its error messages.
pub(super) const FAMILY: &str = "a series store";

/// Returns the columns by whose values rows of a table are found: texts of few values that never
/// change, as the manual advises
/// (<https://docs.influxdata.com/influxdb/v1/concepts/schema_and_data_layout/>). Empty where phases
/// change rows, or range over them: the order of tags is not that of keys.
pub(super) fn found_by(cell: &Cell, table: usize) -> Vec<usize> {
    let (rows, mut found) = (&cell.tables[table], Vec::new());
    let works = cell.definition.phases.iter().map(|phase| &phase.work);
    for work in works.filter(|work| work.table() == Some(table)) {
        let is_range = matches!(work, Work::Range(_));
        if is_range || (changes_rows(work) && !matches!(work, Work::Insert { .. })) {
            return Vec::new();
        }
        let conditions = conditions_of(work).iter();
        let equal = conditions.filter(|condition| condition.operator == Operator::Equal);
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

/// Returns whether the store or client code does the work of a phase, or why neither can.
/// `tables` and `questions` are those of [`SeriesTables`](super::SeriesTables).
pub(super) fn execution(
    cell: &Cell,
    tables: &[std::result::Result<Measurement, String>],
    questions: &[Vec<Question>],
    phase: usize,
) -> Result<Execution> {
    let unsupported = |what: &str| Err(EngineError::unsupported(FAMILY, what));
    let work = cell.work(phase);
    let Some(table) = work.table() else { return unsupported("SQL from the workload file") };
    let measurement = match &tables[table] {
        Ok(measurement) => measurement,
        Err(why) => return unsupported(why),
    };
    if measurement.time.is_none() && is_by_key(work) {
        let what = "rows by a key without a time: points are only found by their time, or by \
                    reading all";
        return unsupported(what);
    }
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
        Work::UpdateWhere { .. } | Work::Delete { removed: Removed::Where { .. }, .. } => false,
        Work::Range(range) => match range.span {
            Span::Rows { .. } if !measurement.tags.is_empty() => {
                return unsupported("rows in the order of tags, only in the order of time");
            }
            Span::Rows { .. } => true,
            Span::Last { .. } | Span::From { .. } => {
                measurement.can_express_all(&filters(cell, phase, 0))
            }
        },
        // InfluxQL returns all groups, in no order.
        Work::Ask { query: Query::Group(group), .. } => {
            let as_asked =
                group.order.is_empty() && group.limit.is_none() && group.having.is_empty();
            !questions[phase].is_empty() && as_asked
        }
        Work::Ask { query, .. } => answers(measurement, query, &filters(cell, phase, 0)),
        // Other work is native.
        _ => true,
    };
    Ok(if native { Execution::Native } else { Execution::ClientSide })
}

/// Returns whether InfluxQL answers a query about the rows that meet these filters.
pub(super) fn answers(of: &Measurement, query: &Query, filters: &Filters<'_>) -> bool {
    of.can_express_all(filters)
        && match query {
            &(Query::Latest { by, time } | Query::Gaps { by, time, .. }) => {
                of.finds_latest(by, time)
            }
            &Query::Outliers { of: column, by, .. } => of.knows_spread(column, by),
            Query::Find { .. } => true,
            Query::Group(group) => of.group(group, filters).is_some(),
            // It asks for groups, and client code correlates them.
            Query::Correlate(_) => false,
        }
}

/// Returns whether a phase finds or changes points by the keys of their rows.
const fn is_by_key(work: &Work) -> bool {
    matches!(
        work,
        Work::Get { .. }
            | Work::Open { reads: true, .. }
            | Work::Range(Range { span: Span::Rows { .. }, .. })
            | Work::Update { .. }
            | Work::UpdateWhere { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { .. }
    )
}

#[cfg(test)]
mod tests {
    use embermark_model::Scale;

    use super::*;
    use crate::defined::keep;

    /// Parts of two kinds, whose key is a text, and doors, whose key is a time.
    const FILE: &str = r#"
[table.parts]
rows = "60"
key = ["part"]
index = [["kind"]]
[table.parts.columns]
part = { type = "text", make = "hashed", prefix = "part" }
kind = { type = "text", make = "choice", values = ["bolt", "nut"] }
weight = { type = "f64", make = "random" }
made = { type = "timestamp", unit = "s", make = "sequence", step = "1m" }
[table.doors]
rows = "60"
key = ["moment"]
[table.doors.columns]
moment = { type = "timestamp", unit = "s", make = "sequence", step = "1s" }
door = { type = "text", make = "choice", values = ["front", "back"] }
seconds = { type = "i32", make = "random", from = 0, to = 60 }
[phase.get]
do = "get"
table = "parts"
[phase.heavy]
do = "outliers"
table = "parts"
of = "weight"
by = "kind"
deviations = 1
[phase.together]
do = "correlate"
table = "parts"
of = "weight"
by = "kind"
bucket = "5m"
[phase.front]
do = "find"
table = "doors"
where = [["door", "=", "front"]]
[phase.newest]
do = "latest"
table = "doors"
by = "door"
[phase.silent]
do = "gaps"
table = "doors"
by = "door"
longer-than = "5s"
[phase.long]
do = "outliers"
table = "doors"
of = "seconds"
by = "door"
deviations = 1
[phase.doors]
do = "correlate"
table = "doors"
of = "seconds"
by = "door"
bucket = "10s"
"#;

    /// Returns the cell of a file, and the folder of its rows.
    fn cell(text: &str) -> (tempfile::TempDir, Cell) {
        let dir = tempfile::tempdir().unwrap();
        let cell = keep::tests::cell(text, Scale::Full, dir.path()).unwrap();
        (dir, cell)
    }

    /// Returns the columns by whose values rows of a table are found.
    fn tags(cell: &Cell, table: &str) -> Vec<usize> {
        found_by(cell, cell.tables.iter().position(|rows| rows.table.name == table).unwrap())
    }

    /// Returns how a phase is executed, or why it is not.
    fn executed(cell: &Cell, name: &str) -> std::result::Result<Execution, String> {
        let tables = cell.tables.iter().enumerate();
        let tables = tables.map(|(n, rows)| Measurement::new(rows.table, &found_by(cell, n)));
        let (tables, phases) = (tables.collect::<Vec<_>>(), &cell.definition.phases);
        let phase = phases.iter().position(|phase| phase.name == name).unwrap();
        let questions: Vec<Vec<Question>> = phases.iter().map(|_| Vec::new()).collect();
        execution(cell, &tables, &questions, phase).map_err(|error| error.to_string())
    }

    #[test]
    fn only_work_by_key_is_refused_where_the_key_has_no_time() {
        let (_dir, cell) = cell(FILE);
        let refused = executed(&cell, "get").unwrap_err();
        assert!(refused.contains("rows by a key without a time"), "{refused}");
        for phase in ["heavy", "together"] {
            assert_eq!(executed(&cell, phase), Ok(Execution::ClientSide), "{phase}");
        }
    }

    #[test]
    fn texts_by_which_rows_are_found_are_tags_unless_rows_are_changed_or_ranged_over() {
        let (_dir, found) = cell(FILE);
        assert_eq!(tags(&found, "doors"), [1]);
        assert!(tags(&found, "parts").is_empty());
        for phase in ["front", "newest", "silent", "long"] {
            assert_eq!(executed(&found, phase), Ok(Execution::Native), "{phase}");
        }
        assert_eq!(executed(&found, "doors"), Ok(Execution::ClientSide));
        for other in ["do = \"range\"\nrows = 5", "do = \"update\"\nset = [\"door\"]"] {
            let (_dir, other) = cell(&format!("{FILE}[phase.other]\ntable = \"doors\"\n{other}\n"));
            assert!(tags(&other, "doors").is_empty());
        }
    }
}
