//! Questions for groups of points, and those that compare points with others of their series: gaps
//! and outliers.

use embermark_language::{Aggregate, Compute, Group, Grouped, Operator};
use embermark_model::table::OwnedValue;

use super::Measurement;
use super::conditions::{LATEST, SERIES, decimal, quoted, write};
use crate::defined::statements::conditions::function;
use crate::defined::{Filter, Question};

/// Names of computed columns. No column of a table has them.
pub const GAP: &str = "#gap";

pub const MEAN: &str = "#mean";

pub const DEVIATION: &str = "#deviation";

impl Measurement {
    /// Writes a question for gaps in the times of each series, among the rows that meet the
    /// filters. Columns: the only tag, the time at the end of the gap, and its length in the unit
    /// of the time as [`GAP`].
    pub fn gaps(&self, filters: &[Filter<'_>], longer: i64, text: &mut String) {
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

    /// Returns whether a question can compute the mean and the deviation of a field for each
    /// series, and another one return the keys of the values outside: without a time they are
    /// fields.
    pub fn knows_spread(&self, of: usize, by: usize) -> bool {
        self.time.is_some() && self.tags == [by] && self.fields.contains(&of)
    }

    /// Writes a question for the mean and the sample deviation of a field of each series, among the
    /// rows that meet the filters. Columns: the only tag, [`MEAN`], and [`DEVIATION`].
    pub fn spread(&self, of: usize, filters: &[Filter<'_>], text: &mut String) {
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

    /// Writes a question for the values of a field outside the bands of their series, which the
    /// client computes from the [spread](Self::spread). There is at least one band: a value of the
    /// only tag, and the least and the greatest value inside.
    pub fn outside(&self, of: usize, bands: &[(OwnedValue, f64, f64)], text: &mut String) {
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

    /// Returns a question for all groups of the rows that meet the filters, in no order. `None`
    /// where InfluxQL cannot express it. Its columns: the group, then what is computed.
    pub fn group(&self, group: &Group, filters: &[Filter<'_>]) -> Option<Question> {
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
        // A group with only absent values exists as well.
        computed.push(format!("COUNT({}) AS \"#rows\"", quoted(self.mark)));
        let mut text = format!("SELECT {} FROM {}", computed.join(", "), quoted(&self.table.name));
        if !self.filter(filters, &mut text) {
            return None;
        }
        if let Some(units) = bucket {
            // Buckets end at the present unless the question says when.
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
        Some(Question { text, columns })
    }

    fn computed(&self, compute: Compute) -> Option<String> {
        let function = match compute.aggregate {
            Aggregate::Avg => "MEAN",
            aggregate => function(aggregate),
        };
        let of = match (compute.column, compute.aggregate) {
            (Some(column), _) if self.fields.contains(&column) => &self.table.columns[column].name,
            // Columns of the key are never absent.
            (_, Aggregate::Count) => self.mark,
            _ => return None,
        };
        Some(format!("{function}({})", quoted(of)))
    }
}
