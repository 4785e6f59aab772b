//! Rows of results, for every family whose engines answer queries.

use crate::sql::Param;
use crate::{EngineError, Result};

/// One row of a result, valid while it is visited. Columns count from 0.
///
/// # Errors
/// Every call fails if the column holds a value of another kind.
pub trait ResultRow {
    /// Returns an integer column. `None` is NULL.
    fn int(&self, column: usize) -> Result<Option<i64>>;

    /// Returns a float column. Converts an integer or decimal. `None` is NULL.
    fn float(&self, column: usize) -> Result<Option<f64>>;

    /// Returns a text column. `None` is NULL.
    fn text(&self, column: usize) -> Result<Option<&str>>;

    /// Returns a column of bytes. `None` is NULL.
    ///
    /// # Errors
    /// Also if the engine's results have no bytes.
    fn bytes(&self, _column: usize) -> Result<Option<&[u8]>> {
        Err(EngineError::unsupported("this engine's adapter", "bytes in its results"))
    }

    /// Visits the elements of a list column in order. If an element is a list or a document, its
    /// items or values are its columns, from 0. Any other element is its only column. Returns
    /// whether there is a list: `false` is NULL.
    ///
    /// # Errors
    /// Also if the engine's results have no lists. Otherwise the first error of `visit`.
    fn list(&self, _column: usize, _visit: &mut Visit<'_>) -> Result<bool> {
        Err(EngineError::unsupported("this engine's adapter", "lists in its results"))
    }

    /// Returns the number of columns of the row.
    ///
    /// # Errors
    /// If the engine's results are not known to have columns of their own.
    fn columns(&self) -> Result<usize> {
        Err(EngineError::unsupported("this engine's adapter", "columns without names"))
    }

    /// Returns a column of any kind. A boolean is 0 or 1. A decimal or wide integer is an integer
    /// if it fits 64 bits, otherwise a float. A date or time is ISO 8601 text with a blank between
    /// date and time, and instants are in UTC with `+00`. Text that the engine does not hold itself
    /// is written to `room`, whose content is lost.
    ///
    /// # Errors
    /// Unsupported if the value has none of these kinds.
    fn any<'a>(&'a self, _column: usize, _room: &'a mut String) -> Result<Param<'a>> {
        Err(EngineError::unsupported("this engine's adapter", "columns without kinds"))
    }
}

/// Receives the rows of a result.
pub type Visit<'a> = dyn FnMut(&dyn ResultRow) -> Result<()> + 'a;
