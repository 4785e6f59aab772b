//! Rows of any table, as a workload file describes it: read from a file of the user's or made from
//! a seed, checked against the table's columns, and staged in a file that workers map.

mod again;
mod fault;
mod layout;
mod made;
mod order;
mod refused;
mod stage;
mod staged;
mod writer;

pub use stage::{Staged, stage};
pub use staged::{StagedTable, compare};
