//! From raw runs to the figures that are compared: one [`Group`] per workload, scale and tier,
//! because ratios are only drawn inside one.

mod column;
mod figure;
mod loading;
mod order;
mod protocol;
mod sharing;
mod usage;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use embermark_model::plan::Dataset;
use embermark_model::result::{Cell, EngineFacts, ResultFile};
use embermark_model::{CellId, Durability, Scale, Status};

pub use column::{Amounts, Column, Quantity};
pub use figure::{Figure, Stop};
pub(crate) use figure::{counted, parts, per_operation, versions};
pub use loading::{load_columns, loading};
pub use protocol::Protocol;
pub use sharing::{Schedule, Sharing};
pub use usage::{Resource, Usage};

use crate::statistics::{includes_one, is_measure, ratio_interval};
use crate::text;

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
    /// What ran; `None` where nothing ended well.
    pub protocol: Option<Protocol>,
}

/// One engine in one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine<'a> {
    /// Its id.
    pub id: &'a str,
    /// Shown and never ranked.
    pub reference: bool,
    /// A server that somebody gave by its URL: its settings and its machine are its own, so it is
    /// shown and never ranked.
    pub by_url: bool,
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
    pub loadings: Vec<Option<Amounts>>,
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
    /// Each row was a commit of its own, for want of transactions, in a row of the table whose
    /// others put many in one.
    pub commits_each: bool,
}

impl<'a> Entry<'a> {
    /// The time, where there is one.
    pub const fn measured(&self) -> Option<&Measured<'a>> {
        match self {
            Self::Measured(measured) => Some(measured),
            _ => None,
        }
    }
}

impl<'a> Group<'a> {
    /// Everything that has a time, with its row and its engine.
    pub fn measured(&self) -> impl Iterator<Item = (&Row<'a>, &Engine<'a>, &Measured<'a>)> {
        self.rows.iter().flat_map(|row| {
            let entries = self.engines.iter().zip(&row.entries);
            entries.filter_map(move |(engine, entry)| Some((row, engine, entry.measured()?)))
        })
    }

    /// Whether a cell belongs to it.
    pub fn holds(&self, id: &CellId) -> bool {
        (self.workload, self.scale, self.durability) == (&*id.workload, id.scale, id.durability)
    }

    /// The cell of an engine in one of its variants.
    pub fn cell<'f>(&self, file: &'f ResultFile, variant: &str, engine: &str) -> Option<&'f Cell> {
        let of = |id: &CellId| (&*id.variant, &*id.engine) == (variant, engine);
        file.cells.iter().find(|cell| self.holds(&cell.id) && of(&cell.id))
    }

    /// The rows of its workload, where their number is known.
    pub fn row_count(&self) -> Option<u64> {
        match self.scale {
            Scale::Rows(rows) => Some(rows),
            Scale::Full => self.dataset.map(|dataset| dataset.rows),
        }
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
    let ids = file.cells.iter().map(|cell| &cell.id);
    let keys = text::unique(ids.map(|id| (id.workload.as_str(), id.scale, id.durability)));
    Comparison { groups: keys.into_iter().map(|key| group(file, key, order)).collect() }
}

fn group<'a>(
    file: &'a ResultFile,
    (workload, scale, durability): (&'a str, Scale, Durability),
    order: &[&str],
) -> Group<'a> {
    let mut group = Group {
        workload,
        scale,
        durability,
        dataset: file.manifest.datasets.get(workload),
        variant: "",
        engines: Vec::new(),
        rows: Vec::new(),
        usage: Vec::new(),
        protocol: None,
    };
    let cells: Vec<&Cell> = file.cells.iter().filter(|cell| group.holds(&cell.id)).collect();
    let ids = order::planned(&file.plan.engines, cells.iter().map(|cell| cell.id.engine.as_str()));
    let variants =
        order::planned(&file.plan.variants, cells.iter().map(|cell| cell.id.variant.as_str()));
    let engines: Vec<Engine<'_>> = ids.iter().map(|id| engine(file, id, &cells)).collect();
    let find = |variant: &str, engine: &str| {
        cells.iter().copied().find(|cell| cell.id.variant == variant && cell.id.engine == engine)
    };
    let row = |(phase, variant): (Option<&'a str>, &'a str)| {
        let cells = || engines.iter().map(|engine| find(variant, engine.id));
        let mut row = Row {
            phase,
            variant: variants.first().is_some_and(|main| *main != variant).then_some(variant),
            unit: Unit::Run,
            entries: cells().map(|cell| entry(file, cell, phase)).collect(),
            loadings: cells().map(|cell| loading(cell?, phase?)).collect(),
        };
        rank(&mut row, &engines, durability);
        row
    };
    group.rows = order::rows(&cells, &variants, order).into_iter().map(row).collect();
    group.variant = variants.first().copied().unwrap_or_default();
    let usage = |engine: &Engine<'_>| find(group.variant, engine.id).map(Usage::of);
    group.usage = engines.iter().map(|engine| usage(engine).unwrap_or_default()).collect();
    group.protocol = Protocol::of(cells.into_iter());
    Group { engines, ..group }
}

fn engine<'a>(file: &ResultFile, id: &'a str, cells: &[&'a Cell]) -> Engine<'a> {
    let mut own = cells.iter().filter(|cell| cell.id.engine == id);
    Engine {
        id,
        reference: own.clone().any(|cell| cell.reference),
        by_url: file.plan.urls.contains_key(id),
        effective_durability: own
            .find_map(|cell| cell.effective_durability.filter(|tier| *tier != cell.id.durability)),
    }
}

fn entry<'a>(file: &ResultFile, cell: Option<&'a Cell>, phase: Option<&str>) -> Entry<'a> {
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
    let commits_each = phase.is_some_and(|phase| commits_each(file, &cell.id, phase));
    Figure::of(&parts).map_or(Entry::Absent, |figure| {
        Entry::Measured(Measured {
            figure,
            ratio: None,
            ratio_interval: None,
            best: false,
            not_significant: false,
            tainted,
            commits_each,
        })
    })
}

/// `embedded`, `server` or `reference`: as the facts say, else those of the result; in an older one
/// an engine that had a client beside it is a server. `None` where nothing of it ran.
pub(crate) fn kind<'a>(
    file: &'a ResultFile,
    engine: &str,
    facts: &'a BTreeMap<String, EngineFacts>,
) -> Option<&'a str> {
    let cells = || file.cells.iter().filter(|cell| cell.id.engine == engine);
    if cells().any(|cell| cell.reference) {
        return Some("reference");
    }
    if let Some(known) = facts.get(engine).or_else(|| file.manifest.engines.get(engine)) {
        return Some(&known.kind);
    }
    let phases = cells().flat_map(|cell| &cell.trials).flat_map(|trial| &trial.phases);
    let mut runs = phases.flat_map(|part| &part.runs).peekable();
    runs.peek()?;
    Some(if runs.any(|run| run.client.is_some()) { "server" } else { "embedded" })
}

/// Phases that change many rows in one transaction, and the variants in which they do.
const IN_ONE: [(&str, &[&str], &[&str]); 3] = [
    ("sensors", &["load"], &["single"]),
    ("sensors", &["update", "delete"], &["single", "bulk"]),
    ("contacts", &["insert"], &["single"]),
];

/// Whether an engine that has no transaction over several rows commits them one by one in a phase
/// that others do in one. A store of documents or series has none.
fn commits_each(file: &ResultFile, id: &CellId, phase: &str) -> bool {
    let facts = file.manifest.engines.get(&id.engine);
    facts.is_some_and(|facts| matches!(&*facts.data_model, "document" | "series"))
        && IN_ONE.iter().any(|(workload, phases, variants)| {
            *workload == id.workload && phases.contains(&phase) && variants.contains(&&*id.variant)
        })
}

/// Chooses the row's unit and gives ratios to those that may have one.
fn rank(row: &mut Row<'_>, engines: &[Engine<'_>], tier: Durability) {
    let figures = || row.entries.iter().filter_map(|entry| Some(&entry.measured()?.figure));
    let same_work = figures().all(|figure| Some(figure.ops) == figures().map(|f| f.ops).next());
    let complete = figures().all(|figure| figure.elapsed_ns.is_some());
    row.unit = if same_work && complete { Unit::Run } else { Unit::Operation };

    let mut ranked: Vec<&mut Measured<'_>> = row
        .entries
        .iter_mut()
        .zip(engines)
        .filter_map(|(entry, engine)| match entry {
            Entry::Measured(measured) if engine.ranked(tier) && !measured.tainted => Some(measured),
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
    /// Whether it competes in a tier: a reference never does, nor a server given by its URL, nor an
    /// engine of lower effective durability.
    pub fn ranked(&self, tier: Durability) -> bool {
        !self.reference
            && !self.by_url
            && self.effective_durability.is_none_or(|effective| effective >= tier)
    }

    /// Its id, which of a server given by its URL is another than that of a private one.
    pub fn name(&self) -> String {
        let by_url = if self.by_url { " (by URL)" } else { "" };
        text::plain(self.id) + by_url
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
