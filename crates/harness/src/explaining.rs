//! The explaining trials count what an operation requests of the operating system. They follow the
//! timed trials, two per cell, and their times are in no figure. One runs undisturbed, and its page
//! faults, context switches and hardware counters are read. In the other every system call is
//! counted, which slows it down and adds context switches.

use embermark_model::result::{Explained, OsCost, SystemCalls, Trial};

use crate::Result;
use crate::cells::PlannedCell;
use crate::journal::{EndedTrial, Line};
use crate::protocol::{Explain, TracedProcess};
use crate::purpose::Purpose;
use crate::session::Run;

mod calls;
mod counters;
mod explainer;
mod ptrace;
mod tracer;

pub(crate) use explainer::Explainer;
pub(crate) use tracer::run_traced;

impl Run<'_> {
    /// Returns the cells to explain, with the phases to explain. Excluded are reference engines,
    /// servers given by URL, and phases that last a fixed time, because a traced engine could not
    /// keep up with their load.
    pub(crate) fn cells_to_explain(&self, cells: &[PlannedCell]) -> Result<Vec<PlannedCell>> {
        let mut due = Vec::new();
        for cell in cells.iter().filter(|cell| self.journal.head.explains && !cell.reference) {
            let private = !self.plan.urls.contains_key(&cell.id.engine);
            let explained = self.journal.explained.iter().any(|ended| ended.cell == cell.id);
            let info = self.options.catalog.workload(&cell.id.workload)?.info();
            let mut cell = cell.clone();
            cell.phases.retain(|phase| !info.timed.contains(&phase.as_str()));
            let is_timed = info.lasts || info.until_steady || cell.phases.is_empty();
            if private && !explained && !is_timed {
                due.push(cell);
            }
        }
        Ok(due)
    }

    /// Explains the cells that had a trial with figures, and journals the results. `before` is the
    /// number of earlier trials of the run.
    pub(crate) fn explain(&mut self, cells: &[PlannedCell], before: u32) -> Result<()> {
        for (number, cell) in (before + 1..).zip(cells) {
            let mut timed = self.journal.trials.iter().filter(|ended| ended.cell == cell.id);
            if !timed.any(|ended| ended.trial.status.has_figures()) {
                continue;
            }
            self.progress.trial(number, &cell.id, 0);
            let trial = self.explain_cell(cell)?;
            self.show_ending(&trial);
            let cell = cell.id.clone();
            self.journal
                .add(Line::Explained { explained: Box::new(EndedTrial { cell, trial }) })?;
        }
        Ok(())
    }

    /// Merges both trials of a cell.
    fn explain_cell(&mut self, PlannedCell { id, phases, .. }: &PlannedCell) -> Result<Trial> {
        let rows = self.stages.file(&id.workload, id.scale)?.to_owned();
        let mut once = |explain, name: &str| {
            let name = format!("{}-{name}", id.slug());
            self.trial(id, phases, &rows, &name, Purpose::Explaining(explain))
        };
        let used = once(Explain::Usage, "usage")?;
        Ok(with_calls(used, &once(Explain::Calls, "calls")?))
    }
}

/// Adds to a trial's runs the system calls that were counted in another trial, or the reason why
/// they were not.
fn with_calls(mut used: Trial, traced: &Trial) -> Trial {
    for phase in &mut used.phases {
        let other = traced.phases.iter().find(|other| other.phase == phase.phase);
        let run = other.and_then(|other| other.runs.last()?.explained.as_ref());
        let Some(explained) = phase.runs.last_mut().and_then(|run| run.explained.as_mut()) else {
            continue;
        };
        match run {
            Some(run) => {
                explained.traced_ops = run.traced_ops;
                explained.engine.calls.clone_from(&run.engine.calls);
                if let (Some(client), Some(of)) = (&mut explained.client, &run.client) {
                    client.calls.clone_from(&of.calls);
                }
            }
            None => {
                let why = other.and_then(|other| other.reason.as_ref()).or(traced.reason.as_ref());
                let why = why.map_or("their run did not finish", String::as_str);
                explained.not_explained.push(format!("system calls were not counted: {why}"));
            }
        }
    }
    used
}

/// Returns the costs of a traced run: of the processes of a server, or otherwise of the worker.
pub(crate) fn traced_cost(processes: &[TracedProcess], server: Option<u32>, ops: u64) -> Explained {
    let sum = |belongs: &dyn Fn(&TracedProcess) -> bool| {
        let mut calls = SystemCalls::default();
        processes.iter().filter(|p| belongs(p)).for_each(|process| calls.add(&process.calls));
        OsCost { calls: Some(calls), ..OsCost::default() }
    };
    let worker = |process: &TracedProcess| process.ancestors.is_empty();
    let (engine, client) = match server {
        Some(root) => {
            let of_server = |p: &TracedProcess| p.pid == root || p.ancestors.contains(&root);
            (sum(&of_server), Some(sum(&worker)))
        }
        None => (sum(&worker), None),
    };
    Explained { traced_ops: Some(ops), engine, client, not_explained: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use embermark_model::Status;
    use embermark_model::result::{CallKind, PhaseResult, Run};

    use super::*;

    fn process(pid: u32, ancestors: &[u32], flushes: u64) -> TracedProcess {
        let names = BTreeMap::from([("fdatasync".to_owned(), flushes)]);
        let by_kind = BTreeMap::from([(CallKind::Flush, names)]);
        let calls = SystemCalls { by_kind, file_read_bytes: flushes, ..SystemCalls::default() };
        TracedProcess { pid, ancestors: ancestors.to_vec(), calls }
    }

    fn flushes(cost: &OsCost) -> u64 {
        cost.calls.as_ref().unwrap().count(CallKind::Flush)
    }

    #[test]
    fn the_calls_of_a_server_are_those_of_its_tree_and_the_client_stands_apart() {
        let processes = [process(7, &[], 1), process(8, &[7], 10), process(9, &[8, 7], 100)];
        let of_server = traced_cost(&processes, Some(8), 5);
        assert_eq!(flushes(&of_server.engine), 110);
        assert_eq!(of_server.engine.calls.as_ref().unwrap().file_read_bytes, 110);
        assert_eq!(flushes(of_server.client.as_ref().unwrap()), 1);
        let embedded = traced_cost(&processes, None, 5);
        assert_eq!((flushes(&embedded.engine), embedded.client), (1, None));
    }

    fn trial(explained: Option<Explained>) -> Trial {
        let run = Run { explained, ..Run::default() };
        let phase =
            PhaseResult { phase: "read".to_owned(), runs: vec![run], ..PhaseResult::default() };
        Trial { phases: vec![phase], ..Trial::default() }
    }

    fn explained(trial: &Trial) -> &Explained {
        trial.phases[0].runs[0].explained.as_ref().unwrap()
    }

    #[test]
    fn the_calls_of_one_trial_come_to_the_faults_of_the_other() {
        let engine = OsCost { minor_faults: Some(3), ..OsCost::default() };
        let used = trial(Some(Explained { engine, ..Explained::default() }));
        let traced = trial(Some(traced_cost(&[process(7, &[], 1)], None, 5)));
        let both = with_calls(used.clone(), &traced);
        let both = explained(&both);
        assert_eq!((both.engine.minor_faults, flushes(&both.engine)), (Some(3), 1));
        assert_eq!((both.traced_ops, both.not_explained.len()), (Some(5), 0));

        let reason = Some("no tracing here".to_owned());
        let failed = Trial { status: Status::Failed, reason, ..Trial::default() };
        let without = with_calls(used, &failed);
        let without = explained(&without);
        assert_eq!(without.engine.calls, None);
        assert_eq!(without.not_explained, ["system calls were not counted: no tracing here"]);
    }
}
