//! What figures of several clients mean, and of operations that were called for at a rate.

use embermark_model::plan::Plan;
use embermark_model::result::Arrivals;

use super::{Note, note};
use crate::grid::sharing::BEHIND;
use crate::summary::{Engine, Group, Measured, Row, Schedule};
use crate::{format, text};

/// What the times are, where one client did not do one operation after the other.
pub(super) fn time(plan: &Plan) -> Option<Note> {
    let says = match (plan.arrivals, plan.clients) {
        (Some(_), _) => {
            "mean over the counted runs of a trial from when an operation was called for to its end, \
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
pub(super) fn schedule(
    measured: &[(&Group<'_>, &Row<'_>, &Engine<'_>, &Measured<'_>)],
) -> Vec<Note> {
    let mut behind: Vec<String> = Vec::new();
    let mut late: Option<u64> = None;
    for (group, row, engine, measured) in measured {
        let sharing = measured.figure.sharing.as_ref();
        let Some(schedule) = sharing.and_then(|sharing| sharing.schedule) else { continue };
        let Schedule { called_for, reached, kept_up, late_p99_ns } = schedule;
        late = late.max(late_p99_ns);
        if !kept_up {
            behind.push(format!(
                "{} {} ({}), {} {}: {} of {}",
                text::plain(engine.id),
                text::plain(row.phase.unwrap_or_default()),
                text::plain(row.variant.unwrap_or(group.variant)),
                group.scale,
                group.durability,
                format::rate(reached),
                format::rate(called_for as f64)
            ));
        }
    }
    let enough = format::percent(Arrivals::ENOUGH);
    let behind = (!behind.is_empty()).then(|| {
        let says = format!(
            "did not keep up: a counted run started less than {enough} of the operations a second that \
             were called for, and its response times grow with its length: {}",
            behind.join("; ")
        );
        note(BEHIND, says)
    });
    let late = late.map(|late| {
        let late = format::duration(late as f64);
        let says = format!(
            "operations that a client waited to start were at most {late} late in 99 of 100 cases, in \
             the worst run: part of their response times, and not the engine's"
        );
        note("schedule", says)
    });
    behind.into_iter().chain(late).collect()
}
