//! What figures of several clients mean, and of operations started at a target rate.

use embermark_model::plan::Plan;
use embermark_model::result::OpenLoopSchedule;

use super::{Note, Seen, note, where_of};
use crate::format;
use crate::grid::BEHIND;

/// What the times are, where one client did not do one operation after the other.
pub(super) fn time(plan: &Plan) -> Option<Note> {
    let says = match (plan.target_rate, plan.clients) {
        (Some(_), _) => {
            "mean over the counted runs of a trial from an operation's scheduled start to its end, \
             median over the trials"
        }
        (None, 2..) => {
            "from the first client's start to the last one's end, mean of the counted runs of a trial, \
             median over the trials; /op: over the operations of all clients"
        }
        _ => return None,
    };
    Some(note("time", says))
}

/// Who did not keep up with the schedule, and how well the schedule itself was kept.
pub(super) fn schedule(measured: &[Seen<'_>]) -> Vec<Note> {
    let mut behind: Vec<String> = Vec::new();
    let mut late: Option<u64> = None;
    for seen in measured {
        let (_, row, _, measured) = seen;
        if let Some(shortfall) = measured.shortfall.filter(|of| Some(of.phase) == row.phase) {
            behind.push(format!("{}: {}", where_of(seen), shortfall.what));
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
