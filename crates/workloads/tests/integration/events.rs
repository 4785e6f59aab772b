//! Every phase of every variant on every engine of this build, and stores that lie.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use crate::common::{Plain, connecting, events_seed, options, some_candidates, store};
use embermark_engines::kv::{
    Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_engines::{Engine, EngineError, Lifecycle, Reopener, Result, Scope, Store, registry};
use embermark_meter::{Measured, Meter};
use embermark_model::Scale;
use embermark_model::answer::Answer;
use embermark_model::plan::DataSource;
use embermark_workloads::{Bench, Spec, find};
use tempfile::TempDir;

const ROWS: u64 = 2_000;

/// Most that a run takes.
const CAP: Duration = Duration::from_millis(200);

const PHASES: [&str; 10] = [
    "insert",
    "insert_buffered",
    "insert_offthread",
    "insert_http",
    "gps",
    "co2",
    "logs",
    "open_log",
    "open_large_log",
    "open",
];

/// Needs a process beside it, which this program starts none of: `embermark verify` runs it.
const NEEDS_COMPANION: &str = "insert_http";

struct Staged {
    _dir: TempDir,
    rows: PathBuf,
}

impl Staged {
    fn new(rows: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("rows");
        let source =
            find("events").unwrap().source(&DataSource::Synthetic, events_seed(ROWS)).unwrap();
        source.stage(Scale::Rows(rows), &file).unwrap();
        Self { _dir: dir, rows: file }
    }

    fn open(&self, variant: &str, store: Store, reopener: Reopener) -> Result<Box<dyn Bench>> {
        let spec = Spec::of(self.rows.clone(), variant, 7);
        find("events").unwrap().prepare(&spec).unwrap().open(store, reopener)
    }
}

/// How a phase ended.
#[derive(Debug)]
enum End {
    /// Right, in every run.
    Right(Vec<(Answer, Measured)>),
    Wrong(String),
    Unsupported(String),
}

/// Runs every phase twice, as the harness does, and closes the database.
fn drive(mut bench: Box<dyn Bench>, cap: Option<Duration>) -> Vec<End> {
    let ends = (0..bench.phases().len()).map(|phase| run(&mut *bench, phase, cap)).collect();
    bench.finish().unwrap();
    ends
}

fn run(bench: &mut dyn Bench, phase: usize, cap: Option<Duration>) -> End {
    let name = bench.phases()[phase].name;
    let mut meter = Meter::new(cap);
    let mut right = Vec::new();
    for _ in 0..2 {
        bench.ready(phase).unwrap_or_else(|error| panic!("{name}: {error}"));
        let answer = match bench.run(phase, &mut meter) {
            Ok(answer) => answer,
            Err(error) if error.is_unsupported() => return End::Unsupported(error.to_string()),
            Err(error) => panic!("{name}: {error}"),
        };
        if let Err(wrong) = bench.check(phase, &answer, meter.measured()) {
            return End::Wrong(wrong.to_string());
        }
        right.push((answer, meter.measured()));
    }
    End::Right(right)
}

fn every_answer_is_right(engine: &'static dyn Engine, staged: &Staged, variant: &str) {
    let (_dir, mut options) = options();
    let Some(store) = store(engine, &mut options) else { return };
    let what = format!("{} {variant}", engine.info().id);
    let bench = match staged.open(variant, store, Reopener::of(engine, options)) {
        Ok(bench) => bench,
        Err(error) => {
            // The documents are JSON, which a database of SQL may not know.
            let known = variant != "none" || error.to_string().contains("columns of JSON");
            assert!(error.is_unsupported() && known, "{what}: {error}");
            eprintln!("{what}: {error}");
            return;
        }
    };
    for (name, end) in PHASES.into_iter().zip(drive(bench, Some(CAP))) {
        match end {
            End::Right(runs) => {
                assert!(runs.iter().all(|(_, run)| run.ops > 0), "{what} {name}: {runs:?}");
            }
            End::Unsupported(why) => {
                let known = name.starts_with("open") || name == NEEDS_COMPANION;
                assert!(known, "{what} {name}: {why}");
                eprintln!("{what} {name}: {why}");
            }
            End::Wrong(why) => panic!("{what} {name}: {why}"),
        }
    }
}

#[test]
fn every_engine_answers_every_phase_of_every_variant_rightly_or_says_why_not() {
    let staged = Staged::new(ROWS);
    for engine in some_candidates() {
        for variant in find("events").unwrap().info().variants {
            every_answer_is_right(engine, &staged, variant.name);
        }
    }
}

#[test]
fn no_rows_and_one_row_are_answered_too() {
    for rows in [0, 1] {
        let staged = Staged::new(rows);
        for id in ["memory", "sqlite", "duckdb"] {
            let (_dir, mut options) = options();
            let engine = registry::find(id).unwrap();
            let Some(store) = store(engine, &mut options) else { continue };
            let reopener = Reopener::of(engine, options);
            for end in drive(staged.open("none", store, reopener).unwrap(), Some(CAP)) {
                assert!(!matches!(end, End::Wrong(_)), "{id} on {rows} rows: {end:?}");
            }
        }
    }
}

/// What a store does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// Every hundredth put is forgotten.
    DropsPuts,
    /// Scans leave one row in a thousand out.
    SkipsInScans,
    /// Every fifth scan leaves out what it finds.
    SometimesEmpty,
    /// Digits of documents scanned are others.
    BendsScans,
    /// What is opened again is empty.
    ForgetsOnOpening,
}

struct Liar {
    honest: Plain,
    lie: Lie,
    calls: u64,
    reopened: bool,
    value: Option<Vec<u8>>,
    log: u64,
}

impl Liar {
    fn tells(&mut self, lie: Lie, every: u64) -> bool {
        self.calls += u64::from(self.lie == lie);
        self.lie == lie && self.calls.is_multiple_of(every)
    }
}

impl Lifecycle for Liar {
    fn maintain(&mut self) -> Result<()> {
        self.honest.maintain()
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        self.reopened = true;
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

impl KvStore for Liar {
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

impl Operations for Liar {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.value = self.honest.get(table, key)?;
        Ok(self.value.as_deref())
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        if self.tells(Lie::DropsPuts, 100) {
            return Ok(());
        }
        self.honest.put(table, key, value)
    }

    fn modify(&mut self, _: Table, _: &[u8], _: &mut Change<'_>) -> Result<bool> {
        Err(EngineError::unsupported("a liar", "changing a value"))
    }

    fn delete(&mut self, _: Table, _: &[u8]) -> Result<bool> {
        Err(EngineError::unsupported("a liar", "deleting"))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        if self.lie == Lie::ForgetsOnOpening && self.reopened {
            return Ok(());
        }
        if self.tells(Lie::SometimesEmpty, 5) {
            return Ok(());
        }
        let (lie, mut seen) = (self.lie, 0_u64);
        self.honest.scan(table, range, &mut |key, value| {
            seen += 1;
            match lie {
                Lie::SkipsInScans if seen.is_multiple_of(1_000) => ControlFlow::Continue(()),
                Lie::BendsScans => {
                    let bend = |byte: &u8| if *byte == b'7' { b'8' } else { *byte };
                    let mut bent = value.to_vec();
                    bent[9..].iter_mut().for_each(|byte| *byte = bend(byte));
                    visit(key, &bent)
                }
                _ => visit(key, value),
            }
        })
    }
}

/// The phases that find a lie out.
fn found_out(lie: Lie) -> Vec<&'static str> {
    let (_dir, mut options) = options();
    let Some(Store::Kv(honest)) = store(registry::find("memory").unwrap(), &mut options) else {
        panic!("memory is no key-value store")
    };
    let liar = Liar { honest: Plain(honest), lie, calls: 0, reopened: false, value: None, log: 0 };
    let bench = Staged::new(ROWS).open("none", Store::Kv(Box::new(liar)), connecting()).unwrap();
    let wrong = PHASES.into_iter().zip(drive(bench, None)).filter(|(name, end)| match end {
        End::Wrong(text) => {
            assert!(text.starts_with("wrong answer: "), "{name}: {text}");
            true
        }
        _ => false,
    });
    wrong.map(|(name, _)| name).collect()
}

#[test]
fn an_honest_store_is_not_accused() {
    assert_eq!(found_out(Lie::None), [""; 0]);
}

#[test]
fn rows_lost_while_they_are_inserted_are_missed() {
    let wrong = found_out(Lie::DropsPuts);
    for phase in ["insert", "insert_buffered", "insert_offthread", "co2", "open"] {
        assert!(wrong.contains(&phase), "{phase} not in {wrong:?}");
    }
}

#[test]
fn a_scan_that_skips_or_bends_rows_makes_its_questions_wrong() {
    assert!(found_out(Lie::SkipsInScans).contains(&"co2"));
    let wrong = found_out(Lie::BendsScans);
    for phase in ["insert", "co2", "open_log", "open"] {
        assert!(wrong.contains(&phase), "{phase} not in {wrong:?}");
    }
}

#[test]
fn one_request_of_many_with_a_wrong_number_of_rows_is_noticed() {
    let wrong = found_out(Lie::SometimesEmpty);
    for phase in ["gps", "co2", "logs"] {
        assert!(wrong.contains(&phase), "{phase} not in {wrong:?}");
    }
}

#[test]
fn what_is_gone_when_it_is_opened_again_is_missed() {
    assert_eq!(found_out(Lie::ForgetsOnOpening), ["open_log", "open_large_log", "open"]);
}

#[test]
fn a_closed_loop_runs_for_its_window_and_is_not_capped() {
    let (_dir, mut options) = options();
    let store = store(registry::find("memory").unwrap(), &mut options).unwrap();
    for (name, end) in PHASES
        .into_iter()
        .zip(drive(Staged::new(ROWS).open("none", store, connecting()).unwrap(), None))
    {
        if let ("gps" | "co2" | "logs", End::Right(runs)) = (name, &end) {
            for (_, run) in runs {
                assert!(run.ops > 1 && !run.capped, "{name}: {run:?}");
                assert!(run.elapsed_ns >= 50_000_000, "{name}: {run:?}");
            }
        }
    }
}
