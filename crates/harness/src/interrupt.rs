//! The request to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::{HarnessError, Result};

/// A flag that asks a run to stop. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks the run to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the run should stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Returns a flag that is set by the signals that mean 'stop': SIGINT (Ctrl-C), SIGTERM and SIGHUP.
/// A second signal ends the program at once.
///
/// # Errors
/// If the system refuses a signal handler.
pub fn on_signals() -> Result<Interrupt> {
    let interrupt = Interrupt::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let flag = || Arc::clone(&interrupt.0);
        // The order matters: the first signal finds the flag still clear, then sets it.
        signal_hook::flag::register_conditional_default(signal, flag())
            .and_then(|_| signal_hook::flag::register(signal, flag()))
            .map_err(HarnessError::system("handle signals"))?;
    }
    Ok(interrupt)
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{Signal, raise};

    use super::*;

    #[test]
    fn a_signal_sets_the_flag_and_clones_see_it() {
        let interrupt = on_signals().unwrap();
        let clone = interrupt.clone();
        assert!(!clone.is_set());
        raise(Signal::SIGHUP).unwrap();
        assert!(clone.is_set());
    }
}
