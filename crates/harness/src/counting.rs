//! The counting trials measure what a cell writes to a block device, and the size of its rows on
//! disk. They follow the timed trials, and their times are in no figure.

use std::time::Instant;

use embermark_model::plan::Rate;
use embermark_model::result::{PhaseResult, Trial};

use crate::cells::PlannedCell;
use crate::database_size::needed_bytes;
use crate::journal::{EndedTrial, Line};
use crate::purpose::Purpose;
use crate::race::{competes, expected, rank};
use crate::session::Run;
use crate::trial_disk::TrialDisks;
use crate::{HarnessError, Result};

impl Run<'_> {
    /// Returns the cells to count. Excluded are reference engines, servers given by URL, the search
    /// for a highest rate, whose length depends on the engine, and workloads whose timed trials
    /// have their own disk.
    pub(crate) fn cells_to_count(&self, cells: &[PlannedCell]) -> Vec<PlannedCell> {
        let counts = self.journal.head.counts && self.plan.rate != Rate::Max;
        let is_due = |cell: &&PlannedCell| {
            let private = !self.plan.urls.contains_key(&cell.id.engine);
            let counted = self.journal.counted.iter().any(|counted| counted.cell == cell.id);
            let timed = self.options.catalog.until_steady(&cell.id);
            counts && private && !cell.reference && !counted && !timed
        };
        let mut due: Vec<PlannedCell> = cells.iter().filter(is_due).cloned().collect();
        // If time is limited, the cells that the screen shows come first.
        if self.plan.lasts_ms.is_some() {
            due.sort_by_key(|cell| rank(&cell.id, cells));
        }
        due
    }

    /// Counts the cells that had a trial with figures, and journals the results. `before` is the
    /// number of earlier trials of the run.
    pub(crate) fn count(&mut self, cells: &[PlannedCell], before: u32) -> Result<()> {
        if cells.is_empty() {
            return Ok(());
        }
        let needed = needed_bytes(self.plan, cells);
        let trial_disks = TrialDisks::begin(&self.dirs.data, needed);
        if let Err(why) = &trial_disks {
            self.not_counted(format!("bytes that reach the disk were not counted: {why}"))?;
        }
        let trial_disks = trial_disks.ok();
        let records = self.records(trial_disks.as_ref())?;
        let all = self.journal.counted.len() + cells.len();
        let (mut fits, mut is_late) = (true, false);
        for (place, (number, cell)) in (before + 1..).zip(cells).enumerate() {
            // Tables of competing cells are counted one by one. A table that would not end in time
            // is skipped.
            if place == 0 || !competes(&cells[place - 1].id, &cell.id) {
                let table: Vec<_> =
                    cells[place..].iter().take_while(|own| competes(&own.id, &cell.id)).collect();
                let lasts = expected(&table, &self.journal.trials);
                fits = self.ends().is_none_or(|ends| Instant::now() + lasts <= ends);
            }
            // A phase that lasts a fixed time loads nothing twice: its own trials have the size.
            let lasts = self.options.catalog.workload(&cell.id.workload)?.info().lasts;
            let figures =
                |ended: &&EndedTrial| ended.cell == cell.id && ended.trial.status.has_figures();
            let timed = self.journal.trials.iter().find(figures).map(|ended| load_of(&ended.trial));
            let had_trial = || self.journal.trials.iter().any(|ended| ended.cell == cell.id);
            let is_left = if timed.is_some() { !fits } else { !had_trial() };
            is_late |= is_left && self.ends().is_some();
            let load = timed.filter(|_| fits && (!lasts || trial_disks.is_some()));
            let Some(load) = load else { continue };
            let after: Vec<&PlannedCell> = cells[place + 1..].iter().collect();
            self.progress.to_go(expected(&after, &self.journal.trials));
            self.progress.trial(number, &cell.id, 0);
            let load = (!lasts).then_some(&*load);
            let trial = match self.count_cell(cell, load, trial_disks.as_ref(), records) {
                Ok(trial) => trial,
                // Its timed trials stay valid.
                Err(HarnessError::TrialDisk(why)) => {
                    let id = &cell.id;
                    let why = format!("what reaches the disk in {id} was not counted: {why}");
                    self.not_counted(why)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.show_ending(&trial);
            let cell = cell.id.clone();
            self.journal.add(Line::Counted { counted: Box::new(EndedTrial { cell, trial }) })?;
        }
        if is_late {
            let counted = self.journal.counted.len();
            let late = |what: &str| {
                let over = "the time (--for) was over before every cell was";
                format!("{over} {what}: {counted} of {all} were")
            };
            self.not_counted(late("counted"))?;
            if records {
                self.not_modelled(late("modelled"))?;
            }
        }
        Ok(())
    }

    fn not_counted(&mut self, why: String) -> Result<()> {
        self.progress.note(&why);
        self.journal.add(Line::NotCounted { not_counted: why })
    }

    fn not_modelled(&mut self, why: String) -> Result<()> {
        self.progress.note(&why);
        self.journal.add(Line::NotModelled { not_modelled: why })
    }

    /// Counts one cell: loads the database once by the phases of `load`, maintains and closes it
    /// for its size, then runs every phase once. Uses its own disk if there is one.
    fn count_cell(
        &mut self,
        PlannedCell { id, phases, .. }: &PlannedCell,
        load: Option<&[String]>,
        trial_disks: Option<&TrialDisks>,
        records: bool,
    ) -> Result<Trial> {
        let rows = self.stages.file(&id.workload, id.scale)?.to_owned();
        let mut once = |phases: &[String], name: &str, purpose| {
            let name = format!("{}-{name}", id.slug());
            self.trial(id, phases, &rows, &name, purpose)
        };
        let plain = Purpose::Counting(trial_disks);
        let every = trial_disks.filter(|_| records).map_or(plain, Purpose::Recording);
        let Some(load) = load else { return once(phases, "counting", every) };
        let sized = once(load, "size", plain)?;
        if trial_disks.is_none() || !sized.status.has_figures() {
            return Ok(sized);
        }
        let counted = once(phases, "counting", every)?;
        Ok(Trial { disk: sized.disk, device_io: sized.device_io, ..counted })
    }

    /// Whether to record the requests to the disks of this run's trials: if the plan has cards and
    /// the system allows it. If the system does not, journals the reason.
    fn records(&mut self, trial_disks: Option<&TrialDisks>) -> Result<bool> {
        if self.plan.cards.is_empty() {
            return Ok(false);
        }
        let tried = match trial_disks {
            Some(trial_disks) => trial_disks.try_recording(&self.dirs.data),
            None => {
                let counted = self.journal.not_counted.as_deref().unwrap_or_default();
                let why = counted.rsplit_once("counted: ").map_or(counted, |(_, why)| why);
                Err(why.to_owned())
            }
        };
        let Err(why) = tried else { return Ok(true) };
        self.not_modelled(format!("no card was modelled: {why}"))?;
        Ok(false)
    }
}

/// Returns the phase that loads the rows of a cell as its variant does: the first one that inserts
/// any. Empty if there is none; the workload then loads them by the fastest path.
fn load_of(timed: &Trial) -> Vec<String> {
    let loads = |phase: &&PhaseResult| phase.runs.iter().any(|run| run.loaded.is_some());
    timed.phases.iter().find(loads).map(|phase| phase.phase.clone()).into_iter().collect()
}
