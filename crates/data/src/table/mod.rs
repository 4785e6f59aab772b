//! Rows of any table, as a workload file describes it: read from a file of the user's or made from
//! a seed, checked against the table's columns, and staged in a file that workers map.

mod again;
mod columnar;
mod delimited;
mod fault;
mod fit;
mod infer;
mod layout;
mod lines;
mod made;
mod order;
mod record;
mod refused;
mod source;
mod stage;
mod staged;
mod time;
mod writer;

pub use infer::{Inferred, InferredColumn, infer};
pub use source::Format;
pub use stage::{Staged, stage};
pub use staged::{StagedTable, compare};
