//! Files of pairs that a load writes and ingests.

use std::ffi::CString;
use std::sync::Arc;

use super::families::Db;
use super::family::Family;
use crate::Result;
use crate::owned::{Owned, c_string};

/// A file of pairs that is being written.
pub(super) struct SstFile {
    path: CString,
    raw: Owned,
    _env: Owned,
    db: Arc<Db>,
}

impl SstFile {
    #[inline]
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (api, raw) = (self.db.own.api, self.raw.raw);
        // SAFETY: open; key and value live through the call.
        self.db.lib.call("append a pair", |error| unsafe {
            let (at, size) = (value.as_ptr(), value.len());
            (api.sstfilewriter_put)(raw, key.as_ptr(), key.len(), at, size, error);
        })
    }

    /// Syncs the file, which has at least one pair. Returns its path.
    pub fn finish(self) -> Result<CString> {
        // SAFETY: open.
        self.db.lib.call("finish a file", |error| unsafe {
            (self.db.own.api.sstfilewriter_finish)(self.raw.raw, error);
        })?;
        Ok(self.path)
    }
}

impl Family {
    /// Begins a file of ascending pairs in the database's folder, to ingest later.
    pub fn file(&self, number: usize) -> Result<SstFile> {
        const DOING: &str = "make a file";
        let (lib, api, ..) = self.parts();
        let path = self.db.own.dir.join(format!("load-{number}.sst"));
        let path = c_string(lib.id, DOING, path)?;
        // SAFETY: the options are open; both objects made are ours, and the file is dropped first.
        let file = unsafe {
            let env = Owned::new((api.envoptions_create)(), api.envoptions_destroy);
            let raw = (api.sstfilewriter_create)(env.raw, self.db.own.options.raw);
            let (raw, db) = (Owned::new(raw, api.sstfilewriter_destroy), Arc::clone(&self.db));
            SstFile { path, raw, _env: env, db }
        };
        // SAFETY: the path lives through the call.
        lib.call(DOING, |error| unsafe {
            (api.sstfilewriter_open)(file.raw.raw, file.path.as_ptr(), error);
        })?;
        Ok(file)
    }

    /// Ingests finished files with one change. They are moved.
    pub fn ingest(&self, files: &[CString]) -> Result<()> {
        let (lib, api, db, family) = self.parts();
        let paths: Vec<_> = files.iter().map(|file| file.as_ptr()).collect();
        // SAFETY: everything lives through the call.
        lib.call("take files in", |error| unsafe {
            let options = (api.ingestexternalfileoptions_create)();
            let options = Owned::new(options, api.ingestexternalfileoptions_destroy);
            (api.ingestexternalfileoptions_set_move_files)(options.raw, 1);
            let (paths, count) = (paths.as_ptr(), paths.len());
            (api.ingest_external_file_cf)(db, family, paths, count, options.raw, error);
        })
    }
}
