//! What confirmed the answers of phases that no oracle checks.

use std::collections::BTreeMap;

use embermark_model::result::ResultFile;

use crate::note::{Note, names, note};
use crate::text;

/// Lists each confirmation with its phases: `agreed by sqlite and duckdb: shop cities, shop
/// regions`.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let mut phases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (cell, phase) in super::phases(file) {
        let Some(by) = &phase.checked_by else { continue };
        let place = text::plain(&format!("{} {}", cell.id.workload, phase.phase));
        phases.entry(by).or_default().push(place);
    }
    let line = |(by, phases)| note("", format!("{}: {}", text::plain(by), names(phases)));
    phases.into_iter().map(line).collect()
}
