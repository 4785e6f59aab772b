//! Renders result files for people and for programs.
//!
//! [`load`] a result file, then [`render`] it in a [`Format`]. [`summary`] has the figures
//! themselves, for other ways to show them.

pub mod advise;
mod ageing;
pub mod check;
pub mod compare;
mod conditions;
pub mod cost;
mod document;
pub mod drift;
mod error;
pub mod evidence;
mod export;
mod flash;
pub mod fleet;
pub mod format;
pub mod gate;
mod grid;
pub mod html;
mod kinds;
mod load;
mod note;
mod notes;
mod published;
pub mod reproduction;
pub mod scaling;
mod screen;
pub mod site;
pub mod summary;
mod table;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tuned;

use std::path::Path;

pub use embermark_meter::statistics;
pub use error::ReportError;
pub use export::{DeviceResult, Format, csv_of, label, parquet_of, render};
pub use load::{load, load_durability};
pub use notes::storage::{LATE, imitated, near_path};
pub use screen::{Files, has_runs, provisional, screen};
pub use table::wrapped;

/// How a report is shown.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether the table is coloured by ANSI escapes. Other formats never are.
    pub colour: bool,
    /// Phase names in display order. Phases that are not listed follow in the order in which they
    /// ran.
    pub order: &'a [&'a str],
    /// Whether to show latency percentiles, if they were recorded.
    pub latency: bool,
    /// Whether the table shows the 95 % intervals of times and ratios. Markdown always does.
    pub intervals: bool,
    /// Whether to show what an operation asked of the system, if that was counted.
    pub explain: bool,
    /// How much each resource counts in the score of what it costs to keep up with a machine.
    pub weights: cost::score::Weights,
    /// Rows per day for which the lifetime of a modelled flash card is shown.
    pub rows_per_day: Option<f64>,
    /// Which published figures are shown next to the measured ones.
    pub published: PublishedDetail,
    /// Explanations of unusual costs, from the engines' adapters.
    pub explanations: scaling::Explanations<'a>,
    /// File that the result was read from or written to. The notes name it.
    pub path: Option<&'a Path>,
    /// Runs of `embermark durability`, the evidence for what tiers promise.
    pub durability: &'a evidence::Record,
}

/// Which figures of the workloads' sources are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedDetail {
    /// None.
    None,
    /// Those with a measured counterpart.
    Measured,
    /// All.
    All,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            width: 80,
            colour: false,
            order: &[],
            latency: false,
            intervals: false,
            explain: false,
            weights: cost::score::Weights::default(),
            rows_per_day: None,
            published: PublishedDetail::None,
            explanations: &[],
            path: None,
            durability: Default::default(),
        }
    }
}
