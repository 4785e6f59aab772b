//! Amounts that are compared, computed from the runs of a phase, each with its text.

use embermark_model::result::{Observed, PhaseResult, Run, Trial};
use embermark_published::{Measure, Statistic};

use crate::format;
use crate::summary::above_baseline;

/// The figures of the counted runs of a phase.
enum Counted {
    /// Operations per second of a closed loop, whose runs last a fixed time.
    Rates(Vec<f64>),
    /// ns per operation, because a run was stopped early.
    PerOperation(Vec<f64>),
    /// ns of the whole phase.
    Whole(Vec<f64>),
}

impl Counted {
    fn new(phases: &[&PhaseResult]) -> Self {
        let runs = || phases.iter().flat_map(|phase| &phase.runs).filter(|run| !run.discarded);
        let rates = || runs().filter_map(Run::ops_per_second).filter(|rate| *rate > 0.0);
        if phases.iter().all(|phase| phase.ops == 0) {
            return Self::Rates(rates().collect());
        }
        match runs().any(|run| run.capped) {
            true => Self::PerOperation(rates().map(|rate| 1e9 / rate).collect()),
            false => Self::Whole(runs().map(|run| run.elapsed_ns as f64).collect()),
        }
    }
}

/// Returns the source's statistic over the counted runs in ns, and its text. It is the time of the
/// whole phase, or of one operation if the runs last a fixed time. If a run was stopped early, the
/// whole phase is extrapolated from the rates.
pub(super) fn time(
    phases: &[&PhaseResult],
    ops: u64,
    statistic: Statistic,
) -> Option<(f64, String)> {
    match Counted::new(phases) {
        // The mean of the rates, because the source prints rates.
        Counted::Rates(rates) => {
            let rate = statistic.compute(rates)?;
            Some((1e9 / rate, format::rate(rate)))
        }
        Counted::PerOperation(times) => {
            let ns = statistic.compute(times)?;
            Some((ns * ops as f64, format!("{} a row, not all of them", format::duration(ns))))
        }
        Counted::Whole(times) => {
            let ns = statistic.compute(times)?;
            Some((ns, format::duration(ns)))
        }
    }
}

/// Returns the least and the greatest figure of the counted runs and their number:
/// `1.11-1.31 s, 5 runs`.
pub(super) fn runs(phases: &[&PhaseResult]) -> Option<String> {
    let (figures, show): (Vec<f64>, fn(f64) -> String) = match Counted::new(phases) {
        Counted::Rates(rates) => (rates, format::rate),
        Counted::PerOperation(times) | Counted::Whole(times) => (times, format::duration),
    };
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
    let bytes = Statistic::Mean.compute(peaks.collect::<Option<Vec<f64>>>()?)?;
    Some((bytes, format::bytes(bytes)))
}

/// Returns the mean of a resource over the observed windows, and its text.
pub(super) fn window(phases: &[&PhaseResult], measure: Measure) -> Option<(f64, String)> {
    let seen = phases.iter().flat_map(|phase| &phase.runs).filter_map(|run| run.observed.as_ref());
    let seen: Vec<&Observed> = seen.collect();
    let mean = |of: &dyn Fn(&Observed) -> Option<f64>| {
        Statistic::Mean.compute(seen.iter().map(|seen| of(seen)).collect::<Option<Vec<f64>>>()?)
    };
    let share = |seen: &Observed, roles: &[&str]| {
        let cpu =
            seen.processes.iter().find(|(role, _)| roles.contains(&role.as_str()))?.1.cpu_ns?;
        Some(cpu as f64 / seen.window_ns as f64)
    };
    match measure {
        Measure::ServerCpu => {
            let cpu = mean(&|seen| share(seen, &["server"]))?;
            Some((cpu, format!("{} % CPU", format::number(cpu * 100.0))))
        }
        Measure::ClientCpu => {
            let cpu = mean(&|seen| share(seen, &["reader", "writer"]))?;
            Some((cpu, format!("{} % CPU", format::number(cpu * 100.0))))
        }
        Measure::ServerMemory => {
            let bytes = mean(&|seen| Some(seen.processes.get("server")?.peak_bytes? as f64))?;
            Some((bytes, format!("{} kB", format::number(bytes / 1024.0))))
        }
        Measure::ServerIo => {
            let bytes = mean(&|seen| {
                let server = seen.processes.get("server")?;
                let bytes = server.read_bytes?.saturating_add(server.written_bytes?);
                Some(bytes as f64 * 1e9 / seen.window_ns as f64)
            })?;
            Some((bytes, format!("{} kB/s", format::number(bytes / 1024.0))))
        }
        Measure::Network => {
            let bits =
                mean(&|seen| Some(seen.network_bytes? as f64 * 8e9 / seen.window_ns as f64))?;
            Some((bits, format!("{} kbit/s", format::number(bits / 1e3))))
        }
        Measure::Disk => {
            // A ratio needs bytes: a server may have written nothing yet. The unit is that of du,
            // as in the source's table.
            let bytes = mean(&|seen| Some(seen.disk.as_ref()?.growth() as f64))?;
            let mebibytes = bytes / f64::from(1 << 20);
            (bytes > 0.0).then(|| (bytes, format!("{} MiB", format::number(mebibytes))))
        }
        Measure::Time | Measure::TimePerRow | Measure::Memory | Measure::Loss | Measure::Size => {
            None
        }
    }
}
