//! What a run has to show beside its time: its energy, the log that it opened, the buffer that rows went
//! through.

use embermark_model::result::{PhaseResult, Run, WriteBehind};

use super::column::Quantity::{self, Bytes, Count, Time};
use super::column::{Amounts, Column};
use super::energy;
use super::figure::counted;
use crate::statistics::{mean, median};

/// What is made of the counted runs.
#[derive(Clone, Copy)]
enum Over {
    /// In each trial the mean, over the trials the median.
    Middle,
    /// The largest of all.
    Worst,
}

/// A column, what is made of the runs, and its number of one run.
type Amount = (Column, Over, fn(&Run) -> Option<f64>);

const fn column(
    [key, heading, about]: [&'static str; 3],
    quantity: Quantity,
    over: Over,
    of: fn(&Run) -> Option<f64>,
) -> Amount {
    (Column { key, heading, about, quantity }, over, of)
}

const LOG: [Amount; 1] =
    [column(["log_bytes", "log", "log that was opened"], Bytes, Over::Middle, |run| {
        Some(run.log_bytes? as f64)
    })];

const WRITE_BEHIND: [Amount; 6] = [
    column(
        ["offered_per_second", "offered/s", "rows offered per second"],
        Count,
        Over::Middle,
        |run| behind(run, |of| of.target_rate),
    ),
    column(
        ["accepted_per_second", "accepted/s", "rows accepted per second"],
        Count,
        Over::Middle,
        |run| behind(run, |of| of.accepted_rate),
    ),
    column(
        ["committed_per_second", "committed/s", "rows committed per second"],
        Count,
        Over::Middle,
        |run| behind(run, |of| of.committed_rate),
    ),
    column(["commits", "commits", "commits"], Count, Over::Middle, |run| {
        behind(run, |of| of.commits as f64)
    }),
    column(
        ["loss_rows", "rows lost", "most rows accepted and not committed"],
        Count,
        Over::Worst,
        |run| behind(run, |of| of.loss_rows as f64),
    ),
    column(
        ["loss_ns", "time lost", "longest time from accepted to committed"],
        Time,
        Over::Worst,
        |run| behind(run, |of| of.loss_ns as f64),
    ),
];

fn behind(run: &Run, of: fn(&WriteBehind) -> f64) -> Option<f64> {
    Some(of(run.write_behind.as_ref()?))
}

/// The columns of [`beside`], by the table in which they stand.
pub fn beside_columns() -> [(&'static str, Vec<Column>); 3] {
    let columns = |amounts: &[Amount]| amounts.iter().map(|(column, ..)| *column).collect();
    [
        ("energy of a run, over the idle draw and in all", energy::COLUMNS.to_vec()),
        ("log that was opened", columns(&LOG)),
        ("accepted before committed: what a crash would lose at worst", columns(&WRITE_BEHIND)),
    ]
}

/// What one cell has to show of a phase beside its time. `None` where there is nothing.
pub fn beside(parts: &[(u32, &PhaseResult)]) -> Option<Amounts> {
    let trials: Vec<Vec<&Run>> = parts.iter().map(|(_, part)| counted(part)).collect();
    let middle = |amount: fn(&Run) -> Option<f64>| {
        let of_trial =
            |runs: &Vec<&Run>| mean(&runs.iter().copied().filter_map(amount).collect::<Vec<_>>());
        median(&trials.iter().filter_map(of_trial).collect::<Vec<f64>>())
    };
    let worst = |amount: fn(&Run) -> Option<f64>| {
        trials.iter().flatten().copied().filter_map(amount).reduce(f64::max)
    };
    let amounts = LOG.iter().chain(&WRITE_BEHIND).map(|(column, over, of)| match over {
        Over::Middle => (*column, middle(*of)),
        Over::Worst => (*column, worst(*of)),
    });
    let amounts =
        energy::beside(&trials).into_iter().fold(amounts.collect::<Amounts>(), Amounts::with);
    Some(amounts).filter(|amounts| *amounts != Amounts::default())
}
