//! Conditions on points in InfluxQL.

use embermark_language::Operator;
use embermark_model::table::Value;

use super::Measurement;
use super::text::{decimal, string, write};
use crate::defined::access::Filter;
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

    pub(super) fn is_key(&self, key: &[Value<'_>], text: &mut String) {
        for (n, (column, bound)) in self.table.key.iter().zip(key).enumerate() {
            text.push_str(if n == 0 { " WHERE " } else { " AND " });
            self.condition(Operator::Equal, *column, *bound, text);
        }
    }

    /// Adds the conditions that InfluxQL can express. Returns whether these are all.
    pub(super) fn filter(&self, filters: &[Filter<'_>], text: &mut String) -> bool {
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

    pub(super) fn condition(
        &self,
        is: Operator,
        column: usize,
        bound: Value<'_>,
        text: &mut String,
    ) {
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
    pub(super) fn can_express(&self, filter: &Filter<'_>) -> bool {
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
    pub(super) fn bound(&self, time: Value<'_>) -> i64 {
        let time = if let Value::Int(time) = time { time } else { 0 };
        time.saturating_mul(self.nanoseconds()).clamp(EARLIEST, LATEST)
    }
}
