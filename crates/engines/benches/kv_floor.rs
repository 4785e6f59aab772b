//! What the store trait costs over the library's own functions: random point reads of existing
//! keys through `dyn KvStore`, and the same reads of the same open database by a bare loop.
//!
//! Both loops take turns, so that the machine's moods hit them alike; the ratio printed is the
//! median over the turns. It should not be above 1.05.

#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

use std::ffi::c_void;
use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use embermark_engines::kv::{KvStore, Pairs, Table};
use embermark_engines::{Access, Availability, Site, Store, registry};
use embermark_model::Durability;

const ROWS: usize = 100_000;
const SENSORS: usize = 54;
const TURNS: usize = 2_001;
/// Reads of one turn: about a millisecond, too short for most of them to be interrupted.
const STRIDE: usize = 1_000;

type Key = [u8; 10];

/// Sensor and time, as the workload `sensors` encodes them, in key order.
fn keys() -> Vec<Key> {
    let mut keys: Vec<Key> = (0..ROWS)
        .map(|i| {
            let (sensor, ts) =
                ((i % SENSORS) as u16, 1_078_000_000_000_000 + (i / SENSORS) as i64 * 31_000_000);
            let mut key = [0; 10];
            key[..2].copy_from_slice(&sensor.to_be_bytes());
            key[2..].copy_from_slice(&ts.to_be_bytes());
            key
        })
        .collect();
    keys.sort_unstable();
    keys
}

/// The keys in no order, always the same one.
fn shuffled(mut keys: Vec<Key>) -> Vec<Key> {
    let mut state = 88_172_645_463_325_252_u64;
    for i in (1..keys.len()).rev() {
        // Marsaglia's xorshift64.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        keys.swap(i, (state % (i as u64 + 1)) as usize);
    }
    keys
}

struct Rows<'a>(std::slice::Iter<'a, Key>);

impl Pairs for Rows<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        self.0.next().map(|key| (&key[..], &[7; 33][..]))
    }
}

/// Reads by a library's own functions on an open database.
trait Bare {
    fn sum(&mut self, keys: &[Key]) -> u64;
}

fn through_the_trait(store: &mut dyn KvStore, table: Table, keys: &[Key]) -> u64 {
    let mut sum = 0;
    for key in keys {
        let value = store.get(table, key).unwrap().unwrap();
        sum += u64::from(value[5]) + value.len() as u64;
    }
    sum
}

/// The handle of the environment, the first field of either engine's store.
fn environment(store: &dyn KvStore) -> *mut c_void {
    // SAFETY: both stores are `repr(C)` and begin with that pointer, as their comments say.
    unsafe { *(&raw const *store).cast::<*mut c_void>() }
}

fn compare(
    c: &mut Criterion,
    id: &str,
    access: Option<Access>,
    bare: fn(*mut c_void, bool) -> Box<dyn Bare>,
) {
    let engine = registry::find(id).unwrap();
    if let Availability::Missing { why, remedy } = engine.availability() {
        println!("{id} is left out: {why}; {remedy}");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let durability = Durability::Process;
    let site = Site { dir: dir.path().into(), durability, memory: 128 << 20, url: None };
    let Store::Kv(mut store) = engine.open(&site).unwrap().store else { panic!("{id}") };
    let table = store.table("readings").unwrap();
    let keys = keys();
    store.bulk(table, &mut Rows(keys.iter())).unwrap();
    store.settle().unwrap();
    let keys = shuffled(keys);
    let mut bare = bare(environment(store.as_ref()), access.is_some());
    access.map_or(Ok(()), |access| store.begin(access)).unwrap();

    assert_eq!(through_the_trait(store.as_mut(), table, &keys), bare.sum(&keys));
    let mut ratios: Vec<f64> =
        (0..TURNS).map(|turn| ratio(store.as_mut(), table, bare.as_mut(), &keys, turn)).collect();
    ratios.sort_by(f64::total_cmp);
    let way = if access.is_some() { "in a transaction" } else { "alone" };
    let [low, median, high] = [TURNS / 4, TURNS / 2, TURNS * 3 / 4].map(|i| ratios[i]);
    println!("{id}, {way}: trait / bare = {median:.3} (quartiles {low:.3} to {high:.3})");

    let mut group = c.benchmark_group(format!("{id}/get {way}"));
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
    group.bench_function("trait", |b| {
        b.iter(|| through_the_trait(store.as_mut(), table, black_box(&keys)))
    });
    group.bench_function("bare", |b| b.iter(|| bare.sum(black_box(&keys))));
    group.finish();

    access.map_or(Ok(()), |_| store.commit()).unwrap();
    drop(bare);
    store.close().unwrap();
}

/// One turn of each. Their keys are others, so that neither warms the processor's caches for the
/// other, and either goes first in every other turn.
fn ratio(
    store: &mut dyn KvStore,
    table: Table,
    bare: &mut dyn Bare,
    keys: &[Key],
    turn: usize,
) -> f64 {
    let mut parts = keys.chunks_exact(STRIDE).cycle().skip(2 * turn % (ROWS / STRIDE));
    let mut times = [0.0; 2];
    for which in [turn % 2, 1 - turn % 2] {
        let keys = parts.next().unwrap_or(keys);
        let start = Instant::now();
        black_box(match which {
            0 => through_the_trait(store, table, keys),
            _ => bare.sum(keys),
        });
        times[which] = start.elapsed().as_secs_f64();
    }
    times[0] / times[1]
}

#[cfg(feature = "lmdb")]
mod lmdb {
    use std::ffi::c_void;
    use std::ptr;

    use lmdb_master_sys as ffi;

    use super::{Bare, Key};

    struct Reads {
        txn: *mut ffi::MDB_txn,
        dbi: ffi::MDB_dbi,
        held: bool,
    }

    pub fn bare(env: *mut c_void, held: bool) -> Box<dyn Bare> {
        let (mut txn, mut dbi) = (ptr::null_mut(), 0);
        // SAFETY: an open environment, which outlives the transaction; the table exists.
        let codes = unsafe {
            let begun = ffi::mdb_txn_begin(env.cast(), ptr::null_mut(), ffi::MDB_RDONLY, &mut txn);
            (begun, ffi::mdb_dbi_open(txn, c"readings".as_ptr(), 0, &mut dbi))
        };
        assert_eq!(codes, (0, 0));
        Box::new(Reads { txn, dbi, held })
    }

    impl Bare for Reads {
        fn sum(&mut self, keys: &[Key]) -> u64 {
            let mut sum = 0;
            for key in keys {
                let mut key =
                    ffi::MDB_val { mv_size: key.len(), mv_data: key.as_ptr().cast_mut().cast() };
                let mut value = ffi::MDB_val { mv_size: 0, mv_data: ptr::null_mut() };
                // SAFETY: the transaction is under way, or reset and then renewed; a value found
                // is in the map while it lasts.
                unsafe {
                    if !self.held {
                        ffi::mdb_txn_reset(self.txn);
                        assert_eq!(ffi::mdb_txn_renew(self.txn), 0);
                    }
                    assert_eq!(ffi::mdb_get(self.txn, self.dbi, &mut key, &mut value), 0);
                    sum += u64::from(*value.mv_data.cast::<u8>().add(5)) + value.mv_size as u64;
                }
            }
            sum
        }
    }

    impl Drop for Reads {
        fn drop(&mut self) {
            // SAFETY: under way and not used again; the environment is still open.
            unsafe { ffi::mdb_txn_abort(self.txn) };
        }
    }
}

#[cfg(berkeleydb_linked)]
mod berkeleydb {
    use std::ffi::{c_char, c_int, c_void};
    use std::ptr;

    use super::{Bare, Key};

    unsafe extern "C" {
        fn ember_open(
            out: *mut *mut c_void,
            env: *mut c_void,
            file: *const c_char,
            transactions: c_int,
        ) -> c_int;
        fn ember_close(db: *mut c_void, sync: c_int) -> c_int;
        fn ember_get(
            db: *mut c_void,
            txn: *mut c_void,
            key: *const u8,
            key_size: u32,
            value: *mut *const u8,
            value_size: *mut u32,
        ) -> c_int;
    }

    /// A second handle of the table, in the same environment and so on the same cache.
    struct Reads(*mut c_void);

    pub fn bare(env: *mut c_void, _: bool) -> Box<dyn Bare> {
        let mut db = ptr::null_mut();
        // SAFETY: an open environment with transactions, which outlives the handle.
        assert_eq!(unsafe { ember_open(&mut db, env, c"readings.db".as_ptr(), 1) }, 0);
        Box::new(Reads(db))
    }

    impl Bare for Reads {
        fn sum(&mut self, keys: &[Key]) -> u64 {
            let mut sum = 0;
            for key in keys {
                let (mut value, mut size) = (ptr::null(), 0);
                // SAFETY: an open handle; a value found is the handle's until its next use.
                unsafe {
                    let code = ember_get(
                        self.0,
                        ptr::null_mut(),
                        key.as_ptr(),
                        key.len() as u32,
                        &mut value,
                        &mut size,
                    );
                    assert_eq!(code, 0);
                    sum += u64::from(*value.add(5)) + u64::from(size);
                }
            }
            sum
        }
    }

    impl Drop for Reads {
        fn drop(&mut self) {
            // SAFETY: open, and not used again; the environment is still open.
            unsafe { ember_close(self.0, 0) };
        }
    }
}

fn floors(c: &mut Criterion) {
    for access in [None, Some(Access::Read)] {
        #[cfg(feature = "lmdb")]
        compare(c, "lmdb", access, lmdb::bare);
        #[cfg(berkeleydb_linked)]
        compare(c, "berkeleydb", access, berkeleydb::bare);
    }
}

criterion_group!(benches, floors);
criterion_main!(benches);
