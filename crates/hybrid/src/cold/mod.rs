//! Cold chunks: old rows in Parquet files beside the mirror. They do not belong to the mirror but
//! are the primary data: rows whose pairs were removed from the front exist nowhere else.
//!
//! An archiving is a *run*, which has a number and makes one or more files. A row of a file is
//! valid until its key is put, changed or deleted. The front then stores the number of the newest
//! run for the key, in the same transaction, which invalidates the key's row in every file of runs
//! up to that number.

mod archive;
mod expire;
mod files;
mod kept;
mod store;
mod view;

pub use archive::{Archive, Archived};
pub use expire::Expired;

pub(crate) use archive::is_dated;
pub(crate) use files::{Files, check, whole};
pub(crate) use kept::{Cold, Kept};
pub(crate) use store::{ColdTables, note};
pub(crate) use view::{RUN, literal};
