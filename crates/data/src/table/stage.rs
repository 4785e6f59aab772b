//! Rows of a table, checked and staged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use embermark_libraries::duckdb::stream::Cell;
use embermark_model::table::{Keep, RowsFile, RowsFrom, Table, Value};
use sha2::{Digest, Sha256};

use super::fault::check;
use super::fit::Reading;
use super::made::Maker;
use super::refused::{AGAIN, Refused, shown, shown_cell};
use super::select::{From, Selection};
use super::source::{Source, check_whole};
use super::writer::{TableWriter, folder};
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
    /// Of the file they were read from, in hexadecimal; of several files, of their digests.
    pub sha256: Option<String>,
    /// The file they were read from, of several the first.
    pub file: Option<PathBuf>,
    /// The first pair of rows with one key, where there is one: where they stand.
    pub again: Option<(String, String)>,
}

/// What is odd about a time that has more digits than its column.
const FINER: &str = "time finer than the unit of its column: cut";
const NULS: &str = "NULs before a value: passed over";
const DOUBTFUL: &str = "local time that the clocks of its zone show twice or never";
const HEADERS: &str = "the names of the columns again: passed over";
const REPEATED: &str = "a key that comes again: one row is kept, as the table says";
/// Places of dropped rows that are remembered, by which a message finds a line.
const REMEMBERED: usize = 1 << 20;

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
        RowsFrom::File(rows) => read(&tables[table], rows, base, limit, lenient, to),
    }
}

fn read(
    table: &Table,
    rows: &RowsFile,
    base: &Path,
    limit: Option<u64>,
    lenient: f64,
    to: &Path,
) -> Result<Staged, DataError> {
    let unwritable = |cause| DataError::Unwritable { path: to.to_owned(), cause };
    // A query is read in its folder.
    let to = &*std::path::absolute(to).map_err(unwritable)?;
    let scratch = tempfile::tempdir_in(folder(to)).map_err(unwritable)?;
    let wanted: Vec<&str> = table.columns.iter().flat_map(super::select::names).collect();
    let source = Source::open(rows, base, scratch.path(), Some(&wanted))?;
    let selection = Selection::new(&table.columns, rows, &source)?;
    let mut stager = Stager {
        table,
        limit: limit.unwrap_or(u64::MAX),
        selection: &selection,
        source: &source,
        reading: Reading::new(rows, source.dialect.is_some())?,
        read: 0,
        writer: TableWriter::create(to, &table.columns, &table.key, rows.keep)?,
        refused: Refused::new(&table.columns),
        gone: Vec::new(),
        headers: 0,
    };
    let paths = source.files.as_ref().map(|files| files.paths.clone()).unwrap_or_default();
    let (read, sha256) = std::thread::scope(|scope| {
        // Beside the reading where there is a second core.
        let hashing = scope.spawn(|| {
            paths.iter().try_for_each(|path| check_whole(path)).and_then(|()| digest(&paths))
        });
        let read = source.read(&selection.sql, |row| stager.row(row));
        (read, hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    read?;
    let rejected = source.rejected()?;
    let Stager { writer, mut refused, reading, gone, headers, .. } = stager;
    for line in &rejected {
        refused.count_lines(line);
    }
    let remarks = [
        (FINER, reading.finer),
        (NULS, reading.nuls),
        (DOUBTFUL, reading.doubtful),
        (HEADERS, headers),
    ];
    let mut staged = finish(
        writer,
        refused,
        rows.keep,
        lenient,
        &source.name,
        &|row| {
            let row = gone.iter().fold(row, |row, gone| row + u64::from(*gone <= row));
            source.place(row, &rejected)
        },
        &|row| source.place(row, &rejected),
    )?;
    let remarks = remarks.into_iter().filter(|(_, count)| *count > 0);
    staged.remarks.extend(remarks.map(|(what, count)| (what.to_owned(), count)));
    let file = paths.first().cloned();
    Ok(Staged { sha256: sha256?, file, ..staged })
}

/// SHA-256 of a file in hexadecimal; of several, of their digests.
fn digest(paths: &[PathBuf]) -> Result<Option<String>, DataError> {
    let of = |path: &PathBuf| -> io::Result<String> {
        let (mut hasher, mut file) = (Sha256::new(), File::open(path)?);
        let mut piece = vec![0; 1 << 16];
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(hex(hasher)),
                read => hasher.update(&piece[..read]),
            }
        }
    };
    let unreadable = |path: &PathBuf, cause| DataError::Unreadable { path: path.clone(), cause };
    let digests = paths.iter().map(|path| of(path).map_err(|cause| unreadable(path, cause)));
    let digests = digests.collect::<Result<Vec<_>, _>>()?;
    Ok(match &digests[..] {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(hex(Sha256::new().chain_update(several.join("\n")))),
    })
}

fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Stages the rows of files.
struct Stager<'a> {
    table: &'a Table,
    limit: u64,
    selection: &'a Selection,
    source: &'a Source,
    reading: Reading,
    /// Rows so far.
    read: u64,
    writer: TableWriter<'a>,
    refused: Refused<'a>,
    /// Those of them that are not staged.
    gone: Vec<u64>,
    headers: u64,
}

impl Stager<'_> {
    /// Takes a row; says whether it wants more.
    #[inline]
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<bool, DataError> {
        if self.writer.rows() == self.limit {
            return Ok(false);
        }
        let number = self.read;
        self.read += 1;
        if self.selection.is_header(cells) {
            self.headers += 1;
            self.forget(number);
            return Ok(true);
        }
        if self.source.has_broken && cells.iter().all(|cell| *cell == Cell::Null) {
            self.refused.count_broken(number);
            self.forget(number);
            return Ok(true);
        }
        for (place, (column, from)) in
            self.table.columns.iter().zip(&self.selection.columns).enumerate()
        {
            let found = match *from {
                From::Number { from, step, repeat } => {
                    let steps = number as i64 / repeat as i64;
                    let value = Value::Int(from.wrapping_add(step.wrapping_mul(steps)));
                    check(column, &value).map(|()| value).map_err(|fault| (fault, shown(&value)))
                }
                From::Field(at) => {
                    let fit = self.reading.fit(column, cells[at]);
                    fit.map_err(|fault| (fault, shown_cell(&cells[at])))
                }
                From::Time { time, text, unit } => {
                    let fit = match (cells[time], cells[text]) {
                        (_, raw) if self.reading.is_absent(column, raw) => Ok(Value::Null),
                        (Cell::Null, raw) => self.reading.fit(column, raw),
                        (time, _) => self.reading.moment(time, unit).map(Value::Int),
                    };
                    fit.map_err(|fault| (fault, shown_cell(&cells[text])))
                }
            };
            match found {
                Ok(value) => self.writer.put(place, value),
                Err((fault, found)) => {
                    self.refused.count(place, fault, number, || found);
                    self.writer.drop_row();
                    self.forget(number);
                    return Ok(true);
                }
            }
        }
        self.writer.end_row()?;
        Ok(true)
    }

    fn forget(&mut self, number: u64) {
        if self.gone.len() < REMEMBERED {
            self.gone.push(number);
        }
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
    let mut writer = TableWriter::create(to, &table.columns, &table.key, Keep::First)?;
    let mut refused = Refused::new(&table.columns);
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
                refused.count(place, fault, row, || found);
                writer.drop_row();
            }
        }
    }
    let place = |row: u64| format!("row {}", row + 1);
    let from = PathBuf::from(format!("table {}", table.name));
    // That draws meet is no mistake.
    let mut staged = finish(writer, refused, Keep::First, lenient, &from, &place, &place)?;
    let again = staged.remarks.remove(REPEATED);
    staged.dropped.extend(again.map(|count| (AGAIN.to_owned(), count)));
    Ok(staged)
}

/// Completes the file; says what became of the rows. `kept` says where a row stands that was kept, and
/// `read` where one that was read.
fn finish(
    writer: TableWriter<'_>,
    mut refused: Refused<'_>,
    keep: Keep,
    lenient: f64,
    from: &Path,
    kept: &dyn Fn(u64) -> String,
    read: &dyn Fn(u64) -> String,
) -> Result<Staged, DataError> {
    let rows = writer.rows();
    let again = writer.finish()?;
    let pair = again.first.map(|(first, second)| (kept(first), kept(second)));
    let mut remarks = BTreeMap::new();
    if again.count > 0 && keep == Keep::One {
        refused.count_again(again.count, pair.as_ref());
    } else if again.count > 0 {
        remarks.insert(REPEATED.to_owned(), again.count);
    }
    let rows = rows - again.count;
    let dropped = refused.judge(rows, lenient, from, read)?;
    Ok(Staged { rows, dropped, remarks, again: pair, ..Staged::default() })
}

#[cfg(test)]
mod tests;
