//! What a workload file says, checked: names are resolved to places, and every verb has what it
//! needs.

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
};
pub use work::{
    Arrive, End, Keep, LASTS, Mix, Pace, Part, Sequence, Snapshot, Sql, UNTIL_STEADY, Work,
};

/// A workload file.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name: letters, digits and dashes, no built-in workload's. What is written with blanks is
    /// joined by dashes.
    pub name: String,
    /// What it stands for, in a line.
    pub about: String,
    /// Its tables, the main one first: that whose rows `--scale` counts. It is the one with the
    /// most phases, of equal ones the first in the file.
    pub tables: Vec<Table>,
    /// Its phases in the order of the file, in which they run.
    pub phases: Vec<Phase>,
    /// Its variants in the order of the file; none: the file says nothing of any.
    pub variants: Vec<Variant>,
    /// `usual`: what runs where nothing else is asked for.
    pub usual: Usual,
    /// `overview`: what runs where every workload does; as `usual` where the file says nothing of it.
    pub overview: Usual,
}

impl Definition {
    /// Its `keep`, where it has one: then it has no other phase that runs on its own.
    pub fn keep(&self) -> Option<&Keep> {
        self.phases.iter().find_map(|phase| match &phase.work {
            Work::Keep(keep) => Some(keep),
            _ => None,
        })
    }

    /// Returns what it says of rows that arrive by themselves.
    pub fn arrivals(&self) -> impl Iterator<Item = &Arrive> {
        self.phases.iter().filter_map(|phase| match &phase.work {
            Work::Arrive(arrive) => Some(arrive),
            _ => None,
        })
    }
}

/// What runs where nothing else is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usual {
    /// `scale = "1k"` or several: rows of the main table, of one that is made. None: all of them.
    pub scales: Vec<u64>,
    /// `variants = […]`, by their places; the first where it says nothing.
    pub variants: Vec<usize>,
    /// `memory-limit = "256MiB"`: the largest of the scales runs once more within that much memory.
    pub memory_limit: Option<MemoryLimit>,
}

/// The same work done in another way: `[variant.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name: letters, digits, dashes and underscores.
    pub name: String,
    /// What it does differently, in a line.
    pub about: String,
    /// The phases that it does differently, by their places: of the first variant, which runs all, none has
    /// to be.
    pub changes: Vec<usize>,
    /// The file as this variant has it, without variants.
    pub definition: Definition,
}

/// A phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name: letters, digits, dashes and underscores.
    pub name: String,
    /// What it does, in a line: the file's, or made of the verb and what it is given.
    pub about: String,
    /// What it does.
    pub work: Work,
    /// Whether it runs on its own, and not only as a part of others: `only = "mix"`, and others.
    pub alone: bool,
    /// `only = "variant"`: whether it runs only in variants that say something of it.
    pub apart: bool,
    /// `only = "rate"`: whether it runs only where the highest rate is looked for.
    pub search: bool,
    /// `per = "row"`: whether an operation is a row that is found or changed, and not the whole question.
    pub per_row: bool,
    /// Of a question: how often it is asked in a run.
    pub asked: Asked,
}

/// How often a question is asked in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Asked {
    /// Again and again, for as long as the plan says.
    #[default]
    ForTime,
    /// `ops = 3`: so often.
    Times(Count),
    /// `each = "station"`: of the rows of one value of a column after the other. The values are drawn, each once.
    Each {
        /// The column.
        column: usize,
        /// How many values: all where there are fewer.
        values: Count,
    },
}
