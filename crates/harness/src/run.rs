//! A whole run: from a plan to its result.

use std::fs;
use std::time::{Duration, Instant};

use embermark_model::plan::{DataSource, Plan};
use embermark_model::result::{Drift, Emulated, Machine, ResultFile, Trial};
use embermark_model::{CellId, Scale};
use indicatif::HumanDuration;

use crate::cells::{self, PlannedCell};
use crate::confinement::Confinement;
use crate::imitation::{self, Imitation};
use crate::journal::{EndedTrial, Head, Line, Prepared};
use crate::machine::System;
use crate::outdir::{OutDir, RESULT};
use crate::progress::Progress;
use crate::result_file::write_result;
use crate::run_options::RunOptions;
use crate::schedule::Turn;
use crate::session::{Purpose, Run};
use crate::stage::Staging;
use crate::{HarnessError, device, floor, journal, manifest, race, referees, schedule, throttle};

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
    let options = &options.of_plan(plan)?;
    let mut cells = cells::planned(plan, &options.catalog)?;
    if options.once_per_setting {
        cells::once_per_setting(&mut cells, plan, &options.catalog)?;
    }
    let run_id = manifest::run_id();
    let dirs = OutDir::prepare(&options.out, options.data.as_deref(), &run_id, options.keep)?;
    let mut manifest = manifest::begin(&run_id, &dirs.data);
    check_memory(plan, manifest.machine.memory_bytes)?;
    manifest.engines = manifest::engines(&cells, plan, &options.catalog)?;
    let system = System::here();
    let needed = needed_bytes(plan, &cells);
    let on_card = options.device.map(|_| imitation::of_device(plan, &dirs.data, needed));
    let on_card = on_card.unwrap_or(Ok(None));
    let no_card = on_card.as_ref().err().cloned();
    let (with_card, begun) = on_card.ok().flatten().unzip();
    let plan = with_card.as_ref().unwrap_or(plan);
    if with_card.is_some() {
        cells = cells::planned(plan, &options.catalog)?;
    }
    let limits = options.device.map(|device| {
        let limits = device.limits(&system, &dirs.data, &plan.storages);
        limits.map_err(|why| device::refused(device.name, why))
    });
    let mut confinement = Confinement::of_device(&run_id, limits.transpose()?)?;
    manifest.machine.emulates = options.device.zip(confinement.device()).map(|(device, group)| {
        let storages = plan.storages.iter().flatten().map(|storage| storage.name).collect();
        Emulated { device: device.name.to_owned(), limits: group.limits.clone(), storages }
    });
    if let Some(least) = cells::least_memory_limit(&cells)
        && let Err(why) = confinement.allow_memory_limits(&run_id, least)
    {
        cells::skip_memory_limits(&mut cells, &why);
    }
    let imitation = imitation::of_cells(&mut cells, plan, &options.catalog, || {
        begun.map_or_else(|| Imitation::begin(&dirs.data, needed), Ok)
    });
    manifest.storage_path = imitation.as_ref().map(Imitation::path);
    let machine = manifest.machine.clone();
    let head = Head {
        embermark_journal: journal::VERSION,
        manifest,
        plan: plan.clone(),
        databases: dirs.named.clone(),
        counts: options.count,
        explains: options.explain,
        cells,
    };
    let journal = journal::Writer::create(&dirs.journal(), head)?;
    let mut run = Run::new(&run_id, (plan, options), dirs, confinement, journal, progress);
    run.imitation = imitation;
    if let Some((device, why)) = options.device.zip(no_card) {
        run.warn(format!(
            "{}, the card that {} usually has, cannot be imitated here: {why}",
            device::STORAGE,
            device.name
        ))?;
    }
    match run.prepare(&machine) {
        Ok(()) => run.trials(),
        Err(error) => {
            run.journal.discard();
            Err(error)
        }
    }
}

/// Refuses a cache that is larger than the machine's memory.
fn check_memory(plan: &Plan, here: Option<u64>) -> Result<(), HarnessError> {
    let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    match here.filter(|here| *here < plan.memory_bytes) {
        Some(here) => Err(HarnessError::Plan(format!(
            "a cache of {:.1} GiB (--cache) exceeds this machine's memory of {:.1} GiB: give less",
            gibibytes(plan.memory_bytes),
            gibibytes(here)
        ))),
        None => Ok(()),
    }
}

/// `105 trials, each ended after 30 minutes at the latest (timeout)`: what is to be known before
/// anything has been timed.
fn announced(trials: u32, plan: &Plan) -> String {
    let plural = if trials == 1 { "" } else { "s" };
    let trials = match plan.budget_ms {
        Some(_) => format!("at most {trials}"),
        None => trials.to_string(),
    };
    match plan.timeout_ms.map(Duration::from_millis).map(HumanDuration) {
        Some(most) => {
            format!("{trials} trial{plural}, each ended after {most} at the latest (timeout)")
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
    pub(crate) fn prepare(&mut self, machine: &Machine) -> Result<(), HarnessError> {
        let needed = needed_bytes(self.plan, &self.journal.head.cells);
        for warning in manifest::warnings(machine, &self.dirs.data, needed).all {
            self.warn(warning)?;
        }
        let timed = |cell: &&PlannedCell| self.options.catalog.until_steady(&cell.id);
        if let Some(cell) = self.journal.head.cells.iter().find(timed)
            && !self.plan.cards.is_empty()
        {
            self.warn(format!(
                "no card is modelled of {}: its timed trials have the disk, and recording would slow it",
                cell.id.workload
            ))?;
        }
        if let Some(says) = cells::never_cold(self.plan, &self.options.catalog)? {
            self.progress.note(&says);
        }
        for (id, scales) in cells::stages(&self.journal.head.cells) {
            let names: Vec<String> = scales.iter().map(Scale::to_string).collect();
            self.progress.note(&format!("preparing rows of {id}: {}", names.join(", ")));
            let (dir, interrupt) = (self.dirs.rows(), &self.options.interrupt);
            if self.plan.workload_files.contains_key(&id) {
                // What reads somebody's files takes its memory, and its crash, along.
                let (parent, plan) = (std::process::id(), self.plan.clone());
                let staging = Staging { parent, plan, workload: id, scales, dir };
                self.stages.add_apart(staging, &self.options.worker, interrupt)?;
            } else {
                let (workload, plan) = (self.options.catalog.workload(&id)?, self.plan);
                self.stages.add(workload, &scales, &plan.data, plan.seed, &dir, interrupt)?;
            }
            self.stop_if_interrupted()?;
        }
        referees::ask(self)?;
        if let Some(prepared) = &self.journal.prepared {
            return self.stages.check_unchanged(&prepared.datasets, &self.dirs.journal());
        }
        for says in self
            .stages
            .datasets
            .iter()
            .filter_map(|(id, rows)| rows.not_used(id))
            .collect::<Vec<_>>()
        {
            self.warn(says)?;
        }
        // The harness's own cost. A run goes on without it.
        let (floor, problems) = floor::measure(self)?;
        for problem in problems {
            self.warn(format!("the harness's own cost could not be measured: {problem}"))?;
        }
        self.stop_if_interrupted()?;
        let datasets = self.stages.datasets.clone();
        self.journal.add(Line::Prepared { prepared: Prepared { datasets, floor } })
    }

    /// Runs the trials that the journal lacks, and writes the result.
    pub(crate) fn trials(mut self) -> Result<ResultFile, HarnessError> {
        let cells = self.journal.head.cells.iter();
        let runnable: Vec<PlannedCell> =
            cells.filter(|cell| cell.skip.is_none()).cloned().collect();
        if let Some(ends) = self.ends() {
            let complete = self.within(ends, &runnable);
            return self.finished(complete);
        }
        let trials = cells::trials(self.plan, &runnable, &self.options.catalog)?;
        let mut turns = self.steps(schedule::order(&trials, self.plan.seed), &runnable);
        let again = self.first_again(&turns, &runnable).filter(|_| self.journal.drift.is_none());
        turns.retain(|turn| self.journal.ended(&runnable[turn.cell].id, turn.trial).is_none());
        let counts = self.counts(&runnable);
        let timed = (turns.len() + usize::from(again.is_some())) as u32;
        let explains = self.explains(&runnable)?;
        let counted = timed + counts.len() as u32;
        let all = counted + explains.len() as u32;
        self.progress.note(&announced(all, self.plan));
        self.progress.started(all);
        self.later = counts.iter().chain(&explains).cloned().collect();
        let mut complete = self.before_trials();
        if matches!(complete, Ok(true)) {
            complete = self.take_steps(&turns, &runnable);
        }
        if let (Ok(true), Some(again)) = (&complete, again) {
            complete = self.measure_drift(again, timed, &runnable[again.cell]);
        }
        if matches!(complete, Ok(true)) {
            complete = self.count(&counts, timed);
        }
        if matches!(complete, Ok(true)) {
            complete = self.explain(&explains, counted);
        }
        self.finished(complete)
    }

    /// Runs trials for a time; whether it was not interrupted.
    fn within(&mut self, ends: Instant, cells: &[PlannedCell]) -> Result<bool, HarnessError> {
        let lasts = Duration::from_millis(self.plan.lasts_ms.unwrap_or_default());
        self.progress.note(&format!(
            "{} cells, each measured once and then again where the order is not certain, within {} (--for)",
            cells.len(),
            race::written(lasts)
        ));
        self.progress.started_for(self.began, lasts);
        let counts = self.counts(cells);
        if !(self.before_trials()? && self.race(cells, ends)?) {
            return Ok(false);
        }
        let trials = self.journal.trials.len() as u32;
        let explains = self.explains(cells)?;
        if !(self.count(&counts, trials)? && self.explain(&explains, trials)?) {
            return Ok(false);
        }
        // What those that count have left of their time.
        self.race_on(cells, ends)
    }

    /// Writes the result of a run that came to its end, or was interrupted.
    fn finished(
        mut self,
        complete: Result<bool, HarnessError>,
    ) -> Result<ResultFile, HarnessError> {
        self.progress.finished();
        if complete.is_err() && !self.dirs.is_there() {
            self.keep_result();
        }
        let complete = complete?;
        if complete {
            self.after_trials()?;
            self.journal.add(Line::End { finished: manifest::now() })?;
        }
        let result = journal::assemble(&self.journal);
        if self.dirs.is_there() {
            write_result(&self.dirs.result(), &result)?;
        } else {
            self.keep_result();
        }
        match complete {
            true => Ok(result),
            false => Err(HarnessError::Interrupted { result: Some(Box::new(result)) }),
        }
    }

    /// Writes the result of a run whose folder is gone: into that folder, made anew, or else into one of
    /// temporary files, and says where.
    fn keep_result(&mut self) {
        let result = journal::assemble(&self.journal);
        let mut folders = vec![self.dirs.path().to_owned()];
        folders.push(std::env::temp_dir().join(&self.guest));
        for folder in folders {
            let path = folder.join(RESULT);
            let written = fs::create_dir_all(&folder)
                .map_err(|error| HarnessError::file(&folder, "make the folder", error))
                .and_then(|()| write_result(&path, &result));
            let says = match &written {
                Ok(()) => format!(
                    "the folder of the run was removed meanwhile: what was measured is in {}",
                    path.display()
                ),
                Err(error) => error.to_string(),
            };
            self.progress.note(&says);
            if written.is_ok() {
                return;
            }
        }
    }

    /// Runs trials in their order, the `number`-th of the run first, and journals them; whether it
    /// came to the last.
    pub(crate) fn take_turns(
        &mut self,
        turns: &[Turn],
        number: u32,
        cells: &[PlannedCell],
    ) -> Result<bool, HarnessError> {
        let mut slowed = throttle::PhaseObserver::begin(System::here());
        for (place, (number, turn)) in (number..).zip(turns).enumerate() {
            let cell = &cells[turn.cell];
            let after = turns[place + 1..].iter().map(|turn| &cells[turn.cell]);
            let after: Vec<&PlannedCell> = after.chain(&self.later).collect();
            self.progress.to_go(race::expected(&after, &self.journal.trials));
            let Some(trial) = self.turn(*turn, number, cell, "")? else { return Ok(false) };
            self.check_version(&cell.id, &trial)?;
            let cell = cell.id.clone();
            self.journal.add(Line::Trial(Box::new(EndedTrial { cell, trial })))?;
            if let Some(warning) = slowed.look() {
                self.warn(warning)?;
            }
        }
        Ok(true)
    }

    /// Runs a turn as the `number`-th trial; `None` where it was interrupted.
    fn turn(
        &mut self,
        turn: Turn,
        number: u32,
        PlannedCell { id, phases, .. }: &PlannedCell,
        suffix: &str,
    ) -> Result<Option<Trial>, HarnessError> {
        self.progress.trial(number, id, turn.trial);
        let rows = self.stages.file(&id.workload, id.scale)?.to_owned();
        let name = format!("{}-{}{suffix}", id.slug(), turn.trial);
        let trial = self.trial(id, phases, &rows, &name, Purpose::Timing)?;
        let trial = trial.map(|trial| Trial { index: turn.trial, order: turn.order, ..trial });
        trial.iter().for_each(|trial| self.show_ending(trial));
        Ok(trial)
    }

    /// Checks that the engine of a trial is of the version of the trials before with the same library
    /// and the same client, whose package may bring another.
    fn check_version(&self, cell: &CellId, trial: &Trial) -> Result<(), HarnessError> {
        let of = |cell: &CellId| {
            let own = self.plan.configurations.get(&cell.engine);
            let own = own.map(|own| (own.library.clone(), own.client.clone()));
            (self.plan.engine_of(&cell.engine).to_owned(), own.unwrap_or_default())
        };
        let known = self.journal.trials.iter();
        let known = known.filter(|ended| of(&ended.cell) == of(cell));
        let before = known.filter_map(|ended| ended.trial.version.as_deref()).next();
        match (before, trial.version.as_deref()) {
            (Some(before), Some(now)) if before != now => {
                let problem = format!(
                    "{} was {before} in the trials before and is {now}: their figures do not \
                     belong in one result; put the engine back, or begin a new run",
                    cell.engine
                );
                Err(HarnessError::resume(&self.dirs.journal(), problem))
            }
            _ => Ok(()),
        }
    }

    /// The turn that is taken again after the last one, to see whether the machine drifted: the
    /// first. None where that would say nothing: of a check of answers, or of a single trial; nor of one that
    /// goes on until it is steady, which would take as long again.
    fn first_again(&self, turns: &[Turn], cells: &[PlannedCell]) -> Option<Turn> {
        let measures = turns.len() > 1 && !self.options.once_per_setting;
        let first = turns.first().filter(|_| measures)?;
        if self.options.catalog.until_steady(&cells[first.cell].id) {
            return None;
        }
        Some(Turn { order: turns.len() as u32, ..*first })
    }

    /// Makes the first trial again, as the `number`-th, and journals it apart; whether it came to its
    /// end. A first trial that did not end well is not made again.
    fn measure_drift(
        &mut self,
        turn: Turn,
        number: u32,
        cell: &PlannedCell,
    ) -> Result<bool, HarnessError> {
        let first = self.journal.ended(&cell.id, turn.trial);
        if !first.is_some_and(|first| first.status.has_figures()) {
            return Ok(true);
        }
        self.progress.note("the first trial once more, to see whether the machine drifted");
        let Some(again) = self.turn(turn, number, cell, "-again")? else { return Ok(false) };
        let drift = Drift { cell: cell.id.clone(), first: turn.trial, again };
        self.journal.add(Line::Drift { drift: Box::new(drift) })?;
        Ok(true)
    }
}
