//! The environment: opening, its settings as it tells them, closing.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;

use embermark_model::Durability;

use super::{ID, check, ffi};
use crate::clients::{HandleCount, HandleGuard, Moved};
use crate::{EngineError, OpenOptions, Result};

/// Address space for the map, and with a write map the file's apparent size while it is open.
/// Neither takes memory or disk before it is used. 64 GiB, or 1 GiB on 32 bits.
const MAP: usize = 1 << if usize::BITS == 64 { 36 } else { 30 };
/// Named databases at most.
const TABLES: u32 = 32;
/// The data's, in the database's directory.
const FILE: &str = "data.mdb";
/// Files for their owner and whom the umask leaves.
const MODE: u32 = 0o664;

/// An open environment; closed when dropped.
pub(super) struct Env {
    raw: *mut ffi::MDB_env,
    dir: PathBuf,
    /// Whether this process made it, and cuts it to its size at the end.
    is_ours: bool,
    /// What further clients in this process hold.
    pub(super) handles: HandleCount,
    /// Of a further client, whose handle is another's to close.
    guard: Option<HandleGuard>,
}

/// The library's version, `0.9.70`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { ffi::mdb_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

impl Env {
    /// Opens the environment with these options.
    pub(super) fn open(options: &OpenOptions) -> Result<Self> {
        let doing = format!("open the environment in {}", options.dir.display());
        let path = CString::new(options.dir.as_os_str().as_bytes())
            .map_err(|error| EngineError::failed(ID, &*doing, error))?;
        let mut raw = ptr::null_mut();
        // SAFETY: on success `raw` is a handle, which `Env` closes, as the manual asks even if
        // opening then fails.
        check(unsafe { ffi::mdb_env_create(&mut raw) }, &doing)?;
        let env = Self {
            raw,
            dir: options.dir.clone(),
            is_ours: true,
            handles: HandleCount::default(),
            guard: None,
        };
        let mut flags = ffi::MDB_NOTLS | ffi::MDB_WRITEMAP;
        if options.durability != Durability::Power {
            flags |= ffi::MDB_NOSYNC;
        }
        // SAFETY: created and not yet open, as the first two ask.
        check(unsafe { ffi::mdb_env_set_mapsize(raw, MAP) }, "set the map's size")?;
        // SAFETY: as above.
        check(unsafe { ffi::mdb_env_set_maxdbs(raw, TABLES) }, "set the number of tables")?;
        // SAFETY: created; the path lives through the call.
        check(unsafe { ffi::mdb_env_open(raw, path.as_ptr(), flags, MODE) }, &doing)?;
        Ok(env)
    }

    /// Opens the environment that another process has open there, with the same flags and map:
    /// processes with and without `MDB_WRITEMAP` do not cooperate well, says the manual.
    pub(super) fn join(options: &OpenOptions) -> Result<Self> {
        let file = options.dir.join(FILE);
        fs::metadata(&file).map_err(|error| EngineError::file(ID, "find", file, error))?;
        let mut env = Self::open(options)?;
        env.is_ours = false;
        Ok(env)
    }

    /// The same environment for a further client in this process, made of [`Env::lend`]. The manual
    /// warns: "Do not have open an LMDB database twice in the same process at the same time"
    /// (<http://www.lmdb.tech/doc/>).
    pub(super) fn of(raw: *mut ffi::MDB_env, guard: HandleGuard) -> Self {
        let (dir, handles) = (PathBuf::new(), HandleCount::default());
        Self { raw, dir, is_ours: false, handles, guard: Some(guard) }
    }

    /// The handle for a further client. Threads may share an environment, each with transactions of
    /// its own (<http://www.lmdb.tech/doc/starting.html>).
    pub(super) fn guard(&self) -> Moved<(*mut ffi::MDB_env, HandleGuard)> {
        // SAFETY: threads share an environment, as the page above has it.
        unsafe { Moved::new((self.raw, self.handles.guard())) }
    }

    /// Opens it once more.
    pub(super) fn again(&self, options: &OpenOptions) -> Result<Self> {
        if self.is_ours { Self::open(options) } else { Self::join(options) }
    }

    /// Whether this process made it.
    pub(super) const fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// The handle, open as long as `self` lives.
    #[inline]
    pub(super) const fn raw(&self) -> *mut ffi::MDB_env {
        self.raw
    }

    /// Syncs to the disk whatever is not yet there.
    pub(super) fn sync(&self) -> Result<()> {
        // SAFETY: open.
        check(unsafe { ffi::mdb_env_sync(self.raw, 1) }, "sync")
    }

    /// The settings that matter, read back.
    pub(super) fn settings(&self) -> Result<Vec<(String, String)>> {
        const DOING: &str = "read its settings back";
        let mut flags = 0;
        // SAFETY: open; writes an integer.
        check(unsafe { ffi::mdb_env_get_flags(self.raw, &mut flags) }, DOING)?;
        let (info, stat) = self.facts()?;
        let on = |flag| if flags & flag != 0 { "on" } else { "off" }.to_owned();
        Ok(vec![
            ("MDB_NOSYNC".to_owned(), on(ffi::MDB_NOSYNC)),
            ("MDB_NOMETASYNC".to_owned(), on(ffi::MDB_NOMETASYNC)),
            ("MDB_WRITEMAP".to_owned(), on(ffi::MDB_WRITEMAP)),
            ("MDB_NOTLS".to_owned(), on(ffi::MDB_NOTLS)),
            ("MDB_NOLOCK".to_owned(), on(ffi::MDB_NOLOCK)),
            ("map size".to_owned(), format!("{} bytes", info.me_mapsize)),
            ("page size".to_owned(), format!("{} bytes", stat.ms_psize)),
            ("cache".to_owned(), "none of its own: the system's page cache".to_owned()),
        ])
    }

    fn facts(&self) -> Result<(ffi::MDB_envinfo, ffi::MDB_stat)> {
        // SAFETY: plain C structs of integers and a pointer, for which zeros are valid.
        let (mut info, mut stat) =
            unsafe { std::mem::zeroed::<(ffi::MDB_envinfo, ffi::MDB_stat)>() };
        // SAFETY: open; each fills its struct.
        let codes = unsafe {
            (ffi::mdb_env_info(self.raw, &mut info), ffi::mdb_env_stat(self.raw, &mut stat))
        };
        check(codes.0, "tell its state").and(check(codes.1, "tell its state"))?;
        Ok((info, stat))
    }

    /// Syncs and closes, and cuts the file off behind its last page: a write map stretches it to
    /// the size of the map, a hole that would pass for the database's size. What another process
    /// made is left to it.
    pub(super) fn close(&mut self) -> Result<()> {
        if !self.is_ours {
            self.release();
            return Ok(());
        }
        self.handles.refuse(ID, "close the environment")?;
        self.sync()?;
        let (info, stat) = self.facts()?;
        let file = self.dir.join(FILE);
        self.release();
        let used = (info.me_last_pgno as u64 + 1) * u64::from(stat.ms_psize);
        let cut = fs::OpenOptions::new().write(true).open(&file).and_then(|open| {
            if open.metadata()?.len() > used { open.set_len(used) } else { Ok(()) }
        });
        cut.map_err(|error| EngineError::file(ID, "shorten", file, error))
    }

    /// Closes without more ado; a second time does nothing.
    pub(super) fn release(&mut self) {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        if self.guard.is_some() || self.handles.is_lending() {
            return;
        }
        // SAFETY: null, which does nothing, or created and not used again; the store has ended
        // its transactions and cursors.
        unsafe { ffi::mdb_env_close(raw) };
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        self.release();
    }
}
