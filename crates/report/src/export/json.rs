//! The result file with the statistics of its phases, on one line.

use embermark_model::result::ResultFile;
use serde::Serialize;

use super::statistics::{self, Statistic};
use crate::evidence::{self, TierStanding};
use crate::scaling::{self, Scaling};
use crate::{Options, ReportError};

/// The result and the figures computed from it, which readers of results ignore.
#[derive(Serialize)]
struct ResultWithStatistics<'a> {
    #[serde(flatten)]
    file: &'a ResultFile,
    statistics: Vec<Statistic<'a>>,
    scaling: Scaling<'a>,
    durability_shown: Vec<TierStanding>,
}

/// # Errors
/// If a value has no JSON form.
pub(super) fn render(file: &ResultFile, options: &Options<'_>) -> Result<String, ReportError> {
    let (comparison, durability_shown) = evidence::compare(file, &[], options.durability);
    let scaling = scaling::analyze(file, &comparison, options.explanations);
    let statistics = statistics::phase_statistics(&comparison);
    let both = ResultWithStatistics { file, statistics, scaling, durability_shown };
    Ok(serde_json::to_string(&both)? + "\n")
}
