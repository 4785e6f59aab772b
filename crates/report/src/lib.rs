//! From result files to what a person or a program reads.
//!
//! [`load`] a result file, then [`render`] it in a [`Format`]; [`summary`] has the figures
//! themselves for whoever wants to show them in another way.

pub mod advise;
mod ageing;
pub mod check;
pub mod compare;
pub mod cost;
mod document;
pub mod drift;
mod error;
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
mod overview;
pub mod published;
pub mod reproduction;
pub mod scaling;
pub mod shown;
pub mod site;
pub mod summary;
mod table;
pub mod text;
pub mod tuned;
#[cfg(test)]
mod typescript;
mod xml;

use std::path::Path;

pub use embermark_meter::statistics;
pub use error::ReportError;
pub use export::{Format, OfDevice, csv_of, label, parquet, parquet_of, render};
pub use load::{load, load_durability};
pub use notes::storage::{imitated, near_path};
pub use overview::{Files, overview, provisional};
pub use table::wrapped;

/// How a report is shown.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Columns of the terminal.
    pub width: usize,
    /// Colours by ANSI escapes, for the table alone.
    pub colour: bool,
    /// Phase names in display order; phases not among them follow as they ran.
    pub order: &'a [&'a str],
    /// Latency percentiles too, where they were recorded.
    pub latency: bool,
    /// The 95 % intervals of times and ratios too, in the table; Markdown always has them.
    pub intervals: bool,
    /// What an operation asked of the system too, where that was counted.
    pub explain: bool,
    /// How much each resource counts in the score of what it costs to keep up with a machine.
    pub weights: cost::score::Weights,
    /// Rows a day, at which it is told how long a modelled flash card lasts.
    pub rows_per_day: Option<f64>,
    /// Which published figures stand beside the measured ones.
    pub published: Beside,
    /// What adapters say of costs that stand out.
    pub explanations: scaling::Explanations<'a>,
    /// Where the result was read from or written to, to be named in the notes.
    pub path: Option<&'a Path>,
    /// Runs of `embermark durability` that tell what tiers rest on.
    pub durability: &'a shown::Record,
}

/// Which figures of the workloads' sources are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// None.
    None,
    /// Those that something was measured for.
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
            published: Beside::None,
            explanations: &[],
            path: None,
            durability: Default::default(),
        }
    }
}
