//! Rows of any table that a workload file describes. They are read from the user's file or
//! generated from a seed, checked against the table's columns, and staged in a file that workers
//! map.

mod absent;
mod arrivals;
mod convert;
mod duplicates;
mod fault;
mod generated;
mod infer;
mod layout;
mod number;
mod order;
mod refused;
mod select;
mod source;
mod stage;
mod staged;
mod time;
mod writer;

pub use infer::{
    Inferred, InferredColumn, NearKey, group_by_fields, infer, infer_sqlite, time_text,
};
pub use refused::in_quotes;
pub use select::field_names;
pub use source::{
    CODES, FileStates, OptionFault, SqliteTable, check_option, is_sqlite, option_names,
    sqlite_tables, sqlite_views, unknown_codes,
};
pub use stage::{Staged, stage, stage_log};
pub use staged::{StagedTable, compare};
