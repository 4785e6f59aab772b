//! Sorts rows by some of their columns, in a temporary file instead of the heap.

use std::cmp::Ordering;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use embermark_model::table::Value;
use itertools::Itertools;
use memmap2::MmapMut;

use super::staged::{StagedTable, compare};
use crate::mapping::{map_mut, release_mut};

/// Bytes that are collected before they are written.
const BUFFER: usize = 256 << 10;

/// Number of rows that are sorted at once. Such runs are then merged.
const RUN: usize = 1 << 21;

/// A row and a prefix of its key. Different prefixes sort like their keys.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct KeyedRow {
    prefix: u64,
    pub(super) row: u64,
}

/// Rows in ascending order of some columns. Equal rows are in the order of the table. They are in a
/// mapped temporary file, so that the system decides whether to keep them in memory.
#[derive(Debug)]
pub(super) struct SortedRows<'a> {
    by: KeyOrder<'a>,
    /// Sorted in runs.
    pairs: MmapMut,
}

impl<'a> SortedRows<'a> {
    /// Sorts the first `rows` rows by `columns`, none of which is absent in any row. The temporary
    /// file is in `folder`.
    pub(super) fn new(
        table: &'a StagedTable,
        columns: &'a [usize],
        rows: usize,
        folder: &Path,
    ) -> io::Result<Self> {
        let by = KeyOrder::new(table, columns, rows);
        let file = tempfile::tempfile_in(folder)?;
        // Written, not only mapped: a full disk is an error here and would be a signal there.
        let mut out = BufWriter::with_capacity(BUFFER, &file);
        for row in table.each_row().take(rows) {
            let pair = KeyedRow { prefix: by.prefix(row), row: row as u64 };
            out.write_all(bytemuck::bytes_of(&pair))?;
        }
        out.flush()?;
        drop(out);
        let mut pairs = map_mut(&file)?;
        for at in (0..rows).step_by(2 * RUN) {
            let runs = &mut bytemuck::cast_slice_mut(&mut pairs)[at..rows.min(at + 2 * RUN)];
            std::thread::scope(|scope| {
                for run in runs.chunks_mut(RUN) {
                    scope.spawn(|| by.sort(run));
                }
            });
            release_mut(&pairs);
        }
        Ok(Self { by, pairs })
    }

    /// Returns the rows in order, and whether each has the key of the previous one.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, bool)> {
        let pairs: &[KeyedRow] = bytemuck::cast_slice(&self.pairs);
        let runs = pairs.chunks(RUN).kmerge_by(|a, b| self.by.order(a, b).is_lt());
        let mut before: Option<&KeyedRow> = None;
        runs.enumerate().map(move |(nth, next)| {
            let last = before.replace(next);
            if nth % (RUN / 16) == 0 {
                release_mut(&self.pairs);
            }
            (next.row as usize, last.is_some_and(|last| self.by.compare(last, next).is_eq()))
        })
    }
}

/// Whether the rows are in ascending order of `columns`, with no two alike.
pub(super) fn ascends(table: &StagedTable, columns: &[usize]) -> bool {
    let by = KeyOrder::new(table, columns, table.rows());
    let mut rows = table.each_row().map(|row| KeyedRow { prefix: by.prefix(row), row: row as u64 });
    let Some(mut last) = rows.next() else { return true };
    rows.all(|next| by.compare(&std::mem::replace(&mut last, next), &next).is_lt())
}

/// Comparison of rows by some columns.
#[derive(Debug)]
struct KeyOrder<'a> {
    table: &'a StagedTable,
    columns: &'a [usize],
    parts: Vec<Part>,
    /// Whether a prefix is the whole key, so that equal prefixes are equal keys.
    whole: bool,
}

/// Part of a prefix that a column fills: the highest bits of a number that sorts like its values.
#[derive(Clone, Copy, Debug)]
struct Part {
    column: usize,
    /// The least value, from which integers are counted.
    least: i64,
    /// Number of bytes that all texts begin with, which are left out.
    common_prefix: usize,
    /// Number of bits that the numbers need.
    bits_needed: u32,
    /// Number of bits that are used.
    bits_used: u32,
}

impl<'a> KeyOrder<'a> {
    fn new(table: &'a StagedTable, columns: &'a [usize], rows: usize) -> Self {
        let (mut parts, mut left, mut whole) = (Vec::new(), u64::BITS, true);
        for &column in columns {
            let mut part =
                Part { column, least: 0, common_prefix: 0, bits_needed: u64::BITS, bits_used: 0 };
            match (table.least(column), table.greatest(column)) {
                (Value::Int(least), Value::Int(greatest)) => {
                    part.least = least;
                    part.bits_needed = u64::BITS - greatest.abs_diff(least).leading_zeros();
                }
                (Value::Float(_), _) => {}
                _ => {
                    let texts = TextStats::new(table, column, rows);
                    part.common_prefix = texts.common_prefix;
                    part.bits_needed = 8 * (texts.longest - texts.common_prefix).min(8) as u32;
                    // Zeros fill up a shorter text. It stays different from other texts if none of
                    // them has zeros.
                    whole = !texts.zeros && texts.longest - texts.common_prefix <= 8;
                }
            }
            part.bits_used = part.bits_needed.min(left);
            whole &= part.bits_needed <= left;
            left -= part.bits_used;
            parts.push(part);
            if !whole {
                break;
            }
        }
        Self { table, columns, parts, whole }
    }

    #[inline]
    fn prefix(&self, row: usize) -> u64 {
        self.parts.iter().fold(0, |prefix, part| {
            let bits = match self.table.value(row, part.column) {
                Value::Null => 0,
                Value::Int(value) => value.abs_diff(part.least),
                Value::Float(value) => ascending_bits(value),
                text => first_bytes(&bytes_of(text)[part.common_prefix..], part.bits_needed),
            };
            let high = bits.checked_shr(part.bits_needed - part.bits_used).unwrap_or(0);
            prefix.checked_shl(part.bits_used).unwrap_or(0) | high
        })
    }

    fn sort(&self, run: &mut [KeyedRow]) {
        match self.whole {
            true => run.sort_unstable_by_key(|pair| (pair.prefix, pair.row)),
            false => run.sort_unstable_by(|a, b| self.order(a, b)),
        }
    }

    /// Compares keys, and row numbers for equal keys.
    #[inline]
    fn order(&self, a: &KeyedRow, b: &KeyedRow) -> Ordering {
        self.compare(a, b).then(a.row.cmp(&b.row))
    }

    #[inline]
    fn compare(&self, a: &KeyedRow, b: &KeyedRow) -> Ordering {
        let by_prefix = a.prefix.cmp(&b.prefix);
        if by_prefix.is_ne() || self.whole { by_prefix } else { self.compare_keys(a, b) }
    }

    fn compare_keys(&self, a: &KeyedRow, b: &KeyedRow) -> Ordering {
        let value = |pair: &KeyedRow, column| self.table.value(pair.row as usize, column);
        let each = self.columns.iter().map(|&column| compare(&value(a, column), &value(b, column)));
        each.fold(Ordering::Equal, Ordering::then)
    }
}

/// Returns bits that have the order of doubles, with -0.0 as 0.0.
fn ascending_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns the first `bits` bits of a text as a number that has their order.
fn first_bytes(text: &[u8], bits: u32) -> u64 {
    let mut first = [0; 8];
    let length = text.len().min(8);
    first[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(first).checked_shr(u64::BITS - bits).unwrap_or(0)
}

fn bytes_of(value: Value<'_>) -> &[u8] {
    match value {
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        _ => &[],
    }
}

/// Statistics on the texts of a column.
#[derive(Clone, Copy, Debug)]
struct TextStats {
    /// Number of bytes that all begin with.
    common_prefix: usize,
    /// Length of the longest in bytes.
    longest: usize,
    /// Whether one may have a zero byte.
    zeros: bool,
}

impl TextStats {
    fn new(table: &StagedTable, column: usize, rows: usize) -> Self {
        let mut rows = table.each_row().take(rows);
        let Some(first) = rows.next().map(|row| table.value(row, column)) else {
            return Self { common_prefix: 0, longest: 0, zeros: false };
        };
        let zeros = matches!(first, Value::Bytes(_));
        let first = bytes_of(first);
        let (mut common_prefix, mut longest) = (first.len(), first.len());
        for row in rows {
            let text = bytes_of(table.value(row, column));
            longest = longest.max(text.len());
            let pairs = first[..common_prefix].iter().zip(text);
            common_prefix = pairs.take_while(|(a, b)| a == b).count();
        }
        Self { common_prefix, longest, zeros }
    }
}
