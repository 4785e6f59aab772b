//! Progress of one experiment on standard error.

use std::io::{IsTerminal, Write};

use embermark_durability::Tested;
use embermark_report::shown::found;

/// Progress of one experiment.
pub(super) struct Told {
    pub what: String,
    pub asked: u32,
}

impl Told {
    pub fn progress(&self, done: u32) {
        let mut terminal = std::io::stderr();
        if terminal.is_terminal() {
            // Progress that cannot be shown is no error.
            let (what, asked) = (&self.what, self.asked);
            let _ = match done.checked_sub(asked) {
                None | Some(0) => write!(terminal, "\r{what}: {done} of {asked}\x1b[K"),
                Some(more) => write!(terminal, "\r{what}: {more} of short works\x1b[K"),
            };
        }
    }

    pub fn ended(&self, ended: &Result<Tested, (String, bool)>) {
        let mut terminal = std::io::stderr();
        if terminal.is_terminal() {
            let _ = write!(terminal, "\r\x1b[K");
        }
        match ended {
            Ok(tested) => {
                let (verdicts, seconds) = (found(tested), tested.took_ms as f64 / 1e3);
                say!("{}: {verdicts} ({seconds:.1} s)", self.what);
            }
            Err((why, _)) => say!("{}: not tried: {why}", self.what),
        }
    }
}
