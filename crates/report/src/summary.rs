//! From raw runs to the figures that are compared: one [`Group`] per workload, scale and tier,
//! because ratios are only drawn inside one.

mod figure;
mod loading;
mod order;
mod sharing;
mod shortfall;
mod usage;

#[cfg(test)]
mod tests;

use embermark_model::plan::Dataset;
use embermark_model::result::{Cell, ResultFile};
use embermark_model::{Durability, Scale, Status};

pub use figure::{Figure, Stop};
pub(crate) use figure::{counted, parts, per_operation};
pub use loading::Loading;
pub use sharing::{Schedule, Sharing};
pub use shortfall::{Lacking, Shortfall};
pub use usage::{Resource, Usage};

use crate::statistics::{includes_one, is_measure, ratio_interval};

/// Every figure of one result file.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// In the order of the plan's cells.
    pub groups: Vec<Group<'a>>,
}

/// What may be compared with each other: one workload at one scale in one tier.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The workload's id.
    pub workload: &'a str,
    /// How many rows.
    pub scale: Scale,
    /// The tier.
    pub durability: Durability,
    /// The rows that were used.
    pub dataset: Option<&'a Dataset>,
    /// The variant that runs every phase; rows of another one name it.
    pub variant: &'a str,
    /// Across, in plan order.
    pub engines: Vec<Engine<'a>>,
    /// Down, in display order.
    pub rows: Vec<Row<'a>>,
    /// What each engine used in the group's main variant, in the order of `engines`.
    pub usage: Vec<Usage>,
}

/// One engine in one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine<'a> {
    /// Its id.
    pub id: &'a str,
    /// Shown and never ranked.
    pub reference: bool,
    /// The tier that its setting provides, when that is not the group's.
    pub effective_durability: Option<Durability>,
}

/// One phase in one variant, over all engines of the group.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The phase; absent when no engine of this variant came as far as a phase.
    pub phase: Option<&'a str>,
    /// The variant, when it is not the group's main one.
    pub variant: Option<&'a str>,
    /// What its times are of.
    pub unit: Unit,
    /// In the order of the group's engines.
    pub entries: Vec<Entry<'a>>,
    /// What it wrote and its maintenance, of a phase that inserts rows; in the same order.
    pub loadings: Vec<Option<Loading>>,
}

/// What the times of a row are of. One row has one unit, or it would compare nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole run of the phase.
    Run,
    /// One operation: some engine was stopped at the cap or did another number of them.
    Operation,
}

/// What one engine has to show in a row.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all of them are the large one")]
pub enum Entry<'a> {
    /// A time.
    Measured(Measured<'a>),
    /// No time, because it ended so.
    Ended(Status),
    /// Not asked for, or nothing counted.
    Absent,
}

/// A time and its rank.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// The time.
    pub figure: Figure<'a>,
    /// Its time over the best one's of the row; absent when it is not ranked.
    pub ratio: Option<f64>,
    /// The 95 % interval of that ratio; absent for the best itself, and with fewer than three trials
    /// of either.
    pub ratio_interval: Option<[f64; 2]>,
    /// The best of the row.
    pub best: bool,
    /// The difference to the best is not significant: the ratio's interval includes 1. Then the
    /// best has this too: the row has no sole winner.
    pub not_significant: bool,
    /// This phase ended well and the cell did not: shown, not ranked.
    pub tainted: bool,
    /// Its cell did not do all that it was to do: shown, not ranked.
    pub shortfall: Option<Shortfall<'a>>,
}

impl Measured<'_> {
    /// Whether its cell ended well and did all that it was to do.
    pub const fn competes(&self) -> bool {
        !self.tainted && self.shortfall.is_none()
    }
}

impl Row<'_> {
    /// The time of `measured` in the row's unit, in ns.
    pub fn time_ns(&self, measured: &Measured<'_>) -> f64 {
        match (self.unit, measured.figure.elapsed_ns) {
            (Unit::Run, Some(elapsed)) => elapsed,
            _ => measured.figure.per_op_ns,
        }
    }

    /// The 95 % interval of that time in ns; `None` with fewer than three trials.
    pub fn interval_ns(&self, measured: &Measured<'_>) -> Option<[f64; 2]> {
        let scale = self.time_ns(measured) / measured.figure.per_op_ns;
        measured.figure.interval_ns.map(|interval| interval.map(|end| end * scale))
    }
}

/// Computes the figures of `file`. Phases named in `order` come first and in that order, the
/// others as they ran.
pub fn compare<'a>(file: &'a ResultFile, order: &[&str]) -> Comparison<'a> {
    let mut keys: Vec<(&str, Scale, Durability)> = Vec::new();
    for Cell { id, .. } in &file.cells {
        let key = (id.workload.as_str(), id.scale, id.durability);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Comparison { groups: keys.into_iter().map(|key| group(file, key, order)).collect() }
}

fn group<'a>(
    file: &'a ResultFile,
    (workload, scale, durability): (&'a str, Scale, Durability),
    order: &[&str],
) -> Group<'a> {
    let cells: Vec<&Cell> = file
        .cells
        .iter()
        .filter(|cell| {
            (cell.id.workload.as_str(), cell.id.scale, cell.id.durability)
                == (workload, scale, durability)
        })
        .collect();
    let ids = order::planned(&file.plan.engines, cells.iter().map(|cell| cell.id.engine.as_str()));
    let variants =
        order::planned(&file.plan.variants, cells.iter().map(|cell| cell.id.variant.as_str()));
    let engines: Vec<Engine<'_>> = ids.iter().map(|id| engine(id, &cells)).collect();
    let find = |variant: &str, engine: &str| {
        cells.iter().copied().find(|cell| cell.id.variant == variant && cell.id.engine == engine)
    };
    let rows = order::rows(&cells, &variants, order)
        .into_iter()
        .map(|(phase, variant)| {
            let entries = engines.iter().map(|engine| entry(find(variant, engine.id), phase));
            let loading = |engine: &Engine<'_>| Loading::of(find(variant, engine.id)?, phase?);
            let loadings = engines.iter().map(loading).collect();
            let named = variants.first().is_some_and(|main| *main != variant).then_some(variant);
            let mut row = Row {
                phase,
                variant: named,
                unit: Unit::Run,
                entries: entries.collect(),
                loadings,
            };
            rank(&mut row, &engines, durability);
            row
        })
        .collect();
    let variant = variants.first().copied().unwrap_or_default();
    let usage = engines.iter().map(|engine| usage::of(find(variant, engine.id))).collect();
    let dataset = file.manifest.datasets.get(workload);
    Group { workload, scale, durability, dataset, variant, engines, rows, usage }
}

fn engine<'a>(id: &'a str, cells: &[&'a Cell]) -> Engine<'a> {
    let mut own = cells.iter().filter(|cell| cell.id.engine == id);
    Engine {
        id,
        reference: own.clone().any(|cell| cell.reference),
        effective_durability: own
            .find_map(|cell| cell.effective_durability.filter(|tier| *tier != cell.id.durability)),
    }
}

fn entry<'a>(cell: Option<&'a Cell>, phase: Option<&str>) -> Entry<'a> {
    let Some(cell) = cell else { return Entry::Absent };
    let ended = |status: Status| match status.has_figures() {
        true => Entry::Absent,
        false => Entry::Ended(status),
    };
    let parts = phase.map(|phase| parts(cell, phase)).unwrap_or_default();
    let Some(status) = parts.iter().map(|(_, part)| part.status).reduce(Status::worst) else {
        return ended(cell.status);
    };
    if !status.has_figures() {
        return ended(status);
    }
    // A phase that cannot be done says nothing against the others; any other bad end does.
    let tainted = !(cell.status.has_figures() || cell.status == Status::Unsupported);
    Figure::of(&parts).map_or(Entry::Absent, |figure| {
        Entry::Measured(Measured {
            figure,
            ratio: None,
            ratio_interval: None,
            best: false,
            not_significant: false,
            tainted,
            shortfall: Shortfall::of(cell, phase),
        })
    })
}

/// Chooses the row's unit and gives ratios to those that may have one.
fn rank(row: &mut Row<'_>, engines: &[Engine<'_>], tier: Durability) {
    let figures = || {
        row.entries.iter().filter_map(|entry| match entry {
            Entry::Measured(measured) => Some(&measured.figure),
            _ => None,
        })
    };
    let same_work = figures().all(|figure| Some(figure.ops) == figures().map(|f| f.ops).next());
    let complete = figures().all(|figure| figure.elapsed_ns.is_some());
    row.unit = if same_work && complete { Unit::Run } else { Unit::Operation };

    let mut ranked: Vec<&mut Measured<'_>> = row
        .entries
        .iter_mut()
        .zip(engines)
        .filter_map(|(entry, engine)| match entry {
            Entry::Measured(measured) if engine.ranked(tier) && measured.competes() => {
                Some(measured)
            }
            _ => None,
        })
        .collect();
    let times = ranked.iter().map(|measured| &measured.figure);
    let best = times.min_by(|a, b| a.per_op_ns.total_cmp(&b.per_op_ns)).cloned();
    let Some(best) = best.filter(|best| is_measure(best.per_op_ns)) else { return };
    for measured in &mut ranked {
        measured.ratio = Some(measured.figure.per_op_ns / best.per_op_ns);
        measured.best = measured.figure.per_op_ns == best.per_op_ns;
        if !measured.best {
            let trials = &measured.figure.per_trial_ns;
            measured.ratio_interval = ratio_interval(trials, &best.per_trial_ns);
            measured.not_significant = measured.ratio_interval.is_some_and(includes_one);
        }
    }
    let shared = ranked.iter().any(|measured| measured.not_significant);
    for best in ranked.iter_mut().filter(|measured| measured.best) {
        best.not_significant = shared;
    }
}

impl Engine<'_> {
    /// Whether it competes in a tier: a reference never does, nor an engine of lower effective
    /// durability.
    pub fn ranked(&self, tier: Durability) -> bool {
        !self.reference && self.effective_durability.is_none_or(|effective| effective >= tier)
    }

    /// Its effective durability where that is above the one asked for.
    pub fn stronger(&self, tier: Durability) -> Option<Durability> {
        self.effective_durability.filter(|effective| *effective > tier)
    }

    /// Its effective durability where that is below the one asked for.
    pub fn weaker(&self, tier: Durability) -> Option<Durability> {
        self.effective_durability.filter(|effective| *effective < tier)
    }
}
