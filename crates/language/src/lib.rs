//! Workload files: somebody's own tables and the work on them, in TOML.
//!
//! [`Definition`] is what a file says, checked. `docs/workload-files.md` has the whole language.

mod definition;

pub use definition::{
    Aggregate, Bound, Commit, Compute, Condition, Definition, Group, Grouped, Keys, KeysOf, LASTS,
    Mix, OPS, Operator, OrderBy, Pace, Part, Phase, Range, Removed, SKEW, Set, Span, Sql, Work,
};
