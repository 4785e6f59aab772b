//! What a transaction of a long phase holds: 10,000 operations, or all of them.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;

use crate::common::{Staged, options, store};
use embermark_engines::kv::{
    Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{EngineError, Lifecycle, Result, Scope, Store, registry};
use embermark_meter::Meter;

/// A store that is watched from outside, counts the changes of its batches, and can be made to
/// fail.
struct Watched {
    store: Rc<RefCell<Box<dyn KvStore>>>,
    /// The number of changes of each batch.
    batches: Rc<RefCell<Vec<u64>>>,
    /// The number of puts until one fails.
    good: Rc<Cell<u64>>,
}

struct Counted<'a> {
    operations: &'a mut dyn Operations,
    changes: u64,
    good: &'a Cell<u64>,
}

impl Lifecycle for Watched {
    fn maintain(&mut self) -> Result<()> {
        self.store.borrow_mut().maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl KvStore for Watched {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.store.borrow_mut().table(def)
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.store.borrow_mut().clear(table)
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.store.borrow_mut().bulk(table, pairs)
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        self.store.borrow_mut().transact(scope, &mut |operations| {
            let mut counted = Counted { operations, changes: 0, good: &self.good };
            let done = work(&mut counted);
            if scope == Scope::Batch {
                self.batches.borrow_mut().push(counted.changes);
            }
            done
        })
    }
}

impl Operations for Counted<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.operations.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.operations.scan(table, range, visit)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        if self.good.get() == 0 {
            return Err(EngineError::failed("a store", "put a value", "the disk is full"));
        }
        self.good.set(self.good.get() - 1);
        self.changes += 1;
        self.operations.put(table, key, value)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.changes += 1;
        self.operations.modify(table, key, change)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.changes += 1;
        self.operations.delete(table, key)
    }
}

/// Opens LMDB, watched.
fn watched(options: &mut embermark_engines::OpenOptions, good: u64) -> Watched {
    let Store::Kv(store) = store(registry::find("lmdb").unwrap(), options).unwrap() else {
        panic!("LMDB keeps pairs");
    };
    let good = Rc::new(Cell::new(good));
    Watched { store: Rc::new(RefCell::new(store)), batches: Rc::default(), good }
}

/// Returns the number of changes of each transaction of each of these phases.
fn batches<const N: usize>(staged: &Staged, variant: &str, phases: [&str; N]) -> [Vec<u64>; N] {
    let (_dir, mut options) = options();
    let store = watched(&mut options, u64::MAX);
    let batches = Rc::clone(&store.batches);
    let mut bench = staged.open(variant, Store::Kv(Box::new(store)));
    phases.map(|phase| {
        let place = bench.phases().iter().position(|known| known.name == phase).unwrap();
        bench.ready(place).unwrap();
        batches.borrow_mut().clear();
        let mut meter = Meter::new(None);
        let answer = bench.run(place, &mut meter).unwrap();
        let seen = batches.borrow().clone();
        let changes = seen.iter().sum::<u64>();
        if variant == "by-range" {
            // An operation has ten rows.
            assert_eq!(meter.measured().ops * 10, changes, "{phase}");
        } else {
            assert_eq!(meter.measured().ops, changes, "{variant}: {phase}");
        }
        bench.check(place, &answer, meter.measured()).unwrap();
        seen
    })
}

fn tens_and(tens: u64, rest: u64) -> Vec<u64> {
    [vec![10_000; tens as usize], vec![rest]].concat()
}

#[test]
fn a_load_is_committed_by_10_000_rows_or_as_a_whole() {
    assert_eq!(batches(&Staged::synthetic(9_999), "single", ["load"]), [[9_999]]);
    let staged = Staged::synthetic(100_001);
    assert_eq!(batches(&staged, "single", ["load"]), [tens_and(10, 1)]);
    assert_eq!(batches(&staged, "one-transaction", ["load"]), [[100_001]]);
}

#[test]
fn updates_and_deletes_are_committed_by_10_000_or_as_a_whole() {
    // In tens of thousands: half of the rows are updated, a tenth is deleted.
    let tenth = if embermark_skips::is_long() { 2 } else { 1 };
    let (half, changes) = (5 * tenth, ["update", "delete"]);
    let staged = Staged::synthetic(tenth * 100_000 + 50);
    for variant in ["single", "bulk"] {
        let expected = [tens_and(half, 25), tens_and(tenth, 5)];
        assert_eq!(batches(&staged, variant, changes), expected, "{variant}");
    }
    let half = half * 10_000;
    assert_eq!(batches(&staged, "one-transaction", ["update"]), [[half + 25]]);
    let by_range = [[half + 20], [tenth * 10_000]];
    assert_eq!(batches(&staged, "by-range", changes), by_range);
}

#[test]
fn what_an_error_leaves_of_a_long_load_is_the_batches_before_it() {
    let staged = Staged::synthetic(100_001);
    for (variant, left) in [("single", 30_000), ("one-transaction", 0)] {
        let (_dir, mut options) = options();
        let watched = watched(&mut options, 34_567);
        let store = Rc::clone(&watched.store);
        let mut bench = staged.open(variant, Store::Kv(Box::new(watched)));
        bench.ready(0).unwrap();
        let mut meter = Meter::new(None);
        let error = bench.run(0, &mut meter).err().unwrap().to_string();
        assert!(error.contains("the disk is full"), "{error}");
        assert_eq!(meter.measured().ops, 34_567);
        let mut rows = 0;
        let table = store.borrow_mut().table(&TableDef {
            name: "table0",
            key_length: Some(10),
            indexes: &[],
        });
        let count = |operations: &mut dyn Operations| {
            operations.scan(table.unwrap(), Range::default(), &mut |_, _| {
                rows += 1;
                ControlFlow::Continue(())
            })
        };
        store.borrow_mut().within(Scope::Snapshot, count).unwrap();
        assert_eq!(rows, left, "{variant}");
    }
}
