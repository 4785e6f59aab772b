//! One line a trial, for logs and pipes.

use std::io::Write;
use std::time::Duration;

use embermark_model::{CellId, Status};

use super::Progress;

/// Writes a line for each trial: `[ 3/24] sqlite sensors 10k process single: ok 2.1 s`.
#[derive(Debug)]
pub struct Lines<W> {
    to: W,
    trials: u32,
    current: String,
}

impl<W: Write> Lines<W> {
    /// Writes to `to`; what cannot be written is left out.
    pub const fn new(to: W) -> Self {
        Self { to, trials: 0, current: String::new() }
    }

    fn line(&mut self, text: &str) {
        // A progress that nobody can read is no reason to stop measuring.
        let _ = writeln!(self.to, "{text}").and_then(|()| self.to.flush());
    }
}

impl<W: Write> Progress for Lines<W> {
    fn note(&mut self, text: &str) {
        self.line(text);
    }

    fn started(&mut self, trials: u32) {
        self.trials = trials;
    }

    fn trial(&mut self, number: u32, cell: &CellId, index: u32) {
        self.current = heading(number, self.trials, cell, index);
    }

    fn phase(&mut self, _: &str, _: u32, _: u32) {}

    fn trial_ended(&mut self, status: Status, reason: Option<&str>, wall: Duration) {
        let line = format!("{}: {}", self.current, ending(status, reason, wall));
        self.line(&line);
    }

    fn finished(&mut self) {}
}

/// `[ 3/24] sqlite sensors 10k process single`, with the number of the trial after the first.
pub(super) fn heading(number: u32, trials: u32, cell: &CellId, index: u32) -> String {
    let width = trials.to_string().len();
    let again = if index == 0 { String::new() } else { format!(" #{}", index + 1) };
    format!("[{number:>width$}/{trials}] {cell}{again}")
}

/// `ok 2.1 s`, or with the reason `failed 0.3 s (the worker …)`.
pub(super) fn ending(status: Status, reason: Option<&str>, wall: Duration) -> String {
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{status} {:.1} s{reason}", wall.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use embermark_model::{Durability, Scale};

    use super::*;

    #[test]
    fn each_trial_is_one_line_with_its_ending() {
        let cell = CellId {
            workload: "sensors".into(),
            scale: Scale::Rows(10_000),
            durability: Durability::Process,
            variant: "single".into(),
            engine: "sqlite".into(),
        };
        let mut lines = Lines::new(Vec::new());
        lines.started(24);
        lines.trial(3, &cell, 0);
        lines.phase("load", 1, 6);
        lines.trial_ended(Status::Ok, None, Duration::from_millis(2_140));
        lines.trial(14, &cell, 1);
        lines.trial_ended(Status::Wrong, Some("read: no"), Duration::from_millis(10));
        lines.finished();
        assert_eq!(
            String::from_utf8(lines.to).unwrap(),
            "[ 3/24] sqlite sensors 10k process single: ok 2.1 s\n\
             [14/24] sqlite sensors 10k process single #2: wrong 0.0 s (read: no)\n"
        );
    }
}
