//! Metrics of a run other than its time. One entry of a list of metrics is a column of the
//! terminal, Markdown, the page, CSV and Parquet.

use embermark_model::result::Run;

use super::column::{Amounts, Column, Quantity};
use crate::statistics::{mean, median};

/// How the runs of a cell are combined into one number.
#[derive(Clone, Copy)]
pub(super) enum Aggregation {
    /// The mean in each trial, and the median over the trials.
    Middle,
    /// The largest value.
    Worst,
    /// The value of the run whose bytes and sizes were counted.
    Counted,
}

/// The value of one run. `None` if it was not measured.
#[derive(Clone, Copy)]
pub(crate) enum RunValue {
    Whole(fn(&Run) -> Option<u64>),
    Real(fn(&Run) -> Option<f64>),
}

/// A metric.
#[derive(Clone, Copy)]
pub(crate) struct Metric {
    /// Its column. Every form has it under the column's key.
    pub column: Column,
    /// How the runs of a cell are combined into one number.
    aggregation: Aggregation,
    /// The value of one run.
    pub value: RunValue,
}

pub(super) const fn metric(
    [key, heading, about]: [&'static str; 3],
    quantity: Quantity,
    aggregation: Aggregation,
    value: RunValue,
) -> Metric {
    Metric { column: Column { key, heading, about, quantity }, aggregation, value }
}

impl Metric {
    /// Returns the number of a cell, from the counted runs of each trial and the run whose bytes
    /// were counted.
    fn amount(&self, trials: &[Vec<&Run>], counted: Option<&Run>) -> Option<f64> {
        let of = |run: &Run| match self.value {
            RunValue::Whole(of) => of(run).map(|value| value as f64),
            RunValue::Real(of) => of(run),
        };
        let of_trial =
            |runs: &Vec<&Run>| mean(&runs.iter().filter_map(|run| of(run)).collect::<Vec<f64>>());
        match self.aggregation {
            Aggregation::Middle => {
                median(&trials.iter().filter_map(of_trial).collect::<Vec<f64>>())
            }
            Aggregation::Worst => {
                trials.iter().flatten().filter_map(|run| of(run)).reduce(f64::max)
            }
            Aggregation::Counted => counted.and_then(of),
        }
    }
}

/// Returns the numbers of a cell, from the counted runs of each trial and the run whose bytes were
/// counted.
pub(super) fn amounts<'m>(
    metrics: impl IntoIterator<Item = &'m Metric>,
    trials: &[Vec<&Run>],
    counted: Option<&Run>,
) -> Amounts {
    let amount = |metric: &Metric| (metric.column, metric.amount(trials, counted));
    metrics.into_iter().map(amount).collect()
}
