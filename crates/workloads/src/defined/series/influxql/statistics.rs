//! Questions that compare points with others of their series: gaps and outliers.

use embermark_language::Operator;
use embermark_model::table::OwnedValue;

use super::Measurement;
use super::text::{SERIES, decimal, write};
use crate::defined::access::Filter;

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
    /// series.
    pub fn knows_spread(&self, of: usize, by: usize) -> bool {
        self.tags == [by] && self.fields.contains(&of)
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
}
