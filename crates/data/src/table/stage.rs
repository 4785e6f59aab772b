//! Rows of a table, checked and staged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use embermark_model::table::{Keep, RowsFile, RowsFrom, Table, Value};
use sha2::{Digest, Sha256};

use super::fault::check;
use super::fit::Reading;
use super::late::Arrivals;
use super::made::Maker;
use super::refused::{AGAIN, Refused, shown, shown_cell};
use super::select::{From, Selection};
use super::source::{Block, Source, check_whole};
use super::writer::{TableWriter, folder};
use crate::{DataError, synthetic};

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
const LEAPS: &str = "leap second: taken for the second before";
const HEADERS: &str = "the names of the columns again: passed over";
const CUT: &str =
    "the first rows, as the scale says; lines among them that are no rows are not counted";
const COARSE: &str = "times in nanoseconds, of Parquet's INT96 or in UTC, read to the microsecond";
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
/// opening and reading the file; [`DataError::Changed`] where it is written to meanwhile; [`DataError::Unwritable`]; [`DataError::Unmakeable`].
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
        RowsFrom::Telemetry(rows) => {
            let rows = super::telemetry::stage(&tables[table], limit.unwrap_or(*rows), seed, to)?;
            Ok(Staged { rows, ..Staged::default() })
        }
        RowsFrom::Log(rows) => {
            let log = synthetic::sampled(limit.unwrap_or(*rows), seed)?;
            let rows = super::log::stage_log(&tables[table], &log.readings, to)?;
            Ok(Staged { rows, remarks: log.dataset.remarks, ..Staged::default() })
        }
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
        is_cut: false,
    };
    let paths = source.files.as_ref().map(|files| files.paths.clone()).unwrap_or_default();
    let (read, sha256) = std::thread::scope(|scope| {
        // Beside the reading where there is a second core.
        let hashing = scope.spawn(|| {
            paths.iter().try_for_each(|path| check_whole(path)).and_then(|()| digest(&paths))
        });
        let read = source.read(&selection.sql, |block| stager.take(block));
        (read, hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    // What is wrong with a file that changes may be that it does.
    source.states.check()?;
    read?;
    let rejected = source.rejected()?;
    let Stager { writer, mut refused, reading, gone, headers, is_cut, read, .. } = stager;
    for line in &rejected {
        refused.count_lines(line);
    }
    let is_coarse = wanted.iter().any(|name| source.coarse.iter().any(|field| field == name));
    let remarks = [
        (FINER, reading.finer),
        (NULS, reading.nuls),
        (DOUBTFUL, reading.doubtful),
        (LEAPS, reading.leaps),
        (HEADERS, headers),
        (CUT, if is_cut && source.dialect.is_some() { read } else { 0 }),
        (COARSE, if is_coarse { read } else { 0 }),
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
    /// Whether there were more rows than are wanted.
    is_cut: bool,
}

impl Stager<'_> {
    /// Takes rows; says whether it wants more.
    fn take(&mut self, block: &Block<'_>) -> Result<bool, DataError> {
        let mut from = 0;
        while from < block.rows() {
            let room = usize::try_from(self.limit - self.writer.rows()).unwrap_or(usize::MAX);
            if room == 0 {
                self.is_cut = true;
                return Ok(false);
            }
            let to = block.rows().min(from.saturating_add(room));
            self.rows(block, from..to)?;
            from = to;
        }
        Ok(true)
    }

    /// Takes some of them, column by column.
    fn rows(&mut self, block: &Block<'_>, rows: Range<usize>) -> Result<(), DataError> {
        let first = self.read;
        self.read += rows.len() as u64;
        self.writer.begin(rows.len());
        for row in rows.clone() {
            let nth = row - rows.start;
            if self.selection.is_header(block, row) {
                self.headers += 1;
                self.writer.leave_out(nth);
            } else if self.source.is_broken(block, row, self.selection.sql.len()) {
                self.refused.count_broken(first + nth as u64);
                self.writer.leave_out(nth);
            }
        }
        let columns = self.table.columns.iter().zip(&self.selection.columns);
        for (place, (column, from)) in columns.enumerate() {
            for row in rows.clone() {
                let (nth, number) = (row - rows.start, first + (row - rows.start) as u64);
                if self.writer.is_left_out(nth) {
                    continue;
                }
                let (found, at) = match *from {
                    From::Number { from, step, repeat } => {
                        let steps = number as i64 / repeat as i64;
                        let value = Value::Int(from.wrapping_add(step.wrapping_mul(steps)));
                        (check(column, &value).map(|()| value), None)
                    }
                    From::Field(at) => (self.reading.fit(column, block.cell(at, row)), Some(at)),
                    From::Time { time, text, unit } => {
                        let cells = (block.cell(time, row), block.cell(text, row));
                        (self.reading.formatted(column, cells, unit), Some(text))
                    }
                };
                match found {
                    Ok(value) => self.writer.put(nth, place, value),
                    Err(fault) => {
                        let found =
                            || at.map_or_else(String::new, |at| shown_cell(&block.cell(at, row)));
                        self.refused.count(place, fault, number, found);
                        self.writer.leave_out(nth);
                    }
                }
            }
        }
        for nth in (0..rows.len()).filter(|nth| self.writer.is_left_out(*nth)) {
            if self.gone.len() < REMEMBERED {
                self.gone.push(first + nth as u64);
            }
        }
        self.writer.end()
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
    let mut arrivals = Arrivals::of(table, place, seed);
    for row in 0..rows {
        let makers = maker.columns().iter_mut().zip(&table.columns).enumerate();
        writer.begin(1);
        for (place, (maker, column)) in makers {
            // Of a row that is left out the others are made for the sake of a walk.
            let value = maker.value(row);
            match check(column, &value) {
                Ok(()) => writer.put(0, place, value),
                Err(fault) if !writer.is_left_out(0) => {
                    refused.count(place, fault, row, || shown(&value));
                    writer.leave_out(0);
                }
                Err(_) => {}
            }
        }
        let Some(arrivals) = &mut arrivals else {
            writer.end()?;
            continue;
        };
        if let Some(row) = writer.hold()? {
            arrivals.send(row);
        }
        while let Some(row) = arrivals.arrived() {
            writer.take(&row)?;
        }
    }
    for row in arrivals.into_iter().flat_map(Arrivals::rest) {
        writer.take(&row)?;
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
