//! The result file with the statistics of its phases, on one line.

use embermark_model::result::ResultFile;
use serde::Serialize;

use super::statistics::{self, Statistic};
use crate::scaling::{self, Scaling};
use crate::shown::{self, Told};
use crate::{Options, ReportError, summary};

/// The result and the figures computed from it, which readers of results ignore.
#[derive(Serialize)]
struct Both<'a> {
    #[serde(flatten)]
    file: &'a ResultFile,
    statistics: Vec<Statistic<'a>>,
    scaling: Scaling<'a>,
    durability_shown: Vec<Told>,
}

/// # Errors
/// If a value has no JSON form.
pub(super) fn render(file: &ResultFile, options: &Options<'_>) -> Result<String, ReportError> {
    let comparison = summary::compare(file, &[]);
    let scaling = scaling::of(file, &comparison, options.explanations);
    let statistics = statistics::of(&comparison);
    let durability_shown = shown::of(file, options.durability);
    let both = Both { file, statistics, scaling, durability_shown };
    Ok(serde_json::to_string(&both)? + "\n")
}
