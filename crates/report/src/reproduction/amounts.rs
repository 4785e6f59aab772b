//! Amounts that are compared, computed from the runs of a phase, each with its text.

use embermark_model::result::{Observed, PhaseResult, Run, Trial};
use embermark_published::{Measure, Statistic};

use crate::summary::above_baseline;
use crate::{format, statistics};

/// What the figures of the counted runs of a phase are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Operations per second of a closed loop, whose runs last a fixed time.
    Rates,
    /// ns per operation, because a run was stopped early.
    PerOperation,
    /// ns of the whole phase.
    Whole,
}

/// Returns the figures of the counted runs of a phase.
fn counted(phases: &[&PhaseResult]) -> (Counted, Vec<f64>) {
    let runs = || phases.iter().flat_map(|phase| &phase.runs).filter(|run| !run.discarded);
    let rates = || runs().filter_map(Run::ops_per_second).filter(|rate| *rate > 0.0);
    if phases.iter().all(|phase| phase.ops == 0) {
        return (Counted::Rates, rates().collect());
    }
    match runs().any(|run| run.capped) {
        true => (Counted::PerOperation, rates().map(|rate| 1e9 / rate).collect()),
        false => (Counted::Whole, runs().map(|run| run.elapsed_ns as f64).collect()),
    }
}

/// Returns the source's statistic over the counted runs in ns, and its text. It is the time of the
/// whole phase, or of one operation if the runs last a fixed time. If a run was stopped early, the
/// whole phase is extrapolated from the rates.
pub(super) fn time(phases: &[&PhaseResult], ops: u64, by: Statistic) -> Option<(f64, String)> {
    let (counted, figures) = counted(phases);
    let figure = match by {
        Statistic::Mean => statistics::mean(&figures)?,
        Statistic::Median => statistics::median(&figures)?,
    };
    let duration = format::duration(figure);
    Some(match counted {
        // The mean of the rates, because the source prints rates.
        Counted::Rates => (1e9 / figure, format::rate(figure)),
        Counted::PerOperation => {
            (figure * ops as f64, format!("{duration} a row, not all of them"))
        }
        Counted::Whole => (figure, duration),
    })
}

/// Returns the least and the greatest figure of the counted runs and their number:
/// `1.11-1.31 s, 5 runs`.
pub(super) fn runs(phases: &[&PhaseResult]) -> Option<String> {
    let (counted, figures) = counted(phases);
    let show = if counted == Counted::Rates { format::rate } else { format::duration };
    let number = format::counted(figures.len() as u64, "run");
    match figures.as_slice() {
        [] => None,
        [_] => Some(number),
        _ => {
            let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = figures.iter().copied().fold(0.0, f64::max);
            Some(format!("{}, {number}", format::between([least, greatest], show)))
        }
    }
}

/// Returns what a crash would lose at most of the rows in a buffer, and its text.
pub(super) fn loss(phases: &[&PhaseResult]) -> Option<(f64, String)> {
    let runs = phases.iter().flat_map(|phase| &phase.runs).filter(|run| !run.discarded);
    let lost = runs.filter_map(|run| run.write_behind).max_by_key(|buffer| buffer.loss_rows)?;
    let rows = format::counted(lost.loss_rows, "row");
    let text = format!("{rows}, up to {} old", format::duration(lost.loss_ns as f64));
    Some((lost.loss_rows as f64, text))
}

/// Returns the largest memory of the engine during a phase, as a mean over the trials, and its text.
pub(super) fn memory<'a>(
    parts: impl Iterator<Item = (&'a Trial, &'a PhaseResult)>,
) -> Option<(f64, String)> {
    let peaks = parts.map(|(trial, phase)| {
        let runs = phase.runs.iter().filter(|run| !run.discarded);
        let peaks = runs.map(|run| above_baseline(trial, run, run.engine.peak_bytes));
        Some(peaks.collect::<Option<Vec<u64>>>()?.into_iter().max()? as f64)
    });
    let bytes = statistics::mean(&peaks.collect::<Option<Vec<f64>>>()?)?;
    Some((bytes, format::bytes(bytes)))
}

/// Returns the mean of a resource over the observed windows, and its text.
pub(super) fn window(phases: &[&PhaseResult], measure: Measure) -> Option<(f64, String)> {
    let seen = phases.iter().flat_map(|phase| &phase.runs).filter_map(|run| run.observed.as_ref());
    let seen: Vec<&Observed> = seen.collect();
    let mean = |of: &dyn Fn(&Observed) -> Option<f64>| {
        statistics::mean(&seen.iter().map(|seen| of(seen)).collect::<Option<Vec<f64>>>()?)
    };
    let server = |seen: &Observed| seen.processes.get("server").copied();
    let cpu = |seen: &Observed, roles: &[&str]| {
        let mut processes = seen.processes.iter();
        let (_, used) = processes.find(|(role, _)| roles.contains(&role.as_str()))?;
        Some(used.cpu_ns? as f64 / seen.window_ns as f64)
    };
    let peak = |seen: &Observed| Some(server(seen)?.peak_bytes? as f64);
    let io = |seen: &Observed| {
        let bytes = server(seen)?.read_bytes?.saturating_add(server(seen)?.written_bytes?);
        Some(bytes as f64 * 1e9 / seen.window_ns as f64)
    };
    let bits = |seen: &Observed| Some(seen.network_bytes? as f64 * 8e9 / seen.window_ns as f64);
    let growth = |seen: &Observed| Some(seen.disk.as_ref()?.growth() as f64);
    let (amount, in_its_unit, unit): (Option<f64>, fn(f64) -> f64, &str) = match measure {
        Measure::ServerCpu => (mean(&|seen| cpu(seen, &["server"])), |cpu| cpu * 100.0, "% CPU"),
        Measure::ClientCpu => {
            (mean(&|seen| cpu(seen, &["reader", "writer"])), |cpu| cpu * 100.0, "% CPU")
        }
        Measure::ServerMemory => (mean(&peak), |bytes| bytes / 1024.0, "kB"),
        Measure::ServerIo => (mean(&io), |bytes| bytes / 1024.0, "kB/s"),
        Measure::Network => (mean(&bits), |bits| bits / 1e3, "kbit/s"),
        // A ratio needs bytes: a server may have written nothing yet. The unit is that of du, as in
        // the source's table.
        Measure::Disk => {
            let grown = mean(&growth).filter(|bytes| *bytes > 0.0);
            (grown, |bytes| bytes / f64::from(1 << 20), "MiB")
        }
        Measure::Time | Measure::TimePerRow | Measure::Memory | Measure::Loss | Measure::Size => {
            return None;
        }
    };
    let amount = amount?;
    Some((amount, format!("{} {unit}", format::number(in_its_unit(amount)))))
}
