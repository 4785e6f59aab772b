//! One result: its plan and its machine. Its tables are in other files.

use embermark_model::result::ResultFile;
use serde::Serialize;

use crate::note::Note;
use crate::{html, notes, text};

/// Longest text of a warning or a note, in characters.
const LONGEST: usize = 1_000;

/// Data of a result other than its figures.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ResultData {
    /// Description of the machine in one line.
    machine: String,
    /// Conditions that may have disturbed the figures.
    warnings: Vec<String>,
    /// The plan and the machine.
    about: Vec<Note>,
}

pub(super) fn result_data(file: &ResultFile) -> ResultData {
    let clipped = |note: Note| Note { says: text::clipped(&note.says, LONGEST), ..note };
    ResultData {
        machine: text::clipped(&notes::machine(&file.manifest.machine), LONGEST),
        warnings: notes::warnings(file).into_iter().map(|note| clipped(note).says).collect(),
        about: html::plan_and_machine(file).into_iter().map(clipped).collect(),
    }
}
