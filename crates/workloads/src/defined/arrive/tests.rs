use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use embermark_contract::{Engine, Reopener, Store};
use embermark_engines::{Kind, OpenOptions, Tier, registry};
use embermark_language::parse;
use embermark_meter::{Measured, Meter};
use embermark_model::plan::{DataSource, Rate};
use embermark_model::result::Latency;
use embermark_model::{Durability, Scale};
use embermark_skips::{is_here, sampled};

use super::super::Defined;
use super::super::keep::tests::cell;
use super::planned;
use crate::arrivals::{Shape, Task, queued};
use crate::{Bench, Companions, PhaseObserver, Spec};

const FILE: &str = r#"
[table.reading]
rows = 90
key = ["time", "sensor"]

[table.reading.columns]
time = { type = "timestamp", unit = "s", make = "sequence", from = "2026-01-01", step = "1s", repeat = 3 }
sensor = { type = "i32", make = "cycle", distinct = 3 }
temp = { type = "f64", make = "choice", values = [18, 18.25, 19] }

[phase.each]
only = "arrive"
do = "insert"

[phase.batch]
only = "arrive"
do = "insert"
commit = { batch = 40 }

[phase.singly]
arrive = "1000/s"
insert = "each"
queue = 500
for = "250ms"

[phase.batched]
arrive = "1000/s"
insert = "batch"
queue = 500
for = "250ms"

[phase.collected]
arrive = "1000/s"
insert = "each"
collect = "100ms"
queue = 500
for = "250ms"

[phase.group]
do = "group"
where = [["time", ">=", "end - 10s"]]
compute = ["count"]
"#;

/// A sensor that has made 300 rows before it is asked, twenty of which did not fit.
struct Made(PathBuf);

impl Companions for Made {
    fn start(&self, role: &str, task: &str, _: Option<&str>) -> io::Result<Child> {
        assert_eq!(role, "sensor");
        assert!(task.contains("\"rate\":1000"), "{task}");
        Command::new("cat").arg(&self.0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    }
}

/// Keeps what is counted.
#[derive(Default)]
struct Counts(Vec<(&'static str, u64)>, Vec<&'static str>);

impl PhaseObserver for Counts {
    fn count(&mut self, name: &'static str, count: u64) {
        self.0.push((name, count));
    }

    fn latency(&mut self, name: &'static str, _: Latency) {
        self.1.push(name);
    }
}

fn bench(folder: &Path, engine: &'static dyn Engine) -> (tempfile::TempDir, Box<dyn Bench>) {
    let definition =
        parse("logger.toml", FILE, &[]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let workload = Defined::leak(definition, folder.to_owned(), 0.0);
    let rows = folder.join("rows");
    let source = workload.source(&DataSource::Synthetic, 5).unwrap();
    source.stage(Scale::Rows(90), &rows).unwrap();
    let carried = folder.join("carried");
    let came = (0..200).chain(220..300);
    fs::write(&carried, queued(Shape::of_rows(500), 1, came, 300)).unwrap();
    let companions: Option<Rc<dyn Companions>> = Some(Rc::new(Made(carried)));
    let spec = Spec { companions, rate: Rate::default(), ..Spec::of(rows, "as-written", 5) };
    let place = tempfile::tempdir().unwrap();
    let path = place.path().canonicalize().unwrap();
    let mut options = OpenOptions::new(path, Durability::None, 64 << 20);
    let tiers = [Durability::None, Durability::Process, Durability::Power];
    let offered = |tier: &Durability| matches!(engine.tier(*tier), Tier::Offered { .. });
    options.durability = tiers.into_iter().find(offered).unwrap();
    let store = engine.open(&options).unwrap_or_else(|error| panic!("{error}")).store;
    let reopener = Reopener::new(|mut store: Store, meanwhile| {
        let connected = store.lifecycle().reconnect();
        connected.unwrap_or_else(|| panic!("nobody opens it again"))?;
        meanwhile().map(|()| store)
    });
    (place, workload.prepare(&spec).unwrap().open(store, reopener).unwrap())
}

/// Runs a phase twice. Returns what was counted in the last run, what was timed, and what is wrong
/// with it.
fn run(bench: &mut dyn Bench, name: &str) -> (Counts, Measured, Option<String>) {
    let place = bench.phases().iter().position(|phase| phase.name == name).unwrap();
    let mut meter = Meter::new(None);
    for last in [false, true] {
        let mut counts = Counts::default();
        bench.ready(place).unwrap();
        let outcome = bench.observe(place, &mut meter, &mut counts);
        let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        let wrong = bench.check(place, &outcome, meter.measured()).err();
        if last || wrong.is_some() {
            return (counts, meter.measured(), wrong.map(|wrong| wrong.to_string()));
        }
    }
    unreachable!("the last run returns")
}

fn engines() -> Vec<&'static dyn Engine> {
    let chosen = std::env::var("EMBERMARK_TEST_ENGINE").ok();
    let all = registry::ENGINES.iter().copied().filter(|engine| match &chosen {
        Some(chosen) => chosen.split(',').any(|id| id == engine.info().id),
        None => engine.info().id != "null" && engine.info().kind != Kind::Server,
    });
    sampled(all, if chosen.is_some() { usize::MAX } else { 3 })
}

#[test]
fn what_comes_is_stored_behind_the_rows_and_compared_however_it_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    for engine in engines().into_iter().filter(|engine| is_here(*engine)) {
        let (_place, mut bench) = bench(folder.path(), engine);
        for name in ["singly", "batched", "collected"] {
            let what = format!("{} {name}", engine.info().id);
            let (Counts(counts, latencies), measured, wrong) = run(&mut *bench, name);
            assert_eq!(wrong, None, "{what}");
            let count = |name: &str| counts.iter().find(|(known, _)| *known == name).unwrap().1;
            // Of 275 rows, 25 are before the window; those after it are stored too.
            assert_eq!((count("samples"), measured.ops), (230, 230), "{what}");
            assert_eq!((count("lost"), count("lost-ever")), (20, 20), "{what}");
            assert_eq!(count("target-rate"), 1_000, "{what}");
            assert_eq!(latencies, ["commit", "response"], "{what}");
        }
        // Later phases find the table with its own rows again, and the end of their times.
        let (_, measured, wrong) = run(&mut *bench, "group");
        assert!(wrong.is_none() && measured.ops > 0, "{}: {wrong:?}", engine.info().id);
        bench.finish().unwrap();
    }
}

#[test]
fn rows_that_were_not_stored_are_missed() {
    let folder = tempfile::tempdir().unwrap();
    let (_place, mut bench) = bench(folder.path(), registry::find("null").unwrap());
    for name in ["singly", "batched", "collected"] {
        let (_, _, wrong) = run(&mut *bench, name);
        let wrong = wrong.unwrap_or_else(|| panic!("{name}: nothing is there"));
        assert!(wrong.contains("370 rows are missing, row 0 first"), "{name}: {wrong}");
    }
}

/// Returns the end of the window of each phase, after a warm-up of 25 ms, or why there is none.
fn windows(text: &str, rate: u64, window_ms: u64) -> Vec<Result<u64, String>> {
    let dir = tempfile::tempdir().unwrap();
    let cell = cell(text, Scale::Rows(90), dir.path()).unwrap();
    let ms = Duration::from_millis;
    let task = Task::new(rate, ms(25), ms(window_ms));
    let planned = cell.definition.arrivals().map(|arrive| planned(&cell, arrive, task));
    let end = planned.map(|planned| match planned {
        Ok(task) => Ok(task.end),
        Err(error) => {
            assert!(error.is_unsupported(), "{error}");
            Err(error.to_string())
        }
    });
    end.collect()
}

#[test]
fn a_window_has_three_commits_at_the_rate_that_it_gets_or_says_what_to_change() {
    // Singly, in batches of 40, and collected for 100 ms.
    assert_eq!(windows(FILE, 1_000, 250), [Ok(275), Ok(275), Ok(275)]);
    // A part of the 250 ms, as a search tries it.
    assert_eq!(windows(FILE, 1_000, 20), [Ok(45), Ok(81), Ok(201)]);
    let slow = windows(FILE, 10, 250);
    assert_eq!([&slow[0], &slow[2]], [&Ok(4), &Ok(4)], "100 ms have one row");
    let why = slow[1].clone().unwrap_err();
    for word in ["at 10 rows per second", "250ms", "commits of 40 rows", "a longer 'for'"] {
        assert!(why.contains(word), "no {word} in: {why}");
    }
}

#[test]
fn rows_that_run_out_of_times_are_refused_before_any_comes() {
    // Thirty years of rows come again every thirty years: seven times before 2262.
    let long = FILE.replace("step = \"1s\"", "step = \"365d\"");
    let long = long.replace("queue = 500", "queue = 100");
    assert_eq!(windows(&long, 1_000, 250)[0], Ok(275), "in seconds");
    let nanoseconds = long.replace("unit = \"s\"", "unit = \"ns\"");
    assert_eq!(windows(&nanoseconds, 1_000, 250)[0], Ok(275), "718 rows of 720");
    let why = windows(&nanoseconds, 1_000, 253)[0].clone().unwrap_err();
    for word in ["table 'reading'", "after 720 rows", "unit = \"us\"", "a shorter 'for'"] {
        assert!(why.contains(word), "no {word} in: {why}");
    }
    let microseconds = long.replace("unit = \"s\"", "unit = \"us\"");
    assert_eq!(windows(&microseconds, 1_000, 253)[0], Ok(278));
}

#[test]
fn a_file_whose_rows_only_arrive_has_no_cold_reads() {
    let is_cold = |text: &str| {
        let definition =
            parse("logger.toml", text, &[]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        Defined::leak(definition, PathBuf::new(), 0.0).info().cold
    };
    let (arrivals, _) = FILE.split_once("[phase.group]").unwrap();
    assert!(is_cold(FILE) && !is_cold(arrivals));
}
