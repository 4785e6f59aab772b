//! Layout of a staged table in its file. Only this build reads it: it may change at any time.
//!
//! The order is: the [`Header`], an [`Entry`] per column, the indexes of the key's columns as words
//! of 8 bytes, the rows, the heap of texts and bytes, the rows' numbers in the order of their keys.
//! All are in the byte order of the machine.
//!
//! A row is a slot of 8 bytes per column, followed by a bit per column that is set if its value is
//! absent, in words of 8 bytes. A slot holds an integer, the bits of a double, or the position and
//! length of a text in the heap.

use bytemuck::{Pod, Zeroable};
use embermark_model::table::ColumnType;

pub(super) const MAGIC: [u8; 8] = *b"embrtabl";
/// Changes with the layout. It is in the byte order of the machine, so that a file from a machine
/// with the other order has another version.
pub(super) const VERSION: u32 = 1;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    pub(super) magic: [u8; 8],
    pub(super) version: u32,
    pub(super) columns: u32,
    /// Number of columns of the key. 0: the table has no key.
    pub(super) keys: u32,
    /// Bytes of a row's number in the order of keys: 4 or 8. 0: the rows are in that order.
    pub(super) order_width: u32,
    pub(super) rows: u64,
    /// Position of the heap in the file.
    pub(super) heap_at: u64,
    /// Position of the order of keys in the file.
    pub(super) order_at: u64,
    /// Size of the file in bytes.
    pub(super) end: u64,
}

/// Description of a column in the file.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Entry {
    /// A [`Kind`].
    pub(super) kind: u32,
    /// Bytes of a value as users count them. 0: the length of the text.
    pub(super) width: u32,
    /// Number of values that are not absent.
    pub(super) present: u64,
    /// Slot of the least value, if one is present and the column does not hold texts.
    pub(super) least: u64,
    /// Slot of the greatest value.
    pub(super) greatest: u64,
}

/// Content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Float,
    Text,
    Bytes,
}

impl Kind {
    pub(super) const fn from_column(column: ColumnType) -> Self {
        match column {
            ColumnType::Bool | ColumnType::Int { .. } | ColumnType::Timestamp(_) => Self::Int,
            ColumnType::Float => Self::Float,
            ColumnType::Text => Self::Text,
            ColumnType::Bytes => Self::Bytes,
        }
    }

    pub(super) fn from_number(number: u32) -> Option<Self> {
        [Self::Int, Self::Float, Self::Text, Self::Bytes].get(number as usize).copied()
    }
}

impl Entry {
    pub(super) fn new(column: ColumnType) -> Self {
        Self {
            kind: Kind::from_column(column) as u32,
            width: column.width().unwrap_or(0) as u32,
            present: 0,
            least: 0,
            greatest: 0,
        }
    }

    /// Updates the entry with the slots of values that are not absent.
    #[inline]
    fn update(&mut self, slots: impl Iterator<Item = u64>, less: impl Fn(u64, u64) -> bool) {
        for slot in slots {
            if self.present == 0 || less(slot, self.least) {
                self.least = slot;
            }
            if self.present == 0 || less(self.greatest, slot) {
                self.greatest = slot;
            }
            self.present += 1;
        }
    }
}

/// Updates the entries of all columns with these rows.
#[inline]
pub(super) fn update_entries(columns: &mut [Entry], rows: &[u64]) {
    let count = columns.len();
    for (column, entry) in columns.iter_mut().enumerate() {
        let present = rows.chunks_exact(words(count)).filter(|row| !absent(row, count, column));
        let slots = present.map(|row| row[column]);
        match Kind::from_number(entry.kind) {
            Some(Kind::Int) => entry.update(slots, |a, b| (a as i64) < b as i64),
            Some(Kind::Float) => entry.update(slots, |a, b| f64::from_bits(a) < f64::from_bits(b)),
            _ => entry.present += slots.count() as u64,
        }
    }
}

/// Whether a value is absent in a row with this many columns.
#[inline]
pub(super) fn absent(row: &[u64], columns: usize, column: usize) -> bool {
    row[columns + column / 64] >> (column % 64) & 1 == 1
}

/// Returns the number of 8-byte words in a row with this many columns.
pub(super) const fn words(columns: usize) -> usize {
    columns + columns.div_ceil(64)
}

/// Returns the position of the rows: a multiple of 8.
pub(super) const fn rows_at(columns: usize, keys: usize) -> usize {
    size_of::<Header>() + columns * size_of::<Entry>() + keys * 8
}

/// Number of bits of a slot for the length of a text. The bits above are its position.
const LENGTH_BITS: u32 = 24;
/// Length of the longest text.
pub(super) const LONGEST: usize = (1 << LENGTH_BITS) - 1;
/// Largest size of a heap in bytes.
pub(super) const HEAP: u64 = 1 << (64 - LENGTH_BITS);

/// Makes the slot of a text.
pub(super) const fn text_slot(at: u64, length: usize) -> u64 {
    at << LENGTH_BITS | length as u64
}

/// Returns the position in the heap of a slot's text, and its length.
pub(super) const fn text_position(slot: u64) -> (usize, usize) {
    ((slot >> LENGTH_BITS) as usize, (slot & LONGEST as u64) as usize)
}
