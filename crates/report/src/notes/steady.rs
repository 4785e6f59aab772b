//! Which mixes reached a steady state, and after how long.

use embermark_model::result::ResultFile;

use crate::note::{Note, note};
use crate::{format, text};

/// Returns a line for each run of a mix that continues until it is steady: `sqlite rw both: steady
/// after 12.3 s` or `not steady after 10 min: read`.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let mut lines = Vec::new();
    for cell in &file.cells {
        for phase in cell.trials.iter().flat_map(|trial| &trial.phases) {
            for steady in phase.runs.iter().filter_map(|run| run.steady.as_ref()) {
                let words = [&cell.id.engine, &cell.id.workload, &phase.phase];
                let what = words.map(|word| text::plain(word)).join(" ");
                let after = format::duration(steady.after_s * 1e9);
                let restless = steady.figures.iter().filter(|(_, figure)| !figure.steady);
                let restless = text::joined(restless.map(|(name, _)| text::plain(name)), ", ");
                let says = match steady.reached {
                    true => format!("{what}: steady after {after}"),
                    false => format!("{what}: not steady after {after}: {restless}"),
                };
                lines.push(note("", says));
            }
        }
    }
    lines
}
