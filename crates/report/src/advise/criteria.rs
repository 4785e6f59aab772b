//! The criteria that engines are compared by.

use embermark_model::result::{Counts, PhaseKind};

use serde::Serialize;

use crate::kinds::{self, Kinds};
use crate::summary::Resource;

/// A criterion that engines are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Criterion {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name in a table.
    pub label: &'static str,
    /// The figures it is made of.
    pub about: &'static str,
}

/// The source of a criterion's figures. Smaller figures are better.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// Time per operation of the phases that count for the criterion.
    Time(Counts),
    /// The same over phases that every engine did, for work that not every engine can do.
    Common(Counts),
    /// 99th percentile of the latency of one operation in phases of single rows, if recorded.
    Tail,
    /// 99th percentile of commits in steady rounds, for engines that reached a steady state.
    Steady,
    /// A resource that some work used. Of [`Resource::WRITTEN`] it is the bytes that reached a disk
    /// or, where a card was modelled for every engine, that it programmed.
    Use(Resource, Work),
}

/// The phases whose resources count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// The phases of each workload's main variant.
    Main,
    /// The phases of the criterion `ingest`, in its variants: one commit per row.
    Ingest,
}

impl Source {
    /// Whether the figures include a phase.
    pub fn is_of(self, kind: &PhaseKind) -> bool {
        match self {
            Self::Time(counts) | Self::Common(counts) => kind.counts == Some(counts),
            Self::Steady => kind.counts == Some(Counts::SteadyLatency),
            Self::Tail => kind.of_rows && kind.counts.is_some(),
            Self::Use(..) => false,
        }
    }

    /// The criterion of the phases whose time counts.
    pub const fn times(self) -> Option<Counts> {
        match self {
            Self::Time(counts) | Self::Common(counts) => Some(counts),
            Self::Tail | Self::Steady | Self::Use(..) => None,
        }
    }
}

/// A criterion and its sources.
pub(super) struct CriterionSources {
    pub criterion: Criterion,
    pub sources: &'static [Source],
}

impl CriterionSources {
    /// The criterion of the phases whose time counts.
    pub fn times(&self) -> Option<Counts> {
        self.sources.iter().find_map(|source| source.times())
    }
}

const fn row(
    id: &'static str,
    label: &'static str,
    about: &'static str,
    sources: &'static [Source],
) -> CriterionSources {
    CriterionSources { criterion: Criterion { id, label, about }, sources }
}

use Counts::{Analytics, Load, Mixed, Point, Start, Update};
use Source::{Common, Steady, Tail, Time, Use};
use Work::{Ingest, Main};

/// The criteria.
pub(super) static CRITERIA: [CriterionSources; 18] = [
    row("ingest", "ingest", "rows put in one by one, one commit per row", &[Time(Counts::Ingest)]),
    row("load", "bulk load", "many rows in a commit, or by the fastest path", &[Time(Load)]),
    row("point", "point reads", "rows fetched by key or by an index", &[Time(Point)]),
    row("update", "updates", "existing rows changed or deleted", &[Time(Update)]),
    row("analytics", "analytics", "questions over many rows, and scans", &[Time(Analytics)]),
    row("mixed", "mixed", "rows put in while they are read", &[Time(Mixed)]),
    row("tail", "latency tail", "99th percentile of single operations", &[Tail]),
    row(
        "steady-latency",
        "steady latency",
        "99th percentile of commits once they are steady, while rows come in and old ones go",
        &[Steady],
    ),
    row("memory", "memory", "largest resident memory of the engine", &[Use(Resource::PEAK, Main)]),
    row(
        "wear",
        "flash wear",
        "bytes programmed into a modelled flash card for the same work, or that reached a disk",
        &[Use(Resource::WRITTEN, Main)],
    ),
    row("disk", "disk size", "bytes on disk of rows loaded once", &[Use(Resource::DISK, Main)]),
    row(
        "cpu",
        "CPU",
        "CPU time of engine and client for the same work",
        &[Use(Resource::ALL_CPU, Main)],
    ),
    row(
        "energy",
        "energy",
        "joules over the idle draw for the same work, where something measured them",
        &[Use(Resource::ENERGY, Main)],
    ),
    row(
        "ingest-memory",
        "memory of ingest",
        "memory, while rows are put in with one commit per row",
        &[Use(Resource::PEAK, Ingest)],
    ),
    row(
        "ingest-wear",
        "flash wear of ingest",
        "wear, of rows put in with one commit per row",
        &[Use(Resource::WRITTEN, Ingest)],
    ),
    row(
        "ingest-cpu",
        "CPU of ingest",
        "CPU time, of rows put in with one commit per row",
        &[Use(Resource::ALL_CPU, Ingest)],
    ),
    row(
        "ingest-energy",
        "energy of ingest",
        "energy, of rows put in with one commit per row",
        &[Use(Resource::ENERGY, Ingest)],
    ),
    row(
        "start",
        "start-up",
        "opening a database, or starting the server",
        &[Use(Resource::OPENING, Main), Common(Start)],
    ),
];

/// Returns the built-in workloads whose phases count for a criterion; none for a resource, which all use.
pub(super) fn workloads(criterion: &str) -> Vec<&'static str> {
    let of = CRITERIA.iter().filter(|made| made.criterion.id == criterion);
    let sources: Vec<&Source> = of.flat_map(|made| made.sources).collect();
    kinds::published(|kind| sources.iter().any(|source| source.is_of(kind)))
}

/// Returns example weights for criteria that phases of these kinds have times for: `ingest=3,analytics=1`.
pub(crate) fn example(kinds: &Kinds<'_>) -> Option<String> {
    let timed = CRITERIA.iter();
    let timed = timed.filter(|made| made.times().is_some_and(|counts| kinds.have(counts)));
    let timed: Vec<&str> = timed.map(|made| made.criterion.id).collect();
    let first = timed.first()?;
    let further = timed.iter().find(|id| **id == "analytics").or(timed.get(1));
    Some(match further.filter(|further| *further != first) {
        Some(further) => format!("{first}=3,{further}=1"),
        None => format!("{first}=1"),
    })
}
