//! What modelled flash cards would have programmed for the work of each engine, and how long they would
//! last at a rate. Everywhere it is shown it is called a model; `docs/flash.md` says what it rests on.

mod assumptions;
mod grids;

use embermark_model::Card;
use embermark_model::card::End;
use embermark_model::result::{Cell, FlashModel, FlashOfPhase, ResultFile, Run};

pub(crate) use grids::grids;

/// Days of a year.
const YEAR: f64 = 365.25;

/// What one phase of one cell came to on a card: its run, and the maintenance after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wear<'a> {
    pub card: &'a Card,
    pub phase: &'a FlashOfPhase,
    /// Operations of its run: rows, where it puts rows in.
    pub ops: u64,
    /// Whether it puts rows in.
    pub loads: bool,
}

impl<'a> Wear<'a> {
    /// Of a phase in the trial of a cell that counts; `None` where the card was not modelled for it.
    pub fn of(cell: &'a Cell, card: &'a Card, phase: &str) -> Option<Self> {
        let run: &Run = cell.counted(phase)?;
        let phase = model(cell, card)?.phase(phase)?;
        Some(Self { card, phase, ops: run.ops, loads: run.loaded.is_some() })
    }

    /// Bytes programmed.
    pub fn programmed(&self) -> f64 {
        self.phase.all(End::Typical).programmed_bytes as f64
    }

    /// Bytes programmed for a million rows, or operations.
    pub fn per_million(&self) -> Option<f64> {
        (self.ops > 0).then(|| self.programmed() / self.ops as f64 * 1e6)
    }

    /// The same at both ends of the card's parameters, the least first.
    pub fn per_million_ends(&self) -> Option<[f64; 2]> {
        let at = |end| self.phase.all(end).programmed_bytes as f64 / self.ops as f64 * 1e6;
        let (low, high) = (at(End::Low), at(End::High));
        (self.ops > 0).then(|| [low.min(high), low.max(high)])
    }

    /// Years that the card lasts at so many rows a day, by the ends of its parameters. `None` where
    /// no rows are put in, or no block is erased.
    pub fn years(&self, rows_per_day: f64) -> Option<[f64; 2]> {
        let at = |end| {
            let erases = self.phase.all(end).erases / self.ops as f64 * rows_per_day;
            self.card.days(end, erases).map(|days| days / YEAR)
        };
        let rows = self.loads && self.ops > 0;
        let ends = rows.then(|| Some([at(End::Low)?, at(End::High)?])).flatten();
        ends.map(|[low, high]| [low.min(high), low.max(high)])
    }
}

/// What a card made of the trial of a cell that counts.
pub(crate) fn model<'a>(cell: &'a Cell, card: &Card) -> Option<&'a FlashModel> {
    cell.counting.as_ref()?.flash.iter().find(|model| model.card == card.name)
}

/// Bytes programmed over all phases of a cell, on the first card of the plan.
/// `None` where that was not modelled.
pub(crate) fn programmed(file: &ResultFile, cell: &Cell) -> Option<f64> {
    let model = model(cell, file.plan.cards.first()?)?;
    let all = model.phases.iter().map(|phase| phase.all(End::Typical).programmed_bytes as f64);
    (!model.phases.is_empty()).then(|| all.sum())
}

#[cfg(test)]
mod tests;
