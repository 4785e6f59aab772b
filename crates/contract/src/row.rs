//! Rows of results, of every family whose engines answer questions.

use crate::{EngineError, Result};

/// One row of a result, valid while it is visited. Columns count from 0.
pub trait ResultRow {
    /// An integer column; `None` is NULL.
    ///
    /// # Errors
    /// When the column holds something that is no integer.
    fn int(&self, column: usize) -> Result<Option<i64>>;

    /// A float column; an integer or decimal is converted. `None` is NULL.
    ///
    /// # Errors
    /// When the column holds something that is no number.
    fn float(&self, column: usize) -> Result<Option<f64>>;

    /// A text column; `None` is NULL.
    ///
    /// # Errors
    /// When the column holds something that is no text.
    fn text(&self, column: usize) -> Result<Option<&str>>;

    /// A list column: visits its elements in order. The items of an element that is itself a list
    /// are its columns, from 0; any other element is its only column. Whether there is a list:
    /// `false` is NULL.
    ///
    /// # Errors
    /// When the column holds something that is no list, or the engine's results have no lists; the
    /// first error of `visit`.
    fn list(&self, _column: usize, _visit: &mut Visit<'_>) -> Result<bool> {
        Err(EngineError::unsupported("this engine's adapter", "lists in its results"))
    }
}

/// Receives the rows of a result.
pub type Visit<'a> = dyn FnMut(&dyn ResultRow) -> Result<()> + 'a;
