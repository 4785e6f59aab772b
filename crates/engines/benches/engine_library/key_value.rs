//! Calls of a key-value store.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use embermark_engines::kv::{KvStore, Operations, Pairs, Range, Table, TableDef};
use embermark_engines::registry::find;
use embermark_engines::{OpenOptions, Result, Scope, Store};
use embermark_model::Durability;

use super::turns::{compare, measure_library};

const ROWS: u64 = 100_000;
const CALLS: u64 = 200_000;

/// Makes some calls in a scope and returns how many.
type Calls = fn(&mut dyn Operations, Table) -> Result<u64>;

struct Numbered(u64, [u8; 8]);

impl Pairs for Numbered {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let Self(next, key) = self;
        *key = next.to_be_bytes();
        *next += 1;
        (*next <= ROWS).then_some((key, &[7; 33]))
    }
}

/// Returns one of the existing keys, another each time.
fn key(call: u64) -> [u8; 8] {
    (call.wrapping_mul(0x9e37_79b9_7f4a_7c15) % ROWS).to_be_bytes()
}

fn gets(operations: &mut dyn Operations, table: Table) -> Result<u64> {
    for call in 0..CALLS {
        black_box(operations.get(table, black_box(&key(call)))?);
    }
    Ok(CALLS)
}

fn puts(operations: &mut dyn Operations, table: Table) -> Result<u64> {
    for call in 0..CALLS / 10 {
        operations.put(table, black_box(&key(call)), black_box(&[8; 33]))?;
    }
    Ok(CALLS / 10)
}

fn pairs(operations: &mut dyn Operations, table: Table) -> Result<u64> {
    let mut seen = 0;
    let from = 0_u64.to_be_bytes();
    for _ in 0..CALLS / 1000 {
        let mut left = 1000;
        operations.scan(table, Range::between(&from, None), &mut |key, value| {
            black_box((key, value));
            (seen, left) = (seen + 1, left - 1);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
    }
    Ok(seen.max(1))
}

struct Opened {
    store: Box<dyn KvStore>,
    table: Table,
    _dir: tempfile::TempDir,
}

impl Opened {
    fn open(id: &str) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let options = OpenOptions::new(dir.path(), Durability::None, 128 << 20);
        let Store::Kv(mut store) = find(id).unwrap().open(&options).unwrap().store else {
            panic!("{id} is not a key-value store")
        };
        let table = store.table(&TableDef::named("t")).unwrap();
        store.bulk(table, &mut Numbered(0, [0; 8])).unwrap();
        Self { store, table, _dir: dir }
    }

    /// Returns the time of a call in ns.
    fn time(&mut self, scope: Scope, calls: Calls) -> f64 {
        let table = self.table;
        self.store
            .within(scope, |operations| {
                let began = Instant::now();
                let calls = calls(operations, table)?;
                Ok(began.elapsed().as_nanos() as f64 / calls as f64)
            })
            .unwrap()
    }
}

fn compare_engines(compiled_in: &str, library: &str, called: &str, scope: Scope, calls: Calls) {
    let [mut ours, mut theirs] = [compiled_in, library].map(Opened::open);
    let called = format!("{called} of {compiled_in}");
    compare(&called, [&mut || ours.time(scope, calls), &mut || theirs.time(scope, calls)]);
    ours.store.close().unwrap();
    theirs.store.close().unwrap();
}

/// Prints the times of the calls on the named engines.
pub fn measure() {
    for (ours, theirs) in [("null", "null-library"), ("redb", "redb-library")] {
        compare_engines(ours, theirs, "get", Scope::Snapshot, gets);
        compare_engines(ours, theirs, "get by itself", Scope::PerOperation, gets);
        compare_engines(ours, theirs, "put", Scope::Batch, puts);
    }
    // Embermark's `null` has none of these calls.
    let mut null = Opened::open("null-library");
    measure_library("a pair of a scan of null-library", &mut || null.time(Scope::Snapshot, pairs));
    null.store.close().unwrap();
    compare_engines("redb", "redb-library", "a pair of a scan", Scope::Snapshot, pairs);
}
