//! Runs increasing scales until the time budget is spent.

use std::time::Duration;

use embermark_model::Scale;
use indicatif::HumanDuration;

use crate::HarnessError;
use crate::cells::PlannedCell;
use crate::journal::{Line, NotBegun};
use crate::schedule::Turn;
use crate::session::Run;

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

    /// Runs trials in order, but begins no scale that would exceed the budget. Returns false if it
    /// was interrupted.
    pub(crate) fn run_scales(
        &mut self,
        turns: &[Turn],
        cells: &[PlannedCell],
    ) -> Result<bool, HarnessError> {
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
            if !self.take_turns(step, number, cells)? {
                return Ok(false);
            }
            number += step.len() as u32;
        }
        Ok(true)
    }

    /// Explains why a scale is not begun: together with the earlier trials it is expected to exceed
    /// the budget. `None` if it fits, for the first scale, and for a scale that was begun before.
    fn over_budget(&self, scale: Scale, budget: Duration) -> Option<String> {
        let trials = &self.journal.trials;
        let taken = |scale: Scale| {
            let own = trials.iter().filter(|ended| ended.cell.scale == scale);
            own.map(|ended| Duration::from_nanos(ended.trial.wall_ns)).sum::<Duration>()
        };
        let mut done: Vec<Scale> = trials.iter().map(|ended| ended.cell.scale).collect();
        done.sort_unstable();
        done.dedup();
        if done.contains(&scale) {
            return None;
        }
        let spent: Duration = done.iter().copied().map(taken).sum();
        let next = expected(&done.iter().copied().map(taken).collect::<Vec<_>>())?;
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
