//! Computes the figures that are compared from raw runs. There is one [`Group`] per workload,
//! scale, memory limit and tier, because ratios are computed only within a group.

mod column;
mod computed;
mod explained;
mod figure;
mod metric;
mod protocol;
mod resource;
mod sharing;
mod shortfall;
mod usage;
mod work;

#[cfg(test)]
pub(crate) mod tests;

use embermark_model::plan::Dataset;
use embermark_model::result::{Cell, DiskSize, ResultFile};
use embermark_model::{CellId, Conditions, Durability, Extent, Scale, Status};

pub use column::{Amounts, Column, Quantity};
pub use computed::compare;
pub(crate) use computed::{kind, rank};
pub(crate) use explained::{COUNTS, Source, not_explained};
pub use explained::{Explanation, explained, explained_columns};
pub use figure::{Figure, Stop};
pub(crate) use figure::{Phases, counted, per_operation, versions};
pub(crate) use metric::{LOADING, Metric, RUN_TABLES, RunValue};
pub use metric::{loading, run_figure_columns, run_figures};
pub use protocol::Protocol;
pub use resource::{Combined, Resource};
pub(crate) use resource::{above_baseline, combinations};
pub use sharing::{MachineShare, Schedule, Sharing};
pub use shortfall::{Lacking, Shortfall, Shortfalls};
pub use usage::{Usage, memory_floor};
pub use work::Work;

use crate::kinds::Kinds;
use crate::text;

/// Every figure of one result file.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The result file.
    pub(crate) file: &'a ResultFile,
    /// Groups, in the order of the plan's cells.
    pub groups: Vec<Group<'a>>,
    /// Kinds of the phases.
    pub(crate) kinds: Kinds<'a>,
}

/// Figures that may be compared: one workload at one scale within one memory limit on one storage
/// in one tier.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The result file.
    pub(crate) file: &'a ResultFile,
    /// The workload's id.
    pub workload: &'a str,
    /// Number of rows, memory limit and imitated storage.
    pub extent: Extent,
    /// The tier.
    pub durability: Durability,
    /// The rows that were used.
    pub dataset: Option<&'a Dataset>,
    /// The variant that runs every phase. Rows of other variants name them.
    pub variant: &'a str,
    /// Engines, in the order of the plan.
    pub engines: Vec<Engine<'a>>,
    /// Rows, in display order.
    pub rows: Vec<Row<'a>>,
    /// Resources of each engine in the group's main variant, in the order of `engines`.
    pub usage: Vec<Usage>,
    /// Size of the database in each variant, in the order of `engines`. It was loaded once,
    /// maintained and closed.
    pub sizes: Vec<(&'a str, Vec<Option<DiskSize>>)>,
    /// Runs and trials. `None` if no cell completed.
    pub protocol: Option<Protocol>,
}

/// One engine in one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine<'a> {
    /// Its id, or its name as a configuration.
    pub id: &'a str,
    /// Its id, also for a configuration.
    pub base: &'a str,
    /// Whether it is shown and never ranked.
    pub reference: bool,
    /// Whether it is a server that the user gave by its URL. It has its own settings and machine,
    /// so it is shown and never ranked.
    pub by_url: bool,
    /// Whether it is a configuration. The settings, and the claim about their durability, are the
    /// author's.
    pub own_settings: bool,
    /// For a configuration: the engine's reported settings that differ from the tier's. Only its
    /// author claims that it keeps the tier, so it is shown and not ranked.
    pub own_durability: Option<&'a str>,
    /// The durability that its setting provides, if it differs from the group's tier.
    pub effective_durability: Option<Durability>,
    /// Whether it broke the promise of the group's tier in a test.
    pub broken: bool,
}

/// One phase in one variant, over all engines of the group.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The phase. Absent if no engine of this variant reached a phase.
    pub phase: Option<&'a str>,
    /// The variant, if it is not the group's main one.
    pub variant: Option<&'a str>,
    /// Whether its times are of one operation, because an engine was stopped at the cap or did
    /// another number of operations. Otherwise they are of a whole run. A row has one unit, so that
    /// its times can be compared.
    pub per_operation: bool,
    /// Entries, in the order of the group's engines.
    pub entries: Vec<Entry<'a>>,
    /// Bytes written and maintenance of a phase that inserts rows, in the same order.
    pub loadings: Vec<Option<Amounts>>,
    /// Figures other than times, in the same order.
    pub run_figures: Vec<Option<Amounts>>,
    /// Requests of an operation to the system, if they were counted, in the same order.
    pub explained: Vec<Option<Explanation>>,
}

/// Entry of one engine in a row.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all of them are the large one")]
pub enum Entry<'a> {
    /// A time.
    Measured(Measured<'a>),
    /// No time, with the status that explains why.
    Ended(Status),
    /// Not requested, or no run counts.
    Absent,
}

/// A time and its rank.
#[derive(Clone, Debug, Default)]
pub struct Measured<'a> {
    /// The time.
    pub figure: Figure<'a>,
    /// Its time divided by the best one's of the row. Absent if it is not ranked, or if it is the
    /// only ranked one.
    pub ratio: Option<f64>,
    /// The 95 % interval of that ratio. Absent for the best, and if either has fewer than three
    /// trials.
    pub ratio_interval: Option<[f64; 2]>,
    /// Whether it is the best of the row.
    pub best: bool,
    /// Whether the difference to the best is not significant: the ratio's interval includes 1. The
    /// best then has this too, because the row has no sole winner.
    pub not_significant: bool,
    /// Whether this phase completed but the cell did not. Such a time is shown and not ranked.
    pub tainted: bool,
    /// Number of trials of its cell that were lost. The figure is from the others.
    pub lost: usize,
    /// Whether each row was a commit because the engine has no transactions, while others of the
    /// row put many rows in one.
    pub commits_each: bool,
    /// What its cell failed to do. Such a time is shown and not ranked.
    pub shortfall: Option<Shortfall<'a>>,
}

impl Measured<'_> {
    /// Whether its cell completed and did all of its work.
    pub const fn competes(&self) -> bool {
        !self.tainted && self.shortfall.is_none()
    }
}

impl<'a> Entry<'a> {
    /// Returns the time, if there is one.
    pub const fn measured(&self) -> Option<&Measured<'a>> {
        match self {
            Self::Measured(measured) => Some(measured),
            _ => None,
        }
    }
}

impl<'a> Group<'a> {
    /// Returns every time, with its row and its engine.
    pub fn measured(&self) -> impl Iterator<Item = (&Row<'a>, &Engine<'a>, &Measured<'a>)> {
        self.rows.iter().flat_map(|row| {
            let entries = self.engines.iter().zip(&row.entries);
            entries.filter_map(move |(engine, entry)| Some((row, engine, entry.measured()?)))
        })
    }

    /// Whether at least two of the engines that compete have figures.
    pub(crate) fn is_compared(&self) -> bool {
        let ranked = self.measured().filter(|(_, engine, _)| engine.ranked(self.durability));
        text::unique(ranked.map(|(_, engine, _)| engine.id)).len() > 1
    }

    /// Whether clients shared its operations or started them at a target rate.
    pub(crate) fn is_paced(&self) -> bool {
        self.measured().any(|(.., measured)| measured.figure.sharing.is_some())
    }

    /// Whether a cell belongs to the group.
    pub fn holds(&self, id: &CellId) -> bool {
        (self.workload, self.extent, self.durability) == (&*id.workload, id.extent(), id.durability)
    }

    /// Returns its cells, in the order of the result.
    pub fn cells(&self) -> impl Iterator<Item = &'a Cell> + Clone {
        self.file.cells.iter().filter(move |cell| self.holds(&cell.id))
    }

    /// Returns its memory limit and storage.
    pub const fn conditions(&self) -> Conditions {
        self.extent.conditions()
    }

    /// Returns its workload and extent: `sensors 100k`, `sensors 100k within 256 MiB on sd-a1`.
    pub fn place(&self) -> String {
        format!("{} {}", text::plain(self.workload), self.extent)
    }

    /// Finds the cell of an engine in one of its variants.
    pub fn cell(&self, variant: &str, engine: &str) -> Option<&'a Cell> {
        self.cells().find(|cell| (&*cell.id.variant, &*cell.id.engine) == (variant, engine))
    }

    /// Returns the number of rows of its workload, if known.
    pub fn row_count(&self) -> Option<u64> {
        match self.extent.scale {
            Scale::Rows(rows) => Some(rows),
            Scale::Full => self.dataset.map(|dataset| dataset.rows),
        }
    }
}

impl Row<'_> {
    /// Returns the time of `measured` in the row's unit, in ns.
    pub fn time_ns(&self, measured: &Measured<'_>) -> f64 {
        let whole = measured.figure.elapsed_ns.filter(|_| !self.per_operation);
        whole.unwrap_or(measured.figure.per_op_ns)
    }

    /// Returns the 95 % interval of that time in ns. `None` with fewer than three trials.
    pub fn interval_ns(&self, measured: &Measured<'_>) -> Option<[f64; 2]> {
        let scale = self.time_ns(measured) / measured.figure.per_op_ns;
        measured.figure.interval_ns.map(|interval| interval.map(|end| end * scale))
    }
}

impl Engine<'_> {
    /// Whether it competes in a tier. References, servers given by their URL, configurations with
    /// other settings than the tier's, engines of lower effective durability, and engines that
    /// broke the promise of the tier do not.
    pub fn ranked(&self, tier: Durability) -> bool {
        !self.reference
            && !self.by_url
            && !self.broken
            && self.own_durability.is_none()
            && self.effective_durability.is_none_or(|effective| effective >= tier)
    }

    /// Returns its id. A server given by its URL is marked, to distinguish it from a private one.
    pub fn name(&self) -> String {
        let by_url = if self.by_url { " (by URL)" } else { "" };
        text::plain(self.id) + by_url
    }

    /// Returns its effective durability if it is above the requested one.
    pub fn stronger(&self, tier: Durability) -> Option<Durability> {
        self.effective_durability.filter(|effective| *effective > tier)
    }

    /// Returns its effective durability if it is below the requested one.
    pub fn weaker(&self, tier: Durability) -> Option<Durability> {
        self.effective_durability.filter(|effective| *effective < tier)
    }
}
