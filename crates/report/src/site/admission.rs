//! Which results a site shows. Whatever keeps a result out of it is decided here.

use std::path::Path;

use embermark_model::result::ResultFile;

use crate::check::{self, Finding};
use crate::{ReportError, load};

/// Reads a result without the figures that may not be published: those of cells that say so, and those of
/// `forbidden` engines whatever their cells say.
///
/// # Errors
/// Why the result is left out: it is no readable result of embermark, or where only `checked` ones are shown,
/// the rules of `embermark check` that it fails.
pub(super) fn admitted(
    path: &Path,
    forbidden: &[&str],
    checked: bool,
) -> Result<ResultFile, ReportError> {
    // A pipe or a device would be waited for.
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
    if !check::may_stand(&answers) {
        let failed = answers.iter().filter(|answer| matches!(answer.finding, Finding::Failed(_)));
        let rules: Vec<&str> = failed.map(|answer| answer.rule).collect();
        return Err(ReportError::FailsCheck(path.to_owned(), rules.join(", ")));
    }
    Ok(file)
}
