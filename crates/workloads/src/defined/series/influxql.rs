//! A table of a workload file as a measurement of InfluxDB, and its questions in InfluxQL.
//!
//! The time of a point is a column of the key. Its tags are the other columns of the key, and its
//! fields all columns outside the key. Beside a key of one number, texts of few values by which
//! rows are found are tags as well. Without a time in the key, the time of a point is the number of
//! its row, in ns, its tags are the columns of the table's indexes, and the key is a field: the
//! manual warns of tags with as many values as rows.
//!
//! InfluxQL (<https://docs.influxdata.com/influxdb/v1.8/query_language/>) has no order except by
//! time, no groups by fields, no comparisons of tags and texts except equality, and no aggregates
//! of tags or of the time.

mod conditions;
pub(super) mod statistics;

use embermark_contract::EngineError;
use embermark_model::table::{Column, ColumnType, Table, TimeUnit};

use super::super::documents::has_binary;
use conditions::quoted;

/// A field with the value 1 in every point of a table whose columns can all be absent. No column
/// has its name.
pub(super) const MARK: &str = "#row";

/// A table as a measurement.
pub(super) struct Measurement {
    pub table: &'static Table,
    /// Column with the time of points. `None`: the time is the number of the row.
    pub time: Option<usize>,
    /// The other columns of the key. Without a time, the columns of the table's indexes.
    pub tags: Vec<usize>,
    /// All other columns.
    pub fields: Vec<usize>,
    /// Names of the columns of a row, in order.
    pub columns: Vec<&'static str>,
    unit: TimeUnit,
    /// A field that every point has.
    pub mark: &'static str,
    /// `SELECT … FROM …` for whole rows.
    select: String,
}

impl Measurement {
    /// Creates the measurement of a table, or returns why it cannot be one. `found_by` are the
    /// columns that are tags in addition to a key of one number.
    pub fn new(table: &'static Table, found_by: &[usize]) -> Result<Self, String> {
        let of = |column: usize| table.columns[column].of;
        if has_binary(table) {
            return Err("JSON columns of a binary form".to_owned());
        }
        let time = table.key.iter().rev().find_map(|column| match of(*column) {
            ColumnType::Timestamp(unit) => Some((*column, unit)),
            // Every row has its own time, in nanoseconds since 1970.
            ColumnType::Int { .. } if table.key.len() == 1 => {
                Some((*column, TimeUnit::Nanoseconds))
            }
            _ => None,
        });
        let (time, unit) =
            time.map_or((None, TimeUnit::Nanoseconds), |(time, unit)| (Some(time), unit));
        let all = 0..table.columns.len();
        let tags: Vec<usize> = match time {
            Some(time) => {
                let others = table.key.iter().filter(|column| **column != time);
                let found_by = if table.key.len() == 1 { found_by } else { &[] };
                others.chain(found_by).copied().collect()
            }
            None => all.clone().filter(|column| is_indexed(table, *column)).collect(),
        };
        let is_field = |column: &usize| time != Some(*column) && !tags.contains(column);
        let fields: Vec<usize> = all.filter(is_field).collect();
        for (n, column) in table.columns.iter().enumerate() {
            let name = &column.name;
            if column.of == ColumnType::Bytes {
                return Err(format!("bytes, as {name} has"));
            }
            if column.of == ColumnType::Float && tags.contains(&n) {
                return Err(format!("a tag that is a fraction, as {name} of the key would be"));
            }
            if name == "time" && Some(n) != time {
                return Err("a tag or field named time".to_owned());
            }
        }
        let always = fields.iter().find(|column| !table.columns[**column].nullable);
        let mark = always.map_or(MARK, |column| &*table.columns[*column].name);
        let names = fields.iter().map(|column| &*table.columns[*column].name);
        let names = names.chain(always.is_none().then_some(MARK)).map(quoted);
        let names: Vec<String> = names.collect();
        let select = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name));
        let name = |(n, column): (usize, &'static Column)| {
            if Some(n) == time { "time" } else { &*column.name }
        };
        let columns = table.columns.iter().enumerate().map(name).collect();
        Ok(Self { table, time, tags, fields, columns, unit, mark, select })
    }

    /// Returns the nanoseconds of one unit of the time column.
    pub const fn nanoseconds(&self) -> i64 {
        1_000_000_000 / self.unit.per_second()
    }

    /// Returns a time of the column in nanoseconds.
    pub fn time_ns(&self, time: i64) -> embermark_contract::Result<i64> {
        time.checked_mul(self.nanoseconds()).ok_or_else(|| {
            let what = format!("the time {time} {}, in nanoseconds", self.unit.name());
            EngineError::unsupported("a series store", what)
        })
    }

    /// Returns whether each series has one value, so that its newest point is the value's newest
    /// row.
    pub fn finds_latest(&self, by: usize, time: usize) -> bool {
        self.tags == [by] && self.time == Some(time)
    }

    /// Returns the column's unit as a suffix of durations.
    const fn suffix(&self) -> &'static str {
        match self.unit {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "u",
            TimeUnit::Nanoseconds => "ns",
        }
    }
}

/// Returns whether a column can be a tag of points whose tags are their table's indexed columns: a
/// text or a number that is always present and not in the key.
fn is_indexed(table: &Table, column: usize) -> bool {
    let of = &table.columns[column];
    table.indexes.iter().flatten().any(|indexed| *indexed == column)
        && !table.key.contains(&column)
        && !of.nullable
        && of.of != ColumnType::Float
}

#[cfg(test)]
mod tests;
