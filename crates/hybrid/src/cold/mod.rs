//! Cold chunks: rows of a time that is past, in Parquet files beside the mirror. They are not the
//! mirror's but the record itself: where their pairs have left the front they are nowhere else.
//!
//! An archive is a *run*, known by its number, and makes one file or more. A row of a file is valid until its
//! key is put, changed or deleted: that is kept in the front as the number of the newest run then, in the
//! same transaction, and makes the key's row invalid in every file of a run up to that.

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
