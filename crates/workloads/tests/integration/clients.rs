//! Several clients of one database, on every engine that allows them, and on stores that lie to one
//! of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{self, Outcome, Staged, candidates, drive_phases, options, some_candidates};
use embermark_engines::kv::{
    Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{
    ClientOpener, Engine, EngineError, Lifecycle, Result, Scope, Store, Tier, registry,
};
use embermark_language::parse;
use embermark_model::plan::DataSource;
use embermark_model::{Durability, Scale};
use embermark_skips::{is_here, sampled};
use embermark_workloads::defined::Defined;
use embermark_workloads::{Spec, find};

const CLIENTS: u32 = 3;
const POINTS: [&str; 4] = ["load", "read", "update", "delete"];

/// Runs phases of a variant by several clients.
fn shared(
    staged: &Staged,
    variant: &str,
    store: Store,
    phases: &[&str],
    cap: Option<Duration>,
    target_rate: Option<u64>,
) -> Result<Vec<Outcome>> {
    let spec = Spec::of(staged.rows.clone(), variant, 7);
    let spec = Spec { clients: CLIENTS, target_rate, ..spec };
    let bench =
        find("sensors").unwrap().prepare(&spec).unwrap().open(store, common::connecting())?;
    Ok(drive_phases(bench, 2, cap, |name| phases.contains(&name)))
}

/// Opens an engine in a tier, unless it is missing or does not offer the tier.
fn opened(
    engine: &dyn Engine,
    tier: Durability,
    clients: u32,
) -> Option<(tempfile::TempDir, Store)> {
    if !is_here(engine) || !matches!(engine.tier(tier), Tier::Offered { .. }) {
        return None;
    }
    let (dir, mut options) = options();
    options.durability = tier;
    options.clients = clients;
    Some((dir, engine.open(&options).unwrap_or_else(|error| panic!("{error}")).store))
}

/// Asserts that several clients get correct answers in a tier, or that the engine reports why it
/// has only one. Returns whether it has several.
fn several_are_right(engine: &dyn Engine, staged: &Staged, tier: Durability) -> bool {
    let id = engine.info().id;
    let cap = Some(Duration::from_secs(2));
    for (variant, phases) in [("commit-each", &POINTS[..]), ("single", &POINTS[1..2])] {
        let Some((_dir, store)) = opened(engine, tier, CLIENTS) else { return false };
        let outcomes = match shared(staged, variant, store, phases, cap, None) {
            Ok(outcomes) => outcomes,
            Err(error) => {
                assert!(error.is_unsupported(), "{id} ({tier}): {error}");
                eprintln!("{error} ({tier})");
                return false;
            }
        };
        assert_eq!(outcomes.len(), phases.len());
        for outcome in outcomes {
            let what = format!("{id} {variant} ({tier}): {}", outcome.name);
            assert_eq!(outcome.wrong, None, "{what}");
            for (measured, clients) in outcome.measured.iter().zip(&outcome.clients) {
                assert_eq!(clients.len(), CLIENTS as usize, "{what}");
                assert!(measured.capped || measured.ops == outcome.ops, "{what}: {measured:?}");
                let by_clients: u64 = clients.iter().map(|client| client.ops).sum();
                assert_eq!(by_clients, measured.ops, "{what}");
                let longest = clients.iter().map(|client| client.elapsed_ns).max().unwrap();
                assert!(measured.elapsed_ns >= longest, "{what}: {measured:?} {clients:?}");
            }
        }
    }
    true
}

#[test]
fn several_clients_of_every_engine_that_allows_them_read_and_change_rightly() {
    let staged = Staged::synthetic(1_000);
    let (mut several, mut has_strong) = (Vec::new(), false);
    let engines = sampled(candidates(), 4);
    let is_tried = |id: &str| engines.iter().any(|engine| engine.info().id == id);
    for engine in engines.iter().copied() {
        let mut tiers = sampled(Durability::ALL, 1);
        has_strong |= tiers.iter().any(|tier| *tier != Durability::None);
        tiers.retain(|tier| several_are_right(engine, &staged, *tier));
        if !tiers.is_empty() {
            several.push(engine.info().id);
        }
    }
    eprintln!("several clients: {several:?}");
    // These engines are compiled in, so they are always present.
    if std::env::var_os("EMBERMARK_TEST_ENGINE").is_none() {
        for id in ["lmdb", "redb"] {
            assert_eq!(several.contains(&id), is_tried(id), "{several:?}");
        }
        // SQLite's `none` keeps its journal in the memory of one connection.
        assert_eq!(several.contains(&"sqlite"), has_strong && is_tried("sqlite"), "{several:?}");
    }
    assert!(!several.contains(&"memory") && !several.contains(&"berkeleydb"), "{several:?}");
}

#[test]
fn an_open_loop_by_several_clients_is_right_too() {
    let staged = Staged::synthetic(300);
    for engine in some_candidates() {
        let Some((_dir, store)) = opened(engine, Durability::Process, CLIENTS) else { continue };
        match shared(&staged, "commit-each", store, &POINTS, None, Some(2_000)) {
            Ok(outcomes) => {
                for Outcome { name, wrong, measured, .. } in outcomes {
                    assert_eq!(wrong, None, "{} {name}", engine.info().id);
                    assert!(measured.iter().all(|measured| measured.ops >= 30), "{measured:?}");
                }
            }
            Err(error) => assert!(error.is_unsupported(), "{error}"),
        }
    }
}

/// Clients that read and write the same few rows.
const SAME_ROWS: &str = r#"
[table.t]
rows = 20
key = ["id"]
[table.t.columns]
id = { type = "u32", make = "sequence" }
v = { type = "u32", make = "random" }
[phase.load]
do = "insert"
[phase.rmw]
do = "read-modify-write"
ops = 50
[phase.shares]
mix = { rmw = 1.0 }
clients = 7
ops = 1_000
"#;

#[test]
fn a_read_modify_write_that_another_client_makes_impossible_is_repeated_whole() {
    let folder = tempfile::tempdir().unwrap();
    let definition = parse("same-rows.toml", SAME_ROWS, &[]).unwrap_or_else(|e| panic!("{e}"));
    let workload = Defined::leak(definition, folder.path().to_owned(), 0.01);
    let rows = folder.path().join("rows");
    workload.source(&DataSource::Synthetic, 42).unwrap().stage(Scale::Full, &rows).unwrap();
    for id in ["wiredtiger", "duckdb", "firebird", "sqlite"] {
        let engine = registry::ENGINES.iter().find(|engine| engine.info().id == id).unwrap();
        let Some((_dir, store)) = opened(*engine, Durability::Process, 7) else { continue };
        let spec = Spec::of(rows.clone(), "as-written", 7);
        let bench = workload.prepare(&spec).unwrap().open(store, common::connecting()).unwrap();
        for outcome in drive_phases(bench, 2, None, |_| true) {
            assert_eq!(outcome.wrong, None, "{id}: {}", outcome.name);
        }
    }
}

/// A range of rows that clients share.
const RANGES: &str = r#"
[table.t]
rows = 200
key = ["id"]
[table.t.columns]
id = { type = "u32", make = "sequence" }
v = { type = "u32", make = "random" }
[phase.load]
do = "insert"
[phase.page]
do = "range"
rows = [2, 20]
ops = 60
"#;

#[test]
fn ranges_that_clients_share_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let definition = parse("ranges.toml", RANGES, &[]).unwrap_or_else(|e| panic!("{e}"));
    let workload = Defined::leak(definition, folder.path().to_owned(), 0.01);
    let rows = folder.path().join("rows");
    workload.source(&DataSource::Synthetic, 42).unwrap().stage(Scale::Full, &rows).unwrap();
    let wrong = |store: Store, cap: Option<Duration>| {
        let spec = Spec { clients: CLIENTS, ..Spec::of(rows.clone(), "as-written", 7) };
        let bench = workload.prepare(&spec).unwrap().open(store, common::connecting()).unwrap();
        let outcomes = drive_phases(bench, 2, cap, |name| name == "page");
        outcomes.into_iter().find_map(|outcome| outcome.wrong)
    };
    for id in ["lmdb", "sqlite"] {
        let engine = registry::find(id).unwrap();
        for cap in [None, Some(Duration::from_nanos(1))] {
            let Some((_dir, store)) = opened(engine, Durability::Process, CLIENTS) else {
                continue;
            };
            assert_eq!(wrong(store, cap), None, "{id}");
        }
    }
    // Its scans begin at the first key, wherever they should.
    assert!(wrong(Store::Kv(Box::new(Common::new(Lie::None))), None).is_some());
}

/// What a store does wrong, at every 40th call of that kind.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    ForgetsPuts,
    MissesKeys,
    IgnoresUpdates,
    IgnoresDeletes,
    /// The last client never does what it should.
    HasAnIdleClient,
    /// The second client's thread ends.
    Panics,
}

/// A map that clients share, with a lock.
struct Common {
    map: Arc<Mutex<BTreeMap<Vec<u8>, Vec<u8>>>>,
    calls: Arc<AtomicU64>,
    lie: Lie,
    clients: u32,
    number: u32,
    value: Vec<u8>,
}

impl Common {
    fn new(lie: Lie) -> Self {
        let (map, calls) = Default::default();
        Self { map, calls, lie, clients: 0, number: 0, value: Vec::new() }
    }

    fn tells(&self, lie: Lie) -> bool {
        if self.lie == Lie::Panics {
            assert!(self.number != 2, "page 7 is gone");
        }
        if self.lie == Lie::HasAnIdleClient {
            return self.number == CLIENTS;
        }
        self.lie == lie && self.calls.fetch_add(1, Ordering::Relaxed) % 40 == 39
    }
}

impl Lifecycle for Common {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        self.clients = self.clients % CLIENTS + 1;
        let (map, calls) = (Arc::clone(&self.map), Arc::clone(&self.calls));
        let (lie, number, value) = (self.lie, self.clients, Vec::new());
        Ok(ClientOpener::new(move || {
            Ok(Store::Kv(Box::new(Self { map, calls, lie, clients: 0, number, value })))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl KvStore for Common {
    fn table(&mut self, _: &TableDef<'_>) -> Result<Table> {
        Ok(Table(0))
    }

    fn clear(&mut self, _: Table) -> Result<()> {
        self.map.lock().unwrap().clear();
        Ok(())
    }

    fn bulk(&mut self, _: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut rows = 0;
        while let Some((key, value)) = pairs.next() {
            self.map.lock().unwrap().insert(key.to_vec(), value.to_vec());
            rows += 1;
        }
        Ok(rows)
    }

    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }
}

impl Operations for Common {
    fn get(&mut self, _: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        if self.tells(Lie::MissesKeys) {
            return Ok(None);
        }
        let found = self.map.lock().unwrap().get(key).cloned();
        Ok(found.map(|value| {
            self.value = value;
            &*self.value
        }))
    }

    fn put(&mut self, _: Table, key: &[u8], value: &[u8]) -> Result<()> {
        if !self.tells(Lie::ForgetsPuts) {
            self.map.lock().unwrap().insert(key.to_vec(), value.to_vec());
        }
        Ok(())
    }

    fn modify(&mut self, _: Table, key: &[u8], new: &mut Change<'_>) -> Result<bool> {
        if !self.tells(Lie::IgnoresUpdates)
            && let Some(value) = self.map.lock().unwrap().get_mut(key)
        {
            new(value);
        }
        Ok(true)
    }

    fn delete(&mut self, _: Table, key: &[u8]) -> Result<bool> {
        if !self.tells(Lie::IgnoresDeletes) {
            self.map.lock().unwrap().remove(key);
        }
        Ok(true)
    }

    fn scan(&mut self, _: Table, _: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        for (key, value) in self.map.lock().unwrap().iter() {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the phases that detect a lie.
fn found_out(staged: &Staged, lie: Lie, cap: Option<Duration>) -> Vec<&'static str> {
    let store = Store::Kv(Box::new(Common::new(lie)));
    let outcomes = shared(staged, "commit-each", store, &POINTS, cap, None).unwrap();
    let wrong = outcomes.into_iter().filter(|outcome| outcome.wrong.is_some());
    wrong.map(|outcome| outcome.name).collect()
}

#[test]
fn a_lie_to_one_of_several_clients_is_found_out_in_its_phase_and_an_honest_store_is_not_accused() {
    let staged = Staged::synthetic(1_000);
    assert_eq!(found_out(&staged, Lie::None, None), [""; 0]);
    // Also where the cap ends each client's share.
    let cap = Some(Duration::from_nanos(1));
    assert_eq!(found_out(&staged, Lie::None, cap), [""; 0]);
    for (lie, phase) in [
        (Lie::ForgetsPuts, "load"),
        (Lie::MissesKeys, "read"),
        (Lie::IgnoresUpdates, "update"),
        (Lie::IgnoresDeletes, "delete"),
    ] {
        assert_eq!(found_out(&staged, lie, None), [phase], "{lie:?}");
    }
    assert_eq!(found_out(&staged, Lie::HasAnIdleClient, None), POINTS);
}

#[test]
fn a_client_whose_thread_ends_is_an_error_and_no_wait_without_end() {
    let staged = Staged::synthetic(100);
    let spec = Spec { clients: CLIENTS, ..Spec::of(staged.rows.clone(), "commit-each", 7) };
    let store = Store::Kv(Box::new(Common::new(Lie::Panics)));
    let mut bench =
        find("sensors").unwrap().prepare(&spec).unwrap().open(store, common::connecting()).unwrap();
    bench.ready(0).unwrap();
    let ran = bench.run(0, &mut embermark_meter::Meter::new(None));
    let error: EngineError = ran.err().unwrap();
    assert!(error.to_string().contains("panicked"), "{error}");
}
