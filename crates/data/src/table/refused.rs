//! Counts rows that do not match their table, by reason.

use std::collections::BTreeMap;
use std::path::Path;

use embermark_libraries::duckdb::stream::Cell;
use embermark_model::table::{Column, Value};

use super::fault::Fault;
use super::source::Rejected;
use crate::DataError;

/// Number of characters of a value that a message shows.
const EXCERPT: usize = 60;

/// Counts rows that do not match, each by its first fault.
#[derive(Debug)]
pub(super) struct Refused<'a> {
    columns: &'a [Column],
    /// Number of rows by fault for each column, and after the columns for whole rows.
    counts: Vec<[u64; Fault::ALL.len()]>,
    first: Option<First>,
    /// Number of rows whose key an earlier row has, and the positions of the first two of them.
    duplicates: (u64, Option<(String, String)>),
}

/// The first row that does not match.
#[derive(Debug)]
enum First {
    /// A row by its number, from 0, and its fault.
    Row(u64, String),
    /// A line that is not a row, and its fault.
    Line(String, String),
}

/// Reason for removing a row whose key an earlier row has.
pub(super) const DUPLICATE_KEY: &str = "a key that an earlier row has";

impl<'a> Refused<'a> {
    pub(super) fn new(columns: &'a [Column]) -> Self {
        let counts = vec![[0; Fault::ALL.len()]; columns.len() + 1];
        Self { columns, counts, first: None, duplicates: (0, None) }
    }

    /// Counts a row whose value in `column` does not match. `number` is that of the row, from 0.
    #[cold]
    pub(super) fn count(
        &mut self,
        column: usize,
        fault: Fault,
        number: u64,
        found: impl FnOnce() -> String,
    ) {
        self.counts[column][fault as usize] += 1;
        if self.first.is_none() {
            let reason = format!("{}: {}", self.reason(column, fault), found());
            self.first = Some(First::Row(number, reason));
        }
    }

    /// Counts a row that could not be read.
    pub(super) fn count_broken(&mut self, number: u64) {
        let (whole, fault) = (self.columns.len(), Fault::NotAnObject);
        self.counts[whole][fault as usize] += 1;
        self.first.get_or_insert_with(|| First::Row(number, fault.reason().to_owned()));
    }

    /// Counts lines that are not rows.
    pub(super) fn count_lines(&mut self, lines: &Rejected) {
        let whole = self.columns.len();
        self.counts[whole][lines.fault as usize] += lines.lines;
        // A line that takes others with it must be fixed first.
        let is_other = matches!(self.first, Some(First::Line(..)));
        if self.first.is_none() || lines.lines > 1 && !is_other {
            let text = excerpt(lines.text.trim_end().as_bytes());
            let with = match lines.lines {
                1 => String::new(),
                lines => format!(", which takes {lines} lines with it"),
            };
            let reason = format!("{}{with}: {text}", lines.fault.reason());
            self.first = Some(First::Line(format!("line {}", lines.line), reason));
        }
    }

    /// Counts rows whose key an earlier row has.
    pub(super) fn count_duplicates(&mut self, count: u64, pair: Option<&(String, String)>) {
        self.duplicates = (count, pair.cloned());
    }

    fn reason(&self, column: usize, fault: Fault) -> String {
        match self.columns.get(column) {
            Some(column) => format!("column {}: {}", column.name, fault.reason()),
            None => fault.reason().to_owned(),
        }
    }

    /// Returns the rows by reason if their share of all rows is at most `lenient`. `kept` is the
    /// number of matching rows, and `place` returns the position of a row.
    ///
    /// # Errors
    /// [`DataError::RowsRefused`] if their share is larger.
    pub(super) fn check_share(
        self,
        kept: u64,
        lenient: f64,
        from: &Path,
        place: &dyn Fn(u64) -> String,
    ) -> Result<BTreeMap<String, u64>, DataError> {
        let mut dropped = BTreeMap::new();
        for (column, counts) in self.counts.iter().enumerate() {
            for (fault, &count) in Fault::ALL.into_iter().zip(counts) {
                if count > 0 {
                    dropped.insert(self.reason(column, fault), count);
                }
            }
        }
        let (duplicates, pair) = &self.duplicates;
        if *duplicates > 0 {
            dropped.insert(DUPLICATE_KEY.to_owned(), *duplicates);
        }
        let refused: u64 = dropped.values().sum();
        let rows = kept + refused;
        if refused as f64 <= lenient * rows as f64 {
            return Ok(dropped);
        }
        let reasons: Vec<_> =
            dropped.iter().map(|(reason, count)| format!("{count} with {reason}")).collect();
        let first = self.first.map(|first| match first {
            First::Row(row, reason) => format!("{}: {reason}", place(row)),
            First::Line(line, reason) => format!("{line}: {reason}"),
        });
        let pair = pair.as_ref().map(|(a, b)| format!("{a} and {b} have the same key"));
        let (whole, of_columns) = self.counts.split_last().unwrap_or((&[0; _], &[]));
        let types = of_columns.iter().flatten().any(|count| *count > 0);
        let types = types.then_some("correct the types of these columns in the workload file");
        let few = (whole[Fault::TooFewFields as usize] > 0).then_some(
            "write read = { null_padding = true } to read missing fields as absent values",
        );
        let lines = whole.iter().zip(Fault::ALL).any(|(n, of)| *n > 0 && of != Fault::TooFewFields);
        let lines = lines.then_some("correct these lines, or describe their format in `read`");
        let keys = (*duplicates > 0).then_some(
            "choose columns for the key that are unique together, or write keep = \"last\" to keep the \
             newest row of each key",
        );
        let remedy: Vec<_> = [types, few, lines, keys].into_iter().flatten().collect();
        Err(DataError::RowsRefused {
            from: from.display().to_string(),
            refused,
            rows,
            percent: 100.0 * lenient,
            reasons: reasons.join("; "),
            first: first.into_iter().chain(pair).collect::<Vec<_>>().join("; "),
            remedy: remedy.join("; "),
        })
    }
}

/// Formats a value for a message.
pub(super) fn value_excerpt(value: &Value<'_>) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(text) => excerpt(text.as_bytes()),
        Value::Bytes(bytes) => excerpt(bytes),
    }
}

/// Formats a cell of a file for a message.
pub(super) fn cell_excerpt(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "nothing".to_owned(),
        Cell::Text(text) => excerpt(text),
        Cell::Bool(value) => value.to_string(),
        Cell::Int(value) => value.to_string(),
        Cell::Unsigned(value) => value.to_string(),
        Cell::Float(value) => value.to_string(),
        Cell::Micros(value) | Cell::Instant(value) => format!("{value} us since 1970"),
        Cell::Nanos(value) => format!("{value} ns since 1970"),
    }
}

/// Returns the beginning of a text, in quotes.
pub(super) fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * EXCERPT)]);
    let mut chars = text.chars();
    let beginning: String = chars.by_ref().take(EXCERPT).collect();
    format!("{}{}", in_quotes(&beginning), if chars.next().is_some() { "…" } else { "" })
}

/// Quotes a text on one line. What cannot be seen is escaped, except blanks of other widths.
pub fn in_quotes(text: &str) -> String {
    let is_blank = |char: char| matches!(char, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}');
    let escaped = |part: &str| {
        let seen = part.trim_end_matches(is_blank);
        let debug = format!("{seen:?}");
        debug[1..debug.len() - 1].to_owned() + &part[seen.len()..]
    };
    format!("\"{}\"", text.split_inclusive(is_blank).map(escaped).collect::<String>())
}
