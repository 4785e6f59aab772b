//! Reads the rows of a staged table from the file that workers map.

use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;

use embermark_model::table::Value;
use memmap2::Mmap;

use super::layout::{self, Entry, Header, Kind};
use crate::DataError;
use crate::mapping::{Paging, map, release};

/// Number of rows after which memory is released.
const HELD: usize = 1 << 16;

/// Rows of a table in a file that workers map.
#[derive(Debug)]
pub struct StagedTable {
    mapping: Mmap,
    header: Header,
    kinds: Vec<Kind>,
    entries: Vec<Entry>,
    key: Vec<usize>,
    rows_at: usize,
    /// Bytes per row.
    stride: usize,
}

impl StagedTable {
    /// Maps a file that [`super::stage()`] made, and loads all of it into memory.
    ///
    /// # Errors
    /// [`DataError::NotStaged`] if the file is foreign, of another version or truncated, and the
    /// errors of opening a file.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        Self::map(path, Paging::Ahead)
    }

    pub(super) fn map(path: &Path, paging: Paging) -> Result<Self, DataError> {
        let staged = Self::read(map(path, paging)?);
        staged.map_err(|what| DataError::NotStaged { path: path.to_owned(), what })
    }

    /// Reads the part of a file before the rows.
    ///
    /// # Errors
    /// A description of what is invalid.
    fn read(mapping: Mmap) -> Result<Self, String> {
        let size = mapping.len();
        let Some((head, rest)) = mapping.split_at_checked(size_of::<Header>()) else {
            return Err(format!("it has {size} bytes, fewer than its header"));
        };
        let header: Header = bytemuck::pod_read_unaligned(head);
        if header.magic != layout::MAGIC {
            return Err("it does not begin with the mark of a staged table".to_owned());
        }
        if header.version != layout::VERSION {
            let (theirs, ours) = (header.version, layout::VERSION);
            return Err(format!("it has version {theirs}, this build has version {ours}"));
        }
        let cut = || "it is truncated in its head".to_owned();
        let bytes = header.columns as usize * size_of::<Entry>();
        let (entries, rest) = rest.split_at_checked(bytes).ok_or_else(cut)?;
        let (key, _) = rest.split_at_checked(8 * header.keys as usize).ok_or_else(cut)?;
        let entries = entries.chunks_exact(size_of::<Entry>());
        let entries: Vec<Entry> = entries.map(bytemuck::pod_read_unaligned).collect();
        let kinds = entries.iter().map(|entry| Kind::from_number(entry.kind));
        let kinds: Vec<_> =
            kinds.collect::<Option<_>>().ok_or("it has a column of an unknown type")?;
        let places = key.chunks_exact(8).map(bytemuck::pod_read_unaligned::<u64>);
        let key: Vec<_> = places.map(|place| place as usize).collect();
        if key.iter().any(|&place| place >= kinds.len()) {
            return Err("its key refers to a column that does not exist".to_owned());
        }
        let rows_at = layout::rows_at(kinds.len(), key.len());
        let stride = 8 * layout::words(kinds.len());
        let staged = Self { mapping, header, kinds, entries, key, rows_at, stride };
        match staged.is_whole() {
            true => Ok(staged),
            false => Err(format!("its size of {size} bytes does not match its header")),
        }
    }

    /// Whether the sections that the header describes are within the file, one after the other.
    fn is_whole(&self) -> bool {
        let header = &self.header;
        let end = |at: u64, width: u64| header.rows.checked_mul(width)?.checked_add(at);
        let rows_end = end(self.rows_at as u64, self.stride as u64);
        let order_end = end(header.order_at, header.order_width.into());
        matches!(header.order_width, 0 | 4 | 8)
            && header.end == self.mapping.len() as u64
            && rows_end.is_some_and(|end| end <= header.heap_at)
            && header.heap_at <= header.order_at
            && order_end.is_some_and(|end| end <= header.end)
    }

    /// Returns the number of rows, in the order of their source.
    pub fn rows(&self) -> usize {
        self.header.rows as usize
    }

    /// Returns the number of each row in turn. From time to time it releases the pages that were
    /// read, so that a process's memory does not grow with the rows that it reads.
    pub(super) fn each_row(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.rows()).inspect(|row| {
            if row % HELD == HELD - 1 {
                release(&self.mapping);
            }
        })
    }

    /// Returns the number of columns of a row.
    pub fn columns(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the value of a column in a row, both counted from 0.
    ///
    /// # Panics
    /// If there is no such row or column.
    #[inline]
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        let row = self.row(row);
        let kind = self.kinds[column];
        if layout::absent(row, self.kinds.len(), column) {
            return Value::Null;
        }
        self.of_slot(kind, row[column])
    }

    #[inline]
    fn row(&self, row: usize) -> &[u64] {
        assert!(row < self.rows(), "row {row} of {}", self.rows());
        let at = self.rows_at + row * self.stride;
        // Does not panic: mappings begin on a page, and `is_whole` has checked the rows' position.
        bytemuck::cast_slice(&self.mapping[at..at + self.stride])
    }

    #[inline]
    fn of_slot(&self, kind: Kind, slot: u64) -> Value<'_> {
        match kind {
            Kind::Int => Value::Int(slot as i64),
            Kind::Float => Value::Float(f64::from_bits(slot)),
            Kind::Bytes => Value::Bytes(self.heap(slot)),
            Kind::Text => Value::Text(self.text(slot)),
        }
    }

    /// Returns a text of the heap. Not inlined, unlike the others, because it is long.
    #[inline(never)]
    fn text(&self, slot: u64) -> &str {
        str::from_utf8(self.heap(slot)).expect("a text is checked before it is staged")
    }

    #[inline]
    fn heap(&self, slot: u64) -> &[u8] {
        let (at, length) = layout::text_position(slot);
        let at = self.header.heap_at as usize + at;
        &self.mapping[at..at + length]
    }

    /// Returns the row at position `nth` in ascending order of keys. For a table without a key it
    /// is row `nth`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn nth_by_key(&self, nth: usize) -> usize {
        assert!(nth < self.rows(), "row {nth} of {} in the order of keys", self.rows());
        let order = &self.mapping[self.header.order_at as usize..];
        match self.header.order_width {
            0 => nth,
            4 => bytemuck::pod_read_unaligned::<u32>(&order[4 * nth..4 * nth + 4]) as usize,
            _ => bytemuck::pod_read_unaligned::<u64>(&order[8 * nth..8 * nth + 8]) as usize,
        }
    }

    /// Finds the row with a key, or the first one whose key begins with these values. Returns its
    /// position in the order of keys, for [`Self::nth_by_key`].
    ///
    /// # Errors
    /// The position where the row would be, if there is no such row.
    pub fn find(&self, key: &[Value<'_>]) -> Result<usize, usize> {
        let held = |nth| {
            let row = self.nth_by_key(nth);
            let of_row = self.key.iter().map(|&column| self.value(row, column));
            of_row.zip(key).map(|(a, b)| compare(&a, b)).find(|order| order.is_ne())
        };
        let Range { mut start, mut end } = 0..self.rows();
        while start < end {
            let middle = start.midpoint(end);
            if held(middle) == Some(Ordering::Less) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        if start < self.rows() && held(start).is_none() { Ok(start) } else { Err(start) }
    }

    /// Returns the least value of a column over all rows. Null if all are absent, and for texts and
    /// bytes.
    pub fn least(&self, column: usize) -> Value<'_> {
        self.extreme(column, |entry| entry.least)
    }

    /// Returns the greatest value of a column over all rows. Null if all are absent, and for texts
    /// and bytes.
    pub fn greatest(&self, column: usize) -> Value<'_> {
        self.extreme(column, |entry| entry.greatest)
    }

    fn extreme(&self, column: usize, slot: impl Fn(&Entry) -> u64) -> Value<'_> {
        let entry = &self.entries[column];
        match self.kinds[column] {
            kind @ (Kind::Int | Kind::Float) if entry.present > 0 => {
                self.of_slot(kind, slot(entry))
            }
            _ => Value::Null,
        }
    }

    /// Returns the number of rows in which a column is not absent.
    pub fn present(&self, column: usize) -> u64 {
        self.entries[column].present
    }

    /// Returns the size of a row in bytes as users count them: values with the width of their type,
    /// texts and bytes with their length, absent ones with 0.
    #[inline]
    pub fn user_bytes(&self, row: usize) -> u64 {
        let words = self.row(row);
        let mut bytes = 0;
        for (column, entry) in self.entries.iter().enumerate() {
            if !layout::absent(words, self.entries.len(), column) {
                bytes += match entry.width {
                    0 => layout::text_position(words[column]).1 as u64,
                    width => u64::from(width),
                };
            }
        }
        bytes
    }
}

/// Compares values of one column: integers, floats by `total_cmp` with -0.0 as 0.0, texts and bytes
/// by their bytes. Null sorts first.
#[inline]
pub fn compare(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        // The sum of -0.0 and 0.0 is 0.0.
        (Value::Float(a), Value::Float(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Returns the rank of a kind of values among others. No column mixes kinds except with Null.
const fn rank(value: &Value<'_>) -> u8 {
    match value {
        Value::Null => 0,
        Value::Int(_) => 1,
        Value::Float(_) => 2,
        Value::Text(_) => 3,
        Value::Bytes(_) => 4,
    }
}
