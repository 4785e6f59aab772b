//! Rows that do not fit, counted by reason.

use std::collections::BTreeMap;

use embermark_model::table::{Column, Value};

use super::fault::Fault;
use super::record::Field;
use crate::DataError;

/// Characters of a value that a message shows.
const EXCERPT: usize = 60;

/// Counts rows that do not fit, each by the first thing that is wrong with it.
#[derive(Debug)]
pub(super) struct Refused<'a> {
    columns: &'a [Column],
    /// For each column, and behind them for whole rows, the rows by fault.
    counts: Vec<[u64; Fault::ALL.len()]>,
    first: Option<String>,
    /// What a row is counted by: a line or a row.
    unit: &'static str,
}

impl<'a> Refused<'a> {
    pub(super) fn new(columns: &'a [Column], unit: &'static str) -> Self {
        let counts = vec![[0; Fault::ALL.len()]; columns.len() + 1];
        Self { columns, counts, first: None, unit }
    }

    /// Counts a row whose value in `column` does not fit, or the row as a whole where there is no
    /// such column. `number` is that of the line or the row, from 1.
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
            let reason = self.reason(column, fault);
            self.first = Some(format!("{} {number}: {reason}: {}", self.unit, found()));
        }
    }

    fn reason(&self, column: usize, fault: Fault) -> String {
        match self.columns.get(column) {
            Some(column) => format!("{}: {}", column.name, fault.reason()),
            None => fault.reason().to_owned(),
        }
    }

    /// The rows by reason, if they are no larger share of all than `lenient`; `kept` are those that
    /// fit.
    ///
    /// # Errors
    /// [`DataError::RowsRefused`].
    pub(super) fn judge(
        self,
        kept: u64,
        lenient: f64,
        from: &str,
    ) -> Result<BTreeMap<String, u64>, DataError> {
        let mut dropped = BTreeMap::new();
        for (column, counts) in self.counts.iter().enumerate() {
            for (fault, &count) in Fault::ALL.into_iter().zip(counts) {
                if count > 0 {
                    dropped.insert(self.reason(column, fault), count);
                }
            }
        }
        let refused: u64 = dropped.values().sum();
        let rows = kept + refused;
        if refused as f64 <= lenient * rows as f64 {
            return Ok(dropped);
        }
        let reasons: Vec<_> =
            dropped.iter().map(|(reason, count)| format!("{count} with {reason}")).collect();
        Err(DataError::RowsRefused {
            from: from.to_owned(),
            refused,
            rows,
            percent: 100.0 * lenient,
            reasons: reasons.join("; "),
            first: self.first.unwrap_or_default(),
        })
    }
}

/// A value as a message shows it.
pub(super) fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(text) => excerpt(text.as_bytes()),
        Value::Bytes(bytes) => excerpt(bytes),
    }
}

/// What a file has, as a message shows it.
pub(super) fn shown_field(field: &Field<'_>) -> String {
    match field {
        Field::Absent => "nothing".to_owned(),
        Field::Text(text) => excerpt(text),
        Field::Bool(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Float(value) => value.to_string(),
        Field::Time { value, per_second } => format!("the time {value} in 1/{per_second} s"),
    }
}

/// The beginning of a text, in quotes.
pub(super) fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * EXCERPT)]);
    let mut chars = text.chars();
    let beginning: String = chars.by_ref().take(EXCERPT).collect();
    format!("{beginning:?}{}", if chars.next().is_some() { "…" } else { "" })
}
