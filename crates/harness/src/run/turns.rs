//! Runs trials in their order, or increasing scales until the time budget is spent, and repeats the
//! first one at the end to measure drift.

use std::collections::BTreeSet;
use std::time::Duration;

use embermark_model::result::{Drift, Trial};
use embermark_model::{CellId, Scale};
use indicatif::HumanDuration;

use crate::cells::PlannedCell;
use crate::journal::{EndedTrial, Line, NotBegun};
use crate::purpose::Purpose;
use crate::schedule::Turn;
use crate::session::Run;
use crate::system::System;
use crate::throttle::ThrottleMonitor;
use crate::{HarnessError, Result, race};

impl Run<'_> {
    /// Runs trials in their order, from the `number`-th of the run, and journals them.
    pub(crate) fn take_turns(
        &mut self,
        turns: &[Turn],
        number: u32,
        cells: &[PlannedCell],
    ) -> Result<()> {
        let root = &self.options.energy.root;
        self.throttle.get_or_insert_with(|| ThrottleMonitor::begin(System::at(root)));
        for (place, (number, turn)) in (number..).zip(turns).enumerate() {
            let cell = &cells[turn.cell];
            let after = turns[place + 1..].iter().map(|turn| &cells[turn.cell]);
            let after: Vec<&PlannedCell> = after.chain(&self.later).collect();
            self.progress.to_go(race::expected(&after, &self.journal.trials));
            let trial = self.turn(*turn, number, cell, "")?;
            self.check_version(&cell.id, &trial)?;
            let cell = cell.id.clone();
            self.journal.add(Line::Trial(Box::new(EndedTrial { cell, trial })))?;
            if let Some(warning) = self.throttle.as_mut().and_then(ThrottleMonitor::poll) {
                self.warn(warning)?;
            }
        }
        Ok(())
    }

    /// Runs a turn as the `number`-th trial.
    fn turn(
        &mut self,
        turn: Turn,
        number: u32,
        PlannedCell { id, phases, .. }: &PlannedCell,
        suffix: &str,
    ) -> Result<Trial> {
        self.progress.trial(number, id, turn.trial);
        let rows = self.stages.file(&id.workload, id.scale)?.to_owned();
        let name = format!("{}-{}{suffix}", id.slug(), turn.trial);
        let trial = self.trial(id, phases, &rows, &name, Purpose::Timing)?;
        let trial = Trial { index: turn.trial, order: turn.order, ..trial };
        self.show_ending(&trial);
        Ok(trial)
    }

    /// Checks that the engine of a trial has the version of the earlier trials with the same
    /// library and the same client. The package of a client may contain another version.
    fn check_version(&self, cell: &CellId, trial: &Trial) -> Result<()> {
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

    /// Returns the first turn, to be repeated after the last one to measure the machine's drift.
    /// `None` for a check of answers and for a single trial, which have no drift, and for a trial
    /// that runs until it is steady, because it takes too long.
    pub(super) fn drift_turn(&self, turns: &[Turn], cells: &[PlannedCell]) -> Option<Turn> {
        let measures = turns.len() > 1 && !self.options.once_per_setting;
        let first = turns.first().filter(|_| measures)?;
        if self.options.catalog.until_steady(&cells[first.cell].id) {
            return None;
        }
        Some(Turn { order: turns.len() as u32, ..*first })
    }

    /// Repeats the first trial as the `number`-th, and journals it separately. Skips a first trial
    /// that did not end well.
    pub fn measure_drift(&mut self, turn: Turn, number: u32, cell: &PlannedCell) -> Result<()> {
        let first = self.journal.find_trial(&cell.id, turn.trial);
        if !first.is_some_and(|first| first.status.has_figures()) {
            return Ok(());
        }
        self.progress.note("the first trial once more, to see whether the machine drifted");
        let again = self.turn(turn, number, cell, "-again")?;
        let drift = Drift { cell: cell.id.clone(), first: turn.trial, again };
        self.journal.add(Line::Drift { drift: Box::new(drift) })
    }
}

/// Largest factor by which the next scale is expected to take longer: the usual factor of the
/// number of rows.
const MAX_GROWTH: f64 = 10.0;

impl Run<'_> {
    /// Returns the turns in their order, or by scale if the plan has a budget.
    pub(crate) fn order_by_scale(&self, mut turns: Vec<Turn>, cells: &[PlannedCell]) -> Vec<Turn> {
        if self.plan.budget_ms.is_some() {
            turns.sort_by_key(|turn| cells[turn.cell].id.scale);
            for (order, turn) in (0..).zip(&mut turns) {
                turn.order = order;
            }
        }
        turns
    }

    /// Runs trials in order, but begins no scale that would exceed the budget.
    pub(crate) fn run_scales(&mut self, turns: &[Turn], cells: &[PlannedCell]) -> Result<()> {
        let Some(budget) = self.plan.budget_ms.map(Duration::from_millis) else {
            return self.take_turns(turns, 1, cells);
        };
        let mut number = 1;
        for step in turns.chunk_by(|a, b| cells[a.cell].id.scale == cells[b.cell].id.scale) {
            let scale = cells[step[0].cell].id.scale;
            if self.journal.not_begun.is_some() {
                break;
            }
            if let Some(reason) = self.over_budget(scale, budget) {
                self.progress.note(&format!("{scale} rows and more are left out: {reason}"));
                let not_begun = NotBegun { scale, reason };
                self.journal.add(Line::NotBegun { not_begun })?;
                break;
            }
            self.take_turns(step, number, cells)?;
            number += step.len() as u32;
        }
        Ok(())
    }

    /// Explains why a scale is not begun: together with the earlier trials it is expected to exceed
    /// the budget. `None` if it fits, for the first scale, and for a scale that was begun before.
    fn over_budget(&self, scale: Scale, budget: Duration) -> Option<String> {
        let trials = &self.journal.trials;
        let taken = |scale: Scale| {
            let own = trials.iter().filter(|ended| ended.cell.scale == scale);
            own.map(|ended| Duration::from_nanos(ended.trial.wall_ns)).sum::<Duration>()
        };
        let done: BTreeSet<Scale> = trials.iter().map(|ended| ended.cell.scale).collect();
        if done.contains(&scale) {
            return None;
        }
        let taken: Vec<Duration> = done.into_iter().map(taken).collect();
        let (spent, next) = (taken.iter().sum::<Duration>(), expected(&taken)?);
        (spent + next > budget).then(|| {
            format!(
                "the smaller scales took {}, {scale} would take about {}, and the budget is {} \
                 (--for)",
                HumanDuration(spent),
                HumanDuration(next),
                HumanDuration(budget)
            )
        })
    }
}

/// Returns the expected time of the next scale after earlier ones took `taken`. It grows by the
/// factor between the last two, at most by [`MAX_GROWTH`]. `None` for the first.
fn expected(taken: &[Duration]) -> Option<Duration> {
    let last = *taken.last()?;
    let growth = match taken {
        [.., before, last] if !before.is_zero() => last.as_secs_f64() / before.as_secs_f64(),
        _ => MAX_GROWTH,
    };
    Some(last.mul_f64(growth.clamp(1.0, MAX_GROWTH)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_next_scale_is_expected_to_grow_as_the_last_one_did() {
        assert_eq!(expected(&[]), None);
        assert_eq!(expected(&[seconds(2)]), Some(seconds(20)));
        assert_eq!(expected(&[seconds(2), seconds(8)]), Some(seconds(32)));
        // A scale stopped at the longest run time takes no longer.
        assert_eq!(expected(&[seconds(9), seconds(8)]), Some(seconds(8)));
        assert_eq!(expected(&[seconds(1), seconds(50)]), Some(seconds(500)));
    }
}
