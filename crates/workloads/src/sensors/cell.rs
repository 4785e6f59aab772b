//! One cell before it meets its engine: rows, operations, and what the oracle says of them.

use std::sync::Arc;

use embermark_data::staged::StagedRows;
use embermark_model::Reading;
use embermark_model::answer::Expected;
use embermark_model::result::Execution;

use super::csv_file::CsvRows;
use super::oracle::Oracle;
use super::phase::Phase;
use super::port::SensorLog;
use super::query_results;
use super::range::Ranges;
use super::sequence::Sequences;
use super::share::{Done, Share};
use super::variant::Variant;
use crate::{OpenedPhase, Strategy};

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub rows: StagedRows,
    pub oracle: Oracle,
    pub sequences: Sequences,
    /// Of the variant `by-range`; in others there are none.
    pub ranges: Ranges,
    /// Of the variant `csv`.
    pub csv: Option<CsvRows>,
    pub variant: Variant,
    pub load: Load,
    /// Whether reads are to be cold.
    pub cold: bool,
    /// What each of several clients does; none where there is one.
    pub shares: Vec<Arc<Share>>,
}

/// How many clients do the operations, and at which rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// Clients, at least one: on all machines.
    pub clients: u32,
    /// The number of the first one on this machine.
    pub first: u32,
    /// Operations a second by all of them; `None` in a closed loop.
    pub target_rate: Option<u64>,
}

impl PreparedCell {
    /// The phases, as a log does them.
    pub(super) fn phases(&self, log: &dyn SensorLog) -> Vec<OpenedPhase> {
        let phase = |step: Phase| {
            let ops = match step {
                Phase::Load => self.rows.len(),
                Phase::Read => self.sequences.reads.len(),
                Phase::LastReadings => self.sequences.newest.len(),
                Phase::Update if self.variant == Variant::ByRange => self.ranges.changes.len(),
                Phase::Update => self.sequences.changes.len(),
                Phase::Delete if self.variant == Variant::ByRange => self.ranges.deletes.len(),
                Phase::Delete => self.sequences.deletes.len(),
                question if self.variant.asks_each(question) => self.sequences.newest.len(),
                _ => 1,
            };
            let execution = match step {
                Phase::Load if self.csv.is_some() && !log.loads_csv() => Execution::ClientSide,
                _ => log.execution(step, self.variant),
            };
            OpenedPhase { name: step.name(), ops: ops as u64, execution }
        };
        Phase::RUN_ORDER.into_iter().map(phase).collect()
    }

    /// What the oracle says to the step's operations that were done.
    pub(super) fn expected(&self, step: Phase, done: &Done) -> Expected {
        match step {
            Phase::Read => {
                let read = self.sequences.rows_read(done).map(|place| &self.rows[place]);
                Expected::Checksum(read.collect())
            }
            Phase::LastReadings => {
                let asked = done.of(&self.sequences.newest);
                let places = asked.filter_map(|&s| self.oracle.newest(&self.rows, s));
                let rows = places.map(|place| query_results::reading(&self.rows[place as usize]));
                Expected::Set { rows: rows.collect(), optional: Vec::new() }
            }
            Phase::Update if self.variant == Variant::ByRange => {
                Expected::Count(done.of(&self.ranges.changes).map(|c| c.span.readings).sum())
            }
            Phase::Delete if self.variant == Variant::ByRange => {
                Expected::Count(done.of(&self.ranges.deletes).map(|span| span.readings).sum())
            }
            question if self.variant.asks_each(question) => {
                let asked: Vec<u16> = done.of(&self.sequences.newest).copied().collect();
                let answer = self.oracle.answer_of(&self.rows, question, &asked);
                answer.unwrap_or(Expected::Count(0))
            }
            // Loaded or changed: one row an operation.
            _ => self.oracle.answer(step).cloned().unwrap_or(Expected::Count(done.ops())),
        }
    }

    /// What the row at a place must be after the operations of a step that were done on the full
    /// log, or while loading it; and how many rows of those may be absent.
    pub(super) fn after<'a>(
        &'a self,
        step: Phase,
        done: &'a Done,
    ) -> (Box<dyn Fn(u32) -> Option<Reading> + 'a>, u64) {
        let rows = &*self.rows;
        let row = |place: u32| rows[place as usize];
        match step {
            // In whatever order the engine took them.
            Phase::Load if self.variant.strategy() == Strategy::Bulk => {
                (Box::new(move |place| Some(row(place))), rows.len() as u64 - done.ops())
            }
            Phase::Load => (Box::new(move |place| done.has(place as usize).then(|| row(place))), 0),
            Phase::Update => {
                let mut set = vec![None; rows.len()];
                self.changed(done, |place, temperature| set[place as usize] = Some(temperature));
                let changed = move |place| {
                    let mut row = row(place);
                    if let Some(temperature) = set[place as usize] {
                        row.set(Reading::TEMPERATURE, Some(temperature));
                    }
                    Some(row)
                };
                (Box::new(changed), 0)
            }
            Phase::Delete => {
                let mut gone = vec![false; rows.len()];
                self.deleted(done, |place| gone[place as usize] = true);
                (Box::new(move |place| (!gone[place as usize]).then(|| row(place))), 0)
            }
            _ => (Box::new(move |place| Some(row(place))), 0),
        }
    }

    /// Visits the places of the rows that the updates which were done have changed, with their new
    /// temperatures.
    fn changed(&self, done: &Done, mut visit: impl FnMut(u32, f64)) {
        let Self { sequences, ranges, .. } = self;
        if self.variant == Variant::ByRange {
            for (range, change) in done.of(&ranges.changed).zip(done.of(&ranges.changes)) {
                let places = &self.oracle.order()[range.clone()];
                places.iter().for_each(|place| visit(*place, change.temperature));
            }
        } else {
            let changes = done.of(&sequences.changed).zip(done.of(&sequences.changes));
            changes.for_each(|(place, change)| visit(*place, change.temperature));
        }
    }

    /// The same of the deletes.
    fn deleted(&self, done: &Done, mut visit: impl FnMut(u32)) {
        if self.variant == Variant::ByRange {
            for range in done.of(&self.ranges.deleted) {
                self.oracle.order()[range.clone()].iter().for_each(|place| visit(*place));
            }
        } else {
            done.of(&self.sequences.deleted).for_each(|place| visit(*place));
        }
    }
}
