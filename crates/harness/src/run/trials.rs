//! Runs all trials and writes the result.

use std::fs;
use std::time::{Duration, Instant};

use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;
use indicatif::HumanDuration;

use crate::cells::{self, PlannedCell};
use crate::journal::Line;
use crate::outdir::RESULT;
use crate::result_file::{assemble, write_result};
use crate::session::Run;
use crate::{HarnessError, manifest, progress, schedule};

/// Announces the trials before any is timed: `105 trials, each limited to 30 minutes
/// (timeout)`.
fn announcement(trials: u32, plan: &Plan) -> String {
    let plural = if trials == 1 { "" } else { "s" };
    let trials = match plan.budget_ms {
        Some(_) => format!("at most {trials}"),
        None => trials.to_string(),
    };
    match plan.timeout_ms.map(Duration::from_millis).map(HumanDuration) {
        Some(most) => {
            format!("{trials} trial{plural}, each limited to {most} (timeout)")
        }
        None => format!("{trials} trial{plural} without a timeout"),
    }
}

impl Run<'_> {
    /// Runs the trials that the journal lacks, and writes the result.
    pub(crate) fn trials(mut self) -> Result<ResultFile, HarnessError> {
        let cells = self.journal.head.cells.iter();
        let runnable: Vec<PlannedCell> =
            cells.filter(|cell| cell.skip.is_none()).cloned().collect();
        if let Some(ends) = self.ends() {
            let complete = self.run_until(ends, &runnable);
            return self.finish(complete);
        }
        let trials = cells::trials(self.plan, &runnable, &self.options.catalog)?;
        let mut turns = self.order_by_scale(schedule::order(&trials, self.plan.seed), &runnable);
        let again = self.drift_turn(&turns, &runnable).filter(|_| self.journal.drift.is_none());
        turns.retain(|turn| self.journal.find_trial(&runnable[turn.cell].id, turn.trial).is_none());
        let counts = self.cells_to_count(&runnable);
        let timed = (turns.len() + usize::from(again.is_some())) as u32;
        let explains = self.cells_to_explain(&runnable)?;
        let counted = timed + counts.len() as u32;
        let all = counted + explains.len() as u32;
        self.progress.note(&announcement(all, self.plan));
        self.progress.started(all);
        self.later = counts.iter().chain(&explains).cloned().collect();
        let mut complete = self.before_trials();
        if matches!(complete, Ok(true)) {
            complete = self.run_scales(&turns, &runnable);
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
        self.finish(complete)
    }

    /// Runs trials until `ends`. Returns `false` if it was interrupted.
    fn run_until(&mut self, ends: Instant, cells: &[PlannedCell]) -> Result<bool, HarnessError> {
        let lasts = Duration::from_millis(self.plan.lasts_ms.unwrap_or_default());
        self.progress.note(&format!(
            "{} cells, each measured once and then again where the order is not certain, within {} (--for)",
            cells.len(),
            progress::format_duration(lasts)
        ));
        self.progress.started_for(self.began, lasts);
        let counts = self.cells_to_count(cells);
        if !(self.before_trials()? && self.race(cells, ends)?) {
            return Ok(false);
        }
        let trials = self.journal.trials.len() as u32;
        let explains = self.cells_to_explain(cells)?;
        if !(self.count(&counts, trials)? && self.explain(&explains, trials)?) {
            return Ok(false);
        }
        // The counting trials may have left some time.
        self.continue_race(cells, ends)
    }

    /// Writes the result of a run that is complete or was interrupted.
    fn finish(mut self, complete: Result<bool, HarnessError>) -> Result<ResultFile, HarnessError> {
        self.progress.finished();
        if complete.is_err() && !self.dirs.exists() {
            self.keep_result();
        }
        let complete = complete?;
        if complete {
            self.after_trials()?;
            self.journal.add(Line::End { finished: manifest::now() })?;
        }
        let result = assemble(&self.journal);
        if self.dirs.exists() {
            write_result(&self.dirs.result(), &result)?;
        } else {
            self.keep_result();
        }
        match complete {
            true => Ok(result),
            false => Err(HarnessError::Interrupted { result: Some(Box::new(result)) }),
        }
    }

    /// Writes the result of a run whose folder was removed: into that folder, created again, or
    /// otherwise into a temporary one. Notes where.
    fn keep_result(&mut self) {
        let result = assemble(&self.journal);
        let mut folders = vec![self.dirs.path().to_owned()];
        folders.push(std::env::temp_dir().join(&self.guest));
        for folder in folders {
            let path = folder.join(RESULT);
            let written = fs::create_dir_all(&folder)
                .map_err(|error| HarnessError::file(&folder, "make the folder", error))
                .and_then(|()| write_result(&path, &result));
            let says = match &written {
                Ok(()) => format!(
                    "the folder of the run was removed during the run: the result is in {}",
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
}
