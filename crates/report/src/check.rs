//! Whether a result may be published: the rules, and the result's answer to each.
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

/// What a result says to one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The rule's name, `clean-tree`.
    pub rule: &'static str,
    /// What it asks for.
    pub asks: &'static str,
    /// How it went.
    #[serde(flatten)]
    pub finding: Finding,
    /// What to do where it failed.
    pub remedy: &'static str,
}

/// How a rule went, with what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "finding", content = "found")]
pub enum Finding {
    /// The result is as the rule asks.
    Passed(String),
    /// It is not.
    Failed(String),
    /// The result does not record it, or the rule does not apply to what was measured.
    NotKnown(String),
}

/// What a result says to every rule, in the order in which they are documented.
pub fn check(file: &ResultFile) -> Vec<Answer> {
    let answer = |rule: &rules::Rule| Answer {
        rule: rule.name,
        asks: rule.asks,
        finding: (rule.look)(file),
        remedy: rule.remedy,
    };
    rules::RULES.iter().map(answer).collect()
}

/// Whether a result may be published: no rule failed.
pub fn may_stand(answers: &[Answer]) -> bool {
    !answers.iter().any(|answer| matches!(answer.finding, Finding::Failed(_)))
}

/// Cells with figures of engines that are compared.
fn measured(file: &ResultFile) -> impl Iterator<Item = &Cell> {
    file.cells.iter().filter(|cell| !cell.reference && !cell.trials.is_empty())
}

/// Their phases, each with its cell.
fn phases(file: &ResultFile) -> impl Iterator<Item = (&Cell, &PhaseResult)> {
    measured(file).flat_map(|cell| {
        let parts = cell.trials.iter().flat_map(|trial| &trial.phases);
        parts.map(move |part| (cell, part))
    })
}
