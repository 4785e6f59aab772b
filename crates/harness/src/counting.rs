//! The trials that count: what a cell's work brings to a block device, and how much room its rows
//! take. They come after the timed ones, and their times are in no figure.

use std::time::Instant;

use embermark_model::plan::Rate;
use embermark_model::result::{PhaseResult, Trial};

use crate::HarnessError;
use crate::cells::PlannedCell;
use crate::database_size::needed_bytes;
use crate::isolation::Isolation;
use crate::journal::{EndedTrial, Line};
use crate::purpose::Purpose;
use crate::race::{competes, expected, rank};
use crate::session::Run;

impl Run<'_> {
    /// The cells that are counted, of those that run: not of a reference engine, nor of a server that
    /// somebody else runs, nor the search for a highest rate, which ends when it ends, nor of a workload
    /// whose timed trials have a disk of their own.
    pub(crate) fn counts(&self, cells: &[PlannedCell]) -> Vec<PlannedCell> {
        let counts = self.journal.head.counts && self.plan.rate != Rate::Max;
        let is_due = |cell: &&PlannedCell| {
            let private = !self.plan.urls.contains_key(&cell.id.engine);
            let counted = self.journal.counted.iter().any(|counted| counted.cell == cell.id);
            let timed = self.options.catalog.until_steady(&cell.id);
            counts && private && !cell.reference && !counted && !timed
        };
        let mut due: Vec<PlannedCell> = cells.iter().filter(is_due).cloned().collect();
        // Where the time is limited it is for those whose bytes and sizes stand on the screen.
        if self.plan.lasts_ms.is_some() {
            due.sort_by_key(|cell| rank(&cell.id, cells));
        }
        due
    }

    /// Counts the cells that had a trial with figures, and journals what came of it; whether it came
    /// to the last. `before` trials of the run have gone before.
    pub(crate) fn count(
        &mut self,
        cells: &[PlannedCell],
        before: u32,
    ) -> Result<bool, HarnessError> {
        if cells.is_empty() {
            return Ok(true);
        }
        let needed = needed_bytes(self.plan, cells);
        let isolation = Isolation::begin(&self.dirs.data, needed);
        if let Err(why) = &isolation {
            self.not_counted(format!("bytes that reach the disk were not counted: {why}"))?;
        }
        let isolation = isolation.ok();
        let records = self.records(isolation.as_ref())?;
        let (mut fits, mut missed) = (true, 0);
        for (place, (number, cell)) in (before + 1..).zip(cells).enumerate() {
            // One table of cells that compete after the other, and none of which there is time for a part.
            if place == 0 || !competes(&cells[place - 1].id, &cell.id) {
                let table: Vec<_> =
                    cells[place..].iter().take_while(|own| competes(&own.id, &cell.id)).collect();
                let lasts = expected(&table, &self.journal.trials);
                fits = self.ends().is_none_or(|ends| Instant::now() + lasts <= ends);
            }
            // A phase that lasts by the clock loads nothing twice: its own trials have the size.
            let lasts = self.options.catalog.workload(&cell.id.workload)?.info().lasts;
            let figures =
                |ended: &&EndedTrial| ended.cell == cell.id && ended.trial.status.has_figures();
            let timed = self.journal.trials.iter().find(figures).map(|ended| load_of(&ended.trial));
            let Some(load) = timed.filter(|_| !lasts || isolation.is_some()) else { continue };
            if !fits {
                missed += 1;
                continue;
            }
            let after: Vec<&PlannedCell> = cells[place + 1..].iter().collect();
            self.progress.to_go(expected(&after, &self.journal.trials));
            self.progress.trial(number, &cell.id, 0);
            let load = (!lasts).then_some(&*load);
            let trial = match self.count_cell(cell, load, isolation.as_ref(), records) {
                Ok(Some(trial)) => trial,
                Ok(None) => return Ok(false),
                // Its timed trials stand.
                Err(HarnessError::Isolation(why)) => {
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
        if missed > 0 {
            self.not_counted(format!(
                "the time (--for) was over before {missed} of {} cells were counted",
                cells.len()
            ))?;
        }
        Ok(true)
    }

    fn not_counted(&mut self, why: String) -> Result<(), HarnessError> {
        self.progress.note(&why);
        self.journal.add(Line::NotCounted { not_counted: why })
    }

    /// Counts one cell: the size of a database that is loaded once, by the phases of `load`,
    /// maintained and closed, then every phase once, on a disk of its own where there is one. `None`
    /// where it was interrupted.
    fn count_cell(
        &mut self,
        PlannedCell { id, phases, .. }: &PlannedCell,
        load: Option<&[String]>,
        isolation: Option<&Isolation>,
        records: bool,
    ) -> Result<Option<Trial>, HarnessError> {
        let rows = self.stages.file(&id.workload, id.scale)?.to_owned();
        let mut once = |phases: &[String], name: &str, purpose| {
            let name = format!("{}-{name}", id.slug());
            self.trial(id, phases, &rows, &name, purpose)
        };
        let plain = Purpose::Counting(isolation);
        let every = isolation.filter(|_| records).map_or(plain, Purpose::Recording);
        let Some(load) = load else { return once(phases, "counting", every) };
        let Some(sized) = once(load, "size", plain)? else { return Ok(None) };
        if isolation.is_none() || !sized.status.has_figures() {
            return Ok(Some(sized));
        }
        let counted = once(phases, "counting", every)?;
        Ok(counted.map(|counted| Trial { disk: sized.disk, device_io: sized.device_io, ..counted }))
    }

    /// Whether what reaches the disks of this run's trials is recorded: where cards are to be modelled
    /// and the system lets it. Where it does not, the reason is journalled.
    fn records(&mut self, isolation: Option<&Isolation>) -> Result<bool, HarnessError> {
        if self.plan.cards.is_empty() {
            return Ok(false);
        }
        let tried = match isolation {
            Some(isolation) => isolation.try_recording(&self.dirs.data),
            None => {
                let counted = self.journal.not_counted.as_deref().unwrap_or_default();
                let why = counted.rsplit_once("counted: ").map_or(counted, |(_, why)| why);
                Err(why.to_owned())
            }
        };
        let Err(why) = tried else { return Ok(true) };
        let not_modelled = format!("no card was modelled: {why}");
        self.progress.note(&not_modelled);
        self.journal.add(Line::NotModelled { not_modelled })?;
        Ok(false)
    }
}

/// The phase that loads the rows of a cell, the way its variant does: the first that inserts any. None
/// where it has none: then the workload loads them by the fastest path.
fn load_of(timed: &Trial) -> Vec<String> {
    let loads = |phase: &&PhaseResult| phase.runs.iter().any(|run| run.loaded.is_some());
    timed.phases.iter().find(loads).map(|phase| phase.phase.clone()).into_iter().collect()
}
