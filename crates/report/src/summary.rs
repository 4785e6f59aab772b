//! From raw runs to the figures that are compared: one [`Group`] per workload, scale, limit of
//! memory and tier, because ratios are only drawn inside one.

mod beside;
mod column;
mod computed;
mod energy;
mod explained;
mod figure;
mod loading;
mod machine_share;
mod memory_floor;
mod metric;
mod order;
mod phases;
mod protocol;
mod sharing;
mod shortfall;
mod usage;
mod work;

#[cfg(test)]
pub(crate) mod tests;

use embermark_model::plan::Dataset;
use embermark_model::result::{Cell, DiskSize, ResultFile};
use embermark_model::{
    CellId, Conditions, Durability, Extent, MemoryLimit, Scale, Status, StorageName,
};

pub(crate) use beside::{LOG, WRITE_BEHIND};
pub use beside::{beside, beside_columns};
pub use column::{Amounts, Column, Quantity};
pub use computed::compare;
pub(crate) use computed::kind;
pub(crate) use explained::{COUNTS, Source, not_explained};
pub use explained::{Explanation, explained, explained_columns};
pub use figure::{Figure, Stop};
pub(crate) use figure::{counted, per_operation, versions};
pub(crate) use loading::LOADING;
pub use loading::loading;
pub use machine_share::MachineShare;
pub use memory_floor::{above_floor, memory_floor};
pub(crate) use metric::{Metric, RunValue};
pub(crate) use phases::Phases;
pub use protocol::Protocol;
pub use sharing::{Schedule, Sharing};
pub use shortfall::{Lacking, Shortfall, Shortfalls};
pub use usage::{Resource, Usage};
pub use work::Work;

use crate::kinds::Kinds;
use crate::text;

/// Every figure of one result file.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// In the order of the plan's cells.
    pub groups: Vec<Group<'a>>,
    /// The kinds of the phases.
    pub(crate) kinds: Kinds<'a>,
}

/// What may be compared with each other: one workload at one scale within one limit of
/// memory on one storage in one tier.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The workload's id.
    pub workload: &'a str,
    /// How many rows.
    pub scale: Scale,
    /// The limit of memory, if any.
    pub memory_limit: Option<MemoryLimit>,
    /// The imitated storage, if any.
    pub storage: Option<StorageName>,
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
    /// Each variant with the size of its database, in the order of `engines`: loaded once, maintenance
    /// done, closed.
    pub sizes: Vec<(&'a str, Vec<Option<DiskSize>>)>,
    /// What ran; `None` where nothing ended well.
    pub protocol: Option<Protocol>,
}

/// One engine in one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine<'a> {
    /// Its id, or its name as a configuration.
    pub id: &'a str,
    /// Its id, of a configuration too.
    pub base: &'a str,
    /// Shown and never ranked.
    pub reference: bool,
    /// A server that somebody gave by its URL: its settings and its machine are its own, so it is
    /// shown and never ranked.
    pub by_url: bool,
    /// A configuration: its settings are its author's, and so is what is said of its durability.
    pub own_settings: bool,
    /// Of a configuration: what the engine gave back that is not the tier's. Whether it keeps the tier
    /// is its author's word alone, so it is shown and not ranked.
    pub own_durability: Option<&'a str>,
    /// The tier that its setting provides, when that is not the group's.
    pub effective_durability: Option<Durability>,
    /// It was tried, and broke what the group's tier promises.
    pub broken: bool,
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
    /// What it has to show beside its time; in the same order.
    pub beside: Vec<Option<Amounts>>,
    /// What an operation of it asked of the system, where that was counted; in the same order.
    pub explained: Vec<Option<Explanation>>,
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
    /// Its time over the best one's of the row; absent when it is not ranked, or no other engine is.
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
    /// Trials of its cell that were lost: the figure is of the others.
    pub lost: usize,
    /// Each row was a commit of its own, for want of transactions, in a row of the table whose
    /// others put many in one.
    pub commits_each: bool,
    /// Its cell did not do all that it was to do: shown, not ranked.
    pub shortfall: Option<Shortfall<'a>>,
}

impl Measured<'_> {
    /// Whether its cell ended well and did all that it was to do.
    pub const fn competes(&self) -> bool {
        !self.tainted && self.shortfall.is_none()
    }
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
        (self.workload, self.extent(), self.durability)
            == (&*id.workload, id.extent(), id.durability)
    }

    /// Its scale, its limit of memory and its storage.
    pub const fn extent(&self) -> Extent {
        Extent { scale: self.scale, memory_limit: self.memory_limit, storage: self.storage }
    }

    /// All of that but its scale.
    pub const fn conditions(&self) -> Conditions {
        self.extent().conditions()
    }

    /// Its workload and how much of it: `sensors 100k`, `sensors 100k within 256 MiB on sd-a1`.
    pub fn place(&self) -> String {
        format!("{} {}", text::plain(self.workload), self.extent())
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

impl Engine<'_> {
    /// Whether it competes in a tier: a reference never does, nor a server given by its URL, nor a
    /// configuration whose settings are not the tier's, nor an engine of lower effective durability.
    pub fn ranked(&self, tier: Durability) -> bool {
        !self.reference
            && !self.by_url
            && self.own_durability.is_none()
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
