//! Blocks of rows that a source returns.

use std::ops::Range;

use embermark_libraries::duckdb::stream::{Cell, Chunk, Number};

/// A block of rows.
pub(in crate::table) enum Block<'a> {
    Chunk(&'a Chunk),
    /// One row.
    Row(&'a [Cell<'a>]),
}

impl Block<'_> {
    pub(in crate::table) const fn rows(&self) -> usize {
        match self {
            Self::Chunk(chunk) => chunk.rows(),
            Self::Row(_) => 1,
        }
    }

    #[inline]
    pub(in crate::table) fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        match self {
            Self::Chunk(chunk) => chunk.cell(column, row),
            Self::Row(cells) => cells[column],
        }
    }

    /// Returns the numbers of a column in some rows, if all of them are numbers: see
    /// [`Chunk::numbers`].
    pub(in crate::table) fn numbers(
        &self,
        column: usize,
        rows: Range<usize>,
        into: &mut Vec<u64>,
    ) -> Option<Number> {
        match self {
            Self::Chunk(chunk) => chunk.numbers(column, rows, into),
            Self::Row(_) => None,
        }
    }

    /// Passes the cells of a column in some rows to `take`, each with its row.
    #[inline]
    pub(in crate::table) fn each<'c>(
        &'c self,
        column: usize,
        rows: Range<usize>,
        mut take: impl FnMut(usize, Cell<'c>),
    ) {
        match self {
            Self::Chunk(chunk) => chunk.each(column, rows, take),
            Self::Row(cells) => rows.for_each(|row| take(row, cells[column])),
        }
    }
}
