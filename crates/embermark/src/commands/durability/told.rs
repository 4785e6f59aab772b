//! What a person sees of one experiment while it goes on, on standard error.

use std::io::{IsTerminal, Write};

use embermark_durability::Tested;
use embermark_report::shown::found;

/// One experiment.
pub(super) struct Told {
    pub what: String,
    pub asked: u32,
}

impl Told {
    pub fn progress(&self, done: u32) {
        let mut terminal = std::io::stderr();
        if terminal.is_terminal() {
            // What cannot be shown is not missed.
            let _ = write!(terminal, "\r{}: {done} of {}\x1b[K", self.what, self.asked);
        }
    }

    pub fn ended(&self, ended: &Result<Tested, (String, bool)>) {
        let clear = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
        match ended {
            Ok(tested) => {
                let (verdicts, seconds) = (found(tested), tested.took_ms as f64 / 1e3);
                eprintln!("{clear}{}: {verdicts} ({seconds:.1} s)", self.what);
            }
            Err((why, _)) => eprintln!("{clear}{}: not tried: {why}", self.what),
        }
    }
}
