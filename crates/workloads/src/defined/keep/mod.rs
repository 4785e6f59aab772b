//! Keeps a window of rows that arrive endlessly and expire when they are older. It schedules
//! inserts, expiry and questions, and uses the database only through the [port](super::port).

mod runner;

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use embermark_language::{Definition, Keep};
use embermark_meter::Recorder;
use embermark_model::answer::Difference;
use embermark_model::result::Timeline;
use embermark_model::table::{MakeKind, Table, Value};

pub(super) use super::keep::runner::{KeepRunner, LAID_AT_ONCE, row_bytes};
use super::row::Values;
use super::table_rows::Repetition;
use super::{Cell, Result, Rows, TimeStep, fingerprint};
use crate::WorkloadError;

/// Duration of a `keep` in a run of all workloads.
pub(super) const SHORT: Duration = Duration::from_secs(1);

/// Spreads the generated times of a table over as long as the file's number of rows takes. With
/// more rows they are closer together, so that a window has as many as the run asks for.
///
/// # Errors
/// [`WorkloadError::Unfit`] where there are more rows than times.
pub(super) fn spread(definition: &'static Definition, tables: &mut [Table]) -> Result<()> {
    use embermark_model::table::RowsFrom::Made;

    let Some(keep) = definition.keep() else { return Ok(()) };
    let (Made(own), Made(asked)) = (&definition.tables[keep.table].rows, &tables[keep.table].rows)
    else {
        return Ok(());
    };
    let (own, asked) = (*own, *asked);
    let make = tables[keep.table].columns[keep.time].make.as_mut();
    let Some(MakeKind::Sequence { step, repeat, .. }) = make.map(|make| &mut make.kind) else {
        return Ok(());
    };
    let moments = |rows: u64| i128::from(rows.div_ceil((*repeat).max(1)).max(1));
    let whole = i128::from(*step) * moments(own);
    let closer = whole / moments(asked);
    if closer == 0 {
        let (name, most) = (&tables[keep.table].name, whole * i128::from((*repeat).max(1)));
        return Err(WorkloadError::Unfit(format!(
            "table '{name}': {asked} rows exceed the {most} rows that its different times allow"
        )));
    }
    *step = i64::try_from(closer).unwrap_or(i64::MAX);
    Ok(())
}

/// Checks that rows which repeat, and whose newest are asked for, are in the order of their times.
///
/// # Errors
/// [`WorkloadError::Unfit`] where they are not.
pub(super) fn check_order(tables: &[Rows]) -> Result<()> {
    for rows in tables {
        let Some(Repetition { time, asked: true, .. }) = rows.repetition else { continue };
        let at = |place: usize| time_of(rows, place, time);
        if let Some(late) = (1..rows.staged.rows()).find(|place| at(*place) < at(place - 1)) {
            let name = &rows.table.name;
            return Err(WorkloadError::Unfit(format!(
                "table '{name}': row {} is older than the one before it. A phase with 'keep' needs \
                 rows in the order of their times: sort them, for example by a 'query' with ORDER \
                 BY, or leave out 'late'",
                late + 1
            )));
        }
    }
    Ok(())
}

fn time_of(rows: &Rows, place: usize, time: usize) -> i64 {
    if let Value::Int(time) = rows.value(place, time) { time } else { 0 }
}

/// Computes which rows exist at which time.
#[derive(Clone, Copy)]
pub(super) struct Calendar<'a> {
    pub keep: &'a Keep,
    pub rows: &'a Rows,
}

impl Calendar<'_> {
    /// Returns the time of a row.
    pub(super) fn time(&self, place: usize) -> i64 {
        time_of(self.rows, place, self.keep.time)
    }

    /// Returns the first row at or after a time.
    pub(super) fn first_from(&self, time: i64) -> usize {
        let (all, begin) = (self.rows.staged.rows(), self.time(0));
        let length = self.rows.repetition.map_or(i64::MAX, |repetition| repetition.units);
        let Ok(since) = u64::try_from(time.saturating_sub(begin)) else { return 0 };
        let lap = (since / length.unsigned_abs()) as usize;
        let (mut from, mut to) = (lap * all, (lap + 1) * all);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.time(middle) < time {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Returns the step of a time.
    pub(super) const fn step_at(&self, time: i64) -> TimeStep {
        self.step(time.div_euclid(self.keep.step))
    }

    /// Returns the step with a number.
    pub(super) const fn step(&self, number: i64) -> TimeStep {
        let step = self.keep.step;
        TimeStep { number, from: number * step, to: (number + 1) * step }
    }

    /// Returns the step that expires when this one begins: all of it is older than the window.
    pub(super) const fn expiring_at(&self, number: i64) -> TimeStep {
        self.step(number - self.keep.window / self.keep.step - 1)
    }

    /// Returns the step of a row, and the first row after it, if the step expires when the one with
    /// this number begins.
    pub(super) fn expiring(&self, place: usize, number: i64) -> Option<(TimeStep, usize)> {
        let step = self.step_at(self.time(place));
        let expires = step.number <= self.expiring_at(number).number;
        expires.then(|| (step, self.first_from(step.to)))
    }

    /// Returns the number of rows, each with a time that its step and the next one can have too.
    pub(super) fn most(&self) -> usize {
        self.rows.most(self.keep.step.saturating_mul(2))
    }

    /// Returns the number of rows in a window, from the first row on.
    pub(super) fn window(&self) -> usize {
        self.first_from(self.time(0).saturating_add(self.keep.window)).max(1)
    }

    /// Returns the rows that exist when this many have come: the current step, and those of the
    /// window before it.
    pub(super) fn there(&self, came: usize) -> std::ops::Range<usize> {
        let newest = self.step_at(self.time(came.saturating_sub(1)));
        self.first_from(self.expiring_at(newest.number).to).min(came)..came
    }
}

/// Compares every row with the expected one: none is missing, none is extra, and each is right.
pub struct Content<'a> {
    rows: &'a Rows,
    /// Positions of the rows that were not seen, by the fingerprint of their key.
    unseen: HashMap<u64, usize>,
    first: Option<String>,
}

impl<'a> Content<'a> {
    /// Creates the comparison with these rows.
    pub fn new(rows: &'a Rows, there: Range<usize>) -> Self {
        let unseen = there.map(|place| (fingerprint(rows.key(place)).bits(), place)).collect();
        Self { rows, unseen, first: None }
    }

    /// Takes a row of the table.
    pub fn see(&mut self, got: &[Value<'_>]) {
        let key = self.rows.table.key.iter().map(|column| got[*column]);
        let what = match self.unseen.remove(&fingerprint(key).bits()) {
            None => Some(format!("an unexpected or duplicate row: {got:?}")),
            Some(place) => {
                let right: Values<'_> = self.rows.row(place).collect();
                let same = fingerprint(right.iter().copied()) == fingerprint(got.iter().copied());
                (!same).then(|| format!("row {place} is {got:?}, expected {right:?}"))
            }
        };
        if self.first.is_none() {
            self.first = what;
        }
    }

    /// Returns whether all rows were seen and right.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn finish(self) -> Result<(), Difference> {
        let missing = self
            .unseen
            .values()
            .min()
            .map(|first| format!("{} rows are missing, row {first} first", self.unseen.len()));
        self.first.or(missing).map_or(Ok(()), |what| Err(Difference(what)))
    }
}

/// Parameters of a `keep`.
#[derive(Clone, Copy)]
pub struct KeepParameters<'a> {
    pub cell: &'a Cell,
    pub keep: &'a Keep,
    /// The longest duration.
    pub longest: Duration,
    /// Rows per second. `None`: as many as the engine takes.
    pub rate: Option<u64>,
    /// Whether answers are checked. The null engine gives none.
    pub checked: bool,
}

/// Outcome of a `keep`.
pub struct KeepOutcome {
    /// Rows inserted.
    pub came: u64,
    /// Questions asked.
    pub asked: u64,
    /// Time spent by the engine and its client.
    pub elapsed_ns: u64,
    /// The first wrong answer.
    pub wrong: Option<Difference>,
    pub recorder: Recorder,
    pub timeline: Timeline,
}

#[cfg(test)]
pub(super) mod tests;
