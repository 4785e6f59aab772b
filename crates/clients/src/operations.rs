//! The operations of a phase as a program in another language reads them: a file of 64-bit words,
//! little-endian.

use std::io::{self, Write};

use embermark_contract::document::CollectionDef;
use embermark_contract::sql::Param;
use embermark_model::table::OwnedValue;

/// Beginning of the file.
const MAGIC: &[u8; 8] = b"embmops1";

/// Kind of a call. The numbers are those of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Runs a statement that returns no rows. Parameters: those of the statement.
    Run = 1,
    /// Runs a query. Parameters: those of the statement.
    Query = 2,
    /// Loads a row by the fastest path that the package documents. All operations of the block are
    /// one load.
    Bulk = 3,
    /// Reads a pair. Parameter: its key.
    Get = 4,
    /// Puts a pair. Parameters: key, value.
    Put = 5,
    /// Removes a pair. Parameter: its key.
    Delete = 6,
    /// Reads pairs in the order of their keys. Parameters: the lowest key or null, the key before
    /// which it ends or null, 1 for ascending and -1 for descending, the largest number of pairs or
    /// null.
    Scan = 7,
    /// Inserts a document. Parameters: its key and its other fields, as JSON.
    Insert = 8,
    /// Inserts a document, or replaces the one with the same key. Parameters: those of `Insert`.
    Upsert = 9,
    /// Finds documents. Parameter: filter, order, limit and columns, as JSON.
    Find = 10,
    /// Sets fields of documents. Parameters: a filter and the fields, as JSON.
    Update = 11,
    /// Deletes documents. Parameter: a filter, as JSON.
    Remove = 12,
    /// Runs a query in the engine's own language. Parameters: its text, and the columns of its
    /// result, as JSON.
    Ask = 13,
    /// Returns the number of pairs of a table, if the engine keeps it. No parameters.
    Count = 14,
}

/// For each block the number of its operations, and the calls of each.
pub(crate) type Shape = Vec<(u64, Vec<Code>)>;

/// A call that is being recorded.
#[derive(Debug)]
struct Call {
    code: Code,
    /// Number of the statement or the table.
    target: u32,
    values: Vec<OwnedValue>,
}

/// Returns the number of a value's type in the file.
const fn kind(value: &OwnedValue) -> u64 {
    match value {
        OwnedValue::Null => 0,
        OwnedValue::Int(_) => 1,
        OwnedValue::Float(_) => 2,
        OwnedValue::Text(_) => 3,
        OwnedValue::Bytes(_) => 4,
    }
}

/// The values of one parameter in the operations of a block.
#[derive(Debug, Default)]
struct Column {
    /// Its type. 0 as long as all values are null.
    kind: u64,
    nulls: Vec<u8>,
    has_nulls: bool,
    /// Integers, and the bits of floats.
    words: Vec<u64>,
    /// End of each text or of bytes.
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

impl Column {
    /// Whether a value may be the next one.
    const fn takes(&self, value: &OwnedValue) -> bool {
        let kind = kind(value);
        kind == 0 || self.kind == 0 || self.kind == kind
    }

    fn push(&mut self, value: &OwnedValue) {
        if self.kind == 0 {
            // Earlier values were null.
            self.kind = kind(value);
            match self.kind {
                1 | 2 => self.words = vec![0; self.nulls.len()],
                3 | 4 => self.ends = vec![0; self.nulls.len()],
                _ => {}
            }
        }
        let is_null = matches!(value, OwnedValue::Null);
        self.nulls.push(u8::from(is_null));
        self.has_nulls |= is_null;
        match value {
            OwnedValue::Int(value) => self.words.push(value.cast_unsigned()),
            OwnedValue::Float(value) => self.words.push(value.to_bits()),
            OwnedValue::Text(text) => self.bytes.extend_from_slice(text.as_bytes()),
            OwnedValue::Bytes(bytes) => self.bytes.extend_from_slice(bytes),
            OwnedValue::Null if matches!(self.kind, 1 | 2) => self.words.push(0),
            OwnedValue::Null => {}
        }
        if matches!(self.kind, 3 | 4) {
            self.ends.push(self.bytes.len() as u64);
        }
    }

    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        words(to, &[self.kind, u64::from(self.has_nulls)])?;
        if self.has_nulls && self.kind != 0 {
            padded(to, &self.nulls)?;
        }
        match self.kind {
            1 | 2 => words(to, &self.words),
            3 | 4 => {
                words(to, &[0])?;
                words(to, &self.ends)?;
                padded(to, &self.bytes)
            }
            _ => Ok(()),
        }
    }
}

/// Consecutive operations that make the same calls with other values, in the same transaction.
#[derive(Debug)]
struct Block {
    /// Number of its transaction. 0: each call is its own transaction.
    transaction: u64,
    writes: bool,
    operations: u64,
    calls: Vec<(Code, u32, Vec<Column>)>,
}

/// The operations of a phase.
#[derive(Debug, Default)]
pub struct Operations {
    blocks: Vec<Block>,
    /// Calls of the current operation.
    calls: Vec<Call>,
    /// The open transaction, and whether it writes. Then the number of transactions.
    open: Option<(u64, bool)>,
    transactions: u64,
    /// Whether the next operation begins a block even if it makes the same calls.
    is_apart: bool,
    /// Texts of the called statements, each once.
    pub statements: Vec<String>,
    /// The tables that are used, each once.
    pub tables: Vec<Table>,
}

/// A table that calls use.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Fields of the key of its documents, in order. Empty for other tables.
    pub key: Vec<String>,
    /// Columns in the order of the parameters, or the other fields of documents. Empty for a table
    /// of pairs.
    pub columns: Vec<String>,
}

impl Operations {
    /// Returns the number of a statement with this text.
    pub fn statement(&mut self, text: &str) -> u32 {
        number(&mut self.statements, |known| known == text, || text.to_owned())
    }

    /// Returns the number of a table.
    pub fn table(&mut self, name: &str, columns: &[&str]) -> u32 {
        self.number_of(name, &[], columns)
    }

    /// Returns the number of a collection of documents.
    pub fn collection(&mut self, def: &CollectionDef) -> u32 {
        self.number_of(def.name, def.key, def.fields)
    }

    fn number_of(&mut self, name: &str, key: &[&str], columns: &[&str]) -> u32 {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        number(
            &mut self.tables,
            |known| known.name == name && known.key == key && known.columns == columns,
            || Table { name: name.to_owned(), key: owned(key), columns: owned(columns) },
        )
    }

    /// Adds a call to the current operation.
    pub fn call<'a>(
        &mut self,
        code: Code,
        target: u32,
        values: impl IntoIterator<Item = Param<'a>>,
    ) {
        let values = values.into_iter().map(|value| value.to_owned()).collect();
        self.calls.push(Call { code, target, values });
    }

    /// Begins a transaction.
    pub fn begin(&mut self, writes: bool) {
        self.end_operation();
        self.transactions += 1;
        self.open = Some((self.transactions, writes));
    }

    /// Begins a load, which is its own block.
    pub fn begin_load(&mut self) {
        self.end_operation();
        self.is_apart = true;
    }

    /// Ends the open transaction.
    pub fn commit(&mut self) {
        self.end_operation();
        self.open = None;
    }

    /// Ends the current operation: later calls belong to the next one.
    pub fn end_operation(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            return;
        }
        let (transaction, writes) = self.open.unwrap_or((0, true));
        let same = |block: &Block| {
            let fits = |((code, target, columns), call): (&(Code, u32, Vec<Column>), &Call)| {
                *code == call.code
                    && *target == call.target
                    && columns.len() == call.values.len()
                    && columns.iter().zip(&call.values).all(|(column, value)| column.takes(value))
            };
            block.transaction == transaction
                && block.calls.len() == calls.len()
                && block.calls.iter().zip(&calls).all(fits)
        };
        if std::mem::take(&mut self.is_apart) || !self.blocks.last().is_some_and(same) {
            let columns = |call: &Call| call.values.iter().map(|_| Column::default()).collect();
            let calls = calls.iter().map(|call| (call.code, call.target, columns(call))).collect();
            self.blocks.push(Block { transaction, writes, operations: 0, calls });
        }
        let Some(block) = self.blocks.last_mut() else { return };
        block.operations += 1;
        for ((.., columns), call) in block.calls.iter_mut().zip(&calls) {
            columns.iter_mut().zip(&call.values).for_each(|(column, value)| column.push(value));
        }
    }

    /// Returns the number of operations.
    pub fn len(&self) -> u64 {
        self.blocks.iter().map(|block| block.operations).sum()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of operations of each block, and the calls of each.
    pub(crate) fn shape(&self) -> Shape {
        let codes = |block: &Block| block.calls.iter().map(|(code, ..)| *code).collect();
        self.blocks.iter().map(|block| (block.operations, codes(block))).collect()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(MAGIC)?;
        words(to, &[self.blocks.len() as u64])?;
        for block in &self.blocks {
            let Block { transaction, writes, operations, calls } = block;
            words(to, &[*transaction, u64::from(*writes), *operations, calls.len() as u64])?;
            for (code, target, columns) in calls {
                words(to, &[*code as u64, u64::from(*target), columns.len() as u64])?;
                columns.iter().try_for_each(|column| column.write(to))?;
            }
        }
        Ok(())
    }
}

/// Returns the index of an item, which is appended if it does not exist.
fn number<T>(all: &mut Vec<T>, is: impl FnMut(&T) -> bool, make: impl FnOnce() -> T) -> u32 {
    let place = all.iter().position(is).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    });
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn words(to: &mut impl Write, words: &[u64]) -> io::Result<()> {
    words.iter().try_for_each(|word| to.write_all(&word.to_le_bytes()))
}

/// Writes bytes, and zeros up to a multiple of 8.
fn padded(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.write_all(&[0; 8][..bytes.len().next_multiple_of(8) - bytes.len()])
}
