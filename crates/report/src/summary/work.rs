//! The phases that an amount is of.

use std::collections::HashSet;

use embermark_model::result::{PhaseResult, Run, Trial};

use crate::statistics::total;

/// Which phases of a cell an amount is of.
#[derive(Clone, Copy, Debug)]
pub enum Work<'w> {
    /// All of them, each as far as it came.
    All,
    /// That one, as far as it came.
    Phase(&'w str),
    /// The same, which stands at this place in most trials.
    Near(&'w str, usize),
    /// Those, each as if it had come to its end: of what was stopped, an operation counts as much as
    /// those that were done.
    Whole(&'w HashSet<&'w str>),
}

impl<'w> Work<'w> {
    /// The phases of a trial that belong to it.
    pub(crate) fn of(self, trial: &Trial) -> impl Iterator<Item = &PhaseResult> + use<'_, 'w> {
        let near = match self {
            Self::Near(name, place) => trial.phases.get(place).filter(|part| part.phase == name),
            _ => None,
        };
        let others = if near.is_some() { &[] } else { &trial.phases[..] };
        near.into_iter().chain(others.iter().filter(move |part| match self {
            Self::All => true,
            Self::Phase(name) | Self::Near(name, _) => part.phase == name,
            Self::Whole(names) => names.contains(&part.phase.as_str()),
        }))
    }

    /// How many times the mean of its counted runs a phase counts.
    pub(super) fn share(self, part: &PhaseResult, runs: &[&Run]) -> f64 {
        let done = total(runs.iter().map(|run| run.ops));
        match self {
            Self::Whole(_) if done > 0 => part.ops as f64 * runs.len() as f64 / done as f64,
            _ => 1.0,
        }
    }

    pub(super) const fn is_of_phase(self) -> bool {
        !matches!(self, Self::All)
    }
}
