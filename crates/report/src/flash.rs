//! Models the bytes that flash cards would program for each engine's work, and their lifetime at a
//! given rate. Reports always call these figures modelled. `docs/flash.md` explains the model.

mod grids;

use embermark_model::Card;
use embermark_model::card::End;
use embermark_model::result::{Cell, FlashModel, FlashOfPhase, ResultFile, Run};

pub(crate) use grids::{grids, years_between};

/// Days per year.
pub(crate) const YEAR: f64 = 365.25;

/// Wear of one phase of one cell on a card: its run, and the maintenance after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wear<'a> {
    pub card: &'a Card,
    pub phase: &'a FlashOfPhase,
    /// Operations of the run. For a phase that loads rows these are rows.
    pub ops: u64,
    /// Whether the phase loads rows.
    pub loads: bool,
}

impl<'a> Wear<'a> {
    /// Returns the wear of a phase in the counting trial of a cell. `None` if the card was not
    /// modelled for it.
    pub fn new(cell: &'a Cell, card: &'a Card, phase: &str) -> Option<Self> {
        let run: &Run = cell.counted(phase)?;
        let phase = model(cell, card)?.phase(phase)?;
        Some(Self { card, phase, ops: run.ops, loads: run.loaded.is_some() })
    }

    /// Returns the bytes programmed.
    pub fn programmed(&self) -> f64 {
        self.phase.all(End::Typical).programmed_bytes as f64
    }

    /// Returns the bytes programmed per million operations (rows, if the phase loads them).
    pub fn per_million(&self) -> Option<f64> {
        (self.ops > 0).then(|| self.programmed() / self.ops as f64 * 1e6)
    }

    /// Returns the bytes programmed per million operations at both ends of the card's parameters,
    /// the smaller first.
    pub fn per_million_ends(&self) -> Option<[f64; 2]> {
        let at = |end| self.phase.all(end).programmed_bytes as f64 / self.ops as f64 * 1e6;
        let (low, high) = (at(End::Low), at(End::High));
        (self.ops > 0).then(|| [low.min(high), low.max(high)])
    }

    /// Returns the lifetime of the card in years at this number of rows per day, at both ends of
    /// its parameters. `None` if the phase loads no rows or erases no block.
    pub fn years(&self, rows_per_day: f64) -> Option<[f64; 2]> {
        let at = |end| {
            let erases = self.phase.all(end).erases / self.ops as f64 * rows_per_day;
            self.card.days(end, erases).map(|days| days / YEAR)
        };
        let ends = at(End::Low).zip(at(End::High)).filter(|_| self.loads && self.ops > 0);
        ends.map(|(low, high)| [low.min(high), low.max(high)])
    }
}

/// Returns the flash model of a card for the counting trial of a cell.
pub(crate) fn model<'a>(cell: &'a Cell, card: &Card) -> Option<&'a FlashModel> {
    cell.counting.as_ref()?.flash.iter().find(|model| model.card == card.name)
}

/// Whether the plan's first card was modelled for a cell.
pub(crate) fn is_modelled(file: &ResultFile, cell: &Cell) -> bool {
    let model = file.plan.cards.first().and_then(|card| model(cell, card));
    model.is_some_and(|model| !model.phases.is_empty())
}

/// Returns the bytes programmed for these phases of a cell on the plan's first card. A phase that
/// was stopped is extrapolated to all of its operations. `None` if the phases were not modelled.
pub(crate) fn programmed(file: &ResultFile, cell: &Cell, phases: &[&str]) -> Option<f64> {
    let (card, counting) = (file.plan.cards.first()?, cell.counting.as_ref()?);
    let of = |phase: &&str| {
        let wear = Wear::new(cell, card, phase)?;
        let part = counting.phases.iter().find(|part| part.phase == *phase)?;
        let whole = if wear.ops > 0 { part.ops as f64 / wear.ops as f64 } else { 1.0 };
        Some(wear.programmed() * whole)
    };
    phases.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use embermark_model::card::{Mapping, Spread};
    use embermark_model::result::{FlashCost, FlashWork, Loaded, PhaseResult, Trial};

    use super::*;

    /// Makes a card of 1,000 blocks of 1 MiB and 100 spare blocks, each good for 1,000 erases.
    fn card() -> Card {
        Card {
            name: "one".to_owned(),
            mapping: Mapping::LogBlocks { open_units: Spread::exact(4) },
            capacity_bytes: 1_000 << 20,
            page_bytes: 16 << 10,
            erase_block_bytes: 1 << 20,
            spare_permille: Spread::exact(100),
            cycles: Spread { low: 500, typical: 1_000, high: 2_000 },
            cache_bytes: 0,
            filled_permille: 1_000,
        }
    }

    /// Makes the cost of `bytes`, with one erase per megabyte. The low end costs twice as much.
    fn work(bytes: u64) -> FlashWork {
        let cost = |bytes| FlashCost { programmed_bytes: bytes, erases: bytes as f64 / 1e6 };
        let (typical, low) = (cost(bytes), cost(2 * bytes));
        FlashWork { written_bytes: bytes / 4, typical, low, high: typical }
    }

    /// Makes a cell with a load of 10,000 rows, which is maintained, and a read of 500.
    fn cell() -> Cell {
        let loaded = Some(Loaded { user_bytes: 330_000, device_io: None, maintenance: None });
        let run = |ops, loaded| Run { elapsed_ns: 1, ops, loaded, ..Run::default() };
        let phase = |name: &str, run| PhaseResult {
            phase: name.to_owned(),
            runs: vec![run],
            ..PhaseResult::default()
        };
        let of = |name: &str, bytes, after: Option<u64>| FlashOfPhase {
            phase: name.to_owned(),
            run: work(bytes),
            maintenance: after.map(work),
        };
        let phases = vec![of("load", 3_000_000, Some(1_000_000)), of("read", 0, None)];
        let counting = Trial {
            phases: vec![phase("load", run(10_000, loaded)), phase("read", run(500, None))],
            flash: vec![FlashModel { card: "one".to_owned(), phases, ..FlashModel::default() }],
            ..Trial::default()
        };
        let id = "{\"workload\":\"w\",\"scale\":\"10k\",\"durability\":\"process\",\"variant\":\"v\",\"engine\":\"e\"}";
        Cell {
            id: serde_json::from_str(id).unwrap(),
            status: embermark_model::Status::Ok,
            reason: None,
            effective_durability: None,
            own_durability: None,
            reference: false,
            unpublishable: false,
            trials: Vec::new(),
            lost_trials: Vec::new(),
            counting: Some(Box::new(counting)),
            explaining: None,
        }
    }

    #[test]
    fn a_million_rows_are_the_run_and_its_maintenance_over_its_rows() {
        let (cell, card) = (cell(), card());
        let load = Wear::new(&cell, &card, "load").unwrap();
        assert_eq!((load.programmed(), load.per_million()), (4e6, Some(4e8)));
        assert_eq!(load.per_million_ends(), Some([4e8, 8e8]));
        let read = Wear::new(&cell, &card, "read").unwrap();
        assert_eq!((read.programmed(), read.per_million(), read.loads), (0.0, Some(0.0), false));
    }

    #[test]
    fn years_are_a_range_from_one_end_of_the_parameters_to_the_other() {
        let (cell, card) = (cell(), card());
        let load = Wear::new(&cell, &card, "load").unwrap();
        // At 10,000 rows per day, the low end erases 8 blocks per day of 1,100 that last 500
        // erases. The high end erases 4 of those that last 2,000.
        let [low, high] = load.years(10_000.0).unwrap();
        assert!((low - 1_100.0 * 500.0 / 8.0 / 365.25).abs() < 1e-9, "{low}");
        assert!((high - 1_100.0 * 2_000.0 / 4.0 / 365.25).abs() < 1e-9, "{high}");
        assert_eq!(load.years(20_000.0).unwrap().map(|half| 2.0 * half), [low, high]);
        assert_eq!(Wear::new(&cell, &card, "read").unwrap().years(1.0), None, "it puts no rows in");
    }

    #[test]
    fn a_card_that_was_not_modelled_has_nothing() {
        let cell = cell();
        let other = Card { name: "other".to_owned(), ..card() };
        assert!(Wear::new(&cell, &other, "load").is_none());
        assert!(Wear::new(&cell, &card(), "update").is_none());
    }
}
