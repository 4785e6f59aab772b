//! Rows of results, of every family whose engines answer questions.

use crate::sql::Param;
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
    /// are its columns, from 0, and so are the values of an element that is a document; any other
    /// element is its only column. Whether there is a list: `false` is NULL.
    ///
    /// # Errors
    /// When the engine's results have no lists, too; the first error of `visit`.
    fn list(&self, _column: usize, _visit: &mut Visit<'_>) -> Result<bool> {
        Err(EngineError::unsupported("this engine's adapter", "lists in its results"))
    }

    /// How many columns the row has.
    ///
    /// # Errors
    /// When the engine's results are not known to have columns of their own.
    fn columns(&self) -> Result<usize> {
        Err(EngineError::unsupported("this engine's adapter", "columns that nobody has named"))
    }

    /// A column of whatever kind. A boolean is 0 or 1; a decimal or a wide integer is an integer where
    /// it is one of 64 bits, else a float; a date or a time is text as ISO 8601 has it, a blank
    /// between date and time, instants in UTC with `+00`. Text that the engine has not is written to
    /// `room`, whose content is lost.
    ///
    /// # Errors
    /// Unsupported where the value is of none of these kinds.
    fn any<'a>(&'a self, _column: usize, _room: &'a mut String) -> Result<Param<'a>> {
        Err(EngineError::unsupported(
            "this engine's adapter",
            "columns of kinds that nobody has named",
        ))
    }
}

/// Receives the rows of a result.
pub type Visit<'a> = dyn FnMut(&dyn ResultRow) -> Result<()> + 'a;
