//! The result file, indented.

use embermark_model::result::ResultFile;

use crate::ReportError;

/// # Errors
/// When a value has no JSON form.
pub(super) fn render(file: &ResultFile) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(file)? + "\n")
}
