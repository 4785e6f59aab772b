//! A table: a file, and what is known about its records.

use std::ffi::{CString, c_int};
use std::path::Path;
use std::rc::Rc;

use super::NAME;
use super::client::Client;
use super::ffi::{LAST_INDEX, MAXIMUM_KEY_LENGTH, MAXIMUM_RECORD_LENGTH, OpenMode};
use super::file::{self, Field, File};
use super::scan::Walk;
use crate::kv::{Direction, TableDef};
use crate::owned::c_string;
use crate::{EngineError, Result};

/// A table. A record is a key followed by its value.
pub(super) struct IsamTable {
    pub name: String,
    path: CString,
    /// The open file, or none after a [`clear`](Self::clear) that failed.
    file: Option<File>,
    pub key_length: usize,
    /// The offsets in the record, in the order of the definition.
    pub indexes: Vec<Field>,
    /// The minimum length of a record: key and indexes, which have to lie in its fixed part.
    fixed: usize,
    lengths: Lengths,
}

/// What is known about the lengths of the records of a file, in bytes.
#[derive(Clone, Copy)]
struct Lengths {
    shortest: usize,
    longest: usize,
}

impl Lengths {
    const OF_NONE: Self = Self { shortest: usize::MAX, longest: 0 };
}

impl IsamTable {
    /// Opens a table, and creates its file if necessary.
    pub(super) fn open(
        client: &Rc<Client>,
        dir: &Path,
        mode: OpenMode,
        def: &TableDef<'_>,
    ) -> Result<Self> {
        let (key_length, indexes) = layout(def)?;
        let path = path(dir, def.name)?;
        let fixed = indexes.iter().fold(key_length, |fixed, field| fixed.max(field.end()));
        let (name, lengths) = (def.name.to_owned(), Lengths::OF_NONE);
        let mut table = Self { name, path, file: None, key_length, indexes, fixed, lengths };
        let Some(file) = File::open(client, &table.path, mode)? else {
            return table.make(client, mode).map(|()| table);
        };
        if file.facts()?.records > 0 {
            // Nothing is known about them.
            table.lengths = Lengths { shortest: fixed, longest: MAXIMUM_RECORD_LENGTH };
        }
        table.file = Some(file);
        Ok(table)
    }

    /// Makes the file, which replaces the one before, and opens it.
    fn make(&mut self, client: &Rc<Client>, mode: OpenMode) -> Result<()> {
        let key = Field { at: 0, length: self.key_length };
        let file = file::create(client, &self.path, self.fixed, key, mode)?;
        for (number, &field) in self.indexes.iter().enumerate() {
            file.add_index(number + 1, field)?;
        }
        self.lengths = Lengths::OF_NONE;
        self.file = Some(file);
        Ok(())
    }

    /// Makes the file anew, which frees its space.
    pub(super) fn clear(&mut self, client: &Rc<Client>, mode: OpenMode) -> Result<()> {
        self.close()?;
        self.make(client, mode)
    }

    pub(super) fn close(&mut self) -> Result<()> {
        self.file.take().map_or(Ok(()), File::close)
    }

    #[inline]
    pub(super) fn file(&self) -> Result<&File> {
        self.file.as_ref().ok_or_else(|| {
            EngineError::failed(NAME, "use a table", "clearing it failed, so it has no file")
        })
    }

    /// Returns a number of bytes into which every record fits.
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.lengths.longest.max(self.fixed)
    }

    /// Returns a walk over an index that reads records into `record`.
    pub(super) fn walk<'a>(
        &'a self,
        index: c_int,
        direction: Direction,
        record: &'a mut [u8],
    ) -> Result<Walk<'a>> {
        let Lengths { shortest, longest } = self.lengths;
        let uniform = (shortest == longest).then_some(longest);
        let record = &mut record[..self.room()];
        Ok(Walk { file: self.file()?, index, direction, record, uniform })
    }

    /// Writes a key and a value as a record to the beginning of `record` and returns its length.
    #[inline]
    pub(super) fn compose(&mut self, key: &[u8], value: &[u8], record: &mut [u8]) -> Result<usize> {
        let length = key.len() + value.len();
        if key.len() != self.key_length || length < self.fixed || length > MAXIMUM_RECORD_LENGTH {
            return Err(self.mismatch(key.len(), value.len()));
        }
        let (head, tail) = record[..length].split_at_mut(key.len());
        head.copy_from_slice(key);
        tail.copy_from_slice(value);
        self.lengths.shortest = self.lengths.shortest.min(length);
        self.lengths.longest = self.lengths.longest.max(length);
        Ok(length)
    }

    #[cold]
    fn mismatch(&self, key: usize, value: usize) -> EngineError {
        let what = if key == self.key_length {
            let least = self.fixed - self.key_length;
            let most = MAXIMUM_RECORD_LENGTH - self.key_length;
            format!(
                "a value of {value} bytes in table {}: it holds values of {least} to {most}",
                self.name
            )
        } else {
            let length = self.key_length;
            format!("a key of {key} bytes in table {}: its keys have {length}", self.name)
        };
        EngineError::unsupported(NAME, what)
    }
}

/// Returns where keys and indexes lie in a record.
fn layout(def: &TableDef<'_>) -> Result<(usize, Vec<Field>)> {
    let name = def.name;
    let unsupported = |what: String| Err(EngineError::unsupported(NAME, what));
    let Some(key_length) = def.key_length else {
        return unsupported(format!(
            "table {name}, whose keys have no fixed length: a key of Btrieve has a fixed place in \
             its record"
        ));
    };
    let at = |within: usize| key_length.saturating_add(within);
    let fields = def.indexes.iter().map(|index| Field { at: at(index.at), length: index.length });
    let indexes: Vec<Field> = fields.collect();
    for &Field { at, length } in indexes.iter().chain([&Field { at: 0, length: key_length }]) {
        if !(1..=MAXIMUM_KEY_LENGTH).contains(&length) {
            return unsupported(format!(
                "a key of {length} bytes in table {name}: one to {MAXIMUM_KEY_LENGTH} are allowed"
            ));
        }
        if at > MAXIMUM_RECORD_LENGTH - length {
            return unsupported(format!(
                "an index beyond byte {MAXIMUM_RECORD_LENGTH} of a record, in table {name}"
            ));
        }
    }
    if indexes.len() > LAST_INDEX {
        return unsupported(format!(
            "more than {LAST_INDEX} indexes beside the key, in table {name}"
        ));
    }
    Ok((key_length, indexes))
}

/// Returns the path of a file in the database's folder as C takes it.
pub(super) fn path(dir: &Path, name: &str) -> Result<CString> {
    c_string(NAME, "name a file", dir.join(format!("{name}.btr")))
}
