//! The trials that count: what a cell's work brings to a block device, and how much room its rows
//! take. They come after the timed ones, and their times are in no figure.

use std::path::Path;
use std::time::Duration;

use embermark_model::plan::Rate;
use embermark_model::result::Trial;

use crate::HarnessError;
use crate::cells::PlannedCell;
use crate::isolation::Isolation;
use crate::journal::{self, EndedTrial, Journal};
use crate::progress::Progress;
use crate::session::{Purpose, Run};
use crate::trial::TrialOutcome;

impl Run<'_> {
    /// The cells that are counted, of those that run: not of a reference engine, nor of a server that
    /// somebody else runs, nor the search for a highest rate, which ends when it ends.
    pub(crate) fn counts(&self, cells: &[PlannedCell], journal: &Journal) -> Vec<PlannedCell> {
        let counts = journal.head.counts && self.plan.rate != Rate::Max;
        let private = |cell: &PlannedCell| !self.plan.urls.contains_key(&cell.id.engine);
        (cells.iter().filter(|_| counts))
            .filter(|cell| !cell.reference && private(cell) && !journal.has_counted(&cell.id))
            .cloned()
            .collect()
    }

    /// Counts the cells that had a trial with figures, and journals what came of it; whether it came
    /// to the last. `before` trials of the run have gone before.
    ///
    /// # Errors
    /// When a worker cannot be started, or the journal not be written.
    pub(crate) fn count(
        &self,
        cells: &[PlannedCell],
        before: u32,
        journal: &mut journal::Writer,
        progress: &mut dyn Progress,
    ) -> Result<bool, HarnessError> {
        if cells.is_empty() {
            return Ok(true);
        }
        let needed = crate::run::needed_bytes(self.plan, cells);
        let isolation = Isolation::begin(self.dirs.data(), needed);
        if let Err(why) = &isolation {
            let why = format!("bytes that reach the disk were not counted: {why}");
            progress.note(&why);
            journal.not_counted(why)?;
        }
        let isolation = isolation.ok();
        for (number, cell) in (before + 1..).zip(cells) {
            // A phase that lasts by the clock loads nothing twice: its own trials have the size.
            let lasts = self.options.catalog.workload(&cell.id.workload)?.info().lasts;
            let figures =
                |ended: &EndedTrial| ended.cell == cell.id && ended.trial.status.has_figures();
            let rows = self.stages.file(&cell.id.workload, cell.id.scale);
            let Some(rows) = rows.filter(|_| journal.journal().trials.iter().any(figures)) else {
                continue;
            };
            if lasts && isolation.is_none() {
                continue;
            }
            progress.trial(number, &cell.id, 0);
            let counted = self.count_cell(cell, !lasts, rows, isolation.as_ref(), progress)?;
            let Some(trial) = counted else { return Ok(false) };
            let wall = Duration::from_nanos(trial.wall_ns);
            progress.trial_ended(trial.status, trial.reason.as_deref(), wall);
            journal.counted(cell.id.clone(), trial)?;
        }
        Ok(true)
    }

    /// Counts one cell: the size of a database that is `loaded` once, maintained and closed, then
    /// every phase once, on a disk of its own where there is one. `None` where it was interrupted.
    fn count_cell(
        &self,
        PlannedCell { id, phases, .. }: &PlannedCell,
        loaded: bool,
        rows: &Path,
        isolation: Option<&Isolation>,
        progress: &mut dyn Progress,
    ) -> Result<Option<Trial>, HarnessError> {
        let mut once = |phases: &[String], name: &str| {
            let name = format!("{}-{name}", id.slug());
            self.trial(id, phases, rows, &name, Purpose::Counting(isolation), progress)
                .map(TrialOutcome::trial)
        };
        if !loaded {
            return once(phases, "counting");
        }
        let Some(sized) = once(&[], "size")? else { return Ok(None) };
        if isolation.is_none() || !sized.status.has_figures() {
            return Ok(Some(sized));
        }
        let counted = once(phases, "counting")?;
        Ok(counted.map(|counted| Trial { disk: sized.disk, device_io: sized.device_io, ..counted }))
    }
}
