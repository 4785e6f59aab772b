//! Metrics of a run other than its time: what a load wrote, the log that a run opened, the buffer
//! for its rows, and its energy minus that of the idle machine. One entry of [`LOADING`] or of a
//! table of [`RUN_TABLES`] is a column of the terminal, Markdown, the page, CSV and Parquet.

use embermark_model::result::{Cell, Energy, PhaseResult, Run, Trial};

use super::column::Quantity::{self, Bytes, Count, Ratio, Time};
use super::column::{Amounts, Column};
use super::figure::counted;
use super::work::Work;
use crate::statistics::{mean, median};
use crate::text;
use Aggregation::{Counted, Middle, Worst};

/// How the runs of a cell are combined into one number.
#[derive(Clone, Copy)]
enum Aggregation {
    /// The mean in each trial, and the median over the trials.
    Middle,
    /// The largest value.
    Worst,
    /// The value of the run whose bytes and sizes were counted.
    Counted,
}

/// The value of one run. `None` if it was not measured.
#[derive(Clone, Copy)]
pub(crate) enum RunValue {
    Whole(fn(&Run) -> Option<u64>),
    Real(fn(&Run) -> Option<f64>),
}

/// A metric.
#[derive(Clone, Copy)]
pub(crate) struct Metric {
    /// Its column. Every form has it under the column's key.
    pub column: Column,
    /// How the runs of a cell are combined into one number.
    aggregation: Aggregation,
    /// The value of one run.
    pub value: RunValue,
}

/// Makes a metric of whole numbers from its key, heading and description.
const fn whole(
    labels: [&'static str; 3],
    quantity: Quantity,
    aggregation: Aggregation,
    value: fn(&Run) -> Option<u64>,
) -> Metric {
    Metric { column: Column::new(labels, quantity), aggregation, value: RunValue::Whole(value) }
}

/// Makes a metric of numbers with a fraction.
const fn real(
    labels: [&'static str; 3],
    quantity: Quantity,
    aggregation: Aggregation,
    value: fn(&Run) -> Option<f64>,
) -> Metric {
    Metric { column: Column::new(labels, quantity), aggregation, value: RunValue::Real(value) }
}

impl Metric {
    /// Returns the number of a cell, from the counted runs of each trial and the run whose bytes
    /// were counted.
    fn amount(&self, trials: &[Vec<&Run>], counted: Option<&Run>) -> Option<f64> {
        let of = |run: &Run| match self.value {
            RunValue::Whole(of) => of(run).map(|value| value as f64),
            RunValue::Real(of) => of(run),
        };
        let of_trial =
            |runs: &Vec<&Run>| mean(&runs.iter().filter_map(|run| of(run)).collect::<Vec<f64>>());
        match self.aggregation {
            Middle => median(&trials.iter().filter_map(of_trial).collect::<Vec<f64>>()),
            Worst => trials.iter().flatten().filter_map(|run| of(run)).reduce(f64::max),
            Counted => counted.and_then(of),
        }
    }
}

/// Returns the numbers of a cell, from the counted runs of each trial and the run whose bytes were
/// counted.
fn amounts<'m>(
    metrics: impl IntoIterator<Item = &'m Metric>,
    trials: &[Vec<&Run>],
    counted: Option<&Run>,
) -> Amounts {
    let amount = |metric: &Metric| (metric.column, metric.amount(trials, counted));
    metrics.into_iter().map(amount).collect()
}

/// Metrics of a load, in display order. `docs/resources.md` defines which bytes of rows count.
/// Amplifications are bytes that reached the device, divided by those.
pub(crate) const LOADING: &[Metric] = &[
    whole(["user_bytes", "rows' bytes", "bytes of the rows' values"], Bytes, Middle, |run| {
        Some(run.loaded?.user_bytes)
    }),
    real(
        ["write_amplification", "written/byte", "write amplification of a run"],
        Ratio,
        Counted,
        Run::write_amplification,
    ),
    whole(
        ["maintenance_ns", "maintenance", "maintenance (checkpoint, compaction)"],
        Time,
        Middle,
        |run| Some(run.maintenance()?.elapsed_ns),
    ),
    whole(["maintenance_cpu_ns", "its CPU", "CPU time for it"], Time, Middle, |run| {
        run.maintenance()?.engine.cpu_ns
    }),
    whole(["maintenance_device_written_bytes", "", "written for it"], Bytes, Counted, |run| {
        Some(run.maintenance()?.device_io?.written_bytes)
    }),
    real(
        [
            "amplification_with_maintenance",
            "total/byte",
            "write amplification, maintenance included",
        ],
        Ratio,
        Counted,
        Run::amplification_with_maintenance,
    ),
    whole(
        ["before_maintenance_allocated_bytes", "disk before", "on disk before it"],
        Bytes,
        Counted,
        |run| Some(run.maintenance()?.disk_before?.allocated_bytes),
    ),
    whole(
        ["after_maintenance_allocated_bytes", "disk after", "on disk after it"],
        Bytes,
        Counted,
        |run| Some(run.maintenance()?.disk_after?.allocated_bytes),
    ),
];

/// Returns the time and bytes of one load of one cell, by the keys of its metrics. `None` if the
/// phase inserts no rows, or if they were not counted.
pub fn loading(cell: &Cell, phase: &str, parts: &[(u32, &PhaseResult)]) -> Option<Amounts> {
    let trials: Vec<Vec<&Run>> = parts.iter().map(|(_, part)| counted(part)).collect();
    let amounts = amounts(LOADING, &trials, cell.counted(phase));
    amounts.get("user_bytes").map(|_| amounts)
}

/// Metrics of a log that was opened.
const LOG: &[Metric] =
    &[whole(["log_bytes", "log", "log that was opened"], Bytes, Middle, |run| run.log_bytes)];

/// Metrics of a buffer for rows.
const WRITE_BEHIND: &[Metric] = &[
    real(["offered_per_second", "offered/s", "rows offered per second"], Count, Middle, |run| {
        Some(run.write_behind?.target_rate)
    }),
    real(["accepted_per_second", "accepted/s", "rows accepted per second"], Count, Middle, |run| {
        Some(run.write_behind?.accepted_rate)
    }),
    real(
        ["committed_per_second", "committed/s", "rows committed per second"],
        Count,
        Middle,
        |run| Some(run.write_behind?.committed_rate),
    ),
    whole(["buffer_commits", "commits", "commits"], Count, Middle, |run| {
        Some(run.write_behind?.commits)
    }),
    whole(["loss_rows", "rows lost", "most rows accepted and not committed"], Count, Worst, |of| {
        Some(of.write_behind?.loss_rows)
    }),
    whole(["loss_ns", "time lost", "longest time from accepted to committed"], Time, Worst, |of| {
        Some(of.write_behind?.loss_ns)
    }),
];

/// Tables of metrics of a run, with their titles.
///
/// A phase without a figure of a table is no row of it, and the page lists only figures that a
/// phase has. If a figure is missing for a reason, the reason is a field of [`Run`] like
/// `no_energy`, with a note (`notes::energy`) and a column of CSV (`export::columns`).
pub(crate) const RUN_TABLES: &[(&str, &[Metric])] = &[
    ("log that was opened", LOG),
    ("accepted before committed: what a crash would lose at worst", WRITE_BEHIND),
];

/// Returns the columns of [`run_figures`], by table.
pub fn run_figure_columns() -> Vec<(&'static str, Vec<Column>)> {
    let energy = ("energy of a run, over the idle draw and in all", ENERGY.to_vec());
    let columns = |metrics: &[Metric]| metrics.iter().map(|metric| metric.column).collect();
    let others = RUN_TABLES.iter().map(|(title, metrics)| (*title, columns(metrics)));
    [energy].into_iter().chain(others).collect()
}

/// Returns the figures of a phase of one cell. `None` if it has none.
pub fn run_figures(parts: &[(u32, &PhaseResult)]) -> Option<Amounts> {
    let trials: Vec<Vec<&Run>> = parts.iter().map(|(_, part)| counted(part)).collect();
    let own = amounts(RUN_TABLES.iter().flat_map(|(_, metrics)| *metrics), &trials, None);
    let all = energy_figures(&trials).into_iter().fold(own, Amounts::with);
    Some(all).filter(|amounts| *amounts != Amounts::default())
}

/// Column of a whole workload, and of a run of a phase.
pub(super) const OVER_IDLE: Column = Column::new(
    ["energy_over_idle_joules", "energy", "energy over the idle draw"],
    Quantity::Energy,
);

/// Columns of the energy of a run.
const ENERGY: [Column; 4] = [
    OVER_IDLE,
    Column::new(
        [
            "energy_over_idle_per_op_joules",
            "energy/op",
            "energy of an operation over the idle draw",
        ],
        Quantity::Energy,
    ),
    Column::new(
        ["energy_joules", "in all", "energy of a run, the idle draw included"],
        Quantity::Energy,
    ),
    Column::new(
        ["power_watts", "mean power", "mean power during a run, the idle draw included"],
        Quantity::Power,
    ),
];

/// Returns the energy over the idle draw and its error, in joules.
fn over_idle(energy: &Energy) -> Option<(f64, f64)> {
    Some((energy.over_idle_joules?, energy.idle_error_joules.unwrap_or(0.0)))
}

/// Returns the energy over the idle draw if it is larger than its error.
fn significant((joules, error): (f64, f64)) -> Option<f64> {
    (joules > 0.0 && joules > error).then_some(joules)
}

/// Returns the energy of some work over the idle draw: the sum over its phases of the mean per
/// counted run. `None` if a part was not measured, if sources differ, or if the sum is not larger
/// than its error.
pub(super) fn trial_energy(trial: &Trial, work: Work<'_>) -> Option<f64> {
    let mut sum: Option<(f64, f64)> = None;
    let mut sources: Vec<&str> = Vec::new();
    for part in work.phases(trial).filter(|part| part.ops > 0) {
        let runs = counted(part);
        if runs.is_empty() {
            continue;
        }
        let (mut joules, mut error) = (0.0, 0.0);
        for run in &runs {
            let energy = run.energy.as_ref()?;
            sources.push(&energy.source);
            let over = over_idle(energy)?;
            (joules, error) = (joules + over.0, error + over.1);
        }
        let count = runs.len() as f64 / work.share(part, &runs);
        let sum = sum.get_or_insert_default();
        *sum = (sum.0 + joules / count, sum.1 + error / count);
    }
    sum.filter(|_| text::unique(sources).len() == 1).and_then(significant)
}

/// Returns the amounts of one cell for a run of a phase, from the counted runs of each trial. They
/// are medians over the trials of the mean over the measured runs. `None` if no run was measured.
fn energy_figures(trials: &[Vec<&Run>]) -> Option<Amounts> {
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
    let joules = of(&|_, energy| energy.over_idle_joules);
    let error = of(&|_, energy| Some(over_idle(energy)?.1));
    let significant = joules.zip(error).and_then(significant);
    let per_operation = of(&|run, energy| energy.over_idle_per_operation(run.ops));
    let seconds = |of: &Run| Some(of.period.as_ref()?.lasted_ns as f64 / 1e9).filter(|s| *s > 0.0);
    let amounts = [
        significant,
        significant.and(per_operation),
        of(&|_, energy| Some(energy.joules)),
        of(&|run, energy| Some(energy.joules / seconds(run)?)),
    ];
    let amounts: Amounts = ENERGY.into_iter().zip(amounts).collect();
    Some(amounts).filter(|amounts| *amounts != Amounts::default())
}

#[cfg(test)]
mod tests {
    use embermark_model::result::{EnergySource, Period};

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
