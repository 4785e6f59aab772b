//! Checks whether a result may be published: the rules, and the result's answer to each.
//! `docs/check.md` has the reasons and the sources of the limits.

mod anonymous;
mod private;
mod render;
mod rules;
mod spread;

use embermark_model::result::{Cell, PhaseResult, ResultFile};
use serde::Serialize;

pub use anonymous::{Anonymous, anonymous};
pub use render::{Checked, json, table};

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
    !answers.iter().any(|answer| matches!(answer.finding, Finding::Failed(_)))
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
