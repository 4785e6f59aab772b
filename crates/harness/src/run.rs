//! Runs a plan and writes its result.

use embermark_model::Scale;
use embermark_model::plan::Plan;
use embermark_model::result::{Emulated, Machine, ResultFile, Wear};

use crate::cells::{self, PlannedCell};
use crate::confinement::Confinement;
use crate::database_size::needed_bytes;
use crate::energy::marker;
use crate::imitation::{self, Imitation};
use crate::journal::{Head, Line, Prepared};
use crate::machine_limits::check_machine;
use crate::outdir::OutDir;
use crate::progress::Progress;
use crate::protocol::StageRequest;
use crate::run_options::RunOptions;
use crate::session::Run;
use crate::stage::prepare_in_thread;
use crate::system::System;
use crate::{HarnessError, Result, device, floor, journal, manifest, referees, wear};

mod trials;
mod turns;

/// Measures what `plan` asks for, trial by trial, and writes `journal.jsonl` and `result.json` into
/// the folder of `options`. A failure in one cell is recorded in its status, and the others run.
/// When it returns, with or without an error, no process and no database of the run remains.
/// [`resume`](crate::resume) continues a run after an interrupt or the death of this process.
///
/// A process can do one run at a time, because the run ends every orphaned process that this
/// process adopts as an engine's.
///
/// # Errors
/// If this machine does not [allow](check_machine) the plan, the plan, a folder or the data is
/// unusable, the disk is full, or the run was interrupted. After an interrupt, the error holds the
/// result of the finished trials and the result file is written.
pub fn run(plan: &Plan, options: &RunOptions, progress: &mut dyn Progress) -> Result<ResultFile> {
    check_machine(plan)?;
    let options = &options.for_plan(plan)?;
    let mut cells = cells::planned(plan, &options.catalog)?;
    if options.once_per_setting {
        cells::once_per_setting(&mut cells, plan, &options.catalog)?;
    }
    let run_id = manifest::run_id();
    let dirs = OutDir::prepare(&options.out, options.data.as_deref(), &run_id, options.keep)?;
    let mut manifest = manifest::begin(&run_id, &dirs.data);
    manifest.engines = manifest::engines(&cells, plan, &options.catalog)?;
    let system = System::here();
    let needed = needed_bytes(plan, &cells);
    let on_card = options.device.map(|_| imitation::for_device(plan, &dirs.data, needed));
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
    let mut confinement = Confinement::for_device(&run_id, limits.transpose()?)?;
    manifest.machine.emulates = options.device.zip(confinement.device()).map(|(device, group)| {
        let storages = plan.storages.iter().flatten().map(|storage| storage.name).collect();
        Emulated { device: device.name.to_owned(), limits: group.limits.clone(), storages }
    });
    if let Some(least) = cells::least_memory_limit(&cells)
        && let Err(why) = confinement.allow_memory_limits(&run_id, least)
    {
        cells::skip_memory_limits(&mut cells, &why);
    }
    let imitation = imitation::for_cells(&mut cells, plan, &options.catalog, || {
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

impl Run<'_> {
    /// Checks the machine, stages the rows and measures the floor, so that trials can begin. In a
    /// resumed run, does only what the journal lacks.
    pub(crate) fn prepare(&mut self, machine: &Machine) -> Result<()> {
        let needed = needed_bytes(self.plan, &self.journal.head.cells);
        for warning in manifest::warnings(machine, &self.dirs.data, needed).all {
            self.warn(warning)?;
        }
        let timed = |cell: &&PlannedCell| self.options.catalog.until_steady(&cell.id);
        if let Some(cell) = self.journal.head.cells.iter().find(timed)
            && !self.plan.cards.is_empty()
        {
            self.warn(format!(
                "no card is modelled for {}: its timed trials use the disk, and recording would slow it down",
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
            let prepared = if self.plan.workload_files.contains_key(&id) {
                // A process that reads the user's files may crash, and its memory is freed with it.
                let (plan, workload) = (self.plan.clone(), id.clone());
                let staging = StageRequest { plan, workload, scales, dir };
                staging.ask(&self.options.worker, interrupt)?
            } else {
                let (workload, plan) = (self.options.catalog.workload(&id)?, self.plan);
                prepare_in_thread(workload, &scales, &plan.data, plan.seed, &dir, interrupt)?
            };
            self.stages.insert(&id, prepared);
            self.stop_if_interrupted()?;
        }
        referees::ask(self)?;
        if let Some(prepared) = &self.journal.prepared {
            return self.stages.check_unchanged(&prepared.datasets, &self.dirs.journal());
        }
        let not_used = self.stages.datasets.iter().filter_map(|(id, rows)| rows.not_used(id));
        for says in not_used.collect::<Vec<_>>() {
            self.warn(says)?;
        }
        // The run continues without the cost of the harness.
        let (floor, problems) = floor::measure(self)?;
        for problem in problems {
            self.warn(format!("the harness's own cost could not be measured: {problem}"))?;
        }
        self.stop_if_interrupted()?;
        let datasets = self.stages.datasets.clone();
        self.journal.add(Line::Prepared { prepared: Prepared { datasets, floor } })
    }

    /// Measures the idle power and reads the wear counters, unless the journal of a resumed run has
    /// them.
    pub(crate) fn before_trials(&mut self) -> Result<()> {
        if self.options.once_per_setting {
            // This run only checks answers.
            return Ok(());
        }
        if self.journal.wear.is_none() {
            let wear = self.wear();
            self.journal.add(Line::Wear { wear })?;
        }
        if let Some(known) = self.journal.energy.clone() {
            self.energy.restore(known);
            return Ok(());
        }
        let options = self.options.energy.clone();
        if options.metered {
            self.progress.note(&format!(
                "running the load pattern for the external meter for {:.0} s",
                (options.slot * marker::PATTERN.len() as u32).as_secs_f64()
            ));
            if !self.energy.mark(options.slot, &self.options.interrupt) {
                return Err(HarnessError::Interrupted { result: None });
            }
        }
        if options.metered || !self.energy.is_empty() {
            let length = options.idle.as_secs_f64();
            self.progress.note(&format!("measuring the idle draw for {length:.0} s"));
            if !self.energy.measure_idle(options.idle, &self.options.interrupt) {
                return Err(HarnessError::Interrupted { result: None });
            }
        }
        let energy = self.energy.known();
        self.journal.add(Line::Energy { energy })
    }

    /// Runs the load pattern again for a meter, whose clock may have another rate, and reads the
    /// wear counters again.
    pub(crate) fn after_trials(&mut self) -> Result<()> {
        if self.options.once_per_setting {
            return Ok(());
        }
        let marked = self.journal.energy.as_ref().is_some_and(|known| !known.markers.is_empty());
        if marked && self.energy.mark(self.options.energy.slot, &self.options.interrupt) {
            let energy = self.energy.known();
            self.journal.add(Line::Energy { energy })?;
        }
        let now = self.wear();
        if let Some(mut wear) = self.journal.wear.clone() {
            wear::add_after(&mut wear, &now);
            self.journal.add(Line::Wear { wear })?;
        }
        Ok(())
    }

    fn wear(&self) -> Wear {
        wear::read(&System::at(&self.options.energy.root), &self.dirs.data)
    }
}
