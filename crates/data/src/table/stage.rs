//! Rows of a table, checked and staged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use embermark_model::choice::UnknownName;
use embermark_model::table::{MakeKind, RowsFrom, Table, Value};

use super::fault::{Fault, check};
use super::fit::fit;
use super::made::Maker;
use super::record::{Names, Record, Sink};
use super::refused::{Refused, excerpt, shown, shown_field};
use super::source::{Format, Source};
use super::writer::TableWriter;
use crate::DataError;

/// What became of the rows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staged {
    /// Rows that are staged.
    pub rows: u64,
    /// Rows that are not, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// What is odd about rows that are staged, with their number.
    pub remarks: BTreeMap<String, u64>,
    /// Of the file they were read from, in hexadecimal.
    pub sha256: Option<String>,
    /// The file they were read from.
    pub file: Option<PathBuf>,
}

/// Why a row is left out whose key a row before it has.
const AGAIN: &str = "a key that was there before";

/// What is odd about a time that has more digits than its column.
const FINER: &str = "time finer than the unit of its column: cut";

/// Writes the rows of a table to `to`, for [`super::StagedTable::open`], in place of what was there.
///
/// `base` is the folder of the workload file. `limit` is how many rows are wanted: the first of a
/// file, which may have fewer; of a made table that many in place of its own number. Rows that do
/// not fit are dropped and counted, and so are those whose key a row before them has.
///
/// Beside `to` there are temporary files as large as the texts of the rows, and of 16 bytes for
/// each row where they do not lie in the order of their keys.
///
/// # Errors
/// [`DataError::RowsRefused`] where the share of rows that do not fit is above `lenient`; those of
/// opening and reading the file; [`DataError::Unwritable`]; [`DataError::Unmakeable`].
pub fn stage(
    tables: &[Table],
    table: usize,
    base: &Path,
    limit: Option<u64>,
    seed: u64,
    lenient: f64,
    to: &Path,
) -> Result<Staged, DataError> {
    match &tables[table].rows {
        RowsFrom::Made(rows) => made(tables, table, limit.unwrap_or(*rows), seed, lenient, to),
        RowsFrom::File(file) => read(&tables[table], &base.join(file), limit, lenient, to),
    }
}

fn read(
    table: &Table,
    path: &Path,
    limit: Option<u64>,
    lenient: f64,
    to: &Path,
) -> Result<Staged, DataError> {
    let source = Source::open(path)?;
    let unit = if source.format == Format::Parquet { "row" } else { "line" };
    let mut stager = Stager::new(table, limit.unwrap_or(u64::MAX), unit, to)?;
    let (read, sha256) = std::thread::scope(|scope| {
        // Beside the reading where there is a second core.
        let hashing = scope.spawn(|| source.sha256());
        let read = source.read(&mut stager);
        (read, hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    read?;
    let Stager { writer, refused, finer, .. } = stager;
    let mut staged = finish(writer, refused, &path.display().to_string(), lenient)?;
    if finer > 0 {
        staged.remarks.insert(FINER.to_owned(), finer);
    }
    Ok(Staged { sha256: Some(sha256), file: Some(path.to_owned()), ..staged })
}

/// Where the values of a column of a file come from.
#[derive(Clone, Copy)]
enum From {
    /// The field at a place.
    Field(usize),
    /// The number of the record, where the file has no key: `make = "sequence"`.
    Number { from: i64, step: i64, repeat: u64 },
}

/// Stages the records of a file.
struct Stager<'a> {
    table: &'a Table,
    limit: u64,
    /// By column where its values come from.
    columns: Vec<From>,
    /// Records so far.
    read: u64,
    writer: TableWriter<'a>,
    refused: Refused<'a>,
    finer: u64,
}

impl<'a> Stager<'a> {
    fn new(
        table: &'a Table,
        limit: u64,
        unit: &'static str,
        to: &'a Path,
    ) -> Result<Self, DataError> {
        let writer = TableWriter::create(to, &table.columns, &table.key)?;
        let refused = Refused::new(&table.columns, unit);
        Ok(Self { table, limit, columns: Vec::new(), read: 0, writer, refused, finer: 0 })
    }
}

impl Sink for Stager<'_> {
    fn begin(&mut self, names: &mut Names) -> Result<(), UnknownName> {
        for column in &self.table.columns {
            let kind = column.make.as_ref().map(|make| &make.kind);
            self.columns.push(if let Some(&MakeKind::Sequence { from, step, repeat }) = kind {
                From::Number { from, step, repeat: repeat.max(1) }
            } else {
                From::Field(names.want(column.from.as_ref().unwrap_or(&column.name))?)
            });
        }
        Ok(())
    }

    #[inline]
    fn record<R: Record>(&mut self, record: &R) -> Result<bool, DataError> {
        if self.writer.rows() == self.limit {
            return Ok(false);
        }
        let number = self.read as i64;
        self.read += 1;
        for (place, (column, &from)) in self.table.columns.iter().zip(&self.columns).enumerate() {
            let field = match from {
                From::Field(field) => record.field(field),
                From::Number { from, step, repeat } => {
                    let steps = number / repeat as i64;
                    let value = Value::Int(from.wrapping_add(step.wrapping_mul(steps)));
                    match check(column, &value) {
                        Ok(()) => self.writer.put(place, value),
                        Err(fault) => {
                            self.refused.count(place, fault, record.line(), || shown(&value));
                            self.writer.drop_row();
                            return Ok(true);
                        }
                    }
                    continue;
                }
            };
            match fit(column, field, &mut self.finer) {
                Ok(value) => self.writer.put(place, value),
                Err(fault) => {
                    self.refused.count(place, fault, record.line(), || shown_field(&field));
                    self.writer.drop_row();
                    return Ok(true);
                }
            }
        }
        self.writer.end_row()?;
        Ok(true)
    }

    fn broken(&mut self, line: u64, fault: Fault, found: &[u8]) {
        self.refused.count(self.table.columns.len(), fault, line, || excerpt(found));
    }
}

fn made(
    tables: &[Table],
    place: usize,
    rows: u64,
    seed: u64,
    lenient: f64,
    to: &Path,
) -> Result<Staged, DataError> {
    let table = &tables[place];
    let mut maker = Maker::new(tables, place, rows, seed)?;
    let mut writer = TableWriter::create(to, &table.columns, &table.key)?;
    let mut refused = Refused::new(&table.columns, "row");
    for row in 0..rows {
        let makers = maker.columns().iter_mut().zip(&table.columns).enumerate();
        let mut fault = None;
        for (place, (maker, column)) in makers {
            let value = maker.value(row);
            match check(column, &value) {
                Ok(()) => writer.put(place, value),
                // The others are made for the sake of a walk.
                Err(met) => fault = fault.or(Some((place, met, shown(&value)))),
            }
        }
        match fault {
            None => writer.end_row()?,
            Some((place, fault, found)) => {
                refused.count(place, fault, row + 1, || found);
                writer.drop_row();
            }
        }
    }
    finish(writer, refused, &format!("table {}", table.name), lenient)
}

/// Completes the file; says what became of the rows.
fn finish(
    writer: TableWriter<'_>,
    refused: Refused<'_>,
    from: &str,
    lenient: f64,
) -> Result<Staged, DataError> {
    let kept = writer.rows();
    let mut dropped = refused.judge(kept, lenient, from)?;
    let again = writer.finish()?;
    if again > 0 {
        dropped.insert(AGAIN.to_owned(), again);
    }
    Ok(Staged { rows: kept - again, dropped, ..Staged::default() })
}

#[cfg(test)]
mod tests;
