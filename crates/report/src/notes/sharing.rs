//! Explains figures of several clients, and of operations started at a target rate.

use embermark_model::result::{ClientMachines, OpenLoopSchedule, ResultFile};

use super::{PlacedFigure, position};
use crate::format;
use crate::grid::BEHIND;
use crate::note::{Note, note};
use crate::statistics::total;

/// Explains the times, unless a single client did one operation after the other.
pub(super) fn time(file: &ResultFile) -> Option<Note> {
    let machines = file.manifest.client_machines.len();
    let says = match (file.plan.target_rate, file.plan.clients) {
        (Some(_), _) => {
            "mean over the counted runs of a trial from an operation's scheduled start to its end, \
             median over the trials"
        }
        (None, 2..) if machines > 1 => {
            "from the first client's start to the last one's end on any machine, per run; /op and rates: the time in which the clients of all machines worked, per operation that ended in it; mean of the counted runs of a trial, median over the trials"
        }
        (None, 2..) => {
            "from the first client's start to the last one's end, mean of the counted runs of a trial, \
             median over the trials; /op: over the operations of all clients"
        }
        _ => return None,
    };
    Some(note("time", says))
}

/// Lists the engines that fell behind the schedule, and how well the schedule itself was kept.
pub(super) fn schedule(measured: &[PlacedFigure<'_>]) -> Vec<Note> {
    let mut behind: Vec<String> = Vec::new();
    let mut late: Option<u64> = None;
    for seen in measured {
        let (_, row, _, measured) = seen;
        if let Some(shortfall) = measured.shortfall.filter(|of| Some(of.phase) == row.phase) {
            behind.push(format!("{}: {}", position(seen), shortfall.what));
        }
        let sharing = measured.figure.sharing.as_ref();
        late = late.max(sharing.and_then(|sharing| sharing.schedule?.late_p99_ns));
    }
    let enough = format::percent(OpenLoopSchedule::ENOUGH);
    let behind = (!behind.is_empty()).then(|| {
        let says = format!(
            "did not keep up: samples were lost, reads missed, or less than {enough} of the target rate \
             achieved, where times grow with the length of a run. Nothing of such a cell is ranked: {}",
            behind.join("; ")
        );
        note(BEHIND, says)
    });
    let late = late.map(|late| {
        let late = format::duration(late as f64);
        let says = format!(
            "operations for which a client was ready on time started at most {late} late in 99 of 100 \
             cases, in the worst run: part of their response times, and not the engine's"
        );
        note("schedule", says)
    });
    behind.into_iter().chain(late).collect()
}

/// Explains the table of client machines.
pub(super) fn machines(file: &ResultFile, measured: &[PlacedFigure<'_>]) -> Option<Note> {
    let runs = super::phases(file).flat_map(|(_, phase)| &phase.runs).filter(|run| !run.discarded);
    let all: Vec<&ClientMachines> = runs.filter_map(|run| run.client_machines.as_deref()).collect();
    let shown = |seen: &PlacedFigure<'_>| {
        seen.3.figure.sharing.as_ref().is_some_and(|sharing| !sharing.machines.is_empty())
    };
    measured.iter().find(|seen| shown(seen))?;
    let spread = all.iter().map(|together| together.start_spread_ns).max()?;
    let common = total(all.iter().map(|together| together.common_ns));
    let each = all.len() as f64;
    Some(note(
        "client machines",
        format!(
            "clock: how far it was ahead of the coordinator's clock, and the accuracy of that; start: the largest distance from the agreed moment, with the same accuracy; in the worst run {} from the first machine's start to the last one's; on average all worked together for {} of a run",
            format::duration(spread as f64),
            format::duration(common as f64 / each)
        ),
    ))
}
