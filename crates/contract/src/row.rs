//! Rows of results, of every family whose engines answer questions.

use crate::{EngineError, Result};

/// One row of a result, valid while it is visited. Columns count from 0.
///
/// # Errors
/// Of every call, when the column holds something of another kind.
pub trait ResultRow {
    /// An integer column; `None` is NULL.
    fn int(&self, column: usize) -> Result<Option<i64>>;

    /// A float column; an integer or decimal is converted. `None` is NULL.
    fn float(&self, column: usize) -> Result<Option<f64>>;

    /// A text column; `None` is NULL.
    fn text(&self, column: usize) -> Result<Option<&str>>;

    /// A column of bytes; `None` is NULL.
    ///
    /// # Errors
    /// When the engine's results have no bytes, too.
    fn bytes(&self, _column: usize) -> Result<Option<&[u8]>> {
        Err(EngineError::unsupported("this engine's adapter", "bytes in its results"))
    }

    /// A list column: visits its elements in order. The items of an element that is itself a list
    /// are its columns, from 0; any other element is its only column. Whether there is a list:
    /// `false` is NULL.
    ///
    /// # Errors
    /// When the engine's results have no lists, too; the first error of `visit`.
    fn list(&self, _column: usize, _visit: &mut Visit<'_>) -> Result<bool> {
        Err(EngineError::unsupported("this engine's adapter", "lists in its results"))
    }
}

/// Receives the rows of a result.
pub type Visit<'a> = dyn FnMut(&dyn ResultRow) -> Result<()> + 'a;
