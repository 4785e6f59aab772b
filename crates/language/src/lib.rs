//! Workload files: a user's own tables and the work on them, in TOML.
//!
//! [`parse`] reads a file. [`Definition`] is its checked content, and [`Mistakes`] lists everything
//! that is wrong with it. `docs/workload-files.md` describes the whole language.

mod about;
mod alike;
mod arrive;
mod built_in;
mod changes;
mod checks;
mod column;
mod conditions;
mod constant;
mod criterion;
mod definition;
mod draft;
mod file;
mod group;
mod keep;
mod make;
mod mistakes;
mod mix;
mod names;
mod node;
mod phase;
mod phases;
mod propose;
mod questions;
mod reading;
mod reserved;
mod rows;
mod sequence;
mod sql;
mod table;
mod time;
mod variant;

pub use arrive::FASTEST;
pub use built_in::{BUILT_IN, PUBLISHED};
pub use criterion::{Counted, counted, kind_of_machine};
pub use definition::{
    Aggregate, Arrive, Asked, Bound, Change, Commit, Compute, Condition, Correlate, Count,
    Definition, End, Group, Grouped, Having, Keep, Keys, KeysOf, LASTS, Mix, OPS, Operator,
    OrderBy, Pace, Part, Phase, Query, Range, Removed, SKEW, Sequence, Set, Snapshot, Span, Sql,
    UNTIL_STEADY, Usual, Variant, Work,
};
pub use draft::time_column;
pub use file::parse;
pub use mistakes::Mistakes;
pub use propose::{ProposalOptions, propose, statements};
