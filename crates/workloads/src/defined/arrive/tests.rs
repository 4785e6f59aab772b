use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use embermark_contract::{Engine, Reopener, Store};
use embermark_engines::{Kind, OpenOptions, Tier, registry};
use embermark_language::parse;
use embermark_meter::{Measured, Meter};
use embermark_model::plan::{DataSource, Rate};
use embermark_model::result::Latency;
use embermark_model::{Durability, Scale};
use embermark_skips::{is_here, sampled};

use super::super::Defined;
use crate::arrivals::{Shape, queued};
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
    fn process(&mut self, _: &'static str, _: u32) {}

    fn begin(&mut self, _: std::time::Duration) {}

    fn end(&mut self) {}

    fn open(&mut self) {}

    fn close(&mut self) {}

    fn count(&mut self, name: &'static str, count: u64) {
        self.0.push((name, count));
    }

    fn latency(&mut self, name: &'static str, _: Latency) {
        self.1.push(name);
    }

    fn remark(&mut self, _: &str) {}
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
