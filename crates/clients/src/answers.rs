//! A program's answers to each call, in a separate file.

use embermark_contract::row::{ResultRow, Visit};
use embermark_contract::sql::Param;
use embermark_contract::{EngineError, Result};

use crate::operations::{Code, Shape};

/// Beginning of the file.
const MAGIC: &[u8; 8] = b"embmans1";

/// Type of a list.
const LIST: u8 = 5;

/// Largest nesting depth of lists.
const DEPTH: u8 = 8;

/// The answers of a program, which are read in the order of the calls.
#[derive(Debug, Default)]
pub struct Answers {
    bytes: Vec<u8>,
    at: usize,
    /// For each block of the operations their number and the calls of each, from the current block
    /// on.
    shape: Shape,
    block: usize,
    /// Number of operations of the current block that were done, and that were played.
    done: u64,
    played: u64,
    /// The next call of the operation.
    call: usize,
    /// Whether a block has one answer for all of its operations, and whether that was given.
    total: bool,
    blocks_done: u64,
    is_over: bool,
    /// Latencies of operations that the program timed one by one, in ns.
    pub latencies: Vec<u64>,
}

/// Makes the error for answers that cannot be read.
fn garbled(what: &str) -> EngineError {
    EngineError::failed("the client", "answer", format!("its file of answers {what}"))
}

impl Answers {
    /// Reads the answers in `bytes` to operations of this shape.
    pub(crate) fn new(bytes: Vec<u8>, shape: Shape) -> Result<Self> {
        if !bytes.starts_with(MAGIC) {
            return Err(garbled("does not begin with embmans1"));
        }
        let mut answers = Self { bytes, at: MAGIC.len(), shape, ..Self::default() };
        let timed = answers.word()?;
        answers.latencies = (0..timed).map(|_| answers.word()).collect::<Result<_>>()?;
        answers.blocks_done = answers.word()?;
        if answers.blocks_done > answers.shape.len() as u64 {
            return Err(garbled("has more blocks than the operations have"));
        }
        answers.enter()?;
        Ok(answers)
    }

    /// Reads the head of the current block, if it begins here.
    fn enter(&mut self) -> Result<()> {
        (self.played, self.call) = (0, 0);
        self.is_over = self.block as u64 >= self.blocks_done;
        if self.is_over {
            return Ok(());
        }
        self.total = self.word()? == 1;
        self.done = self.word()?;
        if self.done > self.shape[self.block].0 {
            return Err(garbled("has more operations than a block has"));
        }
        if self.done == 0 { self.next_block() } else { Ok(()) }
    }

    fn next_block(&mut self) -> Result<()> {
        self.block += 1;
        self.enter()
    }

    /// Whether every answer was given: the program did no further operation.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the next recorded call has this kind.
    pub(crate) fn is_next(&self, code: Code) -> bool {
        let block = self.shape.get(self.block).filter(|_| !self.is_over);
        block.is_some_and(|(_, calls)| calls[self.call] == code)
    }

    /// Begins the answer to the next call, which must have this kind. Returns the number of equal
    /// calls that it answers at once.
    fn begin(&mut self, code: Code) -> Result<u64> {
        if self.is_over {
            return Err(EngineError::failed("the client", "answer", "it has done no further call"));
        }
        let expected = self.shape[self.block].1[self.call];
        if expected != code {
            let what = format!("{code:?} where {expected:?} was recorded");
            return Err(EngineError::failed("the client", "be compared", what));
        }
        Ok(if self.total { self.done } else { 1 })
    }

    fn end(&mut self) -> Result<()> {
        self.call += 1;
        if self.call < self.shape[self.block].1.len() {
            return Ok(());
        }
        (self.call, self.played) = (0, self.played + 1);
        if self.played == self.done { self.next_block() } else { Ok(()) }
    }

    /// Returns the number of rows that a call without results changed. If a block has one answer,
    /// its first call has it.
    pub(crate) fn changed(&mut self, code: Code) -> Result<u64> {
        let all = self.begin(code)?;
        let changed = match all > 1 && self.played > 0 {
            true => 0,
            // If unknown, it is the number of calls.
            false => u64::try_from(self.word()?.cast_signed()).unwrap_or(all),
        };
        self.end()?;
        Ok(changed)
    }

    /// Returns the number of rows that a load inserted: the answer to all operations of a block.
    pub(crate) fn loaded(&mut self) -> Result<u64> {
        let all = self.begin(Code::Bulk)?;
        let loaded = u64::try_from(self.word()?.cast_signed()).unwrap_or(all);
        self.next_block()?;
        Ok(loaded)
    }

    /// Visits the rows of a query.
    pub(crate) fn rows(&mut self, code: Code, visit: &mut Visit<'_>) -> Result<()> {
        self.begin(code)?;
        let (rows, columns) = (self.word()?, self.word()?);
        if columns == 0 && rows > 0 {
            return Err(garbled("has rows without columns"));
        }
        let columns = usize::try_from(columns).unwrap_or(usize::MAX);
        let mut places = Vec::new();
        for _ in 0..rows {
            places.clear();
            for _ in 0..columns {
                places.push(self.at);
                self.skip()?;
            }
            visit(&Row { bytes: &self.bytes, places: &places })?;
        }
        self.end()
    }

    fn word(&mut self) -> Result<u64> {
        let word = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk());
        self.at += 8;
        word.map(|word| u64::from_le_bytes(*word)).ok_or_else(|| garbled("ends early"))
    }

    /// Skips a value.
    fn skip(&mut self) -> Result<()> {
        let end = end_of(&self.bytes, self.at, DEPTH);
        self.at = end.ok_or_else(|| garbled("ends within a value"))?;
        Ok(())
    }
}

/// Returns where the value at a position ends.
fn end_of(bytes: &[u8], at: usize, depth: u8) -> Option<usize> {
    match items(bytes, at) {
        Some((length, first)) => {
            let depth = depth.checked_sub(1)?;
            (0..length).try_fold(first, |at, _| end_of(bytes, at, depth))
        }
        None => value(bytes, at).map(|(_, length)| at + length),
    }
}

/// Returns the number of values of a list at a position, and where the first of them is.
fn items(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let (LIST, rest) = bytes.get(at..)?.split_first().map(|(tag, rest)| (*tag, rest))? else {
        return None;
    };
    rest.first_chunk().map(|length| (u32::from_le_bytes(*length), at + 5))
}

/// Returns where each value of a list at a position is, if there is a list.
fn places_in(bytes: &[u8], at: usize) -> Option<Vec<usize>> {
    let (length, mut at) = items(bytes, at)?;
    let mut places = Vec::new();
    for _ in 0..length {
        places.push(at);
        at = end_of(bytes, at, DEPTH)?;
    }
    Some(places)
}

/// Returns the value at a position, and its length in bytes.
fn value(bytes: &[u8], at: usize) -> Option<(Param<'_>, usize)> {
    let (tag, rest) = bytes.get(at..)?.split_first()?;
    let long = || rest.first_chunk().map(|word| i64::from_le_bytes(*word));
    let run = || {
        let length = u32::from_le_bytes(*rest.first_chunk()?) as usize;
        Some((rest.get(4..4 + length)?, 5 + length))
    };
    Some(match tag {
        0 => (Param::Null, 1),
        1 => (Param::Int(long()?), 9),
        2 => (Param::Float(f64::from_bits(long()?.cast_unsigned())), 9),
        3 => {
            let (text, length) = run()?;
            (Param::Text(str::from_utf8(text).ok()?), length)
        }
        4 => {
            let (bytes, length) = run()?;
            (Param::Bytes(bytes), length)
        }
        _ => return None,
    })
}

/// A row of an answer.
struct Row<'a> {
    bytes: &'a [u8],
    places: &'a [usize],
}

impl Row<'_> {
    fn place(&self, column: usize) -> Result<usize> {
        self.places.get(column).copied().ok_or_else(|| garbled("lacks a column"))
    }

    fn at(&self, column: usize) -> Result<Param<'_>> {
        let found = value(self.bytes, self.place(column)?);
        found.map(|(value, _)| value).ok_or_else(|| garbled("has a list where a value belongs"))
    }

    fn other(&self, column: usize, what: &str) -> EngineError {
        let found = self.at(column).map_or_else(|error| error.to_string(), |v| format!("{v:?}"));
        EngineError::failed("the client", format!("give {what} in column {column}"), found)
    }
}

impl ResultRow for Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match self.at(column)? {
            Param::Null => Ok(None),
            Param::Int(value) => Ok(Some(value)),
            // Languages that have only doubles return integers as doubles.
            Param::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => {
                Ok(Some(value as i64))
            }
            _ => Err(self.other(column, "an integer")),
        }
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.at(column)? {
            Param::Null => Ok(None),
            Param::Int(value) => Ok(Some(value as f64)),
            Param::Float(value) => Ok(Some(value)),
            _ => Err(self.other(column, "a number")),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        match self.at(column)? {
            Param::Null => Ok(None),
            Param::Text(text) => Ok(Some(text)),
            _ => Err(self.other(column, "a text")),
        }
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        match self.at(column)? {
            Param::Null => Ok(None),
            Param::Bytes(bytes) => Ok(Some(bytes)),
            _ => Err(self.other(column, "bytes")),
        }
    }

    fn list(&self, column: usize, visit: &mut Visit<'_>) -> Result<bool> {
        let place = self.place(column)?;
        let Some(elements) = places_in(self.bytes, place) else {
            let is_null = matches!(self.at(column)?, Param::Null);
            return if is_null { Ok(false) } else { Err(self.other(column, "a list")) };
        };
        for element in elements {
            let places = places_in(self.bytes, element).unwrap_or_else(|| vec![element]);
            visit(&Row { bytes: self.bytes, places: &places })?;
        }
        Ok(true)
    }

    fn columns(&self) -> Result<usize> {
        Ok(self.places.len())
    }

    fn any<'a>(&'a self, column: usize, _: &'a mut String) -> Result<Param<'a>> {
        self.at(column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_columns_are_refused_however_many_there_are() {
        // No latencies, one block of one operation with its own answer: rows and columns.
        let words = [0, 1, 0, 1, u64::MAX, 0];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        let bytes = MAGIC.iter().copied().chain(words).collect();
        let mut answers = Answers::new(bytes, vec![(1, vec![Code::Query])]).unwrap();
        let error = answers.rows(Code::Query, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("rows without columns"), "{error}");
    }
}
