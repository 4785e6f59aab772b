//! Runs all trials and writes the result.

use std::fs;
use std::time::{Duration, Instant};

use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;

use crate::cells::{self, PlannedCell};
use crate::journal::Line;
use crate::outdir::RESULT;
use crate::result_file::{assemble, write_result};
use crate::session::Run;
use crate::{HarnessError, Result, manifest, progress, schedule};

/// A run that takes this much more than its time is on time.
const ON_TIME: Duration = Duration::from_secs(1);

/// Announces the trials before any is timed: `105 trials, each limited to 30 min (timeout)`.
fn announcement(trials: u32, plan: &Plan) -> String {
    let trials = progress::counted(trials.into(), "trial");
    let trials = if plan.budget_ms.is_some() { format!("at most {trials}") } else { trials };
    match plan.timeout_ms.map(Duration::from_millis).map(progress::format_duration) {
        Some(most) => format!("{trials}, each limited to {most} (timeout)"),
        None => format!("{trials} without a timeout"),
    }
}

/// Returns the warning of a run that took longer than its time limit.
fn exceeded(took: Duration, limit: Duration) -> Option<String> {
    let over = took.checked_sub(limit).filter(|over| *over > ON_TIME.max(limit / 20))?;
    Some(format!(
        "the run took {:.0} s, {:.0} s more than its time of {} (--for): preparations, searches for a rate and \
         phases of a fixed length are not stopped",
        took.as_secs_f64(),
        over.as_secs_f64(),
        progress::format_duration(limit)
    ))
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
        let limit = progress::format_duration(lasts);
        self.progress.note(&format!(
            "{}, each measured once and then again where the order is not certain, within {limit} (--for)",
            progress::counted(cells.len() as u64, "cell")
        ));
        if let Some(why) = cells::may_exceed(self.plan, cells, &self.options.catalog)? {
            self.progress.note(&format!("it may take longer than {limit} (--for): {why}"));
        }
        self.progress.started_for(self.began, lasts);
        let counts = self.cells_to_count(cells);
        self.before_trials()?;
        self.race(cells, ends)?;
        let trials = self.journal.trials.len() as u32;
        let explains = self.cells_to_explain(cells)?;
        self.count(&counts, trials)?;
        self.explain(&explains, trials)?;
        // The counting trials may have left some time.
        self.continue_race(cells, ends)?;
        exceeded(self.began.elapsed(), lasts).map_or(Ok(()), |warning| self.warn(warning))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_of_a_part_of_a_second_is_announced_as_such() {
        let of = |timeout_ms, trials| {
            announcement(trials, &Plan { timeout_ms: Some(timeout_ms), ..Plan::default() })
        };
        assert_eq!(of(1, 2), "2 trials, each limited to 0.001 s (timeout)");
        assert_eq!(of(1_800_000, 1), "1 trial, each limited to 30 min (timeout)");
    }

    #[test]
    fn a_run_warns_by_how_much_it_took_longer_than_its_time() {
        let of = |took, limit| exceeded(Duration::from_secs(took), Duration::from_secs(limit));
        let says = of(124, 3).unwrap();
        assert!(says.starts_with("the run took 124 s, 121 s more than its time of 3 s"), "{says}");
        assert_eq!([of(4, 3), of(310, 300), of(200, 300)], [None, None, None]);
    }
}
