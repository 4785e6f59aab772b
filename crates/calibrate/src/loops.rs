//! The bare loops of `loops/*.c`.

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::Instant;

// Naming them links them, in the versions that the adapters link.
use libsqlite3_sys as _;
use lmdb_master_sys as _;

use embermark_model::{Key, Reading};

use crate::Failure;
use crate::rows::{encoded_key, encoded_value};

/// `struct row`.
#[repr(C)]
struct Row {
    ts: i64,
    values: [f64; 4],
    sensor: u16,
    present: u16,
    key: [u8; 10],
    value: [u8; 33],
}

/// `struct lookup_key`.
#[repr(C)]
struct LookupKey {
    ts: i64,
    sensor: u16,
    key: [u8; 10],
}

/// `struct row_sum`: rows, and the sum of their bytes as computed by [`expected`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RowSum {
    /// Number of rows.
    pub rows: u64,
    /// Sum of their bytes.
    pub sum: u64,
}

/// `struct loops`.
#[repr(C)]
struct Functions {
    open: unsafe extern "C" fn(*mut *mut c_void, *const c_char, u64) -> c_int,
    clear: unsafe extern "C" fn(*mut c_void) -> c_int,
    load: unsafe extern "C" fn(*mut c_void, *const Row, usize) -> c_int,
    settle: unsafe extern "C" fn(*mut c_void) -> c_int,
    read: unsafe extern "C" fn(*mut c_void, *const LookupKey, usize, *mut RowSum) -> c_int,
    close: unsafe extern "C" fn(*mut c_void) -> c_int,
}

unsafe extern "C" {
    static bare_sqlite: Functions;
    static bare_lmdb: Functions;
    static bare_rocksdb: Functions;
    static bare_mongodb: Functions;
    #[cfg(berkeleydb_linked)]
    static bare_berkeleydb: Functions;
}

fn functions(engine: &str) -> Option<&'static Functions> {
    // SAFETY: constants of the C files, with the type in their header.
    unsafe {
        match engine {
            "sqlite" => Some(&bare_sqlite),
            "lmdb" => Some(&bare_lmdb),
            "rocksdb" => Some(&bare_rocksdb),
            "mongodb" => Some(&bare_mongodb),
            #[cfg(berkeleydb_linked)]
            "berkeleydb" => Some(&bare_berkeleydb),
            _ => None,
        }
    }
}

/// Whether the loop of that engine is part of this build.
pub fn is_compiled_in(engine: &str) -> bool {
    functions(engine).is_some()
}

/// An open database of a bare loop.
pub struct Database {
    functions: &'static Functions,
    db: *mut c_void,
}

impl Database {
    /// Opens a new database in an empty folder, or on the server with this URL.
    pub fn open(engine: &str, place: &Path, memory: u64) -> Result<Self, Failure> {
        let functions = functions(engine).ok_or("its bare loop is not part of this build")?;
        let path = CString::new(place.as_os_str().as_bytes())?;
        let mut db = ptr::null_mut();
        // SAFETY: the path lives through the call.
        done(unsafe { (functions.open)(&mut db, path.as_ptr(), memory) }, "open")?;
        Ok(Self { functions, db })
    }

    /// Returns the handle that the functions of its library take.
    pub const fn handle(&self) -> *mut c_void {
        self.db
    }

    /// Runs its maintenance.
    pub fn maintain(&mut self) -> Result<(), Failure> {
        // SAFETY: open.
        done(unsafe { (self.functions.settle)(self.db) }, "settle")
    }

    /// Closes it.
    pub fn close(self) -> Result<(), Failure> {
        // SAFETY: open, and not used again.
        done(unsafe { (self.functions.close)(self.db) }, "close")
    }
}

/// A bare loop's database with the rows and keys of `sensors` in its form.
pub struct Bare {
    /// The database, to be maintained and closed.
    pub database: Database,
    rows: Vec<Row>,
    wanted: Vec<LookupKey>,
}

impl Bare {
    /// Opens a new database in an empty folder, or on the server whose URL is given instead.
    pub fn open(
        engine: &str,
        place: &Path,
        memory: u64,
        rows: &[Reading],
        keys: impl Iterator<Item = Key>,
    ) -> Result<Self, Failure> {
        let row = |reading: &Reading| Row {
            ts: reading.ts,
            values: reading.values,
            sensor: reading.sensor,
            present: reading.present,
            key: encoded_key(reading.key()),
            value: encoded_value(reading),
        };
        let wanted = |key: Key| LookupKey { ts: key.ts, sensor: key.sensor, key: encoded_key(key) };
        let (rows, wanted) = (rows.iter().map(row).collect(), keys.map(wanted).collect());
        Ok(Self { database: Database::open(engine, place, memory)?, rows, wanted })
    }

    /// Empties the table, then loads every row. Returns the time of the load alone in ns.
    pub fn load(&mut self) -> Result<u64, Failure> {
        let Database { functions, db } = self.database;
        // SAFETY: open.
        done(unsafe { (functions.clear)(db) }, "clear")?;
        let start = Instant::now();
        // SAFETY: open, with as many rows as stated.
        let code = unsafe { (functions.load)(db, self.rows.as_ptr(), self.rows.len()) };
        let ns = start.elapsed().as_nanos() as u64;
        done(code, "load").map(|()| ns)
    }

    /// Reads every key. Returns the time in ns, and what was found.
    pub fn read(&mut self) -> Result<(u64, RowSum), Failure> {
        let mut found = RowSum::default();
        let (keys, count) = (self.wanted.as_ptr(), self.wanted.len());
        let start = Instant::now();
        let Database { functions, db } = self.database;
        // SAFETY: open, with as many keys as stated.
        let code = unsafe { (functions.read)(db, keys, count, &mut found) };
        let ns = start.elapsed().as_nanos() as u64;
        done(code, "read").map(|()| (ns, found))
    }
}

pub fn done(code: c_int, doing: &str) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(format!("the bare loop's {doing} gave {code}").into()) }
}

/// Returns what reading these rows must find: the sum of `add_value` in `loops.h`.
pub fn expected<'a>(rows: impl Iterator<Item = &'a Reading>) -> RowSum {
    let mut found = RowSum::default();
    for row in rows {
        let words = row.values.iter().map(|value| value.to_bits());
        let sum = words.fold(u64::from(row.present), u64::wrapping_add);
        found = RowSum { rows: found.rows + 1, sum: found.sum.wrapping_add(sum) };
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use embermark_engines::{Join, Opened, registry};

    use super::*;
    use crate::pair::{MEMORY, options, socket_url};
    use crate::rows::{drawn, readings, stage};

    /// Loads the rows twice, then reads them.
    fn finds_its_rows(engine: &str, place: &Path) {
        let folder = tempfile::tempdir().unwrap();
        let staged = folder.path().join("rows");
        stage(&staged, 19).unwrap();
        let rows = readings(&staged).unwrap();
        // Every fourth key belongs to no row: there is none a microsecond later.
        let keys: Vec<(usize, bool)> =
            drawn(rows.len()).into_iter().enumerate().map(|(i, at)| (at, i % 4 != 3)).collect();
        let expected =
            expected(keys.iter().filter(|(_, is_there)| *is_there).map(|(at, _)| &rows[*at]));
        let wanted = keys.iter().map(|(at, is_there)| {
            let key = rows[*at].key();
            Key { ts: key.ts + i64::from(!is_there), ..key }
        });
        let mut bare = Bare::open(engine, place, 16 << 20, &rows, wanted).unwrap();
        assert!(bare.load().unwrap() > 0, "{engine}");
        assert!(bare.load().unwrap() > 0, "{engine}");
        bare.database.maintain().unwrap();
        assert_eq!(bare.read().unwrap().1, expected, "{engine}");
        bare.database.close().unwrap();
    }

    #[test]
    fn every_bare_loop_finds_the_rows_it_loaded_and_no_others() {
        // If RocksDB's adapter is available, it has opened its library.
        let is_here = |engine: &&str| {
            is_compiled_in(engine) && embermark_skips::is_here(registry::find(engine).unwrap())
        };
        for engine in ["sqlite", "lmdb", "berkeleydb", "rocksdb"].into_iter().filter(is_here) {
            finds_its_rows(engine, tempfile::tempdir().unwrap().path());
        }
    }

    #[test]
    fn the_bare_loop_of_rocksdb_has_the_options_of_the_adapter() {
        let rocksdb = registry::find("rocksdb").unwrap();
        if !embermark_skips::is_here(rocksdb) {
            return;
        }
        let [adapter, bare] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let opened = rocksdb.open(&options(adapter.path().to_owned())).unwrap();
        let database = Database::open("rocksdb", bare.path(), MEMORY).unwrap();
        let files = fs::read_dir(bare.path()).unwrap().map(|entry| entry.unwrap().path());
        // The cache's shards are in the log.
        let has_options = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("OPTIONS-") || name == "LOG"
        };
        let texts = files.filter(has_options).map(|path| fs::read_to_string(path).unwrap());
        let texts: Vec<String> = texts.collect();
        let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).map(str::trim).collect();
        // Names with a space are no options of RocksDB: the block cache is handed over.
        let option =
            |(name, value): &&(String, String)| !name.contains(' ') && !value.ends_with("(as set)");
        let reported: Vec<_> = opened.settings.iter().filter(option).collect();
        assert!(reported.len() > 10, "{:?}", opened.settings);
        for (name, value) in reported {
            let written = [format!("{name}={value}"), format!("{name} : {value}")];
            assert!(written.iter().any(|line| lines.contains(&line.as_str())), "{name}: {value}");
        }
        database.close().unwrap();
        opened.store.close().unwrap();
    }

    #[test]
    fn the_bare_loop_of_mongodb_finds_its_rows_on_the_server_of_the_adapter() {
        let mongodb = registry::find("mongodb").unwrap();
        if !embermark_skips::is_here(mongodb) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let Opened { mut store, .. } = mongodb.open(&options(dir.path().to_owned())).unwrap();
        let Join::At(at) = store.lifecycle().join() else { panic!("nobody may join") };
        finds_its_rows("mongodb", &socket_url(&at).unwrap());
        store.close().unwrap();
    }
}
