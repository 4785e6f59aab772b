//! Rows of results, of every family whose engines answer questions.

use crate::Result;

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
}

/// Receives the rows of a result.
pub type Visit<'a> = dyn FnMut(&dyn ResultRow) -> Result<()> + 'a;
