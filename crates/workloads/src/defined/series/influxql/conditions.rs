//! Conditions on points in InfluxQL, and statements that read and delete them.

use std::fmt::Write;

use embermark_language::Operator;
use embermark_model::table::Value;

use super::Measurement;
use crate::defined::statements::conditions::operator;
use crate::defined::{Filter, Filters};

/// Latest time, in ns, in a condition
/// (<https://docs.influxdata.com/influxdb/v1.8/troubleshooting/frequently-asked-questions/>).
pub(super) const LATEST: i64 = i64::MAX - 1;

/// Earliest time in a condition.
const EARLIEST: i64 = i64::MIN + 2;

impl Measurement {
    /// Returns whether InfluxQL can express all conditions.
    pub fn can_express_all(&self, filters: &[Filter<'_>]) -> bool {
        filters.iter().all(|filter| self.can_express(filter))
    }

    /// Returns the conditions for the rows from one key to another of the same series.
    pub fn between<'a>(&self, first: &[Value<'a>], last: Value<'a>) -> Filters<'a> {
        let mut all = self.is_key(first);
        let from = all.iter_mut().filter(|filter| Some(filter.column) == self.time);
        from.for_each(|filter| filter.operator = Operator::AtLeast);
        all.extend(self.by_time(Operator::AtMost, last));
        all
    }

    /// Returns the conditions for the row of a key.
    pub fn is_key<'a>(&self, key: &[Value<'a>]) -> Filters<'a> {
        let operator = Operator::Equal;
        let key = self.table.key.iter().zip(key);
        key.map(|(column, bound)| Filter { column: *column, operator, bound: *bound }).collect()
    }

    /// Returns a condition on the time of points, if it is a column.
    pub fn by_time<'a>(&self, operator: Operator, bound: Value<'a>) -> Filters<'a> {
        self.time.map(|column| Filter { column, operator, bound }).into_iter().collect()
    }

    /// Adds the conditions that InfluxQL can express. Returns whether these are all.
    pub fn filter(&self, filters: &[Filter<'_>], text: &mut String) -> bool {
        let (mut all, mut before) = (true, " WHERE ");
        for filter in filters {
            if !self.can_express(filter) {
                all = false;
                continue;
            }
            text.push_str(before);
            before = " AND ";
            self.condition(filter.operator, filter.column, filter.bound, text);
        }
        all
    }

    pub fn condition(&self, is: Operator, column: usize, bound: Value<'_>, text: &mut String) {
        let is = operator(is);
        if Some(column) == self.time {
            return write(text, format_args!("time {is} {}", self.bound(bound)));
        }
        write(text, format_args!("\"{}\" {is} ", self.table.columns[column].name));
        match bound {
            Value::Int(int) if self.tags.contains(&column) => write(text, format_args!("'{int}'")),
            Value::Int(int) => write(text, format_args!("{int}")),
            Value::Float(float) => decimal(float, text),
            Value::Text(literal) => string(literal, text),
            Value::Null | Value::Bytes(_) => {}
        }
    }

    /// Returns whether InfluxQL can express a condition.
    pub fn can_express(&self, filter: &Filter<'_>) -> bool {
        let equality = matches!(filter.operator, Operator::Equal | Operator::NotEqual);
        match filter.bound {
            _ if Some(filter.column) == self.time => filter.operator != Operator::NotEqual,
            Value::Int(_) | Value::Float(_) if self.tags.contains(&filter.column) => equality,
            Value::Int(_) | Value::Float(_) => true,
            Value::Text(_) => equality,
            Value::Null | Value::Bytes(_) => false,
        }
    }

    /// Returns a time in ns. A time out of range is the first or the last.
    pub fn bound(&self, time: Value<'_>) -> i64 {
        let time = if let Value::Int(time) = time { time } else { 0 };
        time.saturating_mul(self.nanoseconds()).clamp(EARLIEST, LATEST)
    }

    /// Returns a question for the number of rows, as `rows`.
    pub fn count(&self) -> String {
        format!("SELECT COUNT({}) AS rows FROM \"{}\"", quoted(self.mark), self.table.name)
    }

    /// Begins a question for whole rows.
    fn begin(&self, text: &mut String) {
        text.clear();
        text.push_str(&self.select);
    }

    /// Returns a question for every row, series by series.
    pub fn every(&self) -> String {
        self.select.clone() + SERIES
    }

    /// Writes a question for the newest row, among those that meet the filters, of each series.
    pub fn latest_of(&self, filters: &[Filter<'_>], text: &mut String) {
        self.rows(filters, text);
        text.push_str(" ORDER BY time DESC LIMIT 1");
    }

    /// Writes a question for the newest rows of these values of a tag.
    pub fn latest_of_all<'a>(
        &self,
        tag: usize,
        values: impl IntoIterator<Item = Value<'a>>,
        text: &mut String,
    ) {
        self.begin(text);
        for (n, value) in values.into_iter().enumerate() {
            text.push_str(if n == 0 { " WHERE " } else { " OR " });
            self.condition(Operator::Equal, tag, value, text);
        }
        text.push_str(SERIES);
        text.push_str(" ORDER BY time DESC LIMIT 1");
    }

    /// Writes a question for columns of the rows that meet the filters InfluxQL can express.
    /// Returns whether these are all.
    pub fn some(&self, columns: &[usize], filters: &[Filter<'_>], text: &mut String) -> bool {
        text.clear();
        let fields = columns.iter().filter(|column| self.fields.contains(column));
        let fields = fields.map(|column| &*self.table.columns[*column].name);
        // A point without any of the fields would be left out.
        let has_one = |filter: &Filter<'_>| {
            let is_of = columns.contains(&filter.column) && self.fields.contains(&filter.column);
            is_of && self.can_express(filter) && filter.operator != Operator::NotEqual
        };
        let is_mark = |column: &usize| self.table.columns[*column].name == self.mark;
        let has_one = filters.iter().any(has_one) || columns.iter().any(is_mark);
        let mark = (!has_one).then_some(self.mark);
        for (n, field) in fields.chain(mark).enumerate() {
            let begin = if n == 0 { "SELECT" } else { "," };
            write(text, format_args!("{begin} \"{field}\""));
        }
        write(text, format_args!(" FROM \"{}\"", self.table.name));
        let all = self.filter(filters, text);
        if columns.iter().any(|column| self.tags.contains(column)) {
            text.push_str(SERIES);
        }
        all
    }

    /// Writes a question for the rows that meet the filters InfluxQL can express. Returns whether
    /// these are all.
    pub fn rows(&self, filters: &[Filter<'_>], text: &mut String) -> bool {
        self.begin(text);
        let all = self.filter(filters, text);
        text.push_str(SERIES);
        all
    }

    /// Writes a question for the row of a key.
    pub fn get(&self, key: &[Value<'_>], text: &mut String) {
        self.rows(&self.is_key(key), text);
    }

    /// Writes a question for this many rows from a time on, in a measurement without tags.
    pub fn from(&self, time: Value<'_>, most: u64, text: &mut String) {
        self.begin(text);
        self.filter(&self.by_time(Operator::AtLeast, time), text);
        write(text, format_args!(" LIMIT {most}"));
    }

    /// Writes a statement that deletes the rows that meet the filters, which InfluxQL can express.
    pub fn delete(&self, filters: &[Filter<'_>], text: &mut String) {
        text.clear();
        write(text, format_args!("DELETE FROM \"{}\"", self.table.name));
        self.filter(filters, text);
    }
}

/// Groups by series, each with its tags.
pub(super) const SERIES: &str = " GROUP BY *";

/// Returns a quoted name. No column's name needs escapes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// Writes a text (<https://docs.influxdata.com/influxdb/v1.8/query_language/spec/#strings>).
pub(super) fn string(literal: &str, text: &mut String) {
    text.push('\'');
    for character in literal.chars() {
        match character {
            '\'' | '\\' => text.extend(['\\', character]),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
    text.push('\'');
}

/// Writes a number without an exponent, as `Display` does, and with a point: without one it would
/// have to be an integer.
pub(super) fn decimal(number: f64, text: &mut String) {
    let point = if number.fract() == 0.0 { ".0" } else { "" };
    write(text, format_args!("{number}{point}"));
}

/// Writing to a string cannot fail.
pub(super) fn write(to: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(what);
}
