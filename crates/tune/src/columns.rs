//! Results of trials of settings.

use std::collections::BTreeMap;

/// Results of a column's trials: of the current settings, or of a candidate.
#[derive(Clone, Debug)]
pub enum ColumnResult {
    /// Times of an operation in ns, by trial and phase.
    Times(Vec<BTreeMap<String, f64>>),
    /// The column is out, for this reason.
    Out(String),
}

/// Columns in the order in which they were requested.
pub type Columns = Vec<ColumnResult>;
