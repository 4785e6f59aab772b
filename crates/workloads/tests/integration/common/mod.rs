//! Runs the workload as the harness does.

#![allow(dead_code, reason = "every test program uses its own part of this module")]
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::time::Duration;

use embermark_data::telemetry::{Event, Payload, generate};
use embermark_engines::kv::{Change, KvStore, Operations, Range, Table, Visit};
use embermark_engines::{
    Engine, Kind, OpenOptions, Reopener, Result, Scope, Store, Tier, registry,
};
use embermark_meter::{Measured, Meter};
use embermark_model::plan::DataSource;
use embermark_model::result::ClientRun;
use embermark_model::{Durability, Scale};
use embermark_skips::{is_here, is_long, sampled};
use embermark_workloads::{Bench, BenchPhase, Spec, find};
use nix::sys::statvfs::statvfs;
use tempfile::TempDir;

/// Rows staged for the sensors workload.
pub struct Staged {
    dir: TempDir,
    pub rows: PathBuf,
}

/// Returns three motes of the public log, if they exist here.
pub fn real_rows() -> Option<PathBuf> {
    let path = PathBuf::from("../../../shared/data/intel-lab/data-motes-55-58.txt");
    if !path.exists() {
        embermark_skips::skipped("sensor log", format!("{} is not there", path.display()));
    }
    path.exists().then_some(path)
}

impl Staged {
    pub fn new(data: &DataSource, scale: Scale) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let rows = dir.path().join("rows");
        let source = find("sensors").unwrap().source(data, 42).unwrap();
        source.stage(scale, &rows).unwrap();
        Self { dir, rows }
    }

    pub fn synthetic(rows: u64) -> Self {
        Self::new(&DataSource::Synthetic, Scale::Rows(rows))
    }

    pub fn open(&self, variant: &str, store: Store) -> Box<dyn Bench> {
        let spec = Spec::of(self.rows.clone(), variant, 7);
        find("sensors").unwrap().prepare(&spec).unwrap().open(store, connecting()).unwrap()
    }
}

/// Returns the engines whose answers a test checks: only those of `EMBERMARK_TEST_ENGINE` if it is
/// set. One server stands for all, since `embermark verify` checks their answers. An engine that
/// only adds rows does not have every phase; `embermark verify` checks it as well.
pub fn candidates() -> impl Iterator<Item = &'static dyn Engine> {
    let chosen = std::env::var("EMBERMARK_TEST_ENGINE").ok();
    registry::ENGINES.iter().copied().filter(move |engine| {
        let info = engine.info();
        match &chosen {
            Some(chosen) => chosen.split(',').any(|id| id == info.id),
            None if info.id == "null" || engine.is_append_only() => false,
            None => info.id == "postgres" || info.kind != Kind::Server,
        }
    })
}

/// Returns two of them, as [`sampled`], or those that were chosen.
pub fn some_candidates() -> Vec<&'static dyn Engine> {
    let chosen = std::env::var_os("EMBERMARK_TEST_ENGINE").is_some();
    sampled(candidates(), if chosen { usize::MAX } else { 2 })
}

/// Returns each case with one of [`some_candidates`], which share the cases. `make test-long`, and
/// a test of chosen engines, has each case with every engine.
pub fn spread<T: Clone>(cases: impl IntoIterator<Item = T>) -> Vec<(&'static dyn Engine, T)> {
    spread_over(some_candidates(), cases)
}

/// Does the same with these engines.
pub fn spread_over<T: Clone>(
    engines: Vec<&'static dyn Engine>,
    cases: impl IntoIterator<Item = T>,
) -> Vec<(&'static dyn Engine, T)> {
    let all = embermark_skips::is_long() || std::env::var_os("EMBERMARK_TEST_ENGINE").is_some();
    // Another commit gives each engine the other half of the cases.
    let first = sampled([0, 1], 1)[0];
    let here: Vec<_> = engines.into_iter().filter(|engine| is_here(*engine)).collect();
    let mut pairs = Vec::new();
    for (place, case) in cases.into_iter().enumerate() {
        for (at, engine) in here.iter().enumerate() {
            if all || (place + first) % here.len() == at {
                pairs.push((*engine, case.clone()));
            }
        }
    }
    pairs
}

/// Free bytes that the memory needs to have databases of several tests in it.
const ENOUGH: u64 = 6_000_000_000;

/// Returns where databases are: only answers are looked at, so that is memory, if it has enough. On a
/// disk servers create and delete thousands of files, which takes ext4 without a journal longer than
/// their work. `make test-long` uses the disk.
fn databases() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let free = statvfs(memory).map_or(0, |of| of.blocks_available() * of.fragment_size());
    if free > ENOUGH && !is_long() { memory.to_owned() } else { std::env::temp_dir() }
}

/// Returns a folder for one database, removed with it.
pub fn options() -> (TempDir, OpenOptions) {
    let dir = tempfile::tempdir_in(databases()).unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, OpenOptions::new(path, Durability::None, 64 << 20))
}

/// Opens an engine in the weakest tier that it offers.
pub fn store(engine: &dyn Engine, options: &mut OpenOptions) -> Option<Store> {
    if !is_here(engine) {
        return None;
    }
    let tiers = [Durability::None, Durability::Process, Durability::Power];
    let offered = |tier: &Durability| matches!(engine.tier(*tier), Tier::Offered { .. });
    options.durability = tiers.into_iter().find(offered).unwrap();
    Some(engine.open(options).unwrap_or_else(|error| panic!("{error}")).store)
}

/// Returns a seed for which this many rows of telemetry have a place that `gps` of `events` finds.
pub fn events_seed(rows: u64) -> u64 {
    let inside = |event: &Event| {
        matches!(event.data, Payload::Location { longitude, latitude }
            if (6.001..9.999).contains(&longitude) && (45.001..49.999).contains(&latitude))
    };
    (1..).find(|seed| generate(rows, *seed).iter().any(inside)).unwrap()
}

/// The result of the runs of one phase.
#[derive(Debug)]
pub struct Outcome {
    pub name: &'static str,
    pub ops: u64,
    pub measured: Vec<Measured>,
    /// What each client did in each run, if there were several.
    pub clients: Vec<Vec<ClientRun>>,
    /// The text of the first error.
    pub wrong: Option<String>,
}

/// Runs every phase `runs` times, whatever the earlier ones answered, and closes the database.
pub fn drive(bench: Box<dyn Bench>, runs: u32, cap: Option<Duration>) -> Vec<Outcome> {
    drive_phases(bench, runs, cap, |_| true)
}

/// Does the same with some of the phases.
pub fn drive_phases(
    bench: Box<dyn Bench>,
    runs: u32,
    cap: Option<Duration>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Outcome> {
    drive_capped(bench, runs, |_| cap, wanted)
}

/// Does the same with a cap for each phase.
pub fn drive_capped(
    mut bench: Box<dyn Bench>,
    runs: u32,
    cap: impl Fn(&str) -> Option<Duration>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Outcome> {
    let phases: Vec<BenchPhase> = bench.phases().to_vec();
    let mut outcomes = Vec::new();
    for (place, phase) in phases.iter().enumerate().filter(|(_, phase)| wanted(phase.name)) {
        let mut meter = Meter::new(cap(phase.name));
        let (mut measured, mut clients, mut wrong) = (Vec::new(), Vec::new(), None);
        for run in 1..=runs {
            bench.ready(place).unwrap_or_else(|e| panic!("{}: {e}", phase.name));
            let answer = bench.run(place, &mut meter);
            let answer = answer.unwrap_or_else(|e| panic!("{}: {e}", phase.name));
            measured.push(meter.measured());
            // This is what the harness does after the last load, before it looks at the answer.
            if run == runs && bench.user_bytes(place, meter.measured().ops).is_some() {
                bench
                    .maintain_as_left()
                    .unwrap_or_else(|e| panic!("maintenance after {}: {e}", phase.name));
            }
            clients.push(meter.clients().to_vec());
            if let Err(error) = bench.check(place, &answer, meter.measured()) {
                wrong.get_or_insert(error.to_string());
            }
        }
        outcomes.push(Outcome { name: phase.name, ops: phase.ops, measured, clients, wrong });
    }
    bench.finish().unwrap_or_else(|error| panic!("{error}"));
    outcomes
}

/// Returns a reopener that can connect to a store again.
pub fn connecting() -> Reopener {
    Reopener::new(|mut store, meanwhile| {
        let connected = store.lifecycle().reconnect();
        connected.unwrap_or_else(|| panic!("it has to be opened again"))?;
        meanwhile().map(|()| store)
    })
}

/// A store used operation by operation, for stores that lie about its operations.
pub struct Plain(pub Box<dyn KvStore>);

impl Plain {
    pub fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.each(|each| Ok(each.get(table, key)?.map(<[u8]>::to_vec)))
    }

    pub fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.each(|each| each.put(table, key, value))
    }

    pub fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.each(|each| each.modify(table, key, change))
    }

    pub fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.each(|each| each.delete(table, key))
    }

    pub fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.each(|each| each.scan(table, range, visit))
    }

    pub fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.each(|each| each.find(table, index, range, visit))
    }

    fn each<T>(&mut self, work: impl FnOnce(&mut dyn Operations) -> Result<T>) -> Result<T> {
        self.0.within(Scope::PerOperation, work)
    }
}

impl Deref for Plain {
    type Target = dyn KvStore;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Plain {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}
