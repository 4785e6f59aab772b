//! Errors of the server or the driver.

mod reported;

/// The server's code for a missing collection, `NamespaceNotFound`.
const NAMESPACE_NOT_FOUND: i64 = 26;

/// The server's code for a change that conflicts with another client's, `WriteConflict`.
const WRITE_CONFLICT: i64 = 112;

/// A command that failed. It is small, because it is part of hot paths.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct Failure(Box<Cause>);

#[derive(Debug, thiserror::Error)]
#[error("{words}")]
struct Cause {
    /// The server's code, if the error is the server's.
    code: Option<i64>,
    may_be_done_again: bool,
    words: String,
}

/// A result of a command.
pub(super) type Answer<T> = Result<T, Failure>;

impl Failure {
    /// Creates an error of the driver or of this adapter.
    pub fn new(words: impl Into<String>) -> Self {
        Self(Box::new(Cause { code: None, may_be_done_again: false, words: words.into() }))
    }

    /// Returns whether a collection was missing.
    pub fn is_of_absence(&self) -> bool {
        self.0.code == Some(NAMESPACE_NOT_FOUND)
    }

    /// Returns whether the change was refused because of another client's, and none of it was made.
    pub fn is_conflict(&self) -> bool {
        self.0.code == Some(WRITE_CONFLICT) || self.0.may_be_done_again
    }
}
