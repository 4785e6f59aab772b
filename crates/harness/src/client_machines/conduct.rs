//! Conducts the trials of a plan on the client machines.

use std::path::Path;
use std::time::Instant;

use embermark_model::Status;
use embermark_model::plan::Plan;
use embermark_model::result::{Machine, ResultFile, Tool, Trial};

use super::protocol::{Facts, OrderTransport};
use crate::cells::{self, PlannedCell};
use crate::journal::{self, EndedTrial, Head, Line};
use crate::outdir::OutDir;
use crate::progress::Progress;
use crate::result_file::{assemble, write_result};
use crate::run_options::RunOptions;
use crate::{HarnessError, Result, manifest, redaction, schedule};

/// Measures a plan into a new folder. The plan has the number of clients of each machine, and the
/// URL of the server.
///
/// # Errors
/// The errors of [`crate::run()`]. If a machine is lost, the run ends: the result has the trials
/// that had ended, and a warning names the machine.
pub fn conduct(
    plan: &Plan,
    out: &Path,
    transport: &mut dyn OrderTransport,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<ResultFile> {
    let names = transport.names();
    let each = plan.clients;
    let all = u32::try_from(names.len()).ok().and_then(|machines| machines.checked_mul(each));
    let plan = &Plan { clients: all.unwrap_or(u32::MAX), ..plan.clone() };
    if plan.clients < 2 {
        return Err(HarnessError::Plan(
            "one client on one machine is an ordinary run: embermark run --url".to_owned(),
        ));
    }
    let catalog = &options.catalog;
    let cells = cells::planned(plan, catalog)?;
    let run_id = manifest::run_id();
    let dirs = OutDir::prepare(out, None, &run_id, false)?;
    let lost = |why: String| HarnessError::Plan(format!("the client machines: {why}"));
    let facts = transport.facts().map_err(lost)?;
    let mut manifest = manifest::begin(&run_id, &dirs.data);
    manifest.machine = in_common(&facts);
    manifest.tool = one_tool(&names, &facts)?;
    manifest.client_machines =
        names.iter().cloned().zip(facts.into_iter().map(|facts| facts.machine)).collect();
    manifest.engines = manifest::engines(&cells, plan, catalog)?;
    let head = Head {
        embermark_journal: journal::VERSION,
        manifest,
        plan: plan.clone(),
        cells,
        ..Head::default()
    };
    let journal = journal::Writer::create(&dirs.journal(), head)?;
    let guest = manifest::guest(&run_id);
    let mut conductor =
        Conductor { plan, names, each, guest, transport, journal, progress, options };
    let ended = conductor.trials();
    conductor.progress.finished();
    let complete = ended?;
    if complete {
        conductor.journal.add(Line::End { finished: manifest::now() })?;
    }
    let result = assemble(&conductor.journal);
    write_result(&dirs.result(), &result)?;
    match complete || !options.interrupt.is_set() {
        true => Ok(result),
        false => Err(HarnessError::Interrupted { result: Some(Box::new(result)) }),
    }
}

/// A plan that is being measured.
pub(super) struct Conductor<'a> {
    pub plan: &'a Plan,
    pub names: Vec<String>,
    /// Number of clients on each machine.
    pub each: u32,
    pub guest: String,
    pub transport: &'a mut dyn OrderTransport,
    pub journal: journal::Writer,
    pub progress: &'a mut dyn Progress,
    pub options: &'a RunOptions,
}

/// Why a trial did not complete.
pub(super) enum Stop {
    /// The run was interrupted.
    Interrupted,
    /// A machine was lost: no trial can follow.
    Lost(String),
    /// A machine cannot continue this trial.
    Failed(Status, String),
    /// The journal cannot be written.
    Run(HarnessError),
}

impl From<HarnessError> for Stop {
    fn from(error: HarnessError) -> Self {
        Self::Run(error)
    }
}

/// Makes the error for a reply to another order.
pub(super) fn unexpected_reply(what: &str) -> Stop {
    Stop::Failed(
        Status::Failed,
        format!("a client machine replied to another order, not to {what}"),
    )
}

impl Conductor<'_> {
    /// Runs every trial in order. Returns whether it completed the last one.
    fn trials(&mut self) -> Result<bool> {
        let cells = self.journal.head.cells.iter();
        let runnable: Vec<PlannedCell> =
            cells.filter(|cell| cell.skip.is_none()).cloned().collect();
        let trials = cells::trials(self.plan, &runnable, &self.options.catalog)?;
        let turns = schedule::order(&trials, self.plan.seed);
        self.progress.started(turns.len() as u32);
        for (number, turn) in turns.iter().enumerate() {
            if self.options.interrupt.is_set() {
                return Ok(false);
            }
            let PlannedCell { id, phases, .. } = &runnable[turn.cell];
            self.progress.trial(number as u32 + 1, id, turn.trial);
            let began = Instant::now();
            let mut trial = Trial { index: turn.trial, order: turn.order, ..Trial::default() };
            let ended = self.trial(id, phases, &mut trial);
            // A failure after the interrupt is probably its consequence.
            if self.options.interrupt.is_set() {
                return Ok(false);
            }
            trial.wall_ns = began.elapsed().as_nanos() as u64;
            let lost = matches!(ended, Err(Stop::Lost(_)));
            (trial.status, trial.reason) = match ended {
                Ok(()) => (trial.status, trial.reason),
                Err(Stop::Interrupted) => return Ok(false),
                Err(Stop::Run(error)) => return Err(error),
                Err(Stop::Failed(status, reason)) => (status, Some(reason)),
                Err(Stop::Lost(reason)) => (Status::Failed, Some(reason)),
            };
            if let Some(url) = self.plan.urls.get(&id.engine) {
                redaction::redact(&mut trial, &url.secrets(), self.plan.engine_of(&id.engine));
            }
            trial.update_status();
            self.progress.trial_ended(trial.status, trial.reason.as_deref(), began.elapsed());
            let reason = trial.reason.clone().unwrap_or_default();
            self.journal.add(Line::Trial(Box::new(EndedTrial { cell: id.clone(), trial })))?;
            if lost {
                let says =
                    format!("the run ended early, because a client machine was lost: {reason}");
                self.warn(says)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Shows a warning and journals it.
    pub(super) fn warn(&mut self, warning: String) -> Result<()> {
        self.progress.note(&warning);
        self.journal.warn(warning)
    }
}

/// Returns what all machines have in common. Facts that differ are absent.
fn in_common(facts: &[Facts]) -> Machine {
    let mut machines = facts.iter().map(|facts| &facts.machine);
    let Some(mut common) = machines.next().cloned() else { return Machine::default() };
    // The load differs with the time at which each was asked.
    common.load = None;
    fn keep<T: PartialEq>(own: &mut Option<T>, other: &Option<T>) {
        if own != other {
            *own = None;
        }
    }
    for other in machines {
        keep(&mut common.board, &other.board);
        keep(&mut common.cpu, &other.cpu);
        keep(&mut common.cpus, &other.cpus);
        keep(&mut common.memory_bytes, &other.memory_bytes);
        keep(&mut common.page_bytes, &other.page_bytes);
        common.limits.retain(|name, value| other.limits.get(name) == Some(value));
        keep(&mut common.kernel, &other.kernel);
        keep(&mut common.os, &other.os);
        keep(&mut common.governor, &other.governor);
        keep(&mut common.file_system, &other.file_system);
        keep(&mut common.mount_options, &other.mount_options);
        keep(&mut common.journal, &other.journal);
        keep(&mut common.device, &other.device);
    }
    common
}

/// Returns the version of the program, which must be the same on all machines.
fn one_tool(names: &[String], facts: &[Facts]) -> Result<Tool> {
    let tools = || names.iter().zip(facts.iter().map(|facts| &facts.tool));
    let Some((first, tool)) = tools().next() else {
        return Err(HarnessError::Plan("no client machine is given".to_owned()));
    };
    let same = |other: &Tool| {
        (&other.version, &other.commit, &other.profile)
            == (&tool.version, &tool.commit, &tool.profile)
    };
    match tools().find(|(_, other)| !same(other)) {
        Some((other, _)) => Err(HarnessError::Plan(format!(
            "{first} and {other} have different builds of embermark, whose figures do not belong \
             together: put packages of one build into the fleet's folder"
        ))),
        None => Ok(tool.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_same_on_every_machine_is_told_of_all() {
        let facts = |governor: &str, journal| Facts {
            tool: Tool::default(),
            machine: Machine {
                cpu: Some("A53".to_owned()),
                governor: Some(governor.to_owned()),
                journal: Some(journal),
                load: Some(0.5),
                ..Machine::default()
            },
        };
        let common = in_common(&[facts("performance", true), facts("performance", false)]);
        assert_eq!((common.cpu.as_deref(), common.journal, common.load), (Some("A53"), None, None));
        assert_eq!(common.governor.as_deref(), Some("performance"));
        let common = in_common(&[facts("performance", true), facts("powersave", true)]);
        assert_eq!((common.governor, common.journal), (None, Some(true)));
    }
}
