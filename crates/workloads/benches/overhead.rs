//! The cost of the whole harness compared with a bare loop on a real engine: the read phase of
//! `sensors` through workload, meter and store (with key encoding, sampled latencies and answer
//! check), and the same number of reads of a database by a loop over the library's own functions,
//! with keys encoded before. The loop has its own database with the same rows, loaded in the same
//! way and opened with the same settings, because no library opens one twice in a process.
//!
//! The two take turns, so that changes of the machine's speed affect both. The output is the median
//! of the ratio over the turns, and the ratio of the fastest turns. They should not be above 1.05.

#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use embermark_data::table::StagedTable;
use embermark_engines::{Availability, Engine, OpenOptions, Reopener, registry};
use embermark_meter::Meter;
use embermark_model::plan::DataSource;
use embermark_model::table::Value;
use embermark_model::{Durability, Scale};
use embermark_workloads::{Bench, Prepared, Spec, find};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const ROWS: u64 = 1_000_000;
const TURNS: usize = 21;
const CACHE: u64 = 128 << 20;

type Key = [u8; 10];

/// Returns a stored key as the key-value port encodes it; no key is a microsecond later.
fn encoded((sensor, ts): (u16, i64), later: i64) -> Key {
    let mut key = [0; 10];
    key[..2].copy_from_slice(&sensor.to_be_bytes());
    let ordered = (ts + later) as u64 ^ 1 << 63;
    key[2..].copy_from_slice(&ordered.to_be_bytes());
    key
}

/// Returns sensor and time of each row.
fn stored_keys(table: &StagedTable) -> Vec<(u16, i64)> {
    let int = |place, column| match table.value(place, column) {
        Value::Int(value) => value,
        _ => panic!("a key is of whole numbers"),
    };
    (0..table.rows()).map(|place| (int(place, 0) as u16, int(place, 1))).collect()
}

/// Returns as many uniformly drawn keys as there are rows, every 64th of which belongs to no row:
/// what the phase reads, but in another order.
fn drawn(rows: &[(u16, i64)]) -> Vec<Key> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    (0..rows.len())
        .map(|i| {
            let row = rows[(random.next_u64() % rows.len() as u64) as usize];
            encoded(row, i64::from(i % 64 == 63))
        })
        .collect()
}

/// Reads a value to its last byte, since a read that looks at nothing would not count.
///
/// # Safety
/// `value` points to the 33 bytes of a stored reading.
#[inline]
unsafe fn taken_in(value: *const u8) -> u64 {
    // SAFETY: the caller's.
    let bytes: [u8; 33] = unsafe { value.cast::<[u8; 33]>().read() };
    let words = bytes[1..].as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    words.fold(u64::from(bytes[0]), u64::wrapping_add)
}

/// Reads by a library's own functions on an open database.
trait Bare {
    /// Returns a sum over the values found, and how many there were.
    fn sum(&mut self, keys: &[Key]) -> (u64, usize);
}

/// The read phase of `sensors` on an open database.
struct ReadPhase {
    bench: Box<dyn Bench>,
    read: usize,
    meter: Meter,
}

impl ReadPhase {
    /// Opens a new database with every row in a directory.
    fn open(engine: &'static dyn Engine, prepared: Box<dyn Prepared>, dir: &Path) -> Self {
        std::fs::create_dir(dir).unwrap();
        let options = OpenOptions::new(dir, Durability::Process, CACHE);
        let bench = prepared
            .open(engine.open(&options).unwrap().store, Reopener::for_engine(engine, options))
            .unwrap();
        let read = bench.phases().iter().position(|phase| phase.name == "read").unwrap();
        let mut phase = Self { bench, read, meter: Meter::new(None) };
        phase.run();
        phase
    }

    fn run(&mut self) -> Duration {
        self.bench.ready(self.read).unwrap();
        black_box(self.bench.run(self.read, &mut self.meter).unwrap());
        Duration::from_nanos(self.meter.measured().elapsed_ns)
    }
}

fn compare(c: &mut Criterion, id: &str, bare: fn(&Path) -> Box<dyn Bare>) {
    let engine = registry::find(id).unwrap();
    if let Availability::Missing { why, remedy } = engine.availability() {
        println!("{id} is left out: {why}; {remedy}");
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (workload, seed, rows) = (find("sensors").unwrap(), 42, dir.path().join("rows"));
    let source = workload.source(&DataSource::Synthetic, seed).unwrap();
    source.stage(Scale::Rows(ROWS), &rows).unwrap();
    let table = StagedTable::open(&rows.with_extension("readings.table")).unwrap();
    let keys = drawn(&stored_keys(&table));
    let prepare = || workload.prepare(&Spec::of(rows.clone(), "bulk", seed)).unwrap();
    let folder = dir.path().join("bare");
    ReadPhase::open(engine, prepare(), &folder).bench.finish().unwrap();
    let mut bare = bare(&folder);
    let mut phase = ReadPhase::open(engine, prepare(), &dir.path().join("ours"));
    assert_eq!(bare.sum(&keys).1, keys.len() - keys.len() / 64);

    let mut ratios = Vec::with_capacity(TURNS);
    let mut fastest = [f64::INFINITY; 2];
    for _ in 0..TURNS {
        let ours = phase.run().as_secs_f64();
        let start = Instant::now();
        black_box(bare.sum(black_box(&keys)));
        let theirs = start.elapsed().as_secs_f64();
        ratios.push(ours / theirs);
        fastest = [fastest[0].min(ours), fastest[1].min(theirs)];
    }
    ratios.sort_by(f64::total_cmp);
    let [low, median, high] = [TURNS / 4, TURNS / 2, TURNS * 3 / 4].map(|i| ratios[i]);
    let of_fastest = fastest[0] / fastest[1];
    println!(
        "{id}: harness / bare = {median:.3} (quartiles {low:.3} to {high:.3}), \
         fastest / fastest = {of_fastest:.3}"
    );

    let mut group = c.benchmark_group(id);
    group.throughput(Throughput::Elements(ROWS)).sample_size(10);
    group.bench_function("read phase", |b| {
        b.iter_custom(|runs| (0..runs).map(|_| phase.run()).sum());
    });
    group.bench_function("bare loop", |b| b.iter(|| bare.sum(black_box(&keys))));
    group.finish();

    drop(bare);
    phase.bench.finish().unwrap();
}

mod lmdb {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr;

    use lmdb_master_sys as ffi;

    use super::{Bare, Key, taken_in};

    /// A read transaction, held as the phase holds one.
    struct Reads {
        env: *mut ffi::MDB_env,
        txn: *mut ffi::MDB_txn,
        dbi: ffi::MDB_dbi,
    }

    pub fn bare(dir: &Path) -> Box<dyn Bare> {
        let path = CString::new(dir.as_os_str().as_bytes()).unwrap();
        let flags = ffi::MDB_NOTLS | ffi::MDB_WRITEMAP | ffi::MDB_NOSYNC;
        let (mut env, mut txn, mut dbi) = (ptr::null_mut(), ptr::null_mut(), 0);
        // SAFETY: the environment is set up before it is opened and the transaction begun in it once
        // it is; the path lives through the call. Any failure ends the program.
        let codes = unsafe {
            [
                ffi::mdb_env_create(&mut env),
                ffi::mdb_env_set_mapsize(env, 64 << 30),
                ffi::mdb_env_set_maxdbs(env, 32),
                ffi::mdb_env_open(env, path.as_ptr(), flags, 0o664),
                ffi::mdb_txn_begin(env, ptr::null_mut(), ffi::MDB_RDONLY, &mut txn),
                ffi::mdb_dbi_open(txn, c"table0".as_ptr(), 0, &mut dbi),
            ]
        };
        assert_eq!(codes, [0; 6]);
        Box::new(Reads { env, txn, dbi })
    }

    impl Bare for Reads {
        fn sum(&mut self, keys: &[Key]) -> (u64, usize) {
            let (mut sum, mut found) = (0_u64, 0);
            for key in keys {
                let mut key =
                    ffi::MDB_val { mv_size: key.len(), mv_data: key.as_ptr().cast_mut().cast() };
                let mut value = ffi::MDB_val { mv_size: 0, mv_data: ptr::null_mut() };
                // SAFETY: the transaction is under way; a value found is in the map while it lasts.
                unsafe {
                    if ffi::mdb_get(self.txn, self.dbi, &mut key, &mut value) == 0 {
                        sum = taken_in(value.mv_data.cast()).wrapping_add(sum);
                        found += 1;
                    }
                }
            }
            (sum, found)
        }
    }

    impl Drop for Reads {
        fn drop(&mut self) {
            // SAFETY: under way and open; neither is used again.
            unsafe {
                ffi::mdb_txn_abort(self.txn);
                ffi::mdb_env_close(self.env);
            }
        }
    }
}

mod berkeleydb {
    use std::ffi::{CString, c_char, c_int, c_void};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr;

    use super::{Bare, CACHE, Key, taken_in};

    /// The shim's `struct bytes`.
    #[repr(C)]
    struct Bytes {
        at: *const u8,
        size: u32,
    }

    unsafe extern "C" {
        fn ember_env_open(
            out: *mut *mut c_void,
            home: *const c_char,
            cache: u64,
            log_buffer: u32,
            transactions: c_int,
            write_nosync: c_int,
        ) -> c_int;
        fn ember_env_close(env: *mut c_void) -> c_int;
        fn ember_open(
            out: *mut *mut c_void,
            env: *mut c_void,
            file: *const c_char,
            duplicates: c_int,
        ) -> c_int;
        fn ember_close(db: *mut c_void, sync: c_int) -> c_int;
        fn ember_get(
            db: *mut c_void,
            txn: *mut c_void,
            key: Bytes,
            value: *mut c_void,
            size: *mut u32,
        ) -> c_int;
    }

    /// A handle of the table in an environment.
    struct Reads {
        env: *mut c_void,
        db: *mut c_void,
    }

    pub fn bare(dir: &Path) -> Box<dyn Bare> {
        let home = CString::new(dir.as_os_str().as_bytes()).unwrap();
        let (mut env, mut db) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the path lives through the call; the environment outlives the handle. Any failure
        // ends the program.
        let codes = unsafe {
            [
                ember_env_open(&mut env, home.as_ptr(), CACHE / 5 * 4, 1 << 20, 1, 1),
                ember_open(&mut db, env, c"table0.db".as_ptr(), 0),
            ]
        };
        assert_eq!(codes, [0; 2]);
        Box::new(Reads { env, db })
    }

    impl Bare for Reads {
        fn sum(&mut self, keys: &[Key]) -> (u64, usize) {
            let (mut sum, mut found, mut value) = (0_u64, 0, [0_u8; 33]);
            for key in keys {
                let mut size = value.len() as u32;
                let key = Bytes { at: key.as_ptr(), size: key.len() as u32 };
                let (none, room) = (ptr::null_mut(), value.as_mut_ptr());
                // SAFETY: an open handle; the value found is in the room there is for it.
                unsafe {
                    if ember_get(self.db, none, key, room.cast(), &mut size) == 0 {
                        sum = taken_in(room).wrapping_add(sum);
                        found += 1;
                    }
                }
            }
            (sum, found)
        }
    }

    impl Drop for Reads {
        fn drop(&mut self) {
            // SAFETY: both are open, and not used again.
            unsafe {
                ember_close(self.db, 0);
                ember_env_close(self.env);
            }
        }
    }
}

fn overhead(c: &mut Criterion) {
    compare(c, "lmdb", lmdb::bare);
    compare(c, "berkeleydb", berkeleydb::bare);
}

criterion_group!(benches, overhead);
criterion_main!(benches);
