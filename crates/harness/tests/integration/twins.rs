//! A/A: one engine under two names. Any difference between them comes from the harness and the
//! statistics.

use std::sync::LazyLock;

use embermark_engines::registry;
use embermark_engines::{Availability, Engine, Info, Kind, OpenOptions, Opened, Result, Tier};
use embermark_harness::{Catalog, RunOptions, WorkerCommand};
use embermark_model::plan::Plan;
use embermark_model::{Durability, Scale};
use embermark_report::statistics::includes_one;
use embermark_report::summary::{self, Entry, Measured};
use embermark_workloads::WORKLOADS;

use crate::cells::plan;
use crate::trials::{Out, run};

/// Slow tests, which run only with `--ignored`.
pub const SLOW: &[(&str, fn())] = &[
    ("the_map_in_memory_does_not_differ_from_itself", || differs_from_itself(["map", "same-map"])),
    ("sqlite_does_not_differ_from_itself", || differs_from_itself(["lite", "same-lite"])),
];

/// The sorted map in memory and SQLite, under two names each, as ranked engines.
pub static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let engines = &[
        &Twin("map", "memory") as &dyn Engine,
        &Twin("same-map", "memory"),
        &Twin("lite", "sqlite"),
        &Twin("same-lite", "sqlite"),
    ];
    Catalog::new(engines, &WORKLOADS)
});

const REPETITIONS: u64 = 10;
const PHASES: [&str; 3] = ["load", "read", "avg_sensor"];

/// A name, and the engine behind it.
struct Twin(&'static str, &'static str);

impl Twin {
    fn engine(&self) -> &'static dyn Engine {
        registry::find(self.1).expect("this program has it")
    }
}

impl Engine for Twin {
    fn info(&self) -> Info {
        Info { id: self.0, kind: Kind::Embedded, ..self.engine().info() }
    }

    fn availability(&self) -> Availability {
        self.engine().availability()
    }

    fn has_maintenance(&self) -> bool {
        self.engine().has_maintenance()
    }

    fn tier(&self, asked: Durability) -> Tier {
        match self.1 {
            // It keeps nothing, and would not be ranked.
            "memory" => {
                Tier::Offered { effective_durability: asked, setting: "in memory only", manual: "" }
            }
            _ => self.engine().tier(asked),
        }
    }

    fn open(&self, site: &OpenOptions) -> Result<Opened> {
        self.engine().open(site)
    }
}

fn differs_from_itself(names: [&str; 2]) {
    let mut shown = Vec::new();
    for seed in 1..=REPETITIONS {
        let out = Out::new();
        let options = RunOptions::new(out.path("")).unwrap();
        let worker =
            WorkerCommand { args: vec!["worker-of-twins".to_owned()], ..options.worker.clone() };
        let options = RunOptions { worker, catalog: *CATALOG, ..options };
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let plan = Plan {
            workloads: words(&["sensors"]),
            scales: vec![Scale::Rows(10_000)],
            phases: Some(words(&PHASES)),
            runs: 6,
            trials: 5,
            seed,
            ..plan(&names)
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
