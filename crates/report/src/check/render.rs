//! Formats a check as text and as JSON.

use serde::Serialize;

use super::{Answer, Finding, may_be_published};
use crate::document::{self, Block};
use crate::note::{self, Note, Section, note};
use crate::{Options, ReportError, text};

/// A result that was checked.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The file.
    pub file: String,
    /// Whether it may be published.
    pub may_stand: bool,
    /// The answer to each rule.
    pub rules: Vec<Answer>,
    /// What still identifies the computer or its owner, if the result was made anonymous.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Note>,
}

impl Checked {
    /// Makes the check of a file from its answers.
    pub fn new(file: String, rules: Vec<Answer>, left: Vec<Note>) -> Self {
        Self { file, may_stand: may_be_published(&rules), rules, left }
    }
}

/// Formats checks for a terminal.
pub fn table(all: &[Checked], options: &Options<'_>) -> String {
    document::terminal(&all.iter().flat_map(blocks).collect::<Vec<_>>(), options)
}

/// Formats checks as JSON.
///
/// # Errors
/// If a value has no JSON form, which does not happen here.
pub fn json(all: &[Checked]) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(all)? + "\n")
}

fn blocks(checked: &Checked) -> Vec<Block> {
    let says = if checked.may_stand { "may be published" } else { "may not be published" };
    let line = |answer: &Answer| {
        let (word, found) = match &answer.finding {
            Finding::Passed(found) => ("passed", found),
            Finding::Failed(found) => ("FAILED", found),
            Finding::NotKnown(found) => ("not known", found),
        };
        note(answer.rule, format!("{word}: {}", text::clipped(found, 300)))
    };
    let title = format!("{} {says}", text::plain(&checked.file));
    let rules = Section { title, notes: checked.rules.iter().map(line).collect() };
    let failed = checked.rules.iter().filter(|answer| matches!(answer.finding, Finding::Failed(_)));
    let remedies = failed.map(|answer| note(answer.rule, answer.remedy)).collect();
    let sections = [
        ("What to do", remedies),
        ("Left in the anonymous result: decide whether it may be public", checked.left.clone()),
    ];
    [rules].into_iter().chain(note::non_empty(sections)).map(Block::Section).collect()
}
