//! What the C interface of engines in libraries costs: the same calls of the same engine, compiled in and in a
//! library. `null` does nothing, so that nothing but the interface is left; redb (`examples/engine-rust`) is
//! driven by the same code both ways.
//!
//! Both take turns, so that the machine's moods hit them alike; printed is the difference for each call, the
//! median over the turns with its quartiles. It should not be above 10 ns.

#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

#[path = "../../../examples/compiled.rs"]
mod compiled;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use embermark_engines::engine_library::{Described, add};
use embermark_engines::kv::{KvStore, Operations, Pairs, Range, Table, TableDef};
use embermark_engines::registry::find;
use embermark_engines::{OpenOptions, Result, Scope, Store};
use embermark_model::Durability;

const ROWS: u64 = 100_000;
const CALLS: u64 = 200_000;
const TURNS: usize = 31;

/// Some calls in a scope; how many.
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

/// A key among those that are there, another each time.
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
    fn of(id: &str) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let options = OpenOptions::new(dir.path(), Durability::None, 128 << 20);
        let Store::Kv(mut store) = find(id).unwrap().open(&options).unwrap().store else {
            panic!("{id} is no key-value store")
        };
        let table = store.table(&TableDef::named("t")).unwrap();
        store.bulk(table, &mut Numbered(0, [0; 8])).unwrap();
        Self { store, table, _dir: dir }
    }

    /// Time of a call in ns.
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

fn quartiles(mut all: Vec<f64>) -> [f64; 3] {
    all.sort_by(f64::total_cmp);
    [1, 2, 3].map(|n| all[all.len() * n / 4])
}

fn compare(compiled_in: &str, library: &str, called: &str, scope: Scope, calls: Calls) {
    let mut both = [compiled_in, library].map(Opened::of);
    let mut times: [Vec<f64>; 2] = Default::default();
    for turn in 0..TURNS {
        // The first is not always the same.
        for which in [turn % 2, (turn + 1) % 2] {
            times[which].push(both[which].time(scope, calls));
        }
    }
    let differences = times[0].iter().zip(&times[1]).map(|(ours, theirs)| theirs - ours).collect();
    let [low, median, high] = quartiles(differences);
    let [ours, theirs] = times.map(|all| quartiles(all)[1]);
    println!(
        "{called} of {compiled_in}: {ours:.1} ns compiled in, {theirs:.1} ns in a library; the difference {median:.1} ns \
         (quartiles {low:.1} to {high:.1})"
    );
    let [ours, theirs] = both;
    ours.store.close().unwrap();
    theirs.store.close().unwrap();
}

/// Of what embermark's `null` has not.
fn alone(library: &str, called: &str, scope: Scope, calls: Calls) {
    let mut opened = Opened::of(library);
    let times = (0..TURNS).map(|_| opened.time(scope, calls)).collect();
    let [low, median, high] = quartiles(times);
    println!("{called} of {library}: {median:.1} ns (quartiles {low:.1} to {high:.1})");
    opened.store.close().unwrap();
}

fn main() {
    let null = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/null.c");
    let Some(null) = compiled::compiled("null", &null, &[]) else { return };
    for library in [null, compiled::redb()] {
        add(Described::of(&library).unwrap()).unwrap();
    }
    for (ours, theirs) in [("null", "null-library"), ("redb", "redb-library")] {
        compare(ours, theirs, "get", Scope::Snapshot, gets);
        compare(ours, theirs, "get by itself", Scope::PerOperation, gets);
        compare(ours, theirs, "put", Scope::Batch, puts);
    }
    alone("null-library", "a pair of a scan", Scope::Snapshot, pairs);
    compare("redb", "redb-library", "a pair of a scan", Scope::Snapshot, pairs);
}
