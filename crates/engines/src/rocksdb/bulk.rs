//! Loading many pairs: tables are written beside the database and then taken in, which
//! <https://github.com/facebook/rocksdb/wiki/Creating-and-Ingesting-SST-files> has for this. The
//! library syncs them, in every tier.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::api::{Api, Handle};
use super::db::{Db, c_string, call};
use crate::Result;
use crate::kv::Pairs;

/// Bytes of pairs in a file: what the library itself makes its files' size by default.
const FILE: usize = 64 << 20;

/// A table's file that is written, closed when dropped.
struct Writer<'a> {
    api: &'a Api,
    raw: Handle,
    env: Handle,
}

/// Loads ascending pairs into a column family, as one change; how many.
pub(super) fn load(
    db: &Db<'_>,
    folder: &Path,
    family: Handle,
    pairs: &mut dyn Pairs,
) -> Result<u64> {
    let (mut rows, mut paths, mut bytes) = (0, Vec::<CString>::new(), 0);
    let mut writer: Option<Writer<'_>> = None;
    while let Some((key, value)) = pairs.next() {
        let open = match &mut writer {
            Some(open) => open,
            none => {
                let path = folder.join(format!("load-{}.sst", paths.len()));
                let path = c_string(path.as_os_str().as_bytes(), "name a file")?;
                let open = none.insert(Writer::open(db, &path)?);
                paths.push(path);
                open
            }
        };
        open.put(key, value)?;
        rows += 1;
        bytes += key.len() + value.len();
        if bytes >= FILE {
            writer.take().map_or(Ok(()), Writer::finish)?;
            bytes = 0;
        }
    }
    writer.map_or(Ok(()), Writer::finish)?;
    if rows > 0 {
        ingest(db, family, &paths)?;
    }
    Ok(rows)
}

fn ingest(db: &Db<'_>, family: Handle, paths: &[CString]) -> Result<()> {
    let api = db.api;
    let pointers: Vec<_> = paths.iter().map(|path| path.as_ptr()).collect();
    // SAFETY: everything lives through the calls; the options are freed once and not used again.
    unsafe {
        let options = (api.ingestexternalfileoptions_create)();
        (api.ingestexternalfileoptions_set_move_files)(options, 1);
        let (paths, count) = (pointers.as_ptr(), pointers.len());
        let taken = call(api, "take files in", |error| {
            (api.ingest_external_file_cf)(db.raw, family, paths, count, options, error);
        });
        (api.ingestexternalfileoptions_destroy)(options);
        taken
    }
}

impl<'a> Writer<'a> {
    fn open(db: &Db<'a>, path: &CString) -> Result<Self> {
        let api = db.api;
        // SAFETY: the options are open; both things made are freed when the writer is dropped.
        let writer = unsafe {
            let env = (api.envoptions_create)();
            Self { api, raw: (api.sstfilewriter_create)(env, db.options.db), env }
        };
        // SAFETY: the path lives through the call.
        call(api, "make a file", |error| unsafe {
            (api.sstfilewriter_open)(writer.raw, path.as_ptr(), error);
        })?;
        Ok(writer)
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        // SAFETY: open; key and value live through the call.
        call(self.api, "append a pair", |error| unsafe {
            let (key_size, value_size) = (key.len(), value.len());
            (self.api.sstfilewriter_put)(
                self.raw,
                key.as_ptr(),
                key_size,
                value.as_ptr(),
                value_size,
                error,
            );
        })
    }

    fn finish(self) -> Result<()> {
        // SAFETY: open, with a pair in it at least.
        call(self.api, "finish a file", |error| unsafe {
            (self.api.sstfilewriter_finish)(self.raw, error);
        })
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and not used again.
        unsafe {
            (self.api.sstfilewriter_destroy)(self.raw);
            (self.api.envoptions_destroy)(self.env);
        }
    }
}
