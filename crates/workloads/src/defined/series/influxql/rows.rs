//! Statements that read and delete points.

use embermark_language::Operator;
use embermark_model::table::Value;

use super::Measurement;
use super::text::{SERIES, quoted, write};
use crate::defined::access::Filter;

impl Measurement {
    /// Returns a question for the number of rows, as `rows`.
    pub fn count(&self) -> String {
        format!("SELECT COUNT({}) AS rows FROM \"{}\"", quoted(self.mark), self.table.name)
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
        text.clear();
        text.push_str(&self.select);
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
        text.clear();
        text.push_str(&self.select);
        let all = self.filter(filters, text);
        text.push_str(SERIES);
        all
    }

    /// Writes a question for the row of a key.
    pub fn get(&self, key: &[Value<'_>], text: &mut String) {
        text.clear();
        text.push_str(&self.select);
        self.is_key(key, text);
        text.push_str(SERIES);
    }

    /// Writes a question for this many rows from a time on, in a measurement without tags.
    pub fn from(&self, time: Value<'_>, most: u64, text: &mut String) {
        text.clear();
        text.push_str(&self.select);
        let filter = |column| Filter { column, operator: Operator::AtLeast, bound: time };
        self.filter(self.time.map(filter).as_slice(), text);
        write(text, format_args!(" LIMIT {most}"));
    }

    /// Writes a statement that deletes the row of a key.
    pub fn delete(&self, key: &[Value<'_>], text: &mut String) {
        text.clear();
        write(text, format_args!("DELETE FROM \"{}\"", self.table.name));
        self.is_key(key, text);
    }

    /// Writes a statement that deletes the rows from one key to another of the same series.
    pub fn delete_between(&self, first: &[Value<'_>], last: Value<'_>, text: &mut String) {
        text.clear();
        write(text, format_args!("DELETE FROM \"{}\"", self.table.name));
        self.filter(&self.between(first, last), text);
    }

    /// Writes a statement that deletes every row up to a time.
    pub fn delete_until(&self, time: i64, text: &mut String) {
        text.clear();
        write(text, format_args!("DELETE FROM \"{}\"", self.table.name));
        let bound = Value::Int(time);
        let filter = |column| Filter { column, operator: Operator::AtMost, bound };
        self.filter(self.time.map(filter).as_slice(), text);
    }
}
