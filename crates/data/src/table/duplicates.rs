//! Rows with the same key: one is kept, the others are removed.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use embermark_model::table::Keep;

use super::layout::{self, Entry, Header};
use super::order::SortedRows;
use crate::mapping::{map_mut, release_mut};

/// Number of rows that are removed because another one has their key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DuplicateCount {
    pub(super) count: u64,
    /// The pair of rows with the same key whose second row comes first in the table.
    pub(super) first: Option<(u64, u64)>,
}

/// Set of the rows that are removed because another one has their key.
#[derive(Debug)]
pub(super) struct Duplicates {
    pub(super) counts: DuplicateCount,
    rows: usize,
    /// A bit per row, in words, each with the number of bits set before it. Empty if no bit is set.
    bits: Vec<(u64, u64)>,
}

impl Duplicates {
    pub(super) fn find(sorted: &SortedRows<'_>, rows: usize, keep: Keep) -> Self {
        let counts = DuplicateCount::default();
        let mut duplicates = Self { counts, rows, bits: Vec::new() };
        let mut before = None;
        for (row, is_duplicate) in sorted.rows() {
            if let Some(before) = before.filter(|_| is_duplicate) {
                // Rows with the same key come in the order of the table.
                let gone = if keep == Keep::Last { before } else { row };
                duplicates.bits.resize(rows / 64 + 1, (0, 0));
                duplicates.bits[gone / 64].0 |= 1 << (gone % 64);
                let pair = (before as u64, row as u64);
                let first = duplicates.counts.first.filter(|first| first.1 < pair.1);
                duplicates.counts.first = first.or(Some(pair));
            }
            before = Some(row);
        }
        for (word, before) in &mut duplicates.bits {
            *before = duplicates.counts.count;
            duplicates.counts.count += u64::from(word.count_ones());
        }
        duplicates
    }

    fn contains(&self, row: usize) -> bool {
        self.bits.get(row / 64).is_some_and(|(word, _)| word >> (row % 64) & 1 == 1)
    }

    /// Returns the number of a row after the removal of rows before it.
    fn renumbered(&self, row: usize) -> u64 {
        let left_out = self.bits.get(row / 64).map_or(0, |(word, before)| {
            before + u64::from((word & ((1 << (row % 64)) - 1)).count_ones())
        });
        row as u64 - left_out
    }

    /// Appends the new numbers of the remaining rows, in the order of their keys.
    pub(super) fn append_order(
        &self,
        file: &mut File,
        header: &mut Header,
        sorted: &SortedRows<'_>,
    ) -> io::Result<()> {
        header.rows -= self.counts.count;
        header.order_width = if header.rows <= u64::from(u32::MAX) { 4 } else { 8 };
        file.seek(SeekFrom::Start(header.order_at))?;
        let mut out = BufWriter::new(&mut *file);
        for (row, _) in sorted.rows().filter(|&(row, _)| !self.contains(row)) {
            let number = self.renumbered(row);
            match header.order_width {
                4 => out.write_all(&(number as u32).to_ne_bytes())?,
                _ => out.write_all(&number.to_ne_bytes())?,
            }
        }
        out.flush()?;
        drop(out);
        header.end = file.stream_position()?;
        Ok(())
    }

    /// Moves rows up to fill the gaps of removed rows, and computes the least and greatest values
    /// again. The texts of removed rows stay in the heap.
    pub(super) fn close_gaps(
        &self,
        file: &File,
        keys: usize,
        columns: &mut [Entry],
    ) -> io::Result<()> {
        if self.counts.count == 0 {
            return Ok(());
        }
        let mut mapping = map_mut(file)?;
        let (words, at) = (layout::words(columns.len()), layout::rows_at(columns.len(), keys));
        for entry in &mut *columns {
            entry.present = 0;
        }
        let mut to = 0;
        for row in (0..self.rows).filter(|&row| !self.contains(row)) {
            let rows: &mut [u64] =
                bytemuck::cast_slice_mut(&mut mapping[at..at + 8 * words * self.rows]);
            rows.copy_within(row * words..(row + 1) * words, to);
            layout::update_entries(columns, &rows[to..to + words]);
            to += words;
            if to % (words << 16) == 0 {
                release_mut(&mapping);
            }
        }
        Ok(())
    }
}
