//! What goes wrong in an engine.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

/// A result of an engine's operation.
pub type Result<T> = std::result::Result<T, EngineError>;

/// An engine could not do what it was asked. Small, because it crosses the hot path.
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
}

impl EngineError {
    /// The engine reported `message` while it was `doing` ("insert a row", "open the database").
    pub fn failed(engine: &'static str, doing: impl Into<String>, message: impl ToString) -> Self {
        let (doing, message) = (doing.into(), message.to_string());
        Self(Box::new(Cause::Failed { engine, doing, message }))
    }

    /// A change was asked for in a scope that only reads.
    #[cold]
    pub fn read_only(engine: &'static str) -> Self {
        Self::failed(engine, "change a table", "this scope is a snapshot, which only reads")
    }

    /// The engine ended a transaction, in its own words `message`, because what is not committed yet
    /// outgrew `room` ("its cache"), whose size `--cache` says.
    #[cold]
    pub fn outgrown(
        engine: &'static str,
        doing: impl Into<String>,
        message: impl Display,
        room: &str,
    ) -> Self {
        let message = format!(
            "a transaction larger than {room} ({message}): raise --cache, or commit in batches \
             (variant single in place of one-transaction)"
        );
        Self::failed(engine, doing, message)
    }

    /// The engine is not here, and `remedy` says how to get it.
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

    /// What was asked cannot be done here, for a reason that says all, such as the engine's words on a
    /// text that is not its SQL: unsupported, too.
    pub fn impossible(why: impl ToString) -> Self {
        Self(Box::new(Cause::Impossible { why: why.to_string() }))
    }

    /// A file operation failed: `doing` is a verb ("create", "read").
    pub fn file(
        engine: &'static str,
        doing: &'static str,
        path: impl Into<PathBuf>,
        source: io::Error,
    ) -> Self {
        Self(Box::new(Cause::File { engine, doing, path: path.into(), source }))
    }

    /// The same error, marked as that of a query whose text the user wrote. It says nothing against the engine's
    /// other work.
    #[cold]
    pub fn of_query(self) -> Self {
        Self(Box::new(Cause::Query(self)))
    }

    /// Whether a query whose text the user wrote had this error.
    pub fn is_of_query(&self) -> bool {
        matches!(*self.0, Cause::Query(_))
    }

    /// Whether the engine is not here, rather than broken.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.cause(), Cause::Unavailable { .. })
    }

    /// Whether the engine cannot do what was asked, rather than failing at it.
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
