//! Metrics of a run beside its time. One entry of a table of them is a column of the terminal, of Markdown, of the
//! page, of CSV and of Parquet.

use embermark_model::result::Run;

use super::column::{Amounts, Column, Quantity};
use crate::statistics::{mean, median};

/// How the runs of a cell become one number.
#[derive(Clone, Copy)]
pub(super) enum Over {
    /// In each trial the mean, over the trials the median.
    Middle,
    /// The largest of all.
    Worst,
    /// That of the run whose bytes and sizes were counted.
    Counted,
}

/// The value of one run; `None` where it was not measured.
#[derive(Clone, Copy)]
pub(crate) enum RunValue {
    Whole(fn(&Run) -> Option<u64>),
    Real(fn(&Run) -> Option<f64>),
}

/// A metric.
#[derive(Clone, Copy)]
pub(crate) struct Metric {
    /// Its column. Programs know it by the column's key in every form.
    pub column: Column,
    /// How the runs of a cell become one number.
    over: Over,
    /// The value of one run.
    pub of: RunValue,
}

pub(super) const fn metric(
    [key, heading, about]: [&'static str; 3],
    quantity: Quantity,
    over: Over,
    of: RunValue,
) -> Metric {
    Metric { column: Column { key, heading, about, quantity }, over, of }
}

impl Metric {
    /// The number of a cell, by the counted runs of each trial and the run whose bytes were counted.
    fn amount(&self, trials: &[Vec<&Run>], counted: Option<&Run>) -> Option<f64> {
        let of = |run: &Run| match self.of {
            RunValue::Whole(of) => of(run).map(|value| value as f64),
            RunValue::Real(of) => of(run),
        };
        let of_trial =
            |runs: &Vec<&Run>| mean(&runs.iter().filter_map(|run| of(run)).collect::<Vec<f64>>());
        match self.over {
            Over::Middle => median(&trials.iter().filter_map(of_trial).collect::<Vec<f64>>()),
            Over::Worst => trials.iter().flatten().filter_map(|run| of(run)).reduce(f64::max),
            Over::Counted => counted.and_then(of),
        }
    }
}

/// The numbers of a cell, by the counted runs of each trial and the run whose bytes were counted.
pub(super) fn amounts<'m>(
    metrics: impl IntoIterator<Item = &'m Metric>,
    trials: &[Vec<&Run>],
    counted: Option<&Run>,
) -> Amounts {
    let amount = |metric: &Metric| (metric.column, metric.amount(trials, counted));
    metrics.into_iter().map(amount).collect()
}
