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
        let sharing = seen.3.figure.sharing.as_ref();
        let Some(schedule) = sharing.and_then(|sharing| sharing.schedule) else { continue };
        late = late.max(schedule.late_p99_ns);
        if !schedule.kept_up {
            let [achieved, target] =
                [schedule.achieved_rate, schedule.target_rate as f64].map(format::rate);
            behind.push(format!("{}: {achieved} of {target}", where_of(seen)));
        }
    }
    let enough = format::percent(OpenLoopSchedule::ENOUGH);
    let behind = (!behind.is_empty()).then(|| {
        let says = format!(
            "did not keep up: in a counted run the achieved rate was less than {enough} of the target \
             rate, and its response times grow with its length: {}",
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
