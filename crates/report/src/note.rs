//! Notes and their sections: what is said in lines beside tables.

use serde::Serialize;

use crate::text;

/// Lines under one heading. No section is empty.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Section {
    /// The heading.
    pub title: String,
    /// The lines.
    pub notes: Vec<Note>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Note {
    /// The subject; may be empty.
    pub about: String,
    /// The text.
    pub says: String,
}

/// Makes a line.
pub(crate) fn note(about: impl Into<String>, says: impl Into<String>) -> Note {
    Note { about: about.into(), says: says.into() }
}

/// Returns the sections that are not empty.
pub(crate) fn filled<T: Into<String>>(
    sections: impl IntoIterator<Item = (T, Vec<Note>)>,
) -> Vec<Section> {
    let sections = sections.into_iter().filter(|(_, notes)| !notes.is_empty());
    sections.map(|(title, notes)| Section { title: title.into(), notes }).collect()
}

/// Joins names without repetition.
pub(crate) fn names(all: impl IntoIterator<Item = String>) -> String {
    text::unique(all).join(", ")
}
