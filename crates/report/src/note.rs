//! Notes and their sections: lines of text next to tables.

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

/// A line of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Note {
    /// The subject. May be empty.
    pub about: String,
    /// The text.
    pub says: String,
}

/// Makes a note.
pub(crate) fn note(about: impl Into<String>, says: impl Into<String>) -> Note {
    Note { about: about.into(), says: says.into() }
}

/// Returns the sections that are not empty.
pub(crate) fn non_empty<T: Into<String>>(
    sections: impl IntoIterator<Item = (T, Vec<Note>)>,
) -> Vec<Section> {
    let sections = sections.into_iter().filter(|(_, notes)| !notes.is_empty());
    sections.map(|(title, notes)| Section { title: title.into(), notes }).collect()
}

/// Returns a note without a subject for each text.
pub(crate) fn lines<T: ToString>(texts: &[T]) -> Vec<Note> {
    texts.iter().map(|says| note("", text::plain(&says.to_string()))).collect()
}

/// Joins names without repetition.
pub(crate) fn names(all: impl IntoIterator<Item = String>) -> String {
    text::unique(all).join(", ")
}
