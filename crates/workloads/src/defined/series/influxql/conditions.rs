//! Conditions on points in InfluxQL, and statements that read and delete them.

use std::fmt::Write;

use embermark_language::Operator;
use embermark_model::table::Value;

use super::Measurement;
use crate::defined::Filter;
use crate::defined::statements::conditions::operator;

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
    pub fn between<'a>(&self, first: &[Value<'a>], last: Value<'a>) -> Vec<Filter<'a>> {
        let filter = |column, operator, bound| Filter { column, operator, bound };
        let key = self.table.key.iter().zip(first).map(|(column, bound)| {
            let is_time = Some(*column) == self.time;
            filter(*column, if is_time { Operator::AtLeast } else { Operator::Equal }, *bound)
        });
        key.chain(self.time.map(|time| filter(time, Operator::AtMost, last))).collect()
    }

    pub fn is_key(&self, key: &[Value<'_>], text: &mut String) {
        for (n, (column, bound)) in self.table.key.iter().zip(key).enumerate() {
            text.push_str(if n == 0 { " WHERE " } else { " AND " });
            self.condition(Operator::Equal, *column, *bound, text);
        }
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

    /// Begins a statement that deletes rows.
    fn begin_delete(&self, text: &mut String) {
        text.clear();
        write(text, format_args!("DELETE FROM \"{}\"", self.table.name));
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
        self.begin(text);
        self.is_key(key, text);
        text.push_str(SERIES);
    }

    /// Writes a question for this many rows from a time on, in a measurement without tags.
    pub fn from(&self, time: Value<'_>, most: u64, text: &mut String) {
        self.begin(text);
        let filter = |column| Filter { column, operator: Operator::AtLeast, bound: time };
        self.filter(self.time.map(filter).as_slice(), text);
        write(text, format_args!(" LIMIT {most}"));
    }

    /// Writes a statement that deletes the row of a key.
    pub fn delete(&self, key: &[Value<'_>], text: &mut String) {
        self.begin_delete(text);
        self.is_key(key, text);
    }

    /// Writes a statement that deletes the rows from one key to another of the same series.
    pub fn delete_between(&self, first: &[Value<'_>], last: Value<'_>, text: &mut String) {
        self.begin_delete(text);
        self.filter(&self.between(first, last), text);
    }

    /// Writes a statement that deletes every row up to a time.
    pub fn delete_until(&self, time: i64, text: &mut String) {
        self.begin_delete(text);
        let bound = Value::Int(time);
        let filter = |column| Filter { column, operator: Operator::AtMost, bound };
        self.filter(self.time.map(filter).as_slice(), text);
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
