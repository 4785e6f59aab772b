//! Cold chunks: old rows in Parquet files next to the mirror. They are primary data, unlike the
//! mirror: rows whose pairs were removed from the front exist nowhere else.
//!
//! An archiving is a *run*, which has a number and makes one or more files. A row of a file is
//! valid until its key is put, changed or deleted. The front then stores the number of the newest
//! run for the key, in the same transaction, which invalidates the key's row in every file of runs
//! up to that number.

mod archive;
mod expire;
mod files;
mod store;
mod tables;
mod view;

pub use archive::{Archive, Archived};
pub use expire::Expired;

pub(crate) use archive::check_time_column;
pub(crate) use files::{check_files, write_atomically};
pub(crate) use store::{ColdTables, record_change};
pub(crate) use tables::{ArchivedTable, Cold};
pub(crate) use view::{RUN, literal};
