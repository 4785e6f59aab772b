//! `retention` on every embedded engine and a server, and on stores that lie.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::common::{Plain, connecting, drive_phases, options, spread, store};
use embermark_engines::kv::{
    Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{Lifecycle, Result, Scope, Store, registry};
use embermark_meter::Meter;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::{Bench, Spec, find};
use tempfile::TempDir;

/// Returns a cell on a store: a day of about this many rows.
fn bench(rows: u64, variant: &str, store: Store) -> (TempDir, Box<dyn Bench>) {
    let dir = tempfile::tempdir().unwrap();
    let (workload, file) = (find("retention").unwrap(), dir.path().join("rows"));
    let source = workload.source(&DataSource::Synthetic, 5).unwrap();
    source.stage(Scale::Rows(rows), &file).unwrap();
    let spec = Spec { window: Duration::from_millis(20), ..Spec::of(file, variant, 5) };
    let bench = workload.prepare(&spec).unwrap().open(store, connecting()).unwrap();
    (dir, bench)
}

#[test]
fn every_engine_keeps_a_day_of_rows_and_answers_rightly_in_both_variants() {
    for (engine, variant) in spread(["batch", "commit-each"]) {
        let (_dir, mut options) = options();
        let Some(store) = store(engine, &mut options) else { continue };
        let (_rows, bench) = bench(1_000, variant, store);
        let outcomes = drive_phases(bench, 2, None, |name| name == "keep");
        let [keep] = &outcomes[..] else { panic!("one phase") };
        let what = format!("{} {variant}", engine.info().id);
        assert_eq!(keep.wrong, None, "{what}");
        for measured in &keep.measured {
            // A day is 1,000 rows: half of another day has arrived, so old rows were removed.
            assert!(measured.ops >= 1_500 && measured.elapsed_ns > 0, "{what}: {measured:?}");
        }
    }
}

#[test]
fn more_rows_than_there_are_milliseconds_are_refused_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (workload, file) = (find("retention").unwrap(), dir.path().join("rows"));
    let source = workload.source(&DataSource::Synthetic, 5).unwrap();
    let error = source.stage(Scale::Rows(10_000_000_000), &file).err().unwrap().to_string();
    assert!(error.contains("exceed the 1728000000 rows"), "{error}");
}

/// How a store lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lie {
    Nothing,
    /// What should be removed stays.
    KeepsOld,
    /// More is removed than should be.
    RemovesMore,
    /// One of the rows to keep is not put.
    LosesOne,
    /// One value of the rows to keep is changed.
    BendsOld,
    /// The rows put last by all sensors cannot be read yet.
    HidesNewest,
}

/// A store in memory that lies.
struct Liar {
    honest: Plain,
    lie: Lie,
    puts: u64,
}

impl Lifecycle for Liar {
    fn maintain(&mut self) -> Result<()> {
        self.honest.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.honest.0.close()
    }
}

impl KvStore for Liar {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.honest.table(def)
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.honest.clear(table)
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.honest.bulk(table, pairs)
    }

    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }

    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        let mut more = to.to_vec();
        match self.lie {
            Lie::KeepsOld => return Ok(()),
            // This is a sensor of the next hour.
            Lie::RemovesMore => *more.last_mut().unwrap() += 1,
            _ => {}
        }
        self.honest.delete_range(table, from, &more)
    }
}

impl Operations for Liar {
    fn get(&mut self, _: Table, _: &[u8]) -> Result<Option<&[u8]>> {
        panic!("nothing is got by its key")
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.puts += 1;
        // A day is 480 rows: whenever the clock ends the run, such a row is among those kept.
        let lies = self.puts.is_multiple_of(450);
        match self.lie {
            Lie::LosesOne if lies => Ok(()),
            Lie::BendsOld if lies => {
                let mut bent = value.to_vec();
                bent[16] ^= 1;
                self.honest.put(table, key, &bent)
            }
            _ => self.honest.put(table, key, value),
        }
    }

    fn modify(&mut self, _: Table, _: &[u8], _: &mut Change<'_>) -> Result<bool> {
        panic!("nothing is changed in place")
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.honest.delete(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let backward = range.direction == embermark_engines::kv::Direction::Backward;
        let mut hidden = if self.lie == Lie::HidesNewest && backward { 20 } else { 0 };
        self.honest.scan(table, range, &mut |key, value| {
            if hidden > 0 {
                hidden -= 1;
                return ControlFlow::Continue(());
            }
            visit(key, value)
        })
    }
}

/// Returns the workload's verdict on a store that lies.
fn verdict(lie: Lie) -> Option<String> {
    let (_dir, mut options) = options();
    let memory = store(registry::find("memory").unwrap(), &mut options).unwrap();
    let Store::Kv(honest) = memory else { panic!() };
    let liar = Store::Kv(Box::new(Liar { honest: Plain(honest), lie, puts: 0 }));
    // With 480 rows a day, more than three days arrive.
    let (_rows, mut bench) = bench(480, "batch", liar);
    let mut meter = Meter::new(None);
    let keep = bench.phases().iter().position(|phase| phase.name == "keep").unwrap();
    bench.ready(keep).unwrap();
    let answer = bench.run(keep, &mut meter).unwrap();
    bench.check(keep, &answer, meter.measured()).err().map(|error| error.to_string())
}

#[test]
fn a_store_that_lies_is_found_out_and_an_honest_one_is_not_accused() {
    assert_eq!(verdict(Lie::Nothing), None);
    // A question may detect the lie before the whole content does.
    let lies = [Lie::KeepsOld, Lie::RemovesMore, Lie::LosesOne, Lie::BendsOld, Lie::HidesNewest];
    for lie in lies {
        let said = verdict(lie).unwrap_or_else(|| panic!("{lie:?} was not found out"));
        assert!(said.starts_with("wrong answer: "), "{lie:?}: {said}");
        assert!(lie != Lie::HidesNewest || said.contains("newest, after"), "{said}");
    }
}
