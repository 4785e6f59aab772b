//! Decides which results a site shows. Every reason to leave out a result is here.

use std::path::Path;

use embermark_model::result::ResultFile;

use crate::check::{self, Finding};
use crate::{ReportError, load};

/// Reads a result without figures that may not be published. These are in cells that are marked so,
/// and in all cells of `forbidden` engines.
///
/// # Errors
/// Why the result is left out. Either it is not a readable result of embermark, or only `checked`
/// ones are shown and it fails rules of `embermark check`.
pub(super) fn read_admissible(
    path: &Path,
    forbidden: &[&str],
    checked: bool,
) -> Result<ResultFile, ReportError> {
    // Reading a pipe or a device could wait forever.
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        return Err(ReportError::NotAResult(path.to_owned(), "it is not a regular file"));
    }
    let mut file = load(path)?;
    let plan = &file.plan;
    for cell in &mut file.cells {
        cell.unpublishable |= forbidden.contains(&plan.engine_of(&cell.id.engine))
            || forbidden.contains(&cell.id.engine.as_str());
    }
    let file = file.publishable();
    let answers = if checked { check::check(&file) } else { Vec::new() };
    if !check::may_be_published(&answers) {
        let failed = answers.iter().filter(|answer| matches!(answer.finding, Finding::Failed(_)));
        let rules: Vec<&str> = failed.map(|answer| answer.rule).collect();
        return Err(ReportError::FailsCheck(path.to_owned(), rules.join(", ")));
    }
    Ok(file)
}
