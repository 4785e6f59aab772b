//! Progress of one experiment on standard error.

use std::io::{IsTerminal, Write};

use embermark_durability::Tested;
use embermark_report::evidence::findings_text;

/// Progress of one experiment.
pub(super) struct ExperimentProgress {
    pub name: String,
    pub total: u32,
}

impl ExperimentProgress {
    pub fn update(&self, done: u32) {
        let mut terminal = std::io::stderr();
        if terminal.is_terminal() {
            // Progress that cannot be shown is not an error.
            let (name, total) = (&self.name, self.total);
            let _ = match done.checked_sub(total) {
                None | Some(0) => write!(terminal, "\r{name}: {done} of {total}\x1b[K"),
                Some(more) => write!(terminal, "\r{name}: {more} of short works\x1b[K"),
            };
        }
    }

    pub fn finish(&self, ended: &Result<Tested, (String, bool)>) {
        let mut terminal = std::io::stderr();
        if terminal.is_terminal() {
            let _ = write!(terminal, "\r\x1b[K");
        }
        match ended {
            Ok(tested) => {
                let (verdicts, seconds) = (findings_text(tested), tested.took_ms as f64 / 1e3);
                say!("{}: {verdicts} ({seconds:.1} s)", self.name);
            }
            Err((why, _)) => say!("{}: not tried: {why}", self.name),
        }
    }
}
