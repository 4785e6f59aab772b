//! Figures of a run other than its time: its energy, the log that it opened, and the buffer for its
//! rows.

use embermark_model::result::{PhaseResult, Run};

use super::column::Quantity::{Bytes, Count, Time};
use super::column::{Amounts, Column};
use super::energy;
use super::figure::counted;
use super::metric::Aggregation::{Middle, Worst};
use super::metric::RunValue::{Real, Whole};
use super::metric::{Metric, amounts, metric};

/// Metrics of a log that was opened.
pub(crate) const LOG: &[Metric] = &[metric(
    ["log_bytes", "log", "log that was opened"],
    Bytes,
    Middle,
    Whole(|run| run.log_bytes),
)];

/// Metrics of a buffer for rows.
pub(crate) const WRITE_BEHIND: &[Metric] = &[
    metric(
        ["offered_per_second", "offered/s", "rows offered per second"],
        Count,
        Middle,
        Real(|run| Some(run.write_behind?.target_rate)),
    ),
    metric(
        ["accepted_per_second", "accepted/s", "rows accepted per second"],
        Count,
        Middle,
        Real(|run| Some(run.write_behind?.accepted_rate)),
    ),
    metric(
        ["committed_per_second", "committed/s", "rows committed per second"],
        Count,
        Middle,
        Real(|run| Some(run.write_behind?.committed_rate)),
    ),
    metric(
        ["buffer_commits", "commits", "commits"],
        Count,
        Middle,
        Whole(|run| Some(run.write_behind?.commits)),
    ),
    metric(
        ["loss_rows", "rows lost", "most rows accepted and not committed"],
        Count,
        Worst,
        Whole(|run| Some(run.write_behind?.loss_rows)),
    ),
    metric(
        ["loss_ns", "time lost", "longest time from accepted to committed"],
        Time,
        Worst,
        Whole(|run| Some(run.write_behind?.loss_ns)),
    ),
];

/// Returns the columns of [`run_figures`], by table.
pub fn run_figure_columns() -> [(&'static str, Vec<Column>); 3] {
    let columns = |metrics: &[Metric]| metrics.iter().map(|metric| metric.column).collect();
    [
        ("energy of a run, over the idle draw and in all", energy::COLUMNS.to_vec()),
        ("log that was opened", columns(LOG)),
        ("accepted before committed: what a crash would lose at worst", columns(WRITE_BEHIND)),
    ]
}

/// Returns the figures of a phase of one cell. `None` if it has none.
pub fn run_figures(parts: &[(u32, &PhaseResult)]) -> Option<Amounts> {
    let trials: Vec<Vec<&Run>> = parts.iter().map(|(_, part)| counted(part)).collect();
    let own = amounts(LOG.iter().chain(WRITE_BEHIND), &trials, None);
    let all = energy::energy_figures(&trials).into_iter().fold(own, Amounts::with);
    Some(all).filter(|amounts| *amounts != Amounts::default())
}
