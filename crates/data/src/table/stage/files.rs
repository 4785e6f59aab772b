//! Checks and stages rows of files and of queries.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use embermark_libraries::duckdb::stream::Cell;
use embermark_model::table::{ColumnType, RowsFile, Table, Value};
use sha2::{Digest, Sha256};

use super::{Staged, finish};
use crate::DataError;
use crate::compressed::check_complete;
use crate::lab::digest::hex;
use crate::table::convert::CellConverter;
use crate::table::fault::check_value;
use crate::table::refused::{Refused, cell_excerpt};
use crate::table::select::{ColumnSource, Selection, field_names};
use crate::table::source::{Block, Source};
use crate::table::writer::{TableWriter, folder};

/// Remark on rows that are not read.
const CUT: &str =
    "only the first rows, by the scale; lines among them that are not rows are not counted";
/// Remark on times in nanoseconds.
const COARSE: &str = "times in nanoseconds, of Parquet's INT96 or in UTC, read to the microsecond";
/// Number of rows that are processed at once. They fit in the processor's first-level cache.
const AT_ONCE: usize = 256;
/// Number of dropped rows whose positions are kept, by which a message finds a line.
const REMEMBERED: usize = 1 << 20;

/// Stages rows of files or of a query.
pub(super) fn read(
    table: &Table,
    rows: &RowsFile,
    base: &Path,
    limit: Option<u64>,
    lenient: f64,
    to: &Path,
) -> Result<Staged, DataError> {
    let unwritable = DataError::unwritable(to);
    // A query is read in its folder.
    let to = &*std::path::absolute(to).map_err(unwritable)?;
    let scratch = tempfile::tempdir_in(folder(to)).map_err(unwritable)?;
    let wanted: Vec<&str> = table.columns.iter().flat_map(field_names).collect();
    let source = Source::open(rows, base, scratch.path(), Some(&wanted))?;
    let selection = Selection::new(&table.columns, rows, &source)?;
    let has_lines = source.dialect.is_some();
    let converters = table.columns.iter().map(|own| CellConverter::new(rows, own, has_lines));
    let mut stager = Stager {
        table,
        limit: limit.unwrap_or(u64::MAX),
        selection: &selection,
        series: (0..table.columns.len())
            .map(|at| series_cells(table, rows, &selection, at))
            .collect(),
        source: &source,
        converters: converters.collect::<Result<_, _>>()?,
        read: 0,
        writer: TableWriter::create(to, &table.columns, &table.key, rows.keep)?,
        refused: Refused::new(&table.columns),
        dropped: Vec::new(),
        headers: 0,
        numbers: Vec::new(),
        is_cut: false,
    };
    let paths = source.files.as_ref().map(|files| files.paths.clone()).unwrap_or_default();
    let (read, sha256) = std::thread::scope(|scope| {
        // In parallel with the reading if there is a second core.
        let hashing = scope.spawn(|| {
            paths.iter().try_for_each(|path| check_complete(path)).and_then(|()| digest(&paths))
        });
        let read = source.read(&selection.sql, |block| stager.take(block));
        (read, hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    // A change of the file may be the cause of an error in it.
    source.states.check_unchanged()?;
    // A compressed file that ends too early is the cause of any other error.
    let sha256 = sha256?;
    read?;
    let rejected = source.rejected()?;
    let Stager { writer, mut refused, converters, dropped, headers, is_cut, read, .. } = stager;
    let sum = |of: fn(&CellConverter) -> u64| converters.iter().map(of).sum::<u64>();
    for line in &rejected {
        refused.count_lines(line);
    }
    let is_coarse = wanted.iter().any(|name| source.coarse.iter().any(|field| field == name));
    let texts = table.columns.iter().filter(|column| column.of == ColumnType::Text);
    let texts = texts.flat_map(field_names).map(|name| source.field(name));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let remarks = [
        ("time finer than the unit of its column: cut", sum(|own| own.finer)),
        ("NULs before a value: skipped", sum(|own| own.nuls)),
        ("local time that occurs twice or never in its zone", sum(CellConverter::ambiguous_times)),
        ("leap second: read as the second before", sum(|own| own.leaps)),
        ("the names of the columns again: skipped", headers),
        (CUT, if is_cut && source.dialect.is_some() { read } else { 0 }),
        (COARSE, if is_coarse { read } else { 0 }),
        (
            "number, truth value or blob in a column of texts: read as a text",
            source.count_other_than_texts(&texts, limit)?,
        ),
    ];
    let mut staged = finish(
        writer,
        refused,
        rows.keep,
        lenient,
        &source.name,
        &|row| {
            let row = dropped.iter().fold(row, |row, dropped| row + u64::from(*dropped <= row));
            source.describe_position(row, &rejected)
        },
        &|row| source.describe_position(row, &rejected),
    )?;
    let remarks = remarks.into_iter().filter(|(_, count)| *count > 0);
    staged.remarks.extend(remarks.map(|(what, count)| (what.to_owned(), count)));
    let file = paths.first().cloned();
    let kept = converters.iter().map(|own| own.kept).collect();
    Ok(Staged { sha256, file, kept, ..staged })
}

/// Returns the cells that name the series of a column's local times: the others of the table's key.
/// None without a zone.
fn series_cells(
    table: &Table,
    rows: &RowsFile,
    selection: &Selection,
    column: usize,
) -> Vec<usize> {
    let is_time = |at: usize| matches!(table.columns[at].of, ColumnType::Timestamp(_));
    let is_local = rows.zone.is_some() && is_time(column) && table.key.contains(&column);
    let key = table.key.iter().filter(|_| is_local);
    let cell = |at: &usize| match selection.columns[*at] {
        ColumnSource::Field(cell) if !is_time(*at) => Some(cell),
        _ => None,
    };
    key.filter_map(cell).collect()
}

/// Returns a number for the values of these cells in a row. `None` if there are no cells.
#[inline]
fn series_of(block: &Block<'_>, row: usize, cells: &[usize]) -> Option<u64> {
    if cells.is_empty() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    for cell in cells {
        match block.cell(*cell, row) {
            Cell::Text(text) => text.trim_ascii().hash(&mut hasher),
            Cell::Int(value) => value.hash(&mut hasher),
            Cell::Unsigned(value) => value.hash(&mut hasher),
            Cell::Bool(value) => value.hash(&mut hasher),
            _ => hasher.write_u8(0),
        }
    }
    Some(hasher.finish())
}

/// Returns the SHA-256 of a file in hexadecimal. For several files it is that of their digests.
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
    let digests = paths.iter().map(|path| of(path).map_err(DataError::unreadable(path)));
    let digests = digests.collect::<Result<Vec<_>, _>>()?;
    Ok(match &digests[..] {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(hex(Sha256::new().chain_update(several.join("\n")))),
    })
}

/// Stages the rows of files.
struct Stager<'a> {
    table: &'a Table,
    limit: u64,
    selection: &'a Selection,
    /// By column, the cells that name the series of a time.
    series: Vec<Vec<usize>>,
    source: &'a Source,
    /// By column.
    converters: Vec<CellConverter>,
    /// Number of rows read so far.
    read: u64,
    writer: TableWriter<'a>,
    refused: Refused<'a>,
    /// Numbers of the rows that are not staged.
    dropped: Vec<u64>,
    headers: u64,
    /// Buffer for the values of a column that are stored unchanged.
    numbers: Vec<u64>,
    /// Whether there were more rows than are wanted.
    is_cut: bool,
}

impl Stager<'_> {
    /// Stages a block of rows. Returns whether more rows are wanted.
    fn take(&mut self, block: &Block<'_>) -> Result<bool, DataError> {
        let mut from = 0;
        while from < block.rows() {
            let room = usize::try_from(self.limit - self.writer.rows()).unwrap_or(usize::MAX);
            if room == 0 {
                self.is_cut = true;
                return Ok(false);
            }
            let to = block.rows().min(from + room.min(AT_ONCE));
            self.rows(block, from..to)?;
            from = to;
        }
        Ok(true)
    }

    /// Stages some rows of a block, column by column.
    fn rows(&mut self, block: &Block<'_>, rows: Range<usize>) -> Result<(), DataError> {
        let first = self.read;
        self.read += rows.len() as u64;
        self.writer.begin(rows.len());
        let may_be_none = self.source.dialect.is_some() || self.source.has_broken;
        for row in rows.clone().filter(|_| may_be_none) {
            let nth = row - rows.start;
            if self.selection.is_header(block, row) {
                self.headers += 1;
                self.writer.leave_out(nth);
            } else if self.source.is_broken(block, row, self.selection.sql.len()) {
                self.refused.count_broken(first + nth as u64);
                self.writer.leave_out(nth);
            }
        }
        let Self { converters, writer, refused, numbers, series, .. } = self;
        let columns = self.table.columns.iter().zip(&self.selection.columns).zip(&*series);
        for (place, (((column, from), series), converter)) in columns.zip(converters).enumerate() {
            let mut refuse = |writer: &mut TableWriter<'_>, nth, fault, cell: Cell<'_>| {
                refused.count(place, fault, first + nth as u64, || cell_excerpt(&cell));
                writer.leave_out(nth);
            };
            let (at, time) = match *from {
                ColumnSource::Field(at)
                    if block
                        .numbers(at, rows.clone(), numbers)
                        .is_some_and(|of| converter.accepts_unchanged(column, of, numbers)) =>
                {
                    writer.put_all(place, numbers);
                    continue;
                }
                ColumnSource::Field(at) => (at, None),
                ColumnSource::Time { time, text, unit } => (text, Some((time, unit))),
                ColumnSource::Number { from, step, repeat } => {
                    for nth in 0..rows.len() {
                        if writer.is_left_out(nth) {
                            continue;
                        }
                        let steps = (first + nth as u64) as i64 / repeat as i64;
                        let number = from.wrapping_add(step.wrapping_mul(steps));
                        match check_value(column, &Value::Int(number)) {
                            Ok(()) => writer.put(nth, place, Value::Int(number)),
                            Err(fault) => refuse(writer, nth, fault, Cell::Int(number)),
                        }
                    }
                    continue;
                }
            };
            block.each(at, rows.clone(), |row, cell| {
                let nth = row - rows.start;
                if writer.is_left_out(nth) {
                    return;
                }
                converter.series = series_of(block, row, series);
                let value = match time {
                    None => converter.convert(column, cell),
                    Some((time, unit)) => {
                        converter.convert_formatted(column, (block.cell(time, row), cell), unit)
                    }
                };
                match value {
                    Ok(value) => writer.put(nth, place, value),
                    Err(fault) => refuse(writer, nth, fault, cell),
                }
            });
        }
        for nth in (0..rows.len()).filter(|nth| self.writer.is_left_out(*nth)) {
            if self.dropped.len() < REMEMBERED {
                self.dropped.push(first + nth as u64);
            }
        }
        self.writer.end()
    }
}
