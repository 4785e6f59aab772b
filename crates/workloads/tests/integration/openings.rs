//! A database opened after a clean end, or after a crash that followed batches of inserts: it has
//! all its rows, or the engine reports why it cannot do that.

use std::path::PathBuf;

use crate::common::{Plain, connecting, options, some_candidates, store};
use embermark_engines::kv::{
    Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{EngineError, Lifecycle, Reopener, Result, Scope, Store, registry};
use embermark_language::parse;
use embermark_meter::Meter;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_workloads::defined::Defined;
use embermark_workloads::{Bench, Spec};
use tempfile::TempDir;

const ROWS: u64 = 2_500;

const FILE: &str = r#"
[table.log]
rows = 2_500
key = ["id"]
index = [["n"]]
[table.log.columns]
id = { type = "u32", make = "sequence" }
n = { type = "u32", make = "random", to = 99 }
note = { type = "text", make = "words", distinct = 100 }
[phase.batches]
do = "insert"
commit = { batch = 1_000 }
[phase.behind]
do = "insert"
commit = { batch = "1k", offered = "100000/s" }
[phase.count]
do = "group"
compute = ["count", "sum(n)"]
[phase.batches-count]
sequence = ["batches", "count"]
[phase.crash]
do = "open"
after = "crash"
[phase.crash-with-log]
do = "open"
after = "crash-with-log"
[phase.crash-unread]
do = "open"
after = "crash"
read = false
[phase.close]
do = "open"
ops = 2
"#;

/// The result of a phase.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// This many operations, and bytes of a log.
    Right(u64, Option<u64>),
    Refused(String),
    Wrong(String),
}

fn outcomes(mut bench: Box<dyn Bench>) -> Vec<(&'static str, Outcome)> {
    let mut all = Vec::new();
    for (place, phase) in bench.phases().to_vec().into_iter().enumerate() {
        for _ in 0..2 {
            let mut meter = Meter::new(None);
            bench.ready(place).unwrap_or_else(|e| panic!("{}: {e}", phase.name));
            let outcome = match bench.run(place, &mut meter) {
                Err(error) if error.is_unsupported() => Outcome::Refused(error.to_string()),
                Err(error) => Outcome::Wrong(error.to_string()),
                Ok(ran) => match bench.check(place, &ran, meter.measured()) {
                    Err(error) => Outcome::Wrong(error.to_string()),
                    Ok(_) => Outcome::Right(meter.measured().ops, ran.log_bytes),
                },
            };
            all.push((phase.name, outcome));
        }
    }
    bench.finish().unwrap();
    all
}

/// Opens the file on a store; the rows are in the folder.
fn bench(store: Store, reopener: Reopener) -> (TempDir, Box<dyn Bench>) {
    let definition = parse("log.toml", FILE, &[]).unwrap_or_else(|e| panic!("{e}"));
    let workload = Defined::leak(definition, PathBuf::new(), 0.0);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows");
    workload.source(&DataSource::Synthetic, 42).unwrap().stage(Scale::Full, &file).unwrap();
    let cell = workload.prepare(&Spec::of(file, "as-written", 7)).unwrap();
    (folder, cell.open(store, reopener).unwrap())
}

#[test]
fn every_engine_has_its_rows_after_a_crash_or_says_why_it_has_none() {
    let mut wrong = Vec::new();
    for engine in some_candidates() {
        let (_dir, mut options) = options();
        let Some(store) = store(engine, &mut options) else { continue };
        let id = engine.info().id;
        let (_rows, bench) = bench(store, Reopener::for_engine(engine, options));
        for (phase, outcome) in outcomes(bench) {
            let right = match (&outcome, phase) {
                (Outcome::Right(ROWS, None), "batches" | "batches-count" | "behind") => true,
                (Outcome::Right(2, None), "close") => true,
                (Outcome::Right(ops, None), "count") => *ops > 0,
                (Outcome::Right(1, None), "crash" | "crash-unread") => true,
                // A row has the size of two numbers and a word.
                (Outcome::Right(1, Some(log)), "crash-with-log") => *log > ROWS * 8,
                (Outcome::Refused(_), "crash" | "crash-with-log" | "crash-unread") => true,
                _ => false,
            };
            let told = format!("{id} {phase}: {outcome:?}");
            eprintln!("{told}");
            if !right {
                wrong.push(told);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A store that has lost everything when it is opened again.
struct Forgetful {
    honest: Plain,
    forgets: bool,
    reopened: bool,
    value: Option<Vec<u8>>,
    log: u64,
}

impl Lifecycle for Forgetful {
    fn maintain(&mut self) -> Result<()> {
        self.honest.maintain()
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        self.reopened = self.forgets;
        Some(Ok(()))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Ok(())
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        self.log = bytes;
        Ok(())
    }

    fn log_bytes(&mut self) -> Result<u64> {
        Ok(self.log)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.honest.0.close()
    }
}

impl KvStore for Forgetful {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        self.honest.table(def)
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.reopened = false;
        self.honest.clear(table)
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.honest.bulk(table, pairs)
    }

    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }
}

impl Operations for Forgetful {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.value = if self.reopened { None } else { self.honest.get(table, key)? };
        Ok(self.value.as_deref())
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.honest.put(table, key, value)
    }

    fn modify(&mut self, _: Table, _: &[u8], _: &mut Change<'_>) -> Result<bool> {
        Err(EngineError::unsupported("a forgetful store", "changing a value"))
    }

    fn delete(&mut self, _: Table, _: &[u8]) -> Result<bool> {
        Err(EngineError::unsupported("a forgetful store", "deleting"))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        if self.reopened { Ok(()) } else { self.honest.scan(table, range, visit) }
    }
}

/// Returns the phases that are wrong.
fn found_out(forgets: bool) -> Vec<&'static str> {
    let (_dir, mut options) = options();
    let Some(Store::Kv(honest)) = store(registry::find("memory").unwrap(), &mut options) else {
        panic!("memory is no key-value store")
    };
    let honest = Plain(honest);
    let store = Forgetful { honest, forgets, reopened: false, value: None, log: 0 };
    let (_rows, bench) = bench(Store::Kv(Box::new(store)), connecting());
    let mut wrong: Vec<_> = outcomes(bench)
        .into_iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Wrong(_)))
        .map(|(phase, _)| phase)
        .collect();
    wrong.dedup();
    wrong
}

#[test]
fn what_is_gone_when_it_is_opened_again_is_missed() {
    assert_eq!(found_out(false), [""; 0]);
    assert_eq!(found_out(true), ["crash", "crash-with-log", "crash-unread", "close"]);
}
