//! Retries, for further clients of an open database.

use std::time::{Duration, Instant};

/// How long a change can be refused because of other clients before it is an error.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Retries work that the engine refuses because of concurrent clients. The engines' manuals require
/// this of concurrent writers. It costs nothing as long as nothing is refused.
///
/// # Errors
/// Returns the work's own error, or the refusal after [`PATIENCE`].
#[inline]
pub fn retry_if<T, E>(
    refused: impl Fn(&E) -> bool,
    mut work: impl FnMut() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    match work() {
        Err(error) if refused(&error) => retry_until_accepted(&refused, work),
        done => done,
    }
}

#[cold]
fn retry_until_accepted<T, E>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineError, Result};

    #[test]
    fn refused_work_is_retried_and_other_errors_are_returned() {
        let refused = |error: &EngineError| error.to_string().contains("conflict");
        let mut calls = 0;
        let done = retry_if(refused, || {
            calls += 1;
            match calls {
                1..=3 => Err(EngineError::failed("toy", "write", "conflict")),
                _ => Ok(calls),
            }
        });
        assert_eq!(done.unwrap(), 4);
        let failed = retry_if(refused, || -> Result<()> {
            Err(EngineError::failed("toy", "write", "disk full"))
        });
        assert!(failed.is_err_and(|error| error.to_string().contains("disk full")));
    }
}
