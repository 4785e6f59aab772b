//! Errors of an engine.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

/// Result of an engine's operation.
pub type Result<T> = std::result::Result<T, EngineError>;

/// An engine could not do what was requested. Small, because the hot path returns it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EngineError(Box<Cause>);

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("{engine} could not {doing}: {message}")]
    Failed { engine: &'static str, doing: String, message: String },
    #[error("{engine} is not available: {why}; {remedy}")]
    Unavailable { engine: &'static str, why: String, remedy: String },
    #[error("{engine} does not support {what}")]
    Unsupported { engine: &'static str, what: String },
    #[error("{why}")]
    Impossible { why: String },
    #[error("{engine} could not {doing} {path}: {source}", path = .path.display())]
    File { engine: &'static str, doing: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Query(EngineError),
    #[error(transparent)]
    Conflict(EngineError),
}

impl EngineError {
    /// The engine reported `message` while `doing` something ("insert a row", "open the database").
    pub fn failed(engine: &'static str, doing: impl Into<String>, message: impl ToString) -> Self {
        let (doing, message) = (doing.into(), message.to_string());
        Self(Box::new(Cause::Failed { engine, doing, message }))
    }

    /// A change was requested in a scope that only reads.
    #[cold]
    pub fn read_only(engine: &'static str) -> Self {
        Self::failed(engine, "change a table", "this scope is a snapshot, which only reads")
    }

    /// The engine ended a transaction with `message` because its uncommitted changes outgrew `room`
    /// ("its cache"), whose size `--cache` sets.
    #[cold]
    pub fn transaction_too_large(
        engine: &'static str,
        doing: impl Into<String>,
        message: impl Display,
        room: &str,
    ) -> Self {
        let message = format!(
            "a transaction larger than {room} ({message}): raise --cache, or commit in batches \
             (variant single instead of one-transaction)"
        );
        Self::failed(engine, doing, message)
    }

    /// The engine is not installed. `remedy` is how to install it.
    pub fn unavailable(
        engine: &'static str,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self(Box::new(Cause::Unavailable { engine, why: why.into(), remedy: remedy.into() }))
    }

    /// The engine cannot do `what` at all.
    pub fn unsupported(engine: &'static str, what: impl Into<String>) -> Self {
        Self(Box::new(Cause::Unsupported { engine, what: what.into() }))
    }

    /// The request is unsupported for a reason that explains itself, such as the engine's message
    /// about a text that is invalid in its SQL.
    pub fn impossible(why: impl ToString) -> Self {
        Self(Box::new(Cause::Impossible { why: why.to_string() }))
    }

    /// A file operation failed. `doing` is a verb ("create", "read").
    pub fn file(
        engine: &'static str,
        doing: &'static str,
        path: impl Into<PathBuf>,
        source: io::Error,
    ) -> Self {
        Self(Box::new(Cause::File { engine, doing, path: path.into(), source }))
    }

    /// Marks the error as that of a query whose text the user wrote. It says nothing about the
    /// engine's other work.
    #[cold]
    pub fn into_query_error(self) -> Self {
        Self(Box::new(Cause::Query(self)))
    }

    /// Whether a query whose text the user wrote caused this error.
    pub fn is_query_error(&self) -> bool {
        matches!(*self.0, Cause::Query(_))
    }

    /// Marks the error as a refusal because of another client's change. A transaction that is
    /// [repeated](crate::retry_if) can succeed.
    #[cold]
    pub fn into_conflict(self) -> Self {
        Self(Box::new(Cause::Conflict(self)))
    }

    /// Whether the engine refused a change because of another client's.
    pub fn is_conflict(&self) -> bool {
        matches!(self.cause(), Cause::Conflict(_))
    }

    /// Whether the engine is not installed, rather than broken.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.cause(), Cause::Unavailable { .. })
    }

    /// Whether the engine cannot do what was requested, rather than failing at it.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.cause(), Cause::Unsupported { .. } | Cause::Impossible { .. })
    }

    fn cause(&self) -> &Cause {
        match &*self.0 {
            Cause::Query(error) => error.cause(),
            cause => cause,
        }
    }
}
