//! One result: what was asked for, and what it was measured on. Its tables are in files of their own.

use embermark_model::result::ResultFile;
use serde::Serialize;

use crate::note::Note;
use crate::{html, notes, text};

/// The longest text of a warning, or of what was asked for.
const LONGEST: usize = 1_000;

/// What is said of a result beside its figures.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ResultData {
    /// The machine in a line.
    machine: String,
    /// What may have disturbed the figures.
    warnings: Vec<String>,
    /// What was asked for and on what.
    about: Vec<Note>,
}

pub(super) fn of(file: &ResultFile) -> ResultData {
    let clipped = |note: Note| Note { says: text::clipped(&note.says, LONGEST), ..note };
    ResultData {
        machine: text::clipped(&notes::machine(&file.manifest.machine), LONGEST),
        warnings: notes::warnings(file).into_iter().map(|note| clipped(note).says).collect(),
        about: html::asked(file).into_iter().map(clipped).collect(),
    }
}
