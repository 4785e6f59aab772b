//! What the criteria are made of: the one place to change when a workload is added.

use std::sync::LazyLock;

use embermark_language::{Counted, counted};
use embermark_model::result::ResultFile;

use super::Criterion;
use super::used::Used;
use crate::summary::Resource;
use crate::text;

/// Where figures of a criterion come from. All of them are better when they are smaller.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// Time per operation of these phases.
    Time(Phases),
    /// 99th percentile of the latency of one operation in these phases, where it was recorded.
    Tail(Phases),
    /// 99th percentile of commits in the rounds that were steady, of engines that came to a steady state.
    Steady(Phases),
    /// The same of phases that not every engine can do: those that every one did.
    Common(Phases),
    /// What a work used.
    Use(Used, Work),
}

/// Of which phases a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Those of each workload's main variant.
    Main,
    /// Those of the criterion `ingest`, in its variants: one commit a row.
    Ingest,
}

/// Phases of one workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases {
    pub workload: &'static str,
    /// In these variants; none: in every one.
    pub variants: &'static [&'static str],
    pub names: &'static [&'static str],
}

impl Phases {
    /// Whether a phase is among them.
    pub fn has(&self, workload: &str, variant: &str, phase: &str) -> bool {
        self.workload == workload
            && self.names.contains(&phase)
            && (self.variants.is_empty() || self.variants.contains(&variant))
    }
}

impl Made {
    /// The phases whose time it is made of.
    pub fn times(&self) -> impl Iterator<Item = &Phases> {
        self.of.iter().filter_map(|source| match source {
            Source::Time(phases) | Source::Common(phases) => Some(phases),
            Source::Tail(_) | Source::Steady(_) | Source::Use(..) => None,
        })
    }
}

/// A criterion and its sources.
pub(super) struct Made {
    pub criterion: Criterion,
    pub of: Vec<Source>,
}

/// The same without those of published files.
struct Own {
    criterion: Criterion,
    of: &'static [Source],
}

impl Own {
    /// With the phases of published files that count for it.
    fn with(&self, counted: &[Counted]) -> Made {
        let id = self.criterion.id;
        let counts = |of: &&Counted| of.criterion == Some(id) || (id == "tail" && of.of_rows);
        let source = |of: &Counted| {
            let name = |name: &str| -> &'static [&'static str] {
                Vec::leak(vec![&*name.to_owned().leak()])
            };
            let phases = phases(of.workload, name(&of.variant), name(&of.phase));
            match id {
                "tail" => Source::Tail(phases),
                "start" => Source::Common(phases),
                "steady-latency" => Source::Steady(phases),
                _ => Source::Time(phases),
            }
        };
        let is_use = |of: &&Source| matches!(of, Source::Use(..));
        let (first, rest) = self.of.split_at(self.of.iter().take_while(is_use).count());
        let files = counted.iter().filter(counts).map(source);
        Made {
            criterion: self.criterion,
            of: first.iter().copied().chain(files).chain(rest.iter().copied()).collect(),
        }
    }
}

const fn phases(
    workload: &'static str,
    variants: &'static [&'static str],
    names: &'static [&'static str],
) -> Phases {
    Phases { workload, variants, names }
}

const fn made(
    id: &'static str,
    label: &'static str,
    about: &'static str,
    of: &'static [Source],
) -> Own {
    Own { criterion: Criterion { id, label, about }, of }
}

/// The criteria, with the phases of the published files among their sources.
pub(super) static CRITERIA: LazyLock<Vec<Made>> = LazyLock::new(|| {
    let counted = counted();
    OWN.iter().map(|own| own.with(&counted)).collect()
});

/// The criteria, of workloads that are not files.
static OWN: [Own; 18] = [
    made(
        "ingest",
        "ingest",
        "rows put in one by one, one commit a row",
        &[Source::Time(phases("machine", &["individual"], &["write"]))],
    ),
    made(
        "load",
        "bulk load",
        "many rows in a commit, or by the fastest path",
        &[Source::Time(phases("machine", &["bulk"], &["write"]))],
    ),
    made("point", "point reads", "rows fetched by key or by an index", &[]),
    made("update", "updates", "rows that are there changed or deleted", &[]),
    made(
        "analytics",
        "analytics",
        "questions over many rows, and scans",
        &[Source::Time(phases("machine", &[], CYCLES))],
    ),
    made(
        "mixed",
        "mixed",
        "rows put in while they are read",
        &[Source::Time(phases("machine", &[], &["live"]))],
    ),
    made("tail", "latency tail", "99th percentile of single operations", &[]),
    made(
        "steady-latency",
        "steady latency",
        "99th percentile of commits once they are steady, while rows come in and old ones go",
        &[],
    ),
    made(
        "memory",
        "memory",
        "largest resident memory of the engine",
        &[Source::Use(Used::Resource(Resource::Peak), Work::Main)],
    ),
    made(
        "wear",
        "flash wear",
        "bytes programmed into a modelled flash card for the same work, or that reached a disk",
        &[Source::Use(Used::Wear, Work::Main)],
    ),
    made(
        "disk",
        "disk size",
        "bytes on disk of rows loaded once",
        &[Source::Use(Used::Resource(Resource::Disk), Work::Main)],
    ),
    made(
        "cpu",
        "CPU",
        "CPU time of engine and client for the same work",
        &[Source::Use(Used::Resource(Resource::AllCpu), Work::Main)],
    ),
    made(
        "energy",
        "energy",
        "joules over the idle draw for the same work, where something measured them",
        &[Source::Use(Used::Resource(Resource::Energy), Work::Main)],
    ),
    made(
        "ingest-memory",
        "memory of ingest",
        "memory, while rows are put in with one commit a row",
        &[Source::Use(Used::Resource(Resource::Peak), Work::Ingest)],
    ),
    made(
        "ingest-wear",
        "flash wear of ingest",
        "wear, of rows put in with one commit a row",
        &[Source::Use(Used::Wear, Work::Ingest)],
    ),
    made(
        "ingest-cpu",
        "CPU of ingest",
        "CPU time, of rows put in with one commit a row",
        &[Source::Use(Used::Resource(Resource::AllCpu), Work::Ingest)],
    ),
    made(
        "ingest-energy",
        "energy of ingest",
        "energy, of rows put in with one commit a row",
        &[Source::Use(Used::Resource(Resource::Energy), Work::Ingest)],
    ),
    made(
        "start",
        "start-up",
        "opening a database, or starting the server",
        &[Source::Use(Used::Resource(Resource::Opening), Work::Main)],
    ),
];

/// Whether a phase counts for `ingest`.
pub(super) fn is_ingest(workload: &str, variant: &str, phase: &str) -> bool {
    let ingest = CRITERIA.iter().find(|made| made.criterion.id == "ingest");
    ingest.is_some_and(|made| made.times().any(|phases| phases.has(workload, variant, phase)))
}

/// The workloads whose phases a criterion is made of; none of a resource, which every workload uses.
pub(super) fn workloads(criterion: &str) -> Vec<&'static str> {
    let own = CRITERIA.iter().filter(|made| made.criterion.id == criterion);
    let of = own.flat_map(|made| &made.of).filter_map(|source| match source {
        Source::Time(of) | Source::Tail(of) | Source::Steady(of) | Source::Common(of) => Some(of),
        Source::Use(..) => None,
    });
    text::unique(of.map(|phases| phases.workload))
}

/// The ways of reading a cycle of `machine`.
const CYCLES: &[&str] = &["read_individual", "read_bulk", "read_bulk1"];

/// Weights to begin with, of criteria that a result has times for: `ingest=3,analytics=1`.
pub(crate) fn example(file: &ResultFile) -> String {
    let has = |phases: &Phases| {
        file.cells.iter().any(|cell| {
            let id = &cell.id;
            let names = cell.trials.iter().flat_map(|trial| &trial.phases).map(|of| &of.phase);
            names.into_iter().any(|name| phases.has(&id.workload, &id.variant, name))
        })
    };
    let own = |id: &str| {
        let files = file.plan.workload_files.values();
        files.into_iter().any(|file| file.criteria.values().any(|criterion| criterion == id))
    };
    let timed = CRITERIA.iter();
    let timed = timed.filter(|made| made.times().any(has) || own(made.criterion.id));
    let timed: Vec<&str> = timed.map(|made| made.criterion.id).collect();
    let first = timed.first().copied().unwrap_or("cpu");
    let further = timed.iter().find(|id| **id == "analytics").or(timed.get(1));
    match further.filter(|further| **further != first) {
        Some(further) => format!("{first}=3,{further}=1"),
        None => format!("{first}=1"),
    }
}

pub(super) fn list() -> Vec<Criterion> {
    CRITERIA.iter().map(|made| made.criterion).collect()
}
