//! Checks whether a result may be published: the rules, and the result's answer to each.
//! `docs/check.md` has the reasons and the sources of the limits.

mod anonymous;
mod rules;

use embermark_model::result::{Cell, PhaseResult, ResultFile};
use serde::Serialize;

use crate::document::{self, Block};
use crate::note::{self, Note, Section, note};
use crate::{Options, text};

pub use crate::document::json;
pub use anonymous::{Anonymous, Private, anonymous};

/// Answer of a result to one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Name of the rule, like `clean-tree`.
    pub rule: &'static str,
    /// What the rule requires.
    pub asks: &'static str,
    /// Outcome of the rule.
    #[serde(flatten)]
    pub finding: Finding,
    /// What to do if it failed.
    pub remedy: &'static str,
}

/// Outcome of a rule, with what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "finding", content = "found")]
pub enum Finding {
    /// The result meets the rule.
    Passed(String),
    /// The result breaks the rule.
    Failed(String),
    /// The result does not record it, or the rule does not apply to the measurement.
    NotKnown(String),
}

/// Checks a result against every rule, in the order of their documentation.
pub fn check(file: &ResultFile) -> Vec<Answer> {
    let answer = |rule: &rules::Rule| Answer {
        rule: rule.name,
        asks: rule.asks,
        finding: (rule.test)(file),
        remedy: rule.remedy,
    };
    rules::RULES.iter().map(answer).collect()
}

/// Whether a result may be published, which means that no rule failed.
pub fn may_be_published(answers: &[Answer]) -> bool {
    failed(answers).next().is_none()
}

/// Iterates over the rules that failed.
pub(crate) fn failed(answers: &[Answer]) -> impl Iterator<Item = &Answer> {
    answers.iter().filter(|answer| matches!(answer.finding, Finding::Failed(_)))
}

/// Iterates over the measured cells of engines that are compared.
fn measured(file: &ResultFile) -> impl Iterator<Item = &Cell> {
    file.cells.iter().filter(|cell| !cell.reference && !cell.trials.is_empty())
}

/// Iterates over the phases of the measured cells, each with its cell.
fn phases(file: &ResultFile) -> impl Iterator<Item = (&Cell, &PhaseResult)> {
    measured(file).flat_map(|cell| {
        let parts = cell.trials.iter().flat_map(|trial| &trial.phases);
        parts.map(move |part| (cell, part))
    })
}

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
    let remedies = failed(&checked.rules).map(|answer| note(answer.rule, answer.remedy)).collect();
    let sections = [
        ("What to do", remedies),
        ("Left in the anonymous result: decide whether it may be public", checked.left.clone()),
    ];
    [rules].into_iter().chain(note::non_empty(sections)).map(Block::Section).collect()
}
