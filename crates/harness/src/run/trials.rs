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
use crate::{HarnessError, Result, manifest, progress, schedule};

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
    pub(crate) fn trials(mut self) -> Result<ResultFile> {
        let cells = self.journal.head.cells.iter();
        let runnable: Vec<PlannedCell> =
            cells.filter(|cell| cell.skip.is_none()).cloned().collect();
        if let Some(ends) = self.ends() {
            let ended = self.run_until(ends, &runnable);
            return self.finish(ended);
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
        let mut run_all = || -> Result<()> {
            self.before_trials()?;
            self.run_scales(&turns, &runnable)?;
            if let Some(again) = again {
                self.measure_drift(again, timed, &runnable[again.cell])?;
            }
            self.count(&counts, timed)?;
            self.explain(&explains, counted)
        };
        let ended = run_all();
        self.finish(ended)
    }

    /// Runs trials until `ends`.
    fn run_until(&mut self, ends: Instant, cells: &[PlannedCell]) -> Result<()> {
        let lasts = Duration::from_millis(self.plan.lasts_ms.unwrap_or_default());
        self.progress.note(&format!(
            "{} cells, each measured once and then again where the order is not certain, within {} (--for)",
            cells.len(),
            progress::format_duration(lasts)
        ));
        self.progress.started_for(self.began, lasts);
        let counts = self.cells_to_count(cells);
        self.before_trials()?;
        self.race(cells, ends)?;
        let trials = self.journal.trials.len() as u32;
        let explains = self.cells_to_explain(cells)?;
        self.count(&counts, trials)?;
        self.explain(&explains, trials)?;
        // The counting trials may have left some time.
        self.continue_race(cells, ends)
    }

    /// Writes the result of a run that is complete or was interrupted.
    fn finish(mut self, ended: Result<()>) -> Result<ResultFile> {
        self.progress.finished();
        let is_interrupted = matches!(ended, Err(HarnessError::Interrupted { .. }));
        if !is_interrupted {
            if ended.is_err() && !self.dirs.exists() {
                self.keep_result();
            }
            ended?;
            self.after_trials()?;
            self.journal.add(Line::End { finished: manifest::now() })?;
        }
        let result = assemble(&self.journal);
        if self.dirs.exists() {
            write_result(&self.dirs.result(), &result)?;
        } else {
            self.keep_result();
        }
        match is_interrupted {
            false => Ok(result),
            true => Err(HarnessError::Interrupted { result: Some(Box::new(result)) }),
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
