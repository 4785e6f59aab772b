//! A whole run: from a plan to its result.

use std::path::Path;
use std::time::Duration;

use embermark_model::plan::{DataSource, Plan};
use embermark_model::result::{Drift, Emulated, Floor, Machine, ResultFile, Trial};
use embermark_model::{CellId, Scale};
use indicatif::HumanDuration;

use crate::cells::{self, PlannedCell};
use crate::cgroup::Cgroup;
use crate::journal::{EndedTrial, Head, Journal, Prepared};
use crate::machine::System;
use crate::outdir::OutDir;
use crate::progress::Progress;
use crate::run_options::RunOptions;
use crate::schedule::Turn;
use crate::session::{Purpose, Run};
use crate::stage::Stages;
use crate::{HarnessError, device, floor, journal, manifest, schedule, throttle};

/// What a row takes at most in a database, in bytes, for the warning about free space: twenty
/// times the 48 bytes it has in memory.
const BYTES_PER_ROW: u64 = 48 * 20;

/// Measures what `plan` asks for, trial by trial, and writes `journal.jsonl` and `result.json`
/// into the folder of `options`. What goes wrong in one cell is in its status; the others run. No
/// process and no database of the run is left when it returns, however it returns. A run that is
/// cut off, by an interrupt or by the death of this process, can be gone on with by [`resume`](crate::resume).
///
/// One run at a time in a process: orphaned processes that come to this process meanwhile are
/// taken for the engines' and ended.
///
/// # Errors
/// When the plan, a folder or the data cannot be used, when the disk is full, or when the run is
/// interrupted: then the error holds the result of the trials that had ended, and the result file
/// is written all the same.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<ResultFile, HarnessError> {
    let mut cells = cells::planned(plan, &options.catalog)?;
    if options.once_per_setting {
        cells::once_per_setting(&mut cells, &options.catalog)?;
    }
    let run_id = manifest::run_id();
    let dirs = OutDir::prepare(&options.out, options.data.as_deref(), &run_id, options.keep)?;
    let mut manifest = manifest::begin(&run_id, dirs.data());
    manifest.engines = manifest::engines(&cells, &options.catalog)?;
    let system = System::here();
    let limits = options.device.map(|device| {
        device.limits(&system, dirs.data()).map_err(|why| device::refused(device.name, why))
    });
    let limited = limits.transpose()?.map(|limits| limit(&run_id, &limits)).transpose()?;
    manifest.machine.emulates = limited.as_ref().map(|cgroup| cgroup.emulated().clone());
    let machine = manifest.machine.clone();
    let named = dirs.named().map(Path::to_owned);
    let head = Head::new(manifest, plan.clone(), named, options.count, cells);
    let mut journal = journal::Writer::create(&dirs.journal(), head)?;
    let mut run = Run { plan, options, dirs, stages: Stages::default(), limited };
    match run.prepare(&machine, &mut journal, progress) {
        Ok(()) => run.trials(journal, progress),
        Err(error) => {
            journal.discard();
            Err(error)
        }
    }
}

/// The group for the processes of a run that are to have no more than a device.
pub(crate) fn limit(run_id: &str, limits: &Emulated) -> Result<Cgroup, HarnessError> {
    let superuser = nix::unistd::geteuid().is_root();
    Cgroup::create(&System::here(), superuser, run_id, limits)
        .map_err(|why| device::refused(&limits.device, why))
}

/// `105 trials, each ended after 30 minutes at the latest (--timeout)`: what is to be known before
/// anything has been timed.
fn announced(trials: u32, plan: &Plan) -> String {
    let plural = if trials == 1 { "" } else { "s" };
    match plan.timeout_ms.map(Duration::from_millis).map(HumanDuration) {
        Some(most) => {
            format!("{trials} trial{plural}, each ended after {most} at the latest (--timeout)")
        }
        None => format!("{trials} trial{plural}, none of them ended before its end"),
    }
}

/// Bytes the largest database of a plan may take.
pub(crate) fn needed_bytes(plan: &Plan, cells: &[PlannedCell]) -> u64 {
    let whole_file = match &plan.data {
        // A row of text is about as long as one in memory.
        DataSource::File(file) => file.metadata().map_or(0, |meta| meta.len() * 20),
        DataSource::Synthetic => 0,
    };
    let bytes = cells.iter().map(|cell| match cell.id.scale {
        Scale::Rows(rows) => rows * BYTES_PER_ROW,
        Scale::Full => whole_file,
    });
    bytes.max().unwrap_or(0)
}

impl Run<'_> {
    /// Looks at the machine, makes the rows and measures the floor, so that trials can begin; of a
    /// run that is gone on with, what the journal lacks.
    pub(crate) fn prepare(
        &mut self,
        machine: &Machine,
        journal: &mut journal::Writer,
        progress: &mut dyn Progress,
    ) -> Result<(), HarnessError> {
        let cells = journal.journal().head.cells.clone();
        let needed = needed_bytes(self.plan, &cells);
        for warning in manifest::warnings(machine, self.dirs.data(), needed) {
            progress.note(&warning);
            journal.warn(warning)?;
        }
        self.stage(&cells, progress)?;
        let datasets = self.stages.datasets.clone();
        if journal.journal().prepared.is_some() {
            return self.stages.check_unchanged(journal.journal(), &self.dirs.journal());
        }
        let floor = self.measure_floor(journal, progress)?;
        journal.prepared(Prepared { datasets, floor })
    }

    fn stage(
        &mut self,
        cells: &[PlannedCell],
        progress: &mut dyn Progress,
    ) -> Result<(), HarnessError> {
        for (id, scales) in cells::stages(cells) {
            let names: Vec<String> = scales.iter().map(Scale::to_string).collect();
            progress.note(&format!("preparing rows of {id}: {}", names.join(", ")));
            let workload = self.options.catalog.workload(&id)?;
            let (data, seed) = (&self.plan.data, self.plan.seed);
            self.stages.add(workload, &scales, data, seed, &self.dirs.rows())?;
            self.stop_if_interrupted()?;
        }
        Ok(())
    }

    /// The harness's own cost, from the `null` engine. A run goes on without it.
    fn measure_floor(
        &mut self,
        journal: &mut journal::Writer,
        progress: &mut dyn Progress,
    ) -> Result<Option<Floor>, HarnessError> {
        let floor = match floor::measure(self)? {
            floor::Measured::Floor(floor) => Some(floor),
            floor::Measured::Not(why) => {
                let warning = format!("the harness's own cost could not be measured: {why}");
                progress.note(&warning);
                journal.warn(warning)?;
                None
            }
            floor::Measured::NotApplicable => None,
        };
        self.stop_if_interrupted().map(|()| floor)
    }

    /// Runs the trials that the journal lacks, and writes the result.
    pub(crate) fn trials(
        self,
        mut journal: journal::Writer,
        progress: &mut dyn Progress,
    ) -> Result<ResultFile, HarnessError> {
        let runnable: Vec<PlannedCell> = journal
            .journal()
            .head
            .cells
            .iter()
            .filter(|cell| cell.skip.is_none())
            .cloned()
            .collect();
        let trials = (runnable.iter())
            .map(|cell| {
                let workload = self.options.catalog.workload(&cell.id.workload)?;
                Ok(cells::trials(self.plan, &workload.info()))
            })
            .collect::<Result<Vec<u32>, HarnessError>>()?;
        let mut turns = schedule::order(&trials, self.plan.seed);
        let again = self.first_again(&turns).filter(|_| journal.journal().drift.is_none());
        turns.retain(|turn| !journal.journal().has(&runnable[turn.cell].id, turn.trial));
        let counts = self.counts(&runnable, journal.journal());
        let timed = (turns.len() + usize::from(again.is_some())) as u32;
        let all = timed + counts.len() as u32;
        progress.note(&announced(all, self.plan));
        progress.started(all);
        let mut complete = self.take_turns(&turns, &runnable, &mut journal, progress);
        if let (Ok(true), Some(again)) = (&complete, again) {
            complete = self.measure_drift(again, timed, &runnable, &mut journal, progress);
        }
        if matches!(complete, Ok(true)) {
            complete = self.count(&counts, timed, &mut journal, progress);
        }
        progress.finished();
        let interrupted = !complete?;
        if !interrupted {
            journal.finish(manifest::now())?;
        }
        let result = journal::assemble(journal.journal());
        journal::write_result(&self.dirs.result(), &result)?;
        match interrupted {
            false => Ok(result),
            true => Err(HarnessError::Interrupted { result: Some(Box::new(result)) }),
        }
    }

    /// Runs trials in their order and journals them; whether it came to the last.
    fn take_turns(
        &self,
        turns: &[Turn],
        cells: &[PlannedCell],
        journal: &mut journal::Writer,
        progress: &mut dyn Progress,
    ) -> Result<bool, HarnessError> {
        let mut slowed = throttle::PhaseObserver::begin(System::here());
        for (number, turn) in (1..).zip(turns) {
            let PlannedCell { id, phases, .. } = &cells[turn.cell];
            progress.trial(number, id, turn.trial);
            // Staged above, for every cell that runs.
            let Some(rows) = self.stages.file(&id.workload, id.scale) else { continue };
            let name = format!("{}-{}", id.slug(), turn.trial);
            let purpose = Purpose::Timing;
            let trial = self.trial(id, phases, rows, &name, purpose, progress)?.trial();
            let Some(trial) = trial else { return Ok(false) };
            let trial = Trial { index: turn.trial, order: turn.order, ..trial };
            self.check_version(journal.journal(), id, &trial)?;
            let wall = Duration::from_nanos(trial.wall_ns);
            progress.trial_ended(trial.status, trial.reason.as_deref(), wall);
            journal.trial(id.clone(), trial)?;
            if let Some(warning) = slowed.look() {
                progress.note(&warning);
                journal.warn(warning)?;
            }
        }
        Ok(true)
    }

    /// Checks that the engine of a trial is of the version of the trials before.
    ///
    /// # Errors
    /// [`HarnessError::Resume`], when it was exchanged since.
    fn check_version(
        &self,
        journal: &Journal,
        cell: &CellId,
        trial: &Trial,
    ) -> Result<(), HarnessError> {
        let known = journal.trials.iter().filter(|ended| ended.cell.engine == cell.engine);
        let before = known.filter_map(|ended| ended.trial.version.as_deref()).next();
        match (before, trial.version.as_deref()) {
            (Some(before), Some(now)) if before != now => Err(HarnessError::Resume {
                path: self.dirs.journal(),
                problem: format!(
                    "{} was {before} in the trials before and is {now}: their figures do not \
                     belong in one result; put the engine back, or begin a new run",
                    cell.engine
                ),
            }),
            _ => Ok(()),
        }
    }

    /// The turn that is taken again after the last one, to see whether the machine drifted: the
    /// first. None where that would say nothing: of a check of answers, or of a single trial.
    fn first_again(&self, turns: &[Turn]) -> Option<Turn> {
        let measures = turns.len() > 1 && !self.options.once_per_setting;
        let first = turns.first().filter(|_| measures)?;
        Some(Turn { order: turns.len() as u32, ..*first })
    }

    /// Makes the first trial again, as the `number`-th, and journals it apart; whether it came to its end. A first trial
    /// that did not end well is not made again.
    fn measure_drift(
        &self,
        turn: Turn,
        number: u32,
        cells: &[PlannedCell],
        journal: &mut journal::Writer,
        progress: &mut dyn Progress,
    ) -> Result<bool, HarnessError> {
        let PlannedCell { id, phases, .. } = &cells[turn.cell];
        let is_first = |ended: &&EndedTrial| ended.cell == *id && ended.trial.index == turn.trial;
        let first = journal.journal().trials.iter().find(is_first);
        let went_well = first.is_some_and(|first| first.trial.status.has_figures());
        let Some(rows) = self.stages.file(&id.workload, id.scale).filter(|_| went_well) else {
            return Ok(true);
        };
        progress.note("the first trial once more, to see whether the machine drifted");
        progress.trial(number, id, turn.trial);
        let name = format!("{}-{}-again", id.slug(), turn.trial);
        let again = self.trial(id, phases, rows, &name, Purpose::Timing, progress)?.trial();
        let Some(again) = again else { return Ok(false) };
        let again = Trial { index: turn.trial, order: turn.order, ..again };
        let wall = Duration::from_nanos(again.wall_ns);
        progress.trial_ended(again.status, again.reason.as_deref(), wall);
        journal.drift(Drift { cell: id.clone(), first: turn.trial, again })?;
        Ok(true)
    }
}
