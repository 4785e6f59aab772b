//! Phases that an amount covers.

use std::collections::HashSet;

use embermark_model::result::{PhaseResult, Run, Trial};

use crate::statistics::total;

/// Phases of a cell that an amount covers.
#[derive(Clone, Copy, Debug)]
pub enum Work<'w> {
    /// All phases, each as far as it went. The parts of a mix are in the whole mix, which alone has
    /// resources.
    All,
    /// The named phase, as far as it went. It has this index in most trials.
    Near(&'w str, usize),
    /// These phases, extrapolated to their end if they were stopped. Each missing operation counts
    /// as much as one that was done.
    Whole(&'w HashSet<&'w str>),
}

impl<'w> Work<'w> {
    /// Returns the phases of a trial that it covers.
    pub(crate) fn phases(self, trial: &Trial) -> impl Iterator<Item = &PhaseResult> + use<'_, 'w> {
        let near = match self {
            Self::Near(name, place) => trial.phases.get(place).filter(|part| part.phase == name),
            _ => None,
        };
        let others = if near.is_some() { &[] } else { &trial.phases[..] };
        near.into_iter().chain(others.iter().filter(move |part| match self {
            Self::All => !is_part(trial, part),
            Self::Near(name, _) => part.phase == name,
            Self::Whole(names) => names.contains(&part.phase.as_str()),
        }))
    }

    /// Returns the factor by which the mean of a phase's counted runs is multiplied.
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

/// Whether a phase is a part of a mix, as `live/read` is of `live`.
fn is_part(trial: &Trial, part: &PhaseResult) -> bool {
    let whole = part.phase.split_once('/').map(|(whole, _)| whole);
    whole.is_some_and(|whole| trial.phases.iter().any(|other| other.phase == whole))
}
