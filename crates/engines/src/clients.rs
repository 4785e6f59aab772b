//! Shared code for further clients of an open database: retries, and handles that move to another
//! thread.

use std::time::{Duration, Instant};

/// How long a change can be refused because of other clients before it is an error.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Retries work that the engine refuses because of concurrent clients, as manuals ask of concurrent
/// writers. Costs nothing where nothing is refused.
///
/// # Errors
/// Returns the work's own error, or the refusal after [`PATIENCE`].
#[inline]
#[allow(dead_code, reason = "used by engines that refuse; a build may have none")]
pub(crate) fn again_if<T, E>(
    refused: impl Fn(&E) -> bool,
    mut work: impl FnMut() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    match work() {
        Err(error) if refused(&error) => until_taken(&refused, work),
        done => done,
    }
}

#[cold]
fn until_taken<T, E>(
    refused: &dyn Fn(&E) -> bool,
    mut work: impl FnMut() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let began = Instant::now();
    loop {
        std::thread::yield_now();
        match work() {
            Err(error) if refused(&error) && began.elapsed() < PATIENCE => {}
            done => return done,
        }
    }
}

/// An engine's handle that moves to another thread.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "used by engines that hand one over; a build may have none")]
pub(crate) struct Moved<T>(T);

#[allow(dead_code, reason = "as above")]
impl<T> Moved<T> {
    /// # Safety
    /// The engine's manual must allow the intended use of the handle on another thread than the one
    /// that made it. Each caller names the passage.
    pub const unsafe fn new(handle: T) -> Self {
        Self(handle)
    }

    /// Returns the handle. (A closure that takes the field instead would not be `Send`.)
    pub fn take(self) -> T {
        self.0
    }
}

// SAFETY: whoever makes one has promised it.
unsafe impl<T> Send for Moved<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineError, Result};

    #[test]
    fn work_that_is_refused_is_done_again_and_any_other_error_is_told() {
        let refused = |error: &EngineError| error.to_string().contains("conflict");
        let mut calls = 0;
        let done = again_if(refused, || {
            calls += 1;
            match calls {
                1..=3 => Err(EngineError::failed("toy", "write", "conflict")),
                _ => Ok(calls),
            }
        });
        assert_eq!(done.unwrap(), 4);
        let failed = again_if(refused, || -> Result<()> {
            Err(EngineError::failed("toy", "write", "disk full"))
        });
        assert!(failed.is_err_and(|error| error.to_string().contains("disk full")));
    }
}
