//! Shows the progress of a run on standard error.

use std::time::{Duration, Instant};

use embermark_model::result::ResultFile;
use embermark_model::{CellId, Status};

mod bar;
mod lines;

pub use bar::Bar;
pub use lines::Lines;

/// Receives the progress of a run. A method that is not implemented shows nothing. Never called
/// inside a clock, which runs in another process.
pub trait Progress {
    /// A message: rows being made, a warning about the machine.
    fn note(&mut self, _text: &str) {}

    /// The first of `trials` trials is about to begin.
    fn started(&mut self, _trials: u32) {}

    /// Trials are about to begin, as many as fit into a time from the beginning of the run.
    fn started_for(&mut self, _began: Instant, _lasts: Duration) {}

    /// The result so far, for a run with a time limit: after every cell was measured once, and then
    /// every few seconds.
    fn so_far(&mut self, _result: &ResultFile) {}

    /// The result so far in lines, which replace the earlier ones if possible.
    fn screen(&mut self, _text: &str) {}

    /// A trial begins: number `number` of the run, from 1, and number `index` of its cell, from 0.
    fn trial(&mut self, _number: u32, _cell: &CellId, _index: u32) {}

    /// A phase begins run number `run` of `runs`, from 1.
    fn phase(&mut self, _name: &str, _run: u32, _runs: u32) {}

    /// The expected time of everything after the next trial.
    fn to_go(&mut self, _lasts: Duration) {}

    /// The trial ended after `wall` time.
    fn trial_ended(&mut self, _status: Status, _reason: Option<&str>, _wall: Duration) {}

    /// The run ended, complete or not.
    fn finished(&mut self) {}
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// Returns a progress bar if standard error is a terminal, and plain lines otherwise. Honours
/// `NO_COLOR`.
pub fn on_stderr() -> Box<dyn Progress> {
    use std::io::IsTerminal;
    let terminal = std::io::stderr();
    if terminal.is_terminal() { Box::new(Bar::default()) } else { Box::new(Lines::new(terminal)) }
}

/// Formats `5 min` or `100 s`.
pub(crate) fn format_duration(lasts: Duration) -> String {
    match lasts.as_secs() {
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => format!("{} s", lasts.as_secs_f64()),
    }
}
