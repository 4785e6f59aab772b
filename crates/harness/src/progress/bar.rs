//! A bar on a terminal: what is running, how much is done, how long it may yet take.

use std::time::Duration;

use embermark_model::{CellId, Status};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Progress;
use super::lines::{ending, heading};

/// A bar on standard error. It is drawn when something happens and not in between, so that drawing
/// takes no time from the engines.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    trials: u32,
    current: String,
}

impl Default for Bar {
    fn default() -> Self {
        Self::on(ProgressDrawTarget::stderr())
    }
}

impl Bar {
    fn on(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        Self { bar, trials: 0, current: String::new() }
    }
}

impl Progress for Bar {
    fn note(&mut self, text: &str) {
        self.bar.println(text);
    }

    fn started(&mut self, trials: u32) {
        self.trials = trials;
        // The template is constant and right; without a style the bar has the crate's own.
        // Colours in it are left out by the crate when NO_COLOR is set.
        if let Ok(style) = ProgressStyle::with_template(
            "{bar:24.cyan/blue} {pos}/{len}  {elapsed} so far, about {eta} to go\n{wide_msg}",
        ) {
            self.bar.set_style(style);
        }
        self.bar.set_length(u64::from(trials));
        self.bar.reset();
    }

    fn trial(&mut self, number: u32, cell: &CellId, index: u32) {
        self.current = heading(number, self.trials, cell, index);
        self.bar.set_message(self.current.clone());
    }

    fn phase(&mut self, name: &str, run: u32, runs: u32) {
        self.bar.set_message(format!("{}  {name} {run}/{runs}", self.current));
    }

    fn trial_ended(&mut self, status: Status, reason: Option<&str>, wall: Duration) {
        if status.is_failure() {
            // What went right is in the table at the end; what did not should be seen at once.
            self.bar.println(format!("{}: {}", self.current, ending(status, reason, wall)));
        }
        self.bar.inc(1);
    }

    fn finished(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests;
