//! One run of a phase.

use embermark_contract::{EngineError, Result};
use embermark_language::Work;
use embermark_meter::{ArrivalSchedule, Meter};
use embermark_model::answer::Answer;
use embermark_model::result::Execution;

use super::super::client_checks;
use super::super::kind::{is_point, one_by_one};
use super::{FileBench, TableState, whole};
use crate::PhaseObserver;

impl FileBench {
    /// Runs a phase once.
    pub(super) fn answer(
        &mut self,
        phase: usize,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Answer> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        let work = self.cell().work(phase);
        self.will_change(phase);
        match work {
            Work::Keep(keep) => return self.keep(keep, meter, observer),
            Work::Arrive(arrive) => return self.arrive(phase, arrive, meter, observer),
            _ => {}
        }
        if matches!(work, Work::Mix(_)) || self.client_threads.is_some() {
            self.share(phase, meter)?;
            return Ok(client_checks::answer(work, &self.client_operations));
        }
        let done = match self.poster.take() {
            _ if self.client.is_some() => self.run_foreign_client(phase, meter, observer),
            Some(client) => self.by_http(phase, client, meter),
            None => {
                let rate = self.prepared.spec.target_rate.filter(|_| is_point(work));
                meter.set_schedule(rate.map(|rate| ArrivalSchedule::new(rate as f64, 1, 0)));
                meter.start();
                let done = self.perform(phase, meter);
                meter.stop();
                done
            }
        };
        if let (Work::Sql(_), true, Err(error)) = (work, self.prepared.spec.is_referee, &done) {
            // If a referee fails at a question, it still answers the others.
            return Err(EngineError::impossible(error));
        }
        match work {
            Work::Sql(_) => done.map_err(EngineError::into_query_error)?,
            _ => done?,
        }
        if meter.measured().ops == 0 && one_by_one(work).is_some() {
            // No row meets the conditions, and finding that out was a call.
            meter.count(1);
        }
        let insert = self.cell().insert_of(phase).filter(|_| !meter.measured().capped);
        if let Some(table) = insert.and_then(|insert| self.cell().work(insert).table()) {
            self.table_states[table] = TableState::Inserted;
        }
        // `check` compares what else was found.
        Ok(match work {
            Work::Get { .. } => Answer::Checksum(self.found.rows),
            _ => Answer::Count(meter.measured().ops),
        })
    }

    /// Returns whether the engine or client code did most of a phase's operations, if either of two
    /// copies of the data could.
    pub(super) fn answered_by(&self, phase: usize) -> Option<Execution> {
        let Work::Sequence(sequence) = self.cell().work(phase) else {
            return self.database.answered_by(phase);
        };
        let answered = |question: &usize| self.database.answered_by(*question);
        let questions = sequence.questions.iter().map(answered).collect::<Option<Vec<_>>>()?;
        let insert = sequence.insert.map(|insert| self.phases[insert].execution);
        Some(whole(questions.into_iter().chain(insert)))
    }
}
