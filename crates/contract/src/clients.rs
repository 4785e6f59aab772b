//! Further clients of a database that this process has open, each on its own thread, and retries of
//! what they refuse each other.

use std::time::{Duration, Instant};

use crate::kv::KvStore;
use crate::{Result, Store};

/// Opens the store of one further client. [`Lifecycle::open_client`](crate::Lifecycle::open_client)
/// makes it. It is sent to the client's thread and used there, because a [`Store`] stays on the
/// thread that opened it.
pub struct ClientOpener(Box<dyn FnOnce() -> Result<Store> + Send>);

impl ClientOpener {
    /// Makes an opener that opens the store when it is used.
    pub fn new(open: impl FnOnce() -> Result<Store> + Send + 'static) -> Self {
        Self(Box::new(open))
    }

    /// Makes an opener for a key-value store.
    pub fn kv<T: KvStore + 'static>(open: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        Self::new(move || Ok(Store::Kv(Box::new(open()?))))
    }

    /// Opens the client's store on this thread.
    ///
    /// # Errors
    /// The engine's error.
    pub fn open(self) -> Result<Store> {
        (self.0)()
    }
}

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
    use crate::EngineError;

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
