//! A/A: one engine under two names. Whatever difference is shown between them, the harness and the
//! statistics made.

use embermark_engines::registry;
use embermark_engines::{Availability, Engine, Info, Kind, Opened, Result, Site, Tier};
use embermark_harness::{Catalog, RunOptions, WorkerCommand};
use embermark_model::plan::Plan;
use embermark_model::{Durability, Scale};
use embermark_report::statistics::includes_one;
use embermark_report::summary::{self, Entry, Measured};
use embermark_workloads::WORKLOADS;

use crate::cells::plan;
use crate::trials::{Out, run};

/// Slow tests, which run when they are asked for by `--ignored`.
pub const SLOW: &[(&str, fn())] =
    &[("an_engine_does_not_differ_from_itself", an_engine_does_not_differ_from_itself)];

/// The sorted map in memory under two names, as an engine that is ranked.
pub static CATALOG: Catalog =
    Catalog { engines: &[&Twin("one"), &Twin("other")], workloads: WORKLOADS };

const REPETITIONS: u64 = 10;
const PHASES: [&str; 3] = ["load", "read", "avg_sensor"];

struct Twin(&'static str);

impl Engine for Twin {
    fn info(&self) -> Info {
        let memory = registry::find("memory").map(|memory| memory.info());
        let memory = memory.expect("every build has it");
        Info { id: self.0, kind: Kind::Embedded, ..memory }
    }

    fn availability(&self) -> Availability {
        Availability::Ready { version: "1".into() }
    }

    fn tier(&self, keeps: Durability) -> Tier {
        Tier::Offered { keeps, setting: "in memory only" }
    }

    fn open(&self, site: &Site) -> Result<Opened> {
        registry::find("memory").expect("every build has it").open(site)
    }
}

fn an_engine_does_not_differ_from_itself() {
    let mut shown = Vec::new();
    for seed in 1..=REPETITIONS {
        let out = Out::new();
        let options = RunOptions::new(out.path("")).unwrap();
        let worker =
            WorkerCommand { args: vec!["worker-of-twins".to_owned()], ..options.worker.clone() };
        let options = RunOptions { worker, catalog: CATALOG, ..options };
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let plan = Plan {
            workloads: words(&["sensors"]),
            scales: vec![Scale::Rows(10_000)],
            phases: Some(words(&PHASES)),
            runs: 6,
            trials: 5,
            seed,
            ..plan(&["one", "other"])
        };
        let result = run(&plan, &options).unwrap();
        let comparison = summary::compare(&result, &PHASES);
        for row in &comparison.groups[0].rows {
            let measured: Vec<&Measured<'_>> = row
                .entries
                .iter()
                .map(|entry| match entry {
                    Entry::Measured(measured) => measured,
                    other => panic!("{other:?}"),
                })
                .collect();
            let worse = measured.iter().find(|measured| !measured.best).expect("one of two");
            let interval = worse.ratio_interval.unwrap();
            println!("seed {seed} {:?}: {:?} {interval:.3?}", row.phase, worse.ratio);
            shown.extend((!includes_one(interval)).then_some((seed, row.phase.map(str::to_owned))));
        }
    }
    let decisions = REPETITIONS as usize * PHASES.len();
    println!("a difference was shown in {} of {decisions}: {shown:?}", shown.len());
    assert!(shown.len() * 10 <= decisions, "more than one in ten: {shown:?}");
}
