//! What trials of settings came to.

use std::collections::BTreeMap;

/// What trials of a column came to: of today's settings, or of a candidate.
#[derive(Clone, Debug)]
pub enum Ended {
    /// By trial and phase the time of an operation in ns.
    Times(Vec<BTreeMap<String, f64>>),
    /// It takes part no more, for this reason.
    Out(String),
}

/// Columns in the order in which they were asked for.
pub type Columns = Vec<Ended>;
