//! The column families of a database, and how both are opened.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{ptr, slice};

use super::ID;
use super::api::Api;
use super::family::Family;
use crate::Result;
use crate::lsm::{self, Lib};
use crate::owned::{Owned, c_string};

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

/// An open database with its column families.
pub(super) struct Families {
    pub db: Arc<Db>,
    /// Whether changes go to a log.
    pub logged: bool,
    /// Whether a commit is synced before it returns.
    pub synced: bool,
    all: Mutex<Vec<Arc<Family>>>,
}

impl Families {
    pub fn all(&self) -> MutexGuard<'_, Vec<Arc<Family>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the family with this name, and creates a missing one.
    pub fn named(&self, name: &CStr) -> Result<Arc<Family>> {
        let mut all = self.all();
        if let Some(known) = all.iter().find(|known| *known.name == *name) {
            return Ok(Arc::clone(known));
        }
        let made = Family::make(&self.db, name.to_owned())?;
        all.push(Arc::clone(&made));
        Ok(made)
    }

    /// Drops a family with its content, and creates an empty one with its name.
    pub fn renew(&self, family: &mut Arc<Family>) -> Result<()> {
        let (lib, api, db, raw) = family.parts();
        // SAFETY: both are open, and stay so.
        lib.call("remove a table", |error| unsafe { (api.drop_column_family)(db, raw, error) })?;
        self.all().retain(|known| known.name != family.name);
        *family = self.named(&family.name)?;
        Ok(())
    }
}

/// Opens or creates the database in a folder, with all its column families. The options have the
/// library's syntax (<https://github.com/facebook/rocksdb/wiki/Option-String-and-Option-Map>).
/// Writes are logged or not, and synced or not.
pub(super) fn open(
    lib: Lib,
    api: &'static Api,
    folder: &Path,
    options: &str,
    (logged, synced): (bool, bool),
) -> Result<Families> {
    let doing = format!("open the database in {}", folder.display());
    let (path, text) = (c_string(ID, &doing, folder)?, c_string(ID, &doing, options)?);
    // SAFETY: ours.
    let make = || unsafe { Owned::new((lib.api.options_create)(), lib.api.options_destroy) };
    let (shipped, options) = (make(), make());
    // SAFETY: both are open; the text lives through the call.
    lib.call(&doing, |error| unsafe {
        (api.get_options_from_string)(shipped.raw, text.as_ptr(), options.raw, error);
    })?;
    let names = match folder.join("CURRENT").exists() {
        true => family_names(lib, api, &options, &path, &doing)?,
        false => vec![c"default".to_owned()],
    };
    let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let of_each = vec![options.raw; names.len()];
    let mut handles = vec![ptr::null_mut(); names.len()];
    let count = i32::try_from(names.len()).unwrap_or(i32::MAX);
    // SAFETY: the three lists have the given number of members, and live through the call.
    let raw = lib.call(&doing, |error| unsafe {
        let (options, path, names) = (options.raw, path.as_ptr(), pointers.as_ptr());
        let (of_each, handles) = (of_each.as_ptr(), handles.as_mut_ptr());
        (api.open_column_families)(options, path, count, names, of_each, handles, error)
    })?;
    let own = DbContext { api, options, dir: folder.to_owned() };
    // SAFETY: open, and ours; the options are kept alive.
    let db = Arc::new(unsafe { Db::new(lib, raw, synced, own) });
    // SAFETY: open, and nothing was written with it yet.
    unsafe { (api.writeoptions_disable_WAL)(db.writes.raw, i32::from(!logged)) };
    let found = names.into_iter().zip(handles);
    let all = found.map(|(name, raw)| Family::new(&db, name, raw)).collect();
    Ok(Families { db, logged, synced, all: Mutex::new(all) })
}

/// Returns the names of a database's column families.
fn family_names(
    lib: Lib,
    api: &Api,
    options: &Owned,
    path: &CStr,
    doing: &str,
) -> Result<Vec<CString>> {
    let mut count = 0;
    // SAFETY: the path lives through the call.
    let list = lib.call(doing, |error| unsafe {
        (api.list_column_families)(options.raw, path.as_ptr(), &mut count, error)
    })?;
    // SAFETY: a list of that many NUL-terminated texts, copied before it is freed.
    unsafe {
        let names = slice::from_raw_parts(list, count).iter();
        let names = names.map(|&name| CStr::from_ptr(name).to_owned()).collect();
        (api.list_column_families_destroy)(list, count);
        Ok(names)
    }
}

/// Returns a property as the library reports it.
pub(super) fn property(db: &Db, name: &CStr) -> Option<String> {
    // SAFETY: open; the name lives through the call.
    let text = unsafe { (db.own.api.property_value)(db.raw.raw, name.as_ptr()) };
    // SAFETY: a text that is ours.
    (!text.is_null()).then(|| unsafe { db.lib.take_text(text) })
}
