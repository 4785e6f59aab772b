//! The content of a workload file after all checks: names are resolved to indexes, and every verb
//! has what it needs.

mod change;
mod keys;
mod question;
mod work;

use embermark_model::MemoryLimit;
use embermark_model::table::Table;

pub use change::{Change, Commit, Removed, Set};
pub use keys::{Count, Keys, KeysOf, OPS, Range, SKEW, Span};
pub use question::{
    Aggregate, Bound, Compute, Condition, Correlate, Group, Grouped, Having, Operator, OrderBy,
    Query,
};
pub use work::{
    Arrive, End, Keep, LASTS, Mix, Pace, Part, Sequence, Snapshot, Sql, UNTIL_STEADY, Work,
};

/// A workload file.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Name: letters, digits and dashes. It is not that of a built-in workload. Blanks are replaced
    /// by dashes.
    pub name: String,
    /// One-line description of what it represents.
    pub about: String,
    /// Tables. The main one, whose rows `--scale` counts, comes first. It is the one with the most
    /// phases, and of equal ones the first in the file.
    pub tables: Vec<Table>,
    /// By table and column: the line of the file on which the column is.
    pub lines: Vec<Vec<usize>>,
    /// Phases in the order of the file, in which they run.
    pub phases: Vec<Phase>,
    /// Variants in the order of the file. Empty if the file has none.
    pub variants: Vec<Variant>,
    /// `usual`: what runs by default.
    pub usual: Usual,
    /// `overview`: what runs in an overview of all workloads. Same as `usual` if the file does not
    /// specify it.
    pub overview: Usual,
}

impl Definition {
    /// Returns its `keep`, if it has one. It then has no other phase that runs on its own.
    pub fn keep(&self) -> Option<&Keep> {
        self.phases.iter().find_map(|phase| match &phase.work {
            Work::Keep(keep) => Some(keep),
            _ => None,
        })
    }

    /// Returns its `arrive` phases.
    pub fn arrivals(&self) -> impl Iterator<Item = &Arrive> {
        self.phases.iter().filter_map(|phase| match &phase.work {
            Work::Arrive(arrive) => Some(arrive),
            _ => None,
        })
    }
}

/// What runs by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usual {
    /// `scale = "1k"` or several: number of rows of the main table if it is generated. Empty: all
    /// rows.
    pub scales: Vec<u64>,
    /// `variants = […]`: indexes of variants. The first one by default.
    pub variants: Vec<usize>,
    /// `memory-limit = "256MiB"`: the largest scale is repeated with this memory limit.
    pub memory_limit: Option<MemoryLimit>,
}

/// The same work done in another way: `[variant.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Name: letters, digits, dashes and underscores.
    pub name: String,
    /// One-line description of the difference.
    pub about: String,
    /// Indexes of the phases that it does differently. May be empty for the first variant, which
    /// runs every phase.
    pub changes: Vec<usize>,
    /// The file as this variant changes it, without variants.
    pub definition: Definition,
}

/// A phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Name: letters, digits, dashes and underscores.
    pub name: String,
    /// One-line description: the file's, or one derived from the verb and its keys.
    pub about: String,
    /// What it does.
    pub work: Work,
    /// Whether it runs on its own, and not only as a part of others: `only = "mix"` and similar.
    pub alone: bool,
    /// `only = "variant"`: whether it runs only in variants that change it.
    pub apart: bool,
    /// `only = "rate"`: whether it runs only in a search for the highest rate.
    pub search: bool,
    /// `per = "row"`: whether an operation is a row that is found or changed, and not the whole
    /// query.
    pub per_row: bool,
    /// For a query: how often it runs in a run of the phase.
    pub asked: Asked,
}

/// How often a query runs in a run of its phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Asked {
    /// Repeatedly, for as long as the plan says.
    #[default]
    ForTime,
    /// `ops = 3`: this number of times.
    Times(Count),
    /// `each = "station"`: once for the rows of each of several values of a column. The values are
    /// drawn without repetition.
    Each {
        /// Index of the column.
        column: usize,
        /// Number of values. All if there are fewer.
        values: Count,
    },
}
