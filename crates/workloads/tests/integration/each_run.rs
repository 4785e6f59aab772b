//! Every run and every request is checked: a store that lies once, in the middle of a phase, is
//! detected.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use crate::common::{Plain, connecting, events_seed, options, store};
use embermark_engines::kv::{
    Change, Indexed, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{Lifecycle, Result, Scope, Store, registry};
use embermark_meter::Meter;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::{Bench, Spec, find};
use tempfile::TempDir;

/// What a store does wrong, once.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    /// A put is forgotten.
    IgnoresPut,
    /// A put stores another value.
    BendsPut,
    /// A modify or delete reports that it changed the row, but did not.
    Ignores,
    /// A modify or delete changes another row.
    TakesAnother,
    /// Another row is missing after a modify or delete.
    LosesAnother,
    /// A scan returns other decimals in its values.
    BendsScan,
    /// A row is missing after the database was opened again.
    LosesOnOpening,
}

/// When the store lies: at a call of its kind, counted from 1; never for 0.
type When = Rc<Cell<u64>>;

struct Liar {
    honest: Plain,
    lie: Lie,
    when: When,
    table: Option<Table>,
    value: Option<Vec<u8>>,
}

impl Liar {
    fn tells(&self, lie: Lie) -> bool {
        if self.lie != lie || self.when.get() == 0 {
            return false;
        }
        self.when.set(self.when.get() - 1);
        self.when.get() == 0
    }

    /// Returns the first row with another key.
    fn other_than(&mut self, table: Table, key: &[u8]) -> Result<Vec<u8>> {
        let mut other = None;
        self.honest.scan(table, Range::default(), &mut |found, _| {
            if found == key {
                return ControlFlow::Continue(());
            }
            other = Some(found.to_vec());
            ControlFlow::Break(())
        })?;
        Ok(other.unwrap())
    }
}

impl Lifecycle for Liar {
    fn maintain(&mut self) -> Result<()> {
        self.honest.maintain()
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        if self.tells(Lie::LosesOnOpening) {
            let table = self.table.unwrap();
            let first = 1_u32.to_be_bytes();
            let other = self.other_than(table, &first).unwrap();
            assert!(self.honest.delete(table, &other).unwrap());
        }
        Some(Ok(()))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.honest.0.close()
    }
}

impl KvStore for Liar {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let table = self.honest.table(def)?;
        self.table = Some(table);
        Ok(table)
    }

    fn keeps_indexes(&self) -> bool {
        true
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
}

impl Operations for Liar {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.value = self.honest.get(table, key)?;
        Ok(self.value.as_deref())
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        if self.tells(Lie::IgnoresPut) {
            return Ok(());
        }
        let mut value = value.to_vec();
        if self.tells(Lie::BendsPut) {
            // This is a digit or letter if values are text.
            let at = value.len() - 3;
            value[at] ^= 1;
        }
        self.honest.put(table, key, &value)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        if self.tells(Lie::Ignores) {
            return Ok(true);
        }
        if self.tells(Lie::TakesAnother) {
            let other = self.other_than(table, key)?;
            return self.honest.modify(table, &other, change);
        }
        if self.tells(Lie::LosesAnother) {
            let other = self.other_than(table, key)?;
            self.honest.delete(table, &other)?;
        }
        self.honest.modify(table, key, change)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        if self.tells(Lie::Ignores) {
            return Ok(true);
        }
        if self.tells(Lie::TakesAnother) {
            let other = self.other_than(table, key)?;
            return self.honest.delete(table, &other);
        }
        if self.tells(Lie::LosesAnother) {
            let other = self.other_than(table, key)?;
            self.honest.delete(table, &other)?;
        }
        self.honest.delete(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        if !self.tells(Lie::BendsScan) {
            return self.honest.scan(table, range, visit);
        }
        self.honest.scan(table, range, &mut |key, value| {
            let mut bent = value.to_vec();
            for at in 1..bent.len() {
                bent[at] ^= u8::from(value[at - 1] == b'.');
            }
            visit(key, &bent)
        })
    }

    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.honest.find(table, index, range, visit)
    }
}

const ROWS: u64 = 2_000;

/// A workload with rows staged in a folder.
struct Staged {
    id: &'static str,
    dir: TempDir,
}

impl Staged {
    fn new(id: &'static str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let source = find(id).unwrap().source(&DataSource::Synthetic, events_seed(ROWS)).unwrap();
        source.stage(Scale::Rows(ROWS), &dir.path().join("rows")).unwrap();
        Self { id, dir }
    }
}

/// Opens a workload on a store that lies when it is told to.
fn open(staged: &Staged, variant: &str, lie: Lie, when: &When) -> Box<dyn Bench> {
    let (_dir, mut options) = options();
    let Some(Store::Kv(memory)) = store(registry::find("memory").unwrap(), &mut options) else {
        panic!("memory is no key-value store")
    };
    let honest = Plain(Indexed::new(memory));
    let liar = Liar { honest, lie, when: Rc::clone(when), table: None, value: None };
    let spec = Spec::of(staged.dir.path().join("rows"), variant, 7);
    let prepared = find(staged.id).unwrap().prepare(&spec).unwrap();
    prepared.open(Store::Kv(Box::new(liar)), connecting()).unwrap()
}

/// Checks the verdicts on three runs of a phase, in the second of which the store lies at one call:
/// only the second is a wrong answer.
fn a_lie_in_the_second_run_is_found(staged: &Staged, variant: &str, phase: &str, lie: Lie) {
    let what = format!("{} {variant} {phase}: {lie:?}", staged.id);
    let when = When::default();
    let mut bench = open(staged, variant, lie, &when);
    let place = bench.phases().iter().position(|known| known.name == phase).unwrap();
    let mut meter = Meter::new(None);
    let verdicts: Vec<Option<String>> = (1..=3)
        .map(|run| {
            bench.ready(place).unwrap();
            // Opening is one call; of others there are several, of which neither the first nor the
            // last lies.
            let call = if lie == Lie::LosesOnOpening { 1 } else { 3 };
            when.set(if run == 2 { call } else { 0 });
            let answer = bench.run(place, &mut meter).unwrap();
            assert_eq!(when.get(), 0, "{what}: the store had no occasion to lie");
            let verdict = bench.check(place, &answer, meter.measured());
            verdict.err().map(|error| error.to_string())
        })
        .collect();
    let [None, Some(wrong), None] = &verdicts[..] else { panic!("{what}: {verdicts:?}") };
    assert!(wrong.starts_with("wrong answer: "), "{what}: {wrong}");
}

#[test]
fn what_is_put_in_is_read_back_after_each_run() {
    for (workload, cells) in [
        ("sensors", [("single", "load"), ("commit-each", "load")]),
        ("contacts", [("single", "insert"), ("commit-each", "insert")]),
        ("events", [("none", "insert"), ("none", "insert_buffered")]),
        ("htap", [("single", "insert_count"), ("commit-each", "insert_count")]),
    ] {
        let staged = Staged::new(workload);
        for (variant, phase) in cells {
            for lie in [Lie::IgnoresPut, Lie::BendsPut] {
                a_lie_in_the_second_run_is_found(&staged, variant, phase, lie);
            }
        }
    }
}

#[test]
fn what_is_changed_is_read_back_after_each_run() {
    let of_contacts = ["update_indexed", "update_scan", "delete_indexed", "delete_scan"];
    for (workload, variants, phases) in [
        ("sensors", &["single", "commit-each"][..], &["update", "delete"][..]),
        ("contacts", &["single"], &of_contacts),
    ] {
        let staged = Staged::new(workload);
        for variant in variants {
            for phase in phases {
                for lie in [Lie::Ignores, Lie::TakesAnother, Lie::LosesAnother] {
                    a_lie_in_the_second_run_is_found(&staged, variant, phase, lie);
                }
            }
        }
    }
}

#[test]
fn what_is_there_when_it_is_opened_again_is_read_back_after_each_run() {
    let staged = Staged::new("events");
    for phase in ["open_log", "open"] {
        a_lie_in_the_second_run_is_found(&staged, "none", phase, Lie::LosesOnOpening);
    }
}

#[test]
fn one_request_of_a_closed_loop_with_as_many_rows_of_other_values_is_found() {
    let staged = Staged::new("events");
    for phase in ["gps", "co2", "logs"] {
        a_lie_in_the_second_run_is_found(&staged, "none", phase, Lie::BendsScan);
    }
}
