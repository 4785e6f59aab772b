//! Finds the keys and the time column of rows.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use embermark_model::table::ColumnType;
use itertools::Itertools;

use super::guess::MISFITS;
use super::{InferredColumn, names};
use crate::table::StagedTable;
use crate::table::order::{SortedRows, ascends};

/// Number of first rows by which most columns are ruled out as a key.
const SAMPLE: usize = 10_000;
/// Number of first columns that are tried in pairs and triples.
const TRIED: usize = 16;
/// Number of column sets that are tried on all rows.
const WHOLE: usize = 20;
/// Number of keys after which the search ends.
const ENOUGH: usize = 4;

/// Returns the time column. Of several it is an ascending one, then one with a matching name, then
/// the one with most different values.
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

/// Returns the keys, best first: a column that numbers the rows; a series and the time; other
/// columns; other pairs; and triples if nothing shorter is found. None contains another key, except
/// a series and the time if the time alone is a key. If no key is found, the columns nearest to one
/// are returned too. A series and the time that are unique except in very few rows are better than
/// numbers that differ in nearly all rows and do not number them.
pub(super) fn find(
    rows: &StagedTable,
    columns: &[InferredColumn],
    time: Option<usize>,
    folder: &Path,
) -> io::Result<(Vec<Vec<usize>>, Option<Nearest>)> {
    let mut keys = Keys { rows, columns, folder, found: Vec::new(), whole: 0 };
    let able: Vec<usize> = (0..columns.len()).filter(|at| is_able(&columns[*at])).collect();
    // A counter that never decreases says less than a time that no two rows share.
    let counts = match time {
        Some(time) => !keys.are_unique(&[time])?,
        None => true,
    };
    let of_series: Vec<usize> =
        able.iter().copied().filter(|&at| keys.is_series(at) && Some(at) != time).collect();

    let (ids, others): (Vec<usize>, Vec<usize>) =
        able.iter().partition(|&&at| Some(at) != time && keys.is_id(at, counts));
    for id in ids {
        keys.try_key(&[id], false)?;
    }
    if let Some(time) = time {
        // Times that differ by chance are no reason to leave out their series.
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
    let is_likely = |at: &usize| !keys.differs_by_chance(*at, counts);
    let (likely, by_chance): (Vec<usize>, Vec<usize>) = able.iter().partition(|&at| is_likely(at));
    keys.try_sets(others.into_iter().filter(|at| likely.contains(at)), &likely, time)?;
    if !keys.found.is_empty() {
        return Ok((keys.found, None));
    }
    let near = keys.nearest(&able, time)?;
    let is_near =
        |(key, repeats): &Nearest| key.len() > 1 && *repeats as f64 <= MISFITS * rows.rows() as f64;
    if !by_chance.is_empty() && !near.as_ref().is_some_and(is_near) {
        keys.try_sets(by_chance.into_iter(), &able, time)?;
    }
    let near = near.filter(|_| keys.found.is_empty());
    Ok((keys.found, near))
}

/// Columns, and the number of rows that have the same values in them as an earlier row.
pub(super) type Nearest = (Vec<usize>, usize);

/// Whether a column has different values in nearly all rows.
fn may_number(column: &InferredColumn, rows: usize) -> bool {
    !column.exact || column.distinct as f64 >= 0.9 * rows as f64
}

/// Whether a column may be part of a key.
fn is_able(column: &InferredColumn) -> bool {
    !column.nullable && !matches!(column.of, ColumnType::Float | ColumnType::Bool)
}

/// The search for keys.
struct Keys<'a> {
    rows: &'a StagedTable,
    columns: &'a [InferredColumn],
    folder: &'a Path,
    found: Vec<Vec<usize>>,
    /// Number of sets that were tried on all rows.
    whole: usize,
}

impl Keys<'_> {
    /// Whether a column has few values, each in many rows, like the name of a sensor.
    fn is_series(&self, at: usize) -> bool {
        let distinct = self.columns[at].distinct;
        distinct > 1 && 10 * distinct <= self.rows.rows() as u64
    }

    /// Whether a column may number the rows, rather than measure something that differs by chance.
    /// `counts` is whether it may do so only because it ascends.
    fn is_id(&self, at: usize, counts: bool) -> bool {
        let column = &self.columns[at];
        let ascends = counts && column.ascending;
        !is_time(column) && (at == 0 || ascends || names::is_id(&column.name))
    }

    /// Whether a column has numbers that differ in nearly all rows, and does not number the rows.
    fn differs_by_chance(&self, at: usize, counts: bool) -> bool {
        let column = &self.columns[at];
        matches!(column.of, ColumnType::Int { .. })
            && !self.is_id(at, counts)
            && may_number(column, self.rows.rows())
    }

    /// Whether no two rows have the same values in these columns.
    fn are_unique(&self, columns: &[usize]) -> io::Result<bool> {
        let all = self.rows.rows();
        Ok(self.repeats(columns, all.min(SAMPLE))? == 0
            && (ascends(self.rows, columns) || self.repeats(columns, all)? == 0))
    }

    /// Tries columns alone, then pairs of others, and triples if nothing shorter is a key.
    fn try_sets(
        &mut self,
        alone: impl Iterator<Item = usize>,
        able: &[usize],
        time: Option<usize>,
    ) -> io::Result<()> {
        for column in alone {
            self.try_key(&[column], false)?;
        }
        // From few different values to many, with the time last.
        let mut able = able[..able.len().min(TRIED)].to_vec();
        able.sort_by_key(|&at| (Some(at) == time, self.columns[at].distinct));
        for pair in able.iter().copied().combinations(2) {
            self.try_key(&pair, false)?;
        }
        if self.found.is_empty() {
            for triple in able.iter().copied().combinations(3) {
                self.try_key(&triple, false)?;
            }
        }
        Ok(())
    }

    /// Adds columns as a key if they are one. `longer` also allows columns that contain a known key.
    fn try_key(&mut self, columns: &[usize], longer: bool) -> io::Result<()> {
        let part = |key: &Vec<usize>| key.iter().all(|column| columns.contains(column));
        let known =
            self.found.iter().any(|key| part(key) && (key.len() == columns.len() || !longer));
        let enough = self.found.len() == ENOUGH || self.whole == WHOLE;
        let all = self.rows.rows();
        let are_too_few = |columns: &[usize]| {
            let counts = columns.iter().map(|&at| &self.columns[at]);
            let most: f64 = counts.clone().map(|column| column.distinct as f64).product();
            most < all as f64 && counts.into_iter().all(|column| column.exact)
        };
        if known || enough || are_too_few(columns) {
            return Ok(());
        }
        if self.repeats(columns, all.min(SAMPLE))? > 0 {
            return Ok(());
        }
        self.whole += 1;
        if ascends(self.rows, columns) || self.repeats(columns, all)? == 0 {
            self.found.push(columns.to_vec());
        }
        Ok(())
    }

    /// Returns the columns that come nearest to a key, and the number of rows that have the key of
    /// another row, less than half. Tries possible series, each with the time, then only the time,
    /// then columns that may number the rows.
    fn nearest(&self, able: &[usize], time: Option<usize>) -> io::Result<Option<Nearest>> {
        let all = self.rows.rows();
        let may_number = |at: &usize| may_number(&self.columns[*at], all);
        let named = |at: &usize| names::is_id(&self.columns[*at].name) || *at == 0;
        let mut likely: Vec<Vec<usize>> = Vec::new();
        if let Some(time) = time {
            let is_series = |at: &usize| self.is_series(*at) && *at != time;
            let mut series: Vec<usize> = able.iter().copied().filter(is_series).collect();
            series.sort_by_key(|at| !names::is_id(&self.columns[*at].name));
            likely.extend(series.into_iter().take(3).map(|series| vec![series, time]));
            likely.extend(may_number(&time).then(|| vec![time]));
        }
        let ids = able.iter().copied();
        let ids = ids.filter(|at| named(at) && may_number(at) && Some(*at) != time);
        likely.extend(ids.take(2).map(|id| vec![id]));
        let mut best = None;
        for key in likely {
            let found = self.repeats(&key, all)?;
            if 2 * found < all && best.as_ref().is_none_or(|(_, least)| found < *least) {
                best = Some((key, found));
            }
        }
        Ok(best)
    }

    /// Returns how many of the first rows have the same values in these columns as another row.
    fn repeats(&self, columns: &[usize], rows: usize) -> io::Result<usize> {
        let sorted = SortedRows::new(self.rows, columns, rows, self.folder)?;
        Ok(sorted.rows().filter(|(_, again)| *again).count())
    }
}
