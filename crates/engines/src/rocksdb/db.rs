//! An open database, which its column families keep open.

use std::ffi::CStr;
use std::path::PathBuf;

use super::api::Api;
use crate::lsm;
use crate::owned::Owned;

/// The library's functions, the options of the database and of each column family, and the folder.
pub(super) struct DbContext {
    pub api: &'static Api,
    pub options: Owned,
    pub dir: PathBuf,
}

/// An open database, closed when its last user is dropped. Closing does not write the log's content
/// to tables, only what was written without a log
/// (<https://github.com/facebook/rocksdb/blob/main/include/rocksdb/options.h>,
/// `avoid_flush_during_shutdown`).
pub(super) type Db = lsm::Db<DbContext>;

/// Returns a property as the library reports it.
pub(super) fn property(db: &Db, name: &CStr) -> Option<String> {
    // SAFETY: open; the name lives through the call.
    let text = unsafe { (db.own.api.property_value)(db.raw.raw, name.as_ptr()) };
    // SAFETY: a text that is ours.
    (!text.is_null()).then(|| unsafe { db.lib.take_text(text) })
}
