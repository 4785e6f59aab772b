//! Phases that keep a window of rows.

use std::sync::Arc;

use embermark_contract::EngineError;
use embermark_language::Keep;
use embermark_meter::{Kind, Measured, Meter};
use embermark_model::answer::Answer;

use super::super::keep::{Calendar, KeepOutcome, KeepParameters, KeepRunner};
use super::{FileBench, TableState};
use crate::PhaseObserver;

impl FileBench {
    /// Creates the table, and prepares its statements.
    pub(super) fn ready_to_keep(&mut self, phase: usize, keep: &Keep) -> Result<(), EngineError> {
        self.keep_outcome = None;
        self.lay_out(&[], false);
        let cell = Arc::clone(&self.prepared.cell);
        let rows = &cell.tables[keep.table];
        rows.begin(0);
        let calendar = Calendar { keep, rows };
        self.database.clear_kept(keep, &calendar.step_at(calendar.time(0)))?;
        self.table_states[keep.table] = TableState::Else;
        let mut parts = keep.parts();
        let ready = parts.try_for_each(|part| self.database.ready(part, phase));
        self.unless_refused(ready).map(drop)
    }

    /// Inserts rows into the table until its cost is steady.
    pub(super) fn keep(
        &mut self,
        keep: &Keep,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Answer, EngineError> {
        let prepared = &mut self.prepared;
        let recorder = prepared.recorder.take().unwrap_or_default();
        let parameters = KeepParameters {
            cell: &prepared.cell,
            keep,
            longest: prepared.window,
            rate: prepared.target_rate,
            // The null engine gives no answers.
            checked: prepared.cell.engine != "null",
        };
        let (database, arena) = (&mut *self.database, &mut self.arena);
        let outcome = KeepRunner::new(parameters, database, observer, recorder, arena).run()?;
        report(&outcome, observer);
        let measured =
            Measured { elapsed_ns: outcome.elapsed_ns, ops: outcome.came, capped: false };
        self.keep_outcome = Some(outcome);
        meter.set_measured(measured);
        Ok(Answer::Count(measured.ops))
    }
}

/// Reports what was inserted: how much, and how long it took at first and in the last rounds.
fn report(outcome: &KeepOutcome, observer: &mut dyn PhaseObserver) {
    let counts = [
        ("rows", outcome.came),
        ("questions", outcome.asked),
        ("rounds", outcome.timeline.rounds.len() as u64),
        ("stalls", outcome.timeline.stalled),
    ];
    counts.into_iter().for_each(|(name, count)| observer.count(name, count));
    let recorder = &outcome.recorder;
    let named = |kind| match kind {
        Kind::Commit => ["commit", "commit-first", "commit-last"],
        Kind::Question => ["question", "question-first", "question-last"],
        Kind::Expiry => ["expiry", "expiry-first", "expiry-last"],
    };
    for kind in Kind::ALL {
        let all = [recorder.latency(kind), recorder.first(kind), recorder.last(kind)];
        for (name, latency) in named(kind).into_iter().zip(all) {
            latency.into_iter().for_each(|latency| observer.latency(name, latency));
        }
    }
    observer.timeline(outcome.timeline.clone());
}
