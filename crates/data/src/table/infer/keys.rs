//! Which columns are a key, and which is the one of time.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use embermark_model::table::ColumnType;

use super::{InferredColumn, names};
use crate::table::StagedTable;
use crate::table::order::{Sorted, ascends};

/// The first rows, by which most columns are told to be no key.
const SAMPLE: usize = 10_000;
/// Columns that are tried in pairs and triples: the first so many.
const TRIED: usize = 16;
/// Sets of columns that are tried on all rows.
const WHOLE: usize = 20;
/// Keys that are enough.
const ENOUGH: usize = 4;
/// What an estimate of different values may be too low by.
const SLACK: f64 = 1.05;

/// The column of time: of several one that ascends, then one whose name says so, then that of most
/// different values.
pub(super) fn time(columns: &[InferredColumn]) -> Option<usize> {
    let times = (0..columns.len()).filter(|&at| is_time(&columns[at]) && !columns[at].nullable);
    times.max_by_key(|&at| {
        let column = &columns[at];
        (column.ascending, names::is_time(&column.name), column.distinct, Reverse(at))
    })
}

fn is_time(column: &InferredColumn) -> bool {
    matches!(column.of, ColumnType::Timestamp(_))
}

/// The keys, the best first: a column that numbers the rows; what has a series of rows, and time;
/// other columns; other pairs; triples, where there is nothing shorter. None has a key within it,
/// but for a series and time where time alone is one.
pub(super) fn find(
    rows: &StagedTable,
    columns: &[InferredColumn],
    time: Option<usize>,
    folder: &Path,
) -> io::Result<Vec<Vec<usize>>> {
    let mut keys = Keys { rows, columns, folder, found: Vec::new(), whole: 0 };
    let able = |at: &usize| {
        let column = &columns[*at];
        !column.nullable && column.of != ColumnType::Float && column.of != ColumnType::Bool
    };
    let mut able: Vec<usize> = (0..columns.len()).filter(able).collect();
    let of_series: Vec<usize> =
        able.iter().copied().filter(|&at| keys.is_series(at) && Some(at) != time).collect();

    let (ids, others): (Vec<usize>, Vec<usize>) =
        able.iter().partition(|&&at| Some(at) != time && keys.is_id(at));
    for id in ids {
        keys.try_key(&[id], false)?;
    }
    if let Some(time) = time {
        // Times that differ by chance are no reason to forget whose they are.
        let (named, unnamed): (Vec<usize>, Vec<usize>) =
            of_series.iter().partition(|&&at| names::is_id(&columns[at].name));
        for series in named {
            keys.try_key(&[series, time], true)?;
        }
        keys.try_key(&[time], false)?;
        for series in unnamed {
            keys.try_key(&[series, time], false)?;
        }
    }
    for other in others {
        keys.try_key(&[other], false)?;
    }
    // From few different values to many, time last.
    able.truncate(TRIED);
    able.sort_by_key(|&at| (Some(at) == time, columns[at].distinct));
    for (nth, &a) in able.iter().enumerate() {
        for &b in &able[nth + 1..] {
            keys.try_key(&[a, b], false)?;
        }
    }
    if keys.found.is_empty() {
        for (nth, &a) in able.iter().enumerate() {
            for (more, &b) in able[nth + 1..].iter().enumerate() {
                for &c in &able[nth + more + 2..] {
                    keys.try_key(&[a, b, c], false)?;
                }
            }
        }
    }
    Ok(keys.found)
}

/// Columns that may be a key but for a few rows: what may tell series apart, each with time; time alone;
/// what may number the rows.
pub(super) fn likely(
    columns: &[InferredColumn],
    time: Option<usize>,
    rows: u64,
) -> Vec<Vec<usize>> {
    let able = |at: &usize| {
        let column = &columns[*at];
        !column.nullable && column.of != ColumnType::Float && column.of != ColumnType::Bool
    };
    let is_series = |at: &usize| {
        let distinct = columns[*at].distinct;
        distinct > 1 && 10 * distinct <= rows && Some(*at) != time
    };
    let able: Vec<usize> = (0..columns.len()).filter(able).collect();
    let nearly_all = |at: &usize| columns[*at].distinct as f64 >= 0.9 * rows as f64;
    let mut all: Vec<Vec<usize>> = Vec::new();
    if let Some(time) = time {
        let series = able.iter().copied().filter(is_series).take(3);
        all.extend(series.map(|series| vec![series, time]));
        all.extend(nearly_all(&time).then(|| vec![time]));
    }
    let named = |at: &usize| names::is_id(&columns[*at].name) || *at == 0;
    let ids = able.iter().copied().filter(|at| named(at) && nearly_all(at) && Some(*at) != time);
    all.extend(ids.take(2).map(|id| vec![id]));
    all
}

/// The search for keys.
struct Keys<'a> {
    rows: &'a StagedTable,
    columns: &'a [InferredColumn],
    folder: &'a Path,
    found: Vec<Vec<usize>>,
    /// Sets that were tried on all rows.
    whole: usize,
}

impl Keys<'_> {
    /// Whether a column has few values, each in many rows, as the name of a sensor.
    fn is_series(&self, at: usize) -> bool {
        let distinct = self.columns[at].distinct;
        distinct > 1 && 10 * distinct <= self.rows.rows() as u64
    }

    /// Whether a column may number the rows, rather than measure something that differs by chance.
    fn is_id(&self, at: usize) -> bool {
        let column = &self.columns[at];
        !is_time(column) && (at == 0 || column.ascending || names::is_id(&column.name))
    }

    /// Takes columns for a key if they are one. `longer`: even if some of them are one already.
    fn try_key(&mut self, columns: &[usize], longer: bool) -> io::Result<()> {
        let part = |key: &Vec<usize>| key.iter().all(|column| columns.contains(column));
        let known =
            self.found.iter().any(|key| part(key) && (key.len() == columns.len() || !longer));
        let enough = self.found.len() == ENOUGH || self.whole == WHOLE;
        let most: f64 =
            columns.iter().map(|&at| SLACK * self.columns[at].distinct as f64).product();
        if known || enough || most < self.rows.rows() as f64 {
            return Ok(());
        }
        let sample = self.rows.rows().min(SAMPLE);
        if !self.differ(columns, sample)? {
            return Ok(());
        }
        self.whole += 1;
        if ascends(self.rows, columns) || self.differ(columns, self.rows.rows())? {
            self.found.push(columns.to_vec());
        }
        Ok(())
    }

    /// Whether no two of the first so many rows are the same in these columns.
    fn differ(&self, columns: &[usize], rows: usize) -> io::Result<bool> {
        let sorted = Sorted::new(self.rows, columns, 0..rows, self.folder)?;
        Ok(sorted.rows().all(|(_, again)| !again))
    }
}
