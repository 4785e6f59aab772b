//! Values, as extended JSON, and expressions over times.

use embermark_language::Grouped;
use embermark_model::table::{Table, TimeUnit, Value};

use super::paths::read;

/// When the rows of a table are.
#[derive(Default)]
pub(in super::super) struct Times {
    /// Whether times lie before 1970.
    pub early: bool,
    /// By column: the year, where all of its times lie in one.
    pub years: Vec<Option<i64>>,
}

pub(super) fn grouped(table: &Table, by: Grouped, times: &Times) -> String {
    match by {
        Grouped::Column(column) => read(table, column),
        Grouped::Bucket { column, units } => {
            let (time, units) = (read(table, column), long(units));
            let within = format!(r#"{{"$mod": [{time}, {units}]}}"#);
            // What is left of a negative number is negative.
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

/// The date of a time of a unit.
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

/// Year and month as one number, of what rows of a month were grouped by: the month of the only year that there is, or
/// the date of its beginning.
pub(super) fn numbered(place: &str, year: Option<i64>) -> String {
    match year {
        Some(year) => format!(r#"{{"$add": [{}, "${place}"]}}"#, long(year * 100)),
        None => format!(
            r#"{{"$add": [{{"$multiply": [{{"$year": "${place}"}}, 100]}}, {{"$month": "${place}"}}]}}"#
        ),
    }
}

impl Times {
    /// The year of a column, where all of its times lie in one.
    pub(super) fn year(&self, column: usize) -> Option<i64> {
        self.years.get(column).copied().flatten()
    }
}

/// A value in MongoDB's extended JSON
/// (<https://www.mongodb.com/docs/v6.0/reference/mongodb-extended-json/>); none of bytes.
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
