//! Measures idle power and wear before the first trial of a run and after the last one.

use embermark_model::result::Wear;

use crate::HarnessError;
use crate::energy::marker;
use crate::journal::Line;
use crate::session::Run;
use crate::system::System;
use crate::wear;

impl Run<'_> {
    /// Measures the idle power and reads the wear counters, unless the journal of a resumed run has
    /// them. Returns false if it was interrupted.
    pub(crate) fn before_trials(&mut self) -> Result<bool, HarnessError> {
        if self.options.once_per_setting {
            // This run only checks answers.
            return Ok(true);
        }
        if self.journal.wear.is_none() {
            let wear = self.wear();
            self.journal.add(Line::Wear { wear })?;
        }
        if let Some(known) = self.journal.energy.clone() {
            self.energy.restore(known);
            return Ok(true);
        }
        let options = self.options.energy.clone();
        if options.metered {
            self.progress.note(&format!(
                "running the load pattern for the external meter for {:.0} s",
                (options.slot * marker::PATTERN.len() as u32).as_secs_f64()
            ));
            if !self.energy.mark(options.slot, &self.options.interrupt) {
                return Ok(false);
            }
        }
        if options.metered || !self.energy.is_empty() {
            let length = options.idle.as_secs_f64();
            self.progress.note(&format!("measuring the idle draw for {length:.0} s"));
            if !self.energy.measure_idle(options.idle, &self.options.interrupt) {
                return Ok(false);
            }
        }
        let energy = self.energy.known();
        self.journal.add(Line::Energy { energy })?;
        Ok(true)
    }

    /// Runs the load pattern again for a meter, whose clock may have another rate, and reads the
    /// wear counters again.
    pub(crate) fn after_trials(&mut self) -> Result<(), HarnessError> {
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
