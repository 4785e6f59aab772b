//! The right answers, worked out from the rows in plain Rust. Shares no code with any port.

mod content;
mod questions;
mod statistics;
#[cfg(test)]
mod tests;

use embermark_model::answer::Expected;
use embermark_model::{Key, Reading};

use super::phase::Phase;
pub(super) use content::Content;

/// What is known of the rows before any clock starts.
pub(super) struct Oracle {
    /// The places of the rows in key order.
    order: Vec<u32>,
    /// Every sensor, ascending.
    sensors: Vec<u16>,
    answers: Vec<(Phase, Expected)>,
}

impl Oracle {
    /// Works out the answer of every question over `rows`, whose keys are distinct.
    pub(super) fn new(rows: &[Reading]) -> Self {
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_unstable_by_key(|&place| rows[place as usize].key());
        let ordered: Vec<&Reading> = order.iter().map(|&place| &rows[place as usize]).collect();
        let series: Vec<&[&Reading]> = ordered.chunk_by(|a, b| a.sensor == b.sensor).collect();
        let sensors = series.iter().map(|of_sensor| of_sensor[0].sensor).collect();
        let answers = questions::answers(&series);
        Self { order, sensors, answers }
    }

    /// The answer of a question.
    pub(super) fn answer(&self, step: Phase) -> Option<&Expected> {
        self.answers.iter().find(|(of, _)| *of == step).map(|(_, expected)| expected)
    }

    /// Most rows that the answer of a question has, if it is one list of rows.
    pub(super) fn rows_of(&self, step: Phase) -> usize {
        match self.answer(step) {
            Some(Expected::Set { rows, optional }) => rows.len() + optional.len(),
            Some(Expected::Top(top)) => top.candidates.len(),
            _ => 0,
        }
    }

    /// The answer of a question that is put of one sensor after the other, of these.
    pub(super) fn answer_of(
        &self,
        rows: &[Reading],
        step: Phase,
        sensors: &[u16],
    ) -> Option<Expected> {
        let ordered: Vec<&Reading> =
            self.order.iter().map(|&place| &rows[place as usize]).collect();
        let series = ordered.chunk_by(|a, b| a.sensor == b.sensor);
        let series: Vec<&[&Reading]> =
            series.filter(|of| sensors.contains(&of[0].sensor)).collect();
        questions::answer(step, &series)
    }

    /// The places of the rows in key order.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Every sensor, ascending.
    pub(super) fn sensors(&self) -> &[u16] {
        &self.sensors
    }

    /// The place of a key among `rows`.
    pub(super) fn place(&self, rows: &[Reading], key: Key) -> Option<u32> {
        let found = self.order.binary_search_by_key(&key, |&place| rows[place as usize].key());
        found.ok().map(|at| self.order[at])
    }

    /// The place of the newest row of a sensor.
    pub(super) fn newest(&self, rows: &[Reading], sensor: u16) -> Option<u32> {
        let behind = self.order.partition_point(|&place| rows[place as usize].sensor <= sensor);
        let place = *self.order.get(behind.checked_sub(1)?)?;
        (rows[place as usize].sensor == sensor).then_some(place)
    }
}
