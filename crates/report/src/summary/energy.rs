//! Energy of phases and of whole workloads, less what the idle machine takes.

use embermark_model::result::{Cell, Energy, Run, Trial};

use super::column::{Amounts, Column, Quantity};
use super::figure::{counted, parts};
use crate::statistics::{mean, median};
use crate::text;

const fn column(key: &'static str, heading: &'static str, about: &'static str) -> Column {
    Column { key, heading, about, quantity: Quantity::Energy }
}

/// Of a whole workload, and of a run of a phase.
pub(super) const OVER_IDLE: Column = column("energy_joules", "energy", "energy over the idle draw");

const PER_OPERATION: Column =
    column("energy_per_op_joules", "energy/op", "energy of an operation over the idle draw");

const IN_ALL: Column =
    column("energy_in_all_joules", "in all", "energy of a run, the idle draw included");

const POWER: Column = Column {
    key: "power_watts",
    heading: "mean power",
    about: "mean power during a run, the idle draw included",
    quantity: Quantity::Power,
};

/// The columns of [`beside`].
pub(super) const COLUMNS: [Column; 4] = [OVER_IDLE, PER_OPERATION, IN_ALL, POWER];

/// Energy over the idle draw, and by how much that may be off.
#[derive(Clone, Copy, Debug, Default)]
struct OverIdle {
    joules: f64,
    error: f64,
}

impl OverIdle {
    fn of(energy: &Energy) -> Option<Self> {
        let error = energy.idle_error_joules.unwrap_or(0.0);
        Some(Self { joules: energy.over_idle_joules?, error })
    }

    /// What is told apart from nothing.
    fn told(self) -> Option<f64> {
        (self.joules > 0.0 && self.joules > self.error).then_some(self.joules)
    }
}

/// What the phases of a trial of that name, or all, took over the idle draw: over the phases with counted
/// runs the sum of the mean per run. `None` where a part was not measured, sources differ, or all of it is
/// not told apart from the idle draw.
pub(super) fn of_trial(trial: &Trial, phase: Option<&str>) -> Option<f64> {
    let mut sum: Option<OverIdle> = None;
    let mut sources: Vec<&str> = Vec::new();
    let named = trial.phases.iter().filter(|part| phase.is_none_or(|name| part.phase == name));
    for part in named.filter(|part| part.ops > 0) {
        let runs = counted(part);
        if runs.is_empty() {
            continue;
        }
        let energies: Option<Vec<&Energy>> = runs.iter().map(|run| run.energy.as_ref()).collect();
        let energies = energies?;
        sources.extend(energies.iter().map(|energy| energy.source.as_str()));
        let of: Option<Vec<OverIdle>> = energies.into_iter().map(OverIdle::of).collect();
        let of = of?;
        let count = of.len() as f64;
        let sum = sum.get_or_insert_default();
        sum.joules += of.iter().map(|one| one.joules).sum::<f64>() / count;
        sum.error += of.iter().map(|one| one.error).sum::<f64>() / count;
    }
    sum.filter(|_| text::unique(sources).len() == 1)?.told()
}

/// What one cell took for a run of a phase: in each trial the mean of the counted runs that were measured,
/// over the trials the median. `None` where none was.
pub(super) fn beside(cell: &Cell, phase: &str) -> Option<Amounts> {
    let of = |amount: &dyn Fn(&Run, &Energy) -> Option<f64>| {
        let of_trial = |runs: Vec<&Run>| {
            let amounts = runs.into_iter().filter_map(|run| amount(run, run.energy.as_ref()?));
            mean(&amounts.collect::<Vec<f64>>())
        };
        let trials = parts(cell, phase).into_iter().map(|(_, part)| counted(part));
        median(&trials.filter_map(of_trial).collect::<Vec<f64>>())
    };
    let error = of(&|_, energy| OverIdle::of(energy).map(|of| of.error));
    let over = of(&|_, energy| energy.over_idle_joules);
    let is_told = over.zip(error).and_then(|(joules, error)| OverIdle { joules, error }.told());
    let per_operation = of(&|run, energy| energy.over_idle_per_operation(run.ops));
    let seconds =
        |run: &Run| Some(run.period.as_ref()?.lasted_ns as f64 / 1e9).filter(|s| *s > 0.0);
    let amounts = [
        (OVER_IDLE, is_told),
        (PER_OPERATION, is_told.and(per_operation)),
        (IN_ALL, of(&|_, energy| Some(energy.joules))),
        (POWER, of(&|run, energy| Some(energy.joules / seconds(run)?))),
    ];
    Some(amounts.into_iter().collect::<Amounts>()).filter(|amounts| *amounts != Amounts::default())
}

#[cfg(test)]
mod tests;
