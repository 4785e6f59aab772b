//! A table of a workload file as a measurement of InfluxDB, and its questions in InfluxQL: the time of
//! a point is a column of the key, its tags are the others of the key, its fields all other columns; beside a key of
//! one number, texts of few values by which rows are found are tags, too. Where
//! the key has no time, that of a point is the number of its row, in ns; its tags are the columns of the table's
//! indexes, and the key is a field: a tag of as many values as there are rows is what its manual warns of.
//!
//! What InfluxQL cannot say (<https://docs.influxdata.com/influxdb/v1.8/query_language/>): an order by
//! anything but time, groups by a field, comparisons of tags and texts other than whether they are
//! equal, aggregates of tags and of the time.

use std::fmt::Write;

use embermark_contract::EngineError;
use embermark_language::{Aggregate, Compute, Group, Grouped, Operator};
use embermark_model::table::{Column, ColumnType, OwnedValue, Table, TimeUnit, Value};

use super::super::access::Filter;
use super::super::statements::conditions::operator;

/// The field of a point whose columns may all be absent: 1 in every point. No column has its name.
pub(super) const MARK: &str = "#row";

/// What is computed: no column has such a name.
pub(super) const GAP: &str = "#gap";
pub(super) const MEAN: &str = "#mean";
pub(super) const DEVIATION: &str = "#deviation";

/// The latest time, in ns, that a condition may name
/// (<https://docs.influxdata.com/influxdb/v1.8/troubleshooting/frequently-asked-questions/>).
const LATEST: i64 = i64::MAX - 1;

/// The earliest.
const EARLIEST: i64 = i64::MIN + 2;

/// A table as a measurement.
pub(super) struct Measurement {
    pub table: &'static Table,
    /// The column that is the time of points; `None`: they have the numbers of their rows.
    pub time: Option<usize>,
    /// The other columns of the key; of a table without a time those that its indexes have.
    pub tags: Vec<usize>,
    /// The columns beside these.
    pub fields: Vec<usize>,
    unit: TimeUnit,
    /// A field that every point has.
    mark: &'static str,
    /// `SELECT … FROM …` of whole rows.
    select: String,
}

impl Measurement {
    /// A table as a measurement, or why it cannot be one; `found_by` are the columns that are tags beside a key of one number.
    pub(super) fn of(table: &'static Table, found_by: &[usize]) -> Result<Self, String> {
        let of = |column: usize| table.columns[column].of;
        let is_binary = |column: &Column| column.within.as_ref().is_some_and(|own| own.binary);
        if table.columns.iter().any(is_binary) {
            return Err("JSON columns of a binary form".to_owned());
        }
        let time = table.key.iter().rev().find_map(|column| match of(*column) {
            ColumnType::Timestamp(unit) => Some((*column, unit)),
            // Every row has a time of its own, of nanoseconds since 1970.
            ColumnType::Int { .. } if table.key.len() == 1 => {
                Some((*column, TimeUnit::Nanoseconds))
            }
            _ => None,
        });
        let (time, unit) = (time.map(|(time, _)| time), time.map(|(_, unit)| unit));
        let unit = unit.unwrap_or(TimeUnit::Nanoseconds);
        let is_tag = |column: &usize| match time {
            Some(time) => time != *column,
            None => is_indexed(table, *column),
        };
        let of_key = time.is_some().then_some(&table.key).into_iter().flatten().copied();
        let all = (0..table.columns.len()).filter(|_| time.is_none());
        let found_by = found_by.iter().copied().filter(|_| time.is_some() && table.key.len() == 1);
        let tags: Vec<usize> = of_key.chain(all).filter(is_tag).chain(found_by).collect();
        let all = 0..table.columns.len();
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
        Ok(Self { table, time, tags, fields, unit, mark, select })
    }

    /// Whether points need a field of their own that is always there.
    pub(super) fn is_marked(&self) -> bool {
        self.mark == MARK
    }

    /// Nanoseconds of one of the column's units.
    pub(super) const fn nanoseconds(&self) -> i64 {
        1_000_000_000 / self.unit.per_second()
    }

    /// A time of the column in nanoseconds.
    pub(super) fn time_ns(&self, time: i64) -> embermark_contract::Result<i64> {
        time.checked_mul(self.nanoseconds()).ok_or_else(|| {
            let what = format!("the time {time} {}, in nanoseconds", self.unit.name());
            EngineError::unsupported("a series store", what)
        })
    }

    /// Whether each series is one of a value, so that its newest point is the value's newest row.
    pub(super) fn finds_latest(&self, by: usize, time: usize) -> bool {
        self.tags == [by] && self.time == Some(time)
    }

    /// Whether InfluxQL can say all conditions.
    pub(super) fn says_all(&self, filters: &[Filter<'_>]) -> bool {
        filters.iter().all(|filter| self.says(filter))
    }

    /// What to ask for, by name, to read a row: its columns in order.
    pub(super) fn columns(&self) -> Vec<&'static str> {
        let name = |(n, column): (usize, &'static embermark_model::table::Column)| {
            if Some(n) == self.time { "time" } else { &*column.name }
        };
        self.table.columns.iter().enumerate().map(name).collect()
    }

    /// How many rows there are, as `rows`.
    pub(super) fn count(&self) -> String {
        format!("SELECT COUNT({}) AS rows FROM \"{}\"", quoted(self.mark), self.table.name)
    }

    /// Every row, series after series.
    pub(super) fn every(&self) -> String {
        self.select.clone() + SERIES
    }

    /// The newest row of each series that meets the filters.
    pub(super) fn latest_of(&self, filters: &[Filter<'_>], text: &mut String) {
        self.rows(filters, text);
        text.push_str(" ORDER BY time DESC LIMIT 1");
    }

    /// The same of these values of a tag.
    pub(super) fn latest_of_all<'a>(
        &self,
        tag: usize,
        values: impl IntoIterator<Item = Value<'a>>,
        text: &mut String,
    ) {
        text.clear();
        text.push_str(&self.select);
        for (n, value) in values.into_iter().enumerate() {
            text.push_str(if n == 0 { " WHERE " } else { " OR " });
            self.condition(Operator::Equal, tag, value, text);
        }
        text.push_str(SERIES);
        text.push_str(" ORDER BY time DESC LIMIT 1");
    }

    /// The ends of gaps in the times of each series, of rows that meet the filters, and how long they are in the unit
    /// of the time: the columns of the only tag, the time and [`GAP`].
    pub(super) fn gaps(&self, filters: &[Filter<'_>], longer: i64, text: &mut String) {
        text.clear();
        let (tag, unit) =
            (self.tags.first().map_or("", |tag| &*self.table.columns[*tag].name), self.suffix());
        let (mark, table) = (self.mark, &self.table.name);
        write(
            text,
            format_args!(
                "SELECT \"{GAP}\", \"{tag}\" FROM (SELECT ELAPSED(\"{mark}\", 1{unit}) AS \"{GAP}\" FROM \"{table}\""
            ),
        );
        self.filter(filters, text);
        write(text, format_args!(" GROUP BY \"{tag}\") WHERE \"{GAP}\" > {longer}"));
    }

    /// Whether it has the mean and the deviation of a field of each series.
    pub(super) fn knows_spread(&self, of: usize, by: usize) -> bool {
        self.tags == [by] && self.fields.contains(&of)
    }

    /// The mean and the sample deviation of a field of each series, of rows that meet the filters: the columns of the
    /// only tag, [`MEAN`] and [`DEVIATION`].
    pub(super) fn spread(&self, of: usize, filters: &[Filter<'_>], text: &mut String) {
        text.clear();
        let (of, table) = (&self.table.columns[of].name, &self.table.name);
        write(
            text,
            format_args!(
                "SELECT MEAN(\"{of}\") AS \"{MEAN}\", STDDEV(\"{of}\") AS \"{DEVIATION}\" FROM \"{table}\""
            ),
        );
        self.filter(filters, text);
        text.push_str(SERIES);
    }

    /// The values of a field outside of the bands of their series, which the client makes of the [spread](Self::spread):
    /// at least one, each a value of the only tag, and the least and the greatest that is inside.
    pub(super) fn outside(&self, of: usize, bands: &[(OwnedValue, f64, f64)], text: &mut String) {
        text.clear();
        let name = &self.table.columns[of].name;
        write(text, format_args!("SELECT \"{name}\" FROM \"{}\"", self.table.name));
        for (n, (tag, low, high)) in bands.iter().enumerate() {
            text.push_str(if n == 0 { " WHERE (" } else { " OR (" });
            self.condition(Operator::Equal, self.tags[0], tag.as_value(), text);
            write(text, format_args!(" AND (\"{name}\" < "));
            decimal(*low, text);
            write(text, format_args!(" OR \"{name}\" > "));
            decimal(*high, text);
            text.push_str("))");
        }
        text.push_str(SERIES);
    }

    /// Columns of rows that meet all filters which InfluxQL can say; whether it can say all of them.
    pub(super) fn some(
        &self,
        columns: &[usize],
        filters: &[Filter<'_>],
        text: &mut String,
    ) -> bool {
        text.clear();
        let fields = columns.iter().filter(|column| self.fields.contains(column));
        let fields = fields.map(|column| &*self.table.columns[*column].name);
        // A point that has none of the fields would be left out.
        let has_one = |filter: &Filter<'_>| {
            let is_of = columns.contains(&filter.column) && self.fields.contains(&filter.column);
            is_of && self.says(filter) && filter.operator != Operator::NotEqual
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

    /// Rows that meet all filters which InfluxQL can say; whether it can say all of them.
    pub(super) fn rows(&self, filters: &[Filter<'_>], text: &mut String) -> bool {
        text.clear();
        text.push_str(&self.select);
        let all = self.filter(filters, text);
        text.push_str(SERIES);
        all
    }

    /// The row of a key.
    pub(super) fn get(&self, key: &[Value<'_>], text: &mut String) {
        text.clear();
        text.push_str(&self.select);
        self.is_key(key, text);
        text.push_str(SERIES);
    }

    /// So many rows from a time on, of a measurement without tags.
    pub(super) fn from(&self, time: Value<'_>, most: u64, text: &mut String) {
        text.clear();
        text.push_str(&self.select);
        let filter = |column| Filter { column, operator: Operator::AtLeast, bound: time };
        self.filter(self.time.map(filter).as_slice(), text);
        write(text, format_args!(" LIMIT {most}"));
    }

    /// Deletes the row of a key.
    pub(super) fn delete(&self, key: &[Value<'_>], text: &mut String) {
        text.clear();
        write(text, format_args!("DELETE FROM \"{}\"", self.table.name));
        self.is_key(key, text);
    }

    /// Deletes the rows from one key to another of the same series.
    pub(super) fn delete_between(&self, first: &[Value<'_>], last: Value<'_>, text: &mut String) {
        text.clear();
        write(text, format_args!("DELETE FROM \"{}\"", self.table.name));
        self.filter(&self.between(first, last), text);
    }

    /// The conditions of the rows from one key to another of the same series.
    pub(super) fn between<'a>(&self, first: &[Value<'a>], last: Value<'a>) -> Vec<Filter<'a>> {
        let filter = |column, operator, bound| Filter { column, operator, bound };
        let key = self.table.key.iter().zip(first).map(|(column, bound)| {
            let is_time = Some(*column) == self.time;
            filter(*column, if is_time { Operator::AtLeast } else { Operator::Equal }, *bound)
        });
        key.chain(self.time.map(|time| filter(time, Operator::AtMost, last))).collect()
    }

    /// Deletes every row up to a time.
    pub(super) fn delete_until(&self, time: i64, text: &mut String) {
        text.clear();
        write(text, format_args!("DELETE FROM \"{}\"", self.table.name));
        let bound = Value::Int(time);
        let filter = |column| Filter { column, operator: Operator::AtMost, bound };
        self.filter(self.time.map(filter).as_slice(), text);
    }

    fn is_key(&self, key: &[Value<'_>], text: &mut String) {
        for (n, (column, bound)) in self.table.key.iter().zip(key).enumerate() {
            text.push_str(if n == 0 { " WHERE " } else { " AND " });
            self.condition(Operator::Equal, *column, *bound, text);
        }
    }

    /// Adds the conditions that InfluxQL can say; whether it can say all of them.
    fn filter(&self, filters: &[Filter<'_>], text: &mut String) -> bool {
        let (mut all, mut before) = (true, " WHERE ");
        for filter in filters {
            if !self.says(filter) {
                all = false;
                continue;
            }
            text.push_str(before);
            before = " AND ";
            self.condition(filter.operator, filter.column, filter.bound, text);
        }
        all
    }

    fn condition(&self, is: Operator, column: usize, bound: Value<'_>, text: &mut String) {
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

    /// Whether InfluxQL can say a condition.
    fn says(&self, filter: &Filter<'_>) -> bool {
        let equality = matches!(filter.operator, Operator::Equal | Operator::NotEqual);
        match filter.bound {
            _ if Some(filter.column) == self.time => filter.operator != Operator::NotEqual,
            Value::Int(_) | Value::Float(_) if self.tags.contains(&filter.column) => equality,
            Value::Int(_) | Value::Float(_) => true,
            Value::Text(_) => equality,
            Value::Null | Value::Bytes(_) => false,
        }
    }

    /// A time in ns; one that ns cannot say is the first or the last that they can.
    fn bound(&self, time: Value<'_>) -> i64 {
        let time = if let Value::Int(time) = time { time } else { 0 };
        time.saturating_mul(self.nanoseconds()).clamp(EARLIEST, LATEST)
    }

    /// The groups of rows that meet the filters, in no order and all of them; `None` where InfluxQL
    /// cannot say them.
    pub(super) fn group(&self, group: &Group, filters: &[Filter<'_>]) -> Option<Groups> {
        let (mut by, mut columns, mut bucket) = (Vec::new(), Vec::new(), None);
        for grouped in &group.by {
            match *grouped {
                Grouped::Column(column) if self.tags.contains(&column) => {
                    by.push(quoted(&self.table.columns[column].name));
                    columns.push(self.table.columns[column].name.clone());
                }
                Grouped::Bucket { column, units }
                    if Some(column) == self.time && bucket.is_none() =>
                {
                    bucket = Some(units);
                    columns.push("time".to_owned());
                }
                _ => return None,
            }
        }
        let mut computed = Vec::new();
        for (n, compute) in group.compute.iter().enumerate() {
            computed.push(format!("{} AS \"#{n}\"", self.computed(*compute)?));
            columns.push(format!("#{n}"));
        }
        // A group of none but absent values is there as well.
        computed.push(format!("COUNT({}) AS \"#rows\"", quoted(self.mark)));
        let mut text = format!("SELECT {} FROM {}", computed.join(", "), quoted(&self.table.name));
        if !self.filter(filters, &mut text) {
            return None;
        }
        if let Some(units) = bucket {
            // Buckets end with the present unless it is said when.
            let before = if filters.is_empty() { "WHERE" } else { "AND" };
            write(&mut text, format_args!(" {before} time <= {LATEST}"));
            by.push(format!("time({units}{})", self.suffix()));
        }
        if !by.is_empty() {
            write(&mut text, format_args!(" GROUP BY {}", by.join(", ")));
        }
        if bucket.is_some() {
            text.push_str(" fill(none)");
        }
        Some(Groups { text, columns })
    }

    fn computed(&self, compute: Compute) -> Option<String> {
        let function = match compute.aggregate {
            Aggregate::Count => "COUNT",
            Aggregate::Sum => "SUM",
            Aggregate::Avg => "MEAN",
            Aggregate::Min => "MIN",
            Aggregate::Max => "MAX",
        };
        let of = match (compute.column, compute.aggregate) {
            (Some(column), _) if self.fields.contains(&column) => &self.table.columns[column].name,
            // Of the key nothing is absent.
            (_, Aggregate::Count) => self.mark,
            _ => return None,
        };
        Some(format!("{function}({})", quoted(of)))
    }

    /// The column's unit as a duration has it.
    const fn suffix(&self) -> &'static str {
        match self.unit {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "u",
            TimeUnit::Nanoseconds => "ns",
        }
    }
}

/// Whether a column can be a tag of points whose tags are what their table has indexes of: a text or a number
/// that is always there, and not of the key.
fn is_indexed(table: &Table, column: usize) -> bool {
    let of = &table.columns[column];
    table.indexes.iter().flatten().any(|indexed| *indexed == column)
        && !table.key.contains(&column)
        && !of.nullable
        && of.of != ColumnType::Float
}

/// A question for groups, and what to ask for by name: what they are grouped by, then what is computed.
#[derive(Debug, PartialEq)]
pub(super) struct Groups {
    pub text: String,
    pub columns: Vec<String>,
}

/// One series after the other, each with its tags.
const SERIES: &str = " GROUP BY *";

/// A name: no column's has anything to escape.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// A text: <https://docs.influxdata.com/influxdb/v1.8/query_language/spec/#strings>.
fn string(literal: &str, text: &mut String) {
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

/// A number without an exponent, which is how `Display` writes it, and with a point: without one it has
/// to fit an integer.
fn decimal(number: f64, text: &mut String) {
    let point = if number.fract() == 0.0 { ".0" } else { "" };
    write(text, format_args!("{number}{point}"));
}

/// Writing to a string cannot fail.
fn write(to: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(what);
}

#[cfg(test)]
mod tests {
    use super::super::super::tables::{compute, group_of, table, without_bytes};
    use super::*;

    fn readings() -> Measurement {
        Measurement::of(without_bytes(&[0, 1]), &[]).unwrap()
    }

    fn is(column: usize, operator: Operator, bound: Value<'_>) -> Filter<'_> {
        Filter { column, operator, bound }
    }

    #[test]
    fn a_table_is_a_measurement_by_a_time_in_its_key() {
        let readings = readings();
        assert_eq!(
            (readings.time, &*readings.tags, &*readings.fields),
            (Some(1), &[0][..], &[2, 3][..])
        );
        assert_eq!(readings.columns(), ["station", "time", "value", "note"]);
        assert!(
            readings.is_marked() && readings.finds_latest(0, 1) && !readings.finds_latest(3, 1)
        );
        assert_eq!(readings.time_ns(-7).unwrap(), -7_000_000_000);
        assert!(readings.time_ns(i64::MAX / 1_000).unwrap_err().is_unsupported());
        let bytes = Measurement::of(table(&[0, 1]), &[]).err().unwrap();
        assert!(bytes.contains("bytes, as raw has"), "{bytes}");
        let named = Measurement::of(without_bytes(&[3]), &[]).err().unwrap();
        assert!(named.contains("a tag or field named time"), "{named}");
        let fraction = Measurement::of(without_bytes(&[1, 2]), &[]).err().unwrap();
        assert!(fraction.contains("a fraction, as value"), "{fraction}");
        let log = Measurement::of(without_bytes(&[1]), &[]).unwrap();
        assert!(log.tags.is_empty() && !log.is_marked() && !log.finds_latest(0, 1));
        assert!(log.every().starts_with("SELECT \"station\", \"value\""), "{}", log.every());
    }

    #[test]
    fn rows_of_a_key_without_a_time_have_their_numbers_and_tags_by_their_indexes() {
        let mut table = without_bytes(&[3]).clone();
        table.columns[1].name = "seen".to_owned();
        let plain = Measurement::of(Box::leak(Box::new(table.clone())), &[0]).unwrap();
        assert_eq!((plain.time, &*plain.tags, &*plain.fields), (None, &[][..], &[0, 1, 2, 3][..]));
        // A fraction is no tag, nor what may be absent, nor the key.
        table.indexes = vec![vec![0, 1], vec![2], vec![3]];
        let indexed = Measurement::of(Box::leak(Box::new(table)), &[]).unwrap();
        assert_eq!((&*indexed.tags, &*indexed.fields), (&[0, 1][..], &[2, 3][..]));
        assert!(!indexed.finds_latest(0, 1));
    }

    #[test]
    fn texts_by_which_rows_are_found_are_tags_beside_a_key_of_one_number() {
        let log = Measurement::of(without_bytes(&[1]), &[3]).unwrap();
        assert_eq!((&*log.tags, &*log.fields), (&[3][..], &[0, 2][..]));
        let (note, mut text) = (is(3, Operator::Equal, Value::Text("a")), String::new());
        assert!(log.some(&[2], &[note], &mut text));
        let (from, note_is) = ("FROM \"readings\"", "WHERE \"note\" = 'a'");
        assert_eq!(text, format!("SELECT \"value\", \"station\" {from} {note_is}"));
        let high = is(2, Operator::Greater, Value::Float(2.5));
        assert!(log.some(&[2], &[note, high], &mut text));
        assert_eq!(text, format!("SELECT \"value\" {from} {note_is} AND \"value\" > 2.5"));
        assert!(log.some(&[0, 3], &[], &mut text));
        assert_eq!(text, format!("SELECT \"station\" {from} GROUP BY *"));
    }

    #[test]
    fn rows_are_found_by_tags_times_and_fields() {
        let (readings, mut text) = (readings(), String::new());
        let select = "SELECT \"value\", \"note\", \"#row\" FROM \"readings\"";
        readings.get(&[Value::Int(5), Value::Int(60)], &mut text);
        let key = "WHERE \"station\" = '5' AND time = 60000000000";
        assert_eq!(text, format!("{select} {key} GROUP BY *"));
        readings.delete(&[Value::Int(5), Value::Int(60)], &mut text);
        assert_eq!(text, format!("DELETE FROM \"readings\" {key}"));
        readings.delete_until(-1, &mut text);
        assert_eq!(text, "DELETE FROM \"readings\" WHERE time <= -1000000000");
        let filters = [
            is(1, Operator::Less, Value::Int(i64::MAX)),
            is(2, Operator::Greater, Value::Float(-2.0)),
            is(2, Operator::NotEqual, Value::Float(1e-7)),
            is(3, Operator::NotEqual, Value::Text("it's\n\\")),
        ];
        assert!(readings.rows(&filters, &mut text) && readings.says_all(&filters));
        let conditions = "WHERE time < 9223372036854775806 AND \"value\" > -2.0 \
                      AND \"value\" <> 0.0000001 AND \"note\" <> 'it\\'s\\n\\\\'";
        assert_eq!(text, format!("{select} {conditions} GROUP BY *"));
        // What it cannot say is left out, for its client to look at.
        let filters = [
            is(0, Operator::Less, Value::Int(5)),
            is(1, Operator::NotEqual, Value::Int(5)),
            is(3, Operator::Less, Value::Text("a")),
            is(0, Operator::NotEqual, Value::Int(5)),
        ];
        assert!(!readings.rows(&filters, &mut text) && !readings.says_all(&filters));
        assert_eq!(text, format!("{select} WHERE \"station\" <> '5' GROUP BY *"));
    }

    #[test]
    fn gaps_and_spreads_are_of_each_series() {
        let (readings, mut text) = (readings(), String::new());
        let filters = [is(0, Operator::Equal, Value::Int(5))];
        readings.gaps(&filters, 60, &mut text);
        let gaps = "SELECT \"#gap\", \"station\" FROM (SELECT ELAPSED(\"#row\", 1s) AS \"#gap\" \
                    FROM \"readings\" WHERE \"station\" = '5' GROUP BY \"station\") WHERE \"#gap\" > 60";
        assert_eq!(text, gaps);
        assert!(readings.knows_spread(2, 0) && !readings.knows_spread(2, 3));
        readings.spread(2, &[], &mut text);
        let spread = "SELECT MEAN(\"value\") AS \"#mean\", STDDEV(\"value\") AS \"#deviation\" \
                      FROM \"readings\" GROUP BY *";
        assert_eq!(text, spread);
        // Bounds are written in full and without exponents.
        let bands = [(OwnedValue::Int(1), -0.1, 1e-7), (OwnedValue::Int(2), 1.0 / 3.0, 1e20)];
        readings.outside(2, &bands, &mut text);
        let outside = "SELECT \"value\" FROM \"readings\" WHERE (\"station\" = '1' AND (\"value\" < -0.1 \
                       OR \"value\" > 0.0000001)) OR (\"station\" = '2' AND (\"value\" < 0.3333333333333333 \
                       OR \"value\" > 100000000000000000000.0)) GROUP BY *";
        assert_eq!(text, outside);
        readings.latest_of_all(0, [Value::Int(1), Value::Int(20)], &mut text);
        let end =
            "WHERE \"station\" = '1' OR \"station\" = '20' GROUP BY * ORDER BY time DESC LIMIT 1";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn groups_are_of_tags_and_one_bucket_of_time() {
        let readings = readings();
        let group = Group {
            by: vec![Grouped::Column(0), Grouped::Bucket { column: 1, units: 3600 }],
            compute: vec![
                compute(Aggregate::Avg, Some(2)),
                compute(Aggregate::Count, None),
                compute(Aggregate::Count, Some(3)),
            ],
            ..group_of()
        };
        let filters = [is(1, Operator::AtLeast, Value::Int(9))];
        let made = readings.group(&group, &filters).unwrap();
        let expected = "SELECT MEAN(\"value\") AS \"#0\", COUNT(\"#row\") AS \"#1\", COUNT(\"note\") AS \"#2\", \
                    COUNT(\"#row\") AS \"#rows\" FROM \"readings\" WHERE time >= 9000000000 \
                    AND time <= 9223372036854775806 GROUP BY \"station\", time(3600s) fill(none)";
        assert_eq!((&*made.text, made.columns), {
            (expected, ["station", "time", "#0", "#1", "#2"].map(str::to_owned).to_vec())
        });
        for by in [
            vec![Grouped::Column(2)],
            vec![Grouped::Column(1)],
            vec![
                Grouped::Bucket { column: 1, units: 60 },
                Grouped::Bucket { column: 1, units: 90 },
            ],
        ] {
            assert_eq!(readings.group(&Group { by, ..group.clone() }, &[]), None);
        }
        let of_time = vec![compute(Aggregate::Max, Some(1))];
        assert_eq!(readings.group(&Group { compute: of_time, ..group.clone() }, &[]), None);
        assert_eq!(readings.group(&group, &[is(0, Operator::Less, Value::Int(5))]), None);
    }
}
