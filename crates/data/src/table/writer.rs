//! Writes a staged table.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use embermark_model::table::{Column, Keep, Table, Value};

use super::duplicates::{DuplicateCount, Duplicates};
use super::layout::{self, Entry, Header};
use super::order::{SortedRows, ascends};
use super::staged::StagedTable;
use crate::DataError;
use crate::mapping::Paging;
use crate::zipf::fnv1a;

/// Size of the write buffers in bytes.
const BUFFER: usize = 256 << 10;

/// Longest text in bytes that is looked up among recent texts, and number of recent texts that are
/// remembered.
const SHORT: usize = 24;
const RECENT: usize = 1 << 12;

/// A row in the form of the file.
pub(super) type Row = Box<[u64]>;

/// Writer of a staged table. Its memory does not grow with the rows: they go to the file, and their
/// texts to a temporary file next to it.
#[derive(Debug)]
pub(super) struct TableWriter<'a> {
    path: &'a Path,
    key: &'a [usize],
    keep: Keep,
    columns: Vec<Entry>,
    rows: u64,
    file: BufWriter<File>,
    /// The rows that are being assembled, and which of them are left out.
    block: Vec<u64>,
    left_out: Vec<bool>,
    texts: File,
    /// Texts that are not written to the file of texts yet.
    pending: Vec<u8>,
    /// Bytes of texts in their file.
    written: u64,
    recent: Recent,
}

/// Short recent texts, by their hash. A repeated one uses the position of the first.
#[derive(Debug)]
struct Recent(Vec<([u8; SHORT], u64)>);

impl Recent {
    /// Returns the slot of a recent text. Otherwise remembers `slot` for it.
    #[inline]
    fn find(&mut self, text: &[u8], slot: u64) -> Option<u64> {
        let mut short = [0; SHORT];
        short.get_mut(..text.len())?.copy_from_slice(text);
        let known = &mut self.0[fnv1a(text) as usize % RECENT];
        let length = |slot| layout::text_position(slot).1;
        if known.0 == short && length(known.1) == text.len() {
            return Some(known.1);
        }
        *known = (short, slot);
        None
    }
}

impl<'a> TableWriter<'a> {
    /// Begins a file, replacing its content.
    pub(super) fn create(
        path: &'a Path,
        columns: &[Column],
        key: &'a [usize],
        keep: Keep,
    ) -> Result<Self, DataError> {
        let begin = || -> io::Result<(BufWriter<File>, File)> {
            let file =
                File::options().read(true).write(true).create(true).truncate(true).open(path)?;
            let mut file = BufWriter::with_capacity(BUFFER, file);
            file.write_all(&vec![0; layout::rows_at(columns.len(), key.len())])?;
            Ok((file, tempfile::tempfile_in(folder(path))?))
        };
        let (file, texts) = begin().map_err(DataError::unwritable(path))?;
        Ok(Self {
            path,
            key,
            keep,
            columns: columns.iter().map(|column| Entry::new(column.of)).collect(),
            rows: 0,
            file,
            block: Vec::new(),
            left_out: Vec::new(),
            texts,
            pending: Vec::with_capacity(BUFFER),
            written: 0,
            // Every empty text has the same slot.
            recent: Recent(vec![([0; SHORT], 0); RECENT]),
        })
    }

    /// Returns the number of rows written.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Begins a block of `rows` rows. No value is absent, and all values must be set.
    pub(super) fn begin(&mut self, rows: usize) {
        self.block.clear();
        self.block.resize(rows * layout::words(self.columns.len()), 0);
        self.left_out.clear();
        self.left_out.resize(rows, false);
    }

    /// Sets a value of a row of the block. It must have its column's type.
    #[inline]
    pub(super) fn put(&mut self, row: usize, column: usize, value: Value<'_>) {
        let columns = self.columns.len();
        let at = row * layout::words(columns);
        self.block[at + column] = match value {
            Value::Null => {
                self.block[at + columns + column / 64] |= 1 << (column % 64);
                return;
            }
            Value::Int(value) => value as u64,
            Value::Float(value) => value.to_bits(),
            Value::Text(text) => self.text(text.as_bytes()),
            Value::Bytes(bytes) => self.text(bytes),
        }
    }

    /// Sets a column of all rows of the block.
    pub(super) fn put_all(&mut self, column: usize, slots: &[u64]) {
        let rows = self.block.chunks_exact_mut(layout::words(self.columns.len()));
        rows.zip(slots).for_each(|(row, slot)| row[column] = *slot);
    }

    #[inline]
    fn text(&mut self, bytes: &[u8]) -> u64 {
        let slot = layout::text_slot(self.written + self.pending.len() as u64, bytes.len());
        if let Some(known) = self.recent.find(bytes, slot) {
            return known;
        }
        self.pending.extend_from_slice(bytes);
        slot
    }

    /// Leaves a row of the block out. Its texts stay in the heap.
    pub(super) fn leave_out(&mut self, row: usize) {
        self.left_out[row] = true;
    }

    /// Whether a row of the block is left out.
    #[inline]
    pub(super) fn is_left_out(&self, row: usize) -> bool {
        self.left_out[row]
    }

    /// Ends the block and writes those of its rows that are not left out.
    pub(super) fn end(&mut self) -> Result<(), DataError> {
        let mut block = std::mem::take(&mut self.block);
        let words = layout::words(self.columns.len());
        let mut kept = 0;
        for nth in (0..self.left_out.len()).filter(|nth| !self.left_out[*nth]) {
            if nth > kept {
                block.copy_within(nth * words..(nth + 1) * words, kept * words);
            }
            kept += 1;
        }
        self.append(&block[..kept * words])?;
        self.block = block;
        self.flush()
    }

    /// Ends a block of one row and returns the row, to be [appended](Self::append) later. `None` if
    /// it is left out.
    pub(super) fn finish_row(&mut self) -> Result<Option<Row>, DataError> {
        self.flush()?;
        Ok((!self.left_out[0]).then(|| self.block.as_slice().into()))
    }

    /// Writes rows.
    pub(super) fn append(&mut self, rows: &[u64]) -> Result<(), DataError> {
        layout::update_entries(&mut self.columns, rows);
        self.rows += (rows.len() / layout::words(self.columns.len())) as u64;
        let written = self.file.write_all(bytemuck::cast_slice(rows));
        written.map_err(DataError::unwritable(self.path))
    }

    fn flush(&mut self) -> Result<(), DataError> {
        if self.pending.len() >= BUFFER {
            self.write_texts().map_err(DataError::unwritable(self.path))?;
        }
        Ok(())
    }

    fn write_texts(&mut self) -> io::Result<()> {
        self.texts.write_all(&self.pending)?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        if self.written > layout::HEAP {
            return Err(io::Error::other(
                "the table has more than a terabyte of texts, which is the limit",
            ));
        }
        Ok(())
    }

    /// Completes the file. Returns the number of rows that were dropped because another one has
    /// their key.
    pub(super) fn finish(mut self) -> Result<DuplicateCount, DataError> {
        let path = self.path;
        let mut header = self.append_texts().map_err(DataError::unwritable(path))?;
        let Self { key, keep, mut columns, file, .. } = self;
        let mut file =
            file.into_inner().map_err(|error| DataError::unwritable(path)(error.into_error()))?;
        write_head(&mut file, &header, &columns, key).map_err(DataError::unwritable(path))?;
        let table = StagedTable::map(path, Paging::Sequential)?;
        if key.is_empty() || ascends(&table, key) {
            return Ok(DuplicateCount::default());
        }
        let arrange = || -> io::Result<DuplicateCount> {
            let sorted = SortedRows::new(&table, key, table.rows(), folder(path))?;
            let duplicates = Duplicates::find(&sorted, table.rows(), keep);
            duplicates.append_order(&mut file, &mut header, &sorted)?;
            drop(sorted);
            drop(table);
            duplicates.close_gaps(&file, key.len(), &mut columns)?;
            write_head(&mut file, &header, &columns, key)?;
            Ok(duplicates.counts)
        };
        arrange().map_err(DataError::unwritable(path))
    }

    /// Appends the texts to the rows.
    fn append_texts(&mut self) -> io::Result<Header> {
        self.write_texts()?;
        self.file.flush()?;
        let file = self.file.get_mut();
        let heap_at = file.stream_position()?;
        self.texts.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.texts, file)?;
        let end = file.stream_position()?;
        Ok(Header {
            magic: layout::MAGIC,
            version: layout::VERSION,
            columns: self.columns.len() as u32,
            keys: self.key.len() as u32,
            order_width: 0,
            rows: self.rows,
            heap_at,
            order_at: end,
            end,
        })
    }
}

/// Writes rows of values that match the columns of a table to `to`, replacing its content. Returns
/// their number.
pub(super) fn write<'v, R: IntoIterator<Item = Value<'v>>>(
    table: &Table,
    rows: impl IntoIterator<Item = R>,
    to: &Path,
) -> Result<u64, DataError> {
    let mut writer = TableWriter::create(to, &table.columns, &table.key, Keep::First)?;
    for row in rows {
        writer.begin(1);
        row.into_iter().enumerate().for_each(|(column, value)| writer.put(0, column, value));
        writer.end()?;
    }
    let rows = writer.rows();
    Ok(rows - writer.finish()?.count)
}

/// Writes the part of the file before the rows.
fn write_head(
    file: &mut File,
    header: &Header,
    columns: &[Entry],
    key: &[usize],
) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytemuck::bytes_of(header))?;
    file.write_all(bytemuck::cast_slice(columns))?;
    let key: Vec<u64> = key.iter().map(|&place| place as u64).collect();
    file.write_all(bytemuck::cast_slice(&key))
}

/// Returns the folder of a file.
pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
