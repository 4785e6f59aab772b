//! Which mixes reached a steady state, and after how long.

use embermark_model::result::ResultFile;

use crate::note::{Note, note};
use crate::{format, text};

/// Returns a line for each run of a mix that continues until it is steady: `sqlite rw both: steady
/// after 12.3 s` or `not steady after 10 min: read`.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let mut lines = Vec::new();
    for (cell, phase) in super::phases(file) {
        for steady in phase.runs.iter().filter_map(|run| run.steady.as_ref()) {
            let what = format!("{} {} {}", cell.id.engine, cell.id.workload, phase.phase);
            let after = format::duration(steady.after_s * 1e9);
            let restless = steady.figures.iter().filter(|(_, figure)| !figure.steady);
            let restless = text::joined(restless.map(|(name, _)| name.clone()), ", ");
            let says = match steady.reached {
                true => format!("{what}: steady after {after}"),
                false => format!("{what}: not steady after {after}: {restless}"),
            };
            lines.push(note("", text::plain(&says)));
        }
    }
    lines
}
