//! Energy of phases and of whole workloads, minus that of the idle machine.

use embermark_model::result::{Energy, Run, Trial};

use super::column::{Amounts, Column, Quantity};
use super::figure::counted;
use super::work::Work;
use crate::statistics::{mean, median};
use crate::text;

const fn column(key: &'static str, heading: &'static str, about: &'static str) -> Column {
    Column { key, heading, about, quantity: Quantity::Energy }
}

/// Column of a whole workload, and of a run of a phase.
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

/// Columns of [`energy_figures`].
pub(super) const COLUMNS: [Column; 4] = [OVER_IDLE, PER_OPERATION, IN_ALL, POWER];

/// Energy over the idle draw, and its error.
#[derive(Clone, Copy, Debug, Default)]
struct OverIdle {
    joules: f64,
    error: f64,
}

impl OverIdle {
    fn new(energy: &Energy) -> Option<Self> {
        let error = energy.idle_error_joules.unwrap_or(0.0);
        Some(Self { joules: energy.over_idle_joules?, error })
    }

    /// Returns the energy if it is larger than its error.
    fn significant(self) -> Option<f64> {
        (self.joules > 0.0 && self.joules > self.error).then_some(self.joules)
    }
}

/// Returns the energy of some work over the idle draw: the sum over its phases of the mean per
/// counted run. `None` if a part was not measured, if sources differ, or if the sum is not larger
/// than its error.
pub(super) fn trial_energy(trial: &Trial, work: Work<'_>) -> Option<f64> {
    let mut sum: Option<OverIdle> = None;
    let mut sources: Vec<&str> = Vec::new();
    for part in work.phases(trial).filter(|part| part.ops > 0) {
        let runs = counted(part);
        if runs.is_empty() {
            continue;
        }
        let energies: Option<Vec<&Energy>> = runs.iter().map(|run| run.energy.as_ref()).collect();
        let energies = energies?;
        sources.extend(energies.iter().map(|energy| energy.source.as_str()));
        let of: Option<Vec<OverIdle>> = energies.into_iter().map(OverIdle::new).collect();
        let of = of?;
        let count = of.len() as f64 / work.share(part, &runs);
        let sum = sum.get_or_insert_default();
        sum.joules += of.iter().map(|one| one.joules).sum::<f64>() / count;
        sum.error += of.iter().map(|one| one.error).sum::<f64>() / count;
    }
    sum.filter(|_| text::unique(sources).len() == 1)?.significant()
}

/// Returns the amounts of one cell for a run of a phase, from the counted runs of each trial. They
/// are medians over the trials of the mean over the measured runs. `None` if no run was measured.
pub(super) fn energy_figures(trials: &[Vec<&Run>]) -> Option<Amounts> {
    // Most results have no energy.
    if trials.iter().flatten().all(|run| run.energy.is_none()) {
        return None;
    }
    let of = |amount: &dyn Fn(&Run, &Energy) -> Option<f64>| {
        let of_trial = |runs: &Vec<&Run>| {
            let amounts = runs.iter().filter_map(|run| amount(run, run.energy.as_ref()?));
            mean(&amounts.collect::<Vec<f64>>())
        };
        median(&trials.iter().filter_map(of_trial).collect::<Vec<f64>>())
    };
    let error = of(&|_, energy| OverIdle::new(energy).map(|of| of.error));
    let over = of(&|_, energy| energy.over_idle_joules);
    let significant =
        over.zip(error).and_then(|(joules, error)| OverIdle { joules, error }.significant());
    let per_operation = of(&|run, energy| energy.over_idle_per_operation(run.ops));
    let seconds =
        |run: &Run| Some(run.period.as_ref()?.lasted_ns as f64 / 1e9).filter(|s| *s > 0.0);
    let amounts = [
        (OVER_IDLE, significant),
        (PER_OPERATION, significant.and(per_operation)),
        (IN_ALL, of(&|_, energy| Some(energy.joules))),
        (POWER, of(&|run, energy| Some(energy.joules / seconds(run)?))),
    ];
    Some(amounts.into_iter().collect::<Amounts>()).filter(|amounts| *amounts != Amounts::default())
}

#[cfg(test)]
mod tests {
    use embermark_model::result::{EnergySource, Period, PhaseResult};

    use super::*;

    /// Makes a run of 4 s that takes `joules`, by a source that draws 2 W ± 0.25 W when idle.
    fn run(source: &str, joules: f64, ops: u64) -> Run {
        let source = EnergySource {
            id: source.to_owned(),
            idle_watts: Some(2.0),
            idle_spread_watts: Some(0.25),
            ..EnergySource::default()
        };
        Run {
            elapsed_ns: 4_000_000_000,
            ops,
            period: Some(Period { began: String::new(), lasted_ns: 4_000_000_000 }),
            energy: Some(Energy::new(&source, joules, 4.0)),
            ..Run::default()
        }
    }

    fn trial(phases: Vec<(&str, Vec<Run>)>) -> Trial {
        let phase = |(name, runs): (&str, Vec<Run>)| PhaseResult {
            phase: name.to_owned(),
            ops: 10,
            runs,
            ..PhaseResult::default()
        };
        Trial { phases: phases.into_iter().map(phase).collect(), ..Trial::default() }
    }

    #[test]
    fn a_trial_is_the_sum_of_its_phases_over_the_idle_draw() {
        let both = trial(vec![
            ("load", vec![run("meter", 18.0, 10), run("meter", 22.0, 10)]),
            ("read", vec![run("meter", 13.0, 10)]),
        ]);
        // (10 + 14) / 2, and 5.
        assert_eq!(trial_energy(&both, Work::All), Some(17.0));
        assert_eq!(trial_energy(&both, Work::Near("read", 0)), Some(5.0));
        assert_eq!(trial_energy(&both, Work::Near("none", 0)), None);
    }

    #[test]
    fn what_is_not_told_apart_from_idle_and_what_is_not_whole_is_nothing() {
        // 0.9 J over idle, and the idle draw of 4 s is known within 1 J.
        assert_eq!(
            trial_energy(&trial(vec![("load", vec![run("meter", 8.9, 10)])]), Work::All),
            None
        );
        assert_eq!(
            trial_energy(&trial(vec![("load", vec![run("meter", 7.0, 10)])]), Work::All),
            None
        );
        assert!(
            trial_energy(&trial(vec![("load", vec![run("meter", 9.1, 10)])]), Work::All).is_some()
        );
        let lacking = Run { energy: None, ..run("meter", 20.0, 10) };
        let part = trial(vec![("load", vec![run("meter", 20.0, 10)]), ("read", vec![lacking])]);
        assert_eq!(trial_energy(&part, Work::All), None);
        assert_eq!(trial_energy(&part, Work::Near("load", 0)), Some(12.0));
        let mixed = trial(vec![("load", vec![run("meter", 20.0, 10), run("package", 20.0, 10)])]);
        assert_eq!(trial_energy(&mixed, Work::All), None, "what two sources say is no sum");
        let mut no_idle = run("meter", 20.0, 10);
        no_idle.energy.as_mut().unwrap().over_idle_joules = None;
        assert_eq!(trial_energy(&trial(vec![("load", vec![no_idle])]), Work::All), None);
    }
}
