//! One result: what it was measured on, and its tables.

use embermark_model::result::ResultFile;
use serde::Serialize;

use super::figures::Figures;
use crate::notes::{self, Note};
use crate::{html, text};

/// The longest text of a warning, or of what was asked for.
const LONGEST: usize = 1_000;

/// A result, whose number in the index is `result`.
#[derive(Serialize)]
pub(super) struct ResultData {
    result: usize,
    machine: String,
    warnings: Vec<String>,
    /// What was asked for and on what.
    about: Vec<Note>,
    groups: Vec<Figures>,
}

pub(super) fn of(file: &ResultFile, place: usize, groups: Vec<Figures>) -> ResultData {
    let clipped = |note: Note| Note { says: text::clipped(&note.says, LONGEST), ..note };
    ResultData {
        result: place,
        machine: text::clipped(&notes::machine(&file.manifest.machine), LONGEST),
        warnings: notes::warnings(file).into_iter().map(|note| clipped(note).says).collect(),
        about: html::asked(file).into_iter().map(clipped).collect(),
        groups,
    }
}
