//! Paths of columns in documents, values as extended JSON, and expressions over times.

use std::borrow::Cow;

use embermark_language::Grouped;
use embermark_model::table::{Column, Table, TimeUnit, Value, Within};

/// Range of the times of a table.
#[derive(Default)]
pub struct Times {
    /// Whether times are before 1970.
    pub early: bool,
    /// By column: the year, if all of its times are in one year.
    pub years: Vec<Option<i64>>,
}

pub(super) fn grouped(table: &Table, by: Grouped, times: &Times) -> String {
    match by {
        Grouped::Column(column) => read(table, column),
        Grouped::Bucket { column, units } => {
            let (time, units) = (read(table, column), long(units));
            let within = format!(r#"{{"$mod": [{time}, {units}]}}"#);
            // The remainder of a negative number is negative.
            let within = match times.early {
                true => format!(r#"{{"$mod": [{{"$add": [{within}, {units}]}}, {units}]}}"#),
                false => within,
            };
            format!(r#"{{"$subtract": [{time}, {within}]}}"#)
        }
        Grouped::Month { column, unit } => {
            let date = date(&read(table, column), unit);
            match times.year(column) {
                Some(_) => format!(r#"{{"$month": {date}}}"#),
                None => format!(r#"{{"$dateTrunc": {{"date": {date}, "unit": "month"}}}}"#),
            }
        }
    }
}

/// Returns the date of a time in this unit.
pub(super) fn date(time: &str, unit: TimeUnit) -> String {
    let milliseconds = match unit.per_second() {
        ..1_000 => format!(r#"{{"$multiply": [{time}, 1000]}}"#),
        1_000 => time.to_owned(),
        finer => format!(
            r#"{{"$toLong": {{"$floor": {{"$divide": [{time}, {}]}}}}}}"#,
            long(finer / 1_000)
        ),
    };
    format!(r#"{{"$toDate": {milliseconds}}}"#)
}

/// Returns year and month as one number for rows grouped by month. They were grouped by the month
/// of the only year, or by the date of the month's beginning.
pub(super) fn numbered(place: &str, year: Option<i64>) -> String {
    match year {
        Some(year) => format!(r#"{{"$add": [{}, "${place}"]}}"#, long(year * 100)),
        None => format!(
            r#"{{"$add": [{{"$multiply": [{{"$year": "${place}"}}, 100]}}, {{"$month": "${place}"}}]}}"#
        ),
    }
}

impl Times {
    /// Returns the year of a column, if all of its times are in one year.
    pub(super) fn year(&self, column: usize) -> Option<i64> {
        self.years.get(column).copied().flatten()
    }
}

/// Returns a value in MongoDB's extended JSON
/// (<https://www.mongodb.com/docs/v6.0/reference/mongodb-extended-json/>). `None` for bytes.
pub(super) fn value(of: Value<'_>) -> Option<String> {
    Some(match of {
        Value::Null => "null".to_owned(),
        Value::Int(int) => long(int),
        Value::Float(float) => format!(r#"{{"$numberDouble": "{float:?}"}}"#),
        Value::Text(text) => serde_json::Value::from(text).to_string(),
        Value::Bytes(_) => return None,
    })
}

pub(super) fn long(int: i64) -> String {
    format!(r#"{{"$numberLong": "{int}"}}"#)
}

/// Returns the path of a column in the documents of a table.
pub fn path(table: &Table, column: usize) -> String {
    let name = field_name(&table.columns[column]);
    match (table.key.contains(&column), table.key.len()) {
        (true, 1) => "_id".to_owned(),
        (true, _) => format!("_id.{name}"),
        (false, _) => name.into_owned(),
    }
}

/// Returns the expression for a column. For a field of a document it reads the document and takes
/// the field: for a path to the field the server would first create a document with only this
/// field.
pub(super) fn read(table: &Table, column: usize) -> String {
    match table.columns[column].within.as_deref() {
        Some(Within { document, field, .. }) => {
            format!(r#"{{"$getField": {{"field": "{field}", "input": "${document}"}}}}"#)
        }
        None => format!(r#""${}""#, path(table, column)),
    }
}

/// Returns the name of a column outside the key: `data.level` for a field of a document.
pub fn field_name(column: &Column) -> Cow<'_, str> {
    match column.within.as_deref() {
        Some(Within { document, field, .. }) => Cow::Owned(format!("{document}.{field}")),
        None => Cow::Borrowed(&column.name),
    }
}

/// Returns the paths of all columns of a table.
pub fn paths(table: &Table) -> Vec<String> {
    (0..table.columns.len()).map(|column| path(table, column)).collect()
}
