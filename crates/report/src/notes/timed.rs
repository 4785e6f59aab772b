//! What took the times of phases, where that was a client in another process by its own clock.

use std::collections::BTreeMap;

use embermark_model::result::ResultFile;

use super::{Note, names, note};
use crate::text;

/// Each client with its phases: `Node.js v20.1.0, sqlite3 6.0.1, SQLite 3.52.0: sqlite htap insert_count
/// (node)`.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let mut phases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for cell in &file.cells {
        for phase in cell.trials.iter().flat_map(|trial| &trial.phases) {
            let Some(by) = &phase.timed_by else { continue };
            let id = &cell.id;
            let words = [&id.engine, &id.workload, &phase.phase].map(|word| text::plain(word));
            phases.entry(by).or_default().push(format!("{} ({})", words.join(" "), id.variant));
        }
    }
    let line = |(by, phases)| note("", format!("{}: {}", text::plain(by), names(phases)));
    phases.into_iter().map(line).collect()
}
