//! The result file, indented, with the statistics of its phases beside it.

use embermark_model::result::ResultFile;
use serde::Serialize;

use super::statistics::{self, Statistic};
use crate::{ReportError, summary};

/// The result, and what is computed from it: readers of results ignore the latter.
#[derive(Serialize)]
struct Both<'a> {
    #[serde(flatten)]
    file: &'a ResultFile,
    statistics: Vec<Statistic<'a>>,
}

/// # Errors
/// When a value has no JSON form.
pub(super) fn render(file: &ResultFile) -> Result<String, ReportError> {
    let comparison = summary::compare(file, &[]);
    let both = Both { file, statistics: statistics::of(&comparison) };
    Ok(serde_json::to_string_pretty(&both)? + "\n")
}
