//! What a person sees while a run goes on, all of it on standard error.

use std::time::{Duration, Instant};

use embermark_model::result::ResultFile;
use embermark_model::{CellId, Status};

mod bar;
mod lines;

pub use bar::Bar;
pub use lines::Lines;

/// Told how a run goes on; what is not implemented is not shown. Never called inside a clock: the
/// clock runs in another process.
pub trait Progress {
    /// Something worth knowing: rows being made, a warning about the machine.
    fn note(&mut self, _text: &str) {}

    /// The first of `trials` trials is about to begin.
    fn started(&mut self, _trials: u32) {}

    /// Trials are about to begin, as many as end within a time from when the run began.
    fn started_for(&mut self, _began: Instant, _lasts: Duration) {}

    /// What a result has until now, of a run of a limited time: when every cell was measured once, and then
    /// every few seconds.
    fn so_far(&mut self, _result: &ResultFile) {}

    /// What the result says until now, in lines: in place of what was said before, where that can be.
    fn screen(&mut self, _text: &str) {}

    /// A trial begins: the `number`-th of the run, from 1; trial `index`, from 0, of its cell.
    fn trial(&mut self, _number: u32, _cell: &CellId, _index: u32) {}

    /// A phase begins its `run`-th run, from 1, of `runs`.
    fn phase(&mut self, _name: &str, _run: u32, _runs: u32) {}

    /// What comes after the next trial is expected to take so long.
    fn to_go(&mut self, _lasts: Duration) {}

    /// The trial ended, after `wall` time.
    fn trial_ended(&mut self, _status: Status, _reason: Option<&str>, _wall: Duration) {}

    /// The run ended, complete or not.
    fn finished(&mut self) {}
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// A bar when standard error is a terminal, plain lines otherwise. `NO_COLOR` is honoured.
pub fn on_stderr() -> Box<dyn Progress> {
    use std::io::IsTerminal;
    let terminal = std::io::stderr();
    if terminal.is_terminal() { Box::new(Bar::default()) } else { Box::new(Lines::new(terminal)) }
}

/// `5 min`, `100 s`.
pub(crate) fn format_duration(lasts: Duration) -> String {
    match lasts.as_secs() {
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => format!("{} s", lasts.as_secs_f64()),
    }
}
