//! Columns of tables and of the page. A key means the same quantity in every form of a report: what
//! CSV and Parquet have under it is that of one run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::format;

/// Kind of a number, which determines its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// Time in ns.
    Time,
    /// Bytes.
    Bytes,
    /// A number of something.
    Count,
    /// A number with a fraction, as means have.
    Number,
    /// A multiple of something.
    Ratio,
    /// A part of a whole, from 0 to 1.
    Share,
    /// Energy in joules.
    Energy,
    /// Power in watts.
    Power,
}

impl Quantity {
    /// Formats a number.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Time => format::duration(value),
            Self::Bytes => format::bytes(value),
            Self::Count => format::count(value.round() as u64),
            Self::Number => format::number(value),
            Self::Ratio => format::ratio(value),
            Self::Energy => format::joules(value),
            Self::Power => format::watts(value),
            Self::Share => format!("{:.1} %", value * 100.0),
        }
    }
}

/// A column of a table, and a field of the page's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Column {
    /// Its name for programs.
    pub key: &'static str,
    /// Heading in the terminal. Empty if it is only on the page.
    #[serde(skip)]
    pub heading: &'static str,
    /// Description on the page.
    pub about: &'static str,
    /// Kind of its numbers.
    pub quantity: Quantity,
}

impl Column {
    /// Makes a column from its key, heading and description.
    pub(super) const fn new([key, heading, about]: [&'static str; 3], quantity: Quantity) -> Self {
        Self { key, heading, about, quantity }
    }
}

/// Amounts by the key of their column. Absent means not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Amounts(BTreeMap<&'static str, f64>);

impl Amounts {
    /// Adds the amounts of other columns.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Returns the amount of a column, by its key.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.0.get(key).copied()
    }
}

impl FromIterator<(Column, Option<f64>)> for Amounts {
    fn from_iter<T: IntoIterator<Item = (Column, Option<f64>)>>(amounts: T) -> Self {
        let known = |(column, amount): (Column, Option<f64>)| Some((column.key, amount?));
        Self(amounts.into_iter().filter_map(known).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_counts_is_rounded_as_on_the_page() {
        assert_eq!([2.4, 2.5, 999.9].map(|mean| Quantity::Count.show(mean)), ["2", "3", "1,000"]);
    }
}
