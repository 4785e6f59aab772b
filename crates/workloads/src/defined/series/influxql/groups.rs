//! Questions for groups of points.

use embermark_language::{Aggregate, Compute, Group, Grouped};

use super::Measurement;
use super::conditions::LATEST;
use super::text::{quoted, write};
use crate::defined::access::Filter;

impl Measurement {
    /// Returns a question for all groups of the rows that meet the filters, in no order. `None`
    /// where InfluxQL cannot express it.
    pub fn group(&self, group: &Group, filters: &[Filter<'_>]) -> Option<Groups> {
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
            // Columns of the key are never absent.
            (_, Aggregate::Count) => self.mark,
            _ => return None,
        };
        Some(format!("{function}({})", quoted(of)))
    }
}

/// A question for groups, and the names of its columns: the group, then what is computed.
#[derive(Debug, PartialEq)]
pub struct Groups {
    pub text: String,
    pub columns: Vec<String>,
}
