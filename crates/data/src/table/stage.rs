//! Rows of a table, checked and staged.

mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use embermark_model::table::{Keep, RowsFrom, Table};

use super::fault::check;
use super::late::Arrivals;
use super::made::Maker;
use super::refused::{AGAIN, Refused, shown};
use super::writer::TableWriter;
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

const REPEATED: &str = "a key that comes again: one row is kept, as the table says";

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
        RowsFrom::File(rows) => files::read(&tables[table], rows, base, limit, lenient, to),
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
