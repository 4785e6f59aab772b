//! Runs trials in their order, and repeats the first one at the end to measure drift.

use embermark_model::CellId;
use embermark_model::result::{Drift, Trial};

use crate::cells::PlannedCell;
use crate::journal::{EndedTrial, Line};
use crate::purpose::Purpose;
use crate::schedule::Turn;
use crate::session::Run;
use crate::system::System;
use crate::throttle::ThrottleMonitor;
use crate::{HarnessError, race};

impl Run<'_> {
    /// Runs trials in their order, from the `number`-th of the run, and journals them. Returns
    /// `false` if it was interrupted.
    pub(crate) fn take_turns(
        &mut self,
        turns: &[Turn],
        number: u32,
        cells: &[PlannedCell],
    ) -> Result<bool, HarnessError> {
        let root = &self.options.energy.root;
        self.throttle.get_or_insert_with(|| ThrottleMonitor::begin(System::at(root)));
        for (place, (number, turn)) in (number..).zip(turns).enumerate() {
            let cell = &cells[turn.cell];
            let after = turns[place + 1..].iter().map(|turn| &cells[turn.cell]);
            let after: Vec<&PlannedCell> = after.chain(&self.later).collect();
            self.progress.to_go(race::expected(&after, &self.journal.trials));
            let Some(trial) = self.turn(*turn, number, cell, "")? else { return Ok(false) };
            self.check_version(&cell.id, &trial)?;
            let cell = cell.id.clone();
            self.journal.add(Line::Trial(Box::new(EndedTrial { cell, trial })))?;
            if let Some(warning) = self.throttle.as_mut().and_then(ThrottleMonitor::poll) {
                self.warn(warning)?;
            }
        }
        Ok(true)
    }

    /// Runs a turn as the `number`-th trial. Returns `None` if it was interrupted.
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

    /// Checks that the engine of a trial has the version of the earlier trials with the same
    /// library and the same client. The package of a client may contain another version.
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

    /// Repeats the first trial as the `number`-th, and journals it separately. Returns `false` if
    /// it was interrupted. Skips a first trial that did not end well.
    pub(super) fn measure_drift(
        &mut self,
        turn: Turn,
        number: u32,
        cell: &PlannedCell,
    ) -> Result<bool, HarnessError> {
        let first = self.journal.find_trial(&cell.id, turn.trial);
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
