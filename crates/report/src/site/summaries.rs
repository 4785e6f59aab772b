//! Summaries of every result: the place of each engine in each table. The tables over all machines
//! and the histories of engines are made from them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::figures::Figures;
use super::index::Index;
use super::number::Number;
use super::standing::Stands;
use super::{cells, indexed};
use crate::statistics::{geometric_mean, median};
use crate::summary::{Group, Resource};
use crate::text;

/// Resources that are compared over machines.
const RESOURCES: [Resource; 3] = [Resource::PEAK, Resource::DISK, Resource::WRITTEN];

/// The summaries of all results, by group.
#[derive(Default)]
pub(super) struct Summaries {
    groups: BTreeMap<usize, Vec<EngineSummary>>,
    versions: Vec<String>,
    known: HashMap<String, usize>,
}

/// Summary of an engine in a table of a result.
struct EngineSummary {
    result: usize,
    engine: usize,
    /// Index in [`Summaries::versions`]. Absent if it never opened.
    version: Option<usize>,
    /// Whether it competes.
    ranked: bool,
    rows: Past,
    questions: Past,
    used: [Option<f64>; RESOURCES.len()],
}

impl EngineSummary {
    /// Whether it ran and competes.
    const fn competed(&self) -> bool {
        self.ranked && self.version.is_some()
    }
}

/// Summary of an engine in an earlier result.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
enum Past {
    // The time in ns, and the ratio if it answered every phase.
    Timed(Number, Option<Number>),
    Says(String),
    #[cfg_attr(test, ts(type = "null"))]
    Nothing(Option<()>),
}

impl Past {
    fn new(stands: &Stands) -> Self {
        match stands {
            Stands::Timed { ratio, ns, answered: [answered, of], .. } => {
                Self::Timed(Number(*ns), ratio.filter(|_| answered == of).map(Number))
            }
            Stands::Says(says) => Self::Says(text::clipped(says, 80)),
            Stands::Nothing => Self::Nothing(None),
        }
    }

    fn ratio(&self) -> Option<f64> {
        match self {
            Self::Timed(_, ratio) => ratio.map(|ratio| ratio.0),
            _ => None,
        }
    }
}

/// A table over machines, from the [latest result with many engines](latest) of each.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "OverMachines"))]
pub(super) struct Table {
    /// Each engine over machines.
    engines: Vec<OverMachines>,
    /// Machine, result, and the best engines in rows and in questions there.
    machines: Vec<(usize, usize, Vec<usize>, Vec<usize>)>,
}

/// An engine over machines.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EngineOverMachines"))]
struct OverMachines {
    /// Index of the engine.
    engine: usize,
    /// Number of machines with a result that has it.
    machines: usize,
    /// Ratios over the rows.
    rows: Option<Spread>,
    /// Ratios over the questions.
    questions: Option<Spread>,
    /// Medians of memory, size and bytes written.
    used: [Option<Number>; RESOURCES.len()],
}

/// Ratios over machines: their number, geometric mean, minimum and maximum.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Spread(usize, Number, Number, Number);

impl Spread {
    fn new(ratios: &[f64]) -> Option<Self> {
        let mean = geometric_mean(ratios.iter().copied())?;
        let end = |of: fn(f64, f64) -> f64| ratios.iter().copied().reduce(of).unwrap_or(mean);
        Some(Self(ratios.len(), Number(mean), Number(end(f64::min)), Number(end(f64::max))))
    }
}

/// An engine in one group over all results.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct History<'a> {
    /// The engine's versions.
    versions: Vec<&'a str>,
    /// `[result, version, rows, questions, used]`. Rows and questions are `[ns, ratio]`, a text or
    /// null.
    results: Vec<HistoryRow>,
}

type HistoryRow = (usize, Option<usize>, Past, Past, [Option<Number>; RESOURCES.len()]);

impl Summaries {
    /// Adds a table of a result.
    pub fn add(&mut self, result: usize, figures: &Figures, group: &Group<'_>) {
        let kept = self.groups.entry(figures.group).or_default();
        for (place, engine) in group.engines.iter().enumerate() {
            let own = group.cells().filter(|cell| cell.id.engine == engine.id);
            let mut versions = own.flat_map(cells::versions);
            let index =
                |version| indexed(&mut self.known, &mut self.versions, version, Clone::clone);
            let version = versions.next().map(index);
            kept.push(EngineSummary {
                result,
                engine: figures.engines[place],
                version,
                ranked: engine.ranked(group.durability),
                rows: Past::new(&figures.rows[place]),
                questions: Past::new(&figures.questions[place]),
                used: RESOURCES.map(|resource| group.usage[place].comparable(resource)),
            });
        }
    }

    /// Returns the engines of each group that ran in it and compete.
    pub fn competitors(&self) -> impl Iterator<Item = (usize, BTreeSet<usize>)> {
        self.groups.iter().map(|(group, kept)| {
            (*group, kept.iter().filter(|kept| kept.competed()).map(|kept| kept.engine).collect())
        })
    }

    /// Returns the table of each group.
    pub fn tables(&self, index: &Index) -> impl Iterator<Item = (usize, Table)> {
        self.groups.iter().map(|(group, kept)| (*group, table(kept, index)))
    }

    /// Returns the history of each engine in each of its groups: engine, group, history.
    pub fn histories(&self) -> impl Iterator<Item = (usize, usize, History<'_>)> {
        self.groups.iter().flat_map(|(group, kept)| {
            let engines: BTreeSet<usize> = kept.iter().map(|kept| kept.engine).collect();
            engines.into_iter().map(|engine| (engine, *group, self.history(kept, engine)))
        })
    }

    fn history(&self, kept: &[EngineSummary], engine: usize) -> History<'_> {
        let own = || kept.iter().filter(|kept| kept.engine == engine);
        let versions: BTreeSet<usize> = own().filter_map(|kept| kept.version).collect();
        let places: HashMap<usize, usize> =
            versions.iter().enumerate().map(|(place, version)| (*version, place)).collect();
        let row = |kept: &EngineSummary| {
            let version = kept.version.and_then(|version| places.get(&version).copied());
            let used = kept.used.map(|used| used.map(Number));
            (kept.result, version, kept.rows.clone(), kept.questions.clone(), used)
        };
        History {
            versions: versions.iter().map(|version| &*self.versions[*version]).collect(),
            results: own().map(row).collect(),
        }
    }
}

/// Returns the latest result of each machine that has at least half of the engines of the largest
/// result. A result of one or two engines, such as a part of a published comparison, would leave
/// all other engines without a place.
fn latest(kept: &[EngineSummary], index: &Index) -> BTreeMap<usize, usize> {
    let mut engines: BTreeMap<usize, usize> = BTreeMap::new();
    for one in kept {
        *engines.entry(one.result).or_default() += usize::from(one.competed());
    }
    let fullest = engines.values().copied().max().unwrap_or_default();
    let mut latest: BTreeMap<usize, usize> = BTreeMap::new();
    for (result, _) in engines.into_iter().filter(|(_, own)| 2 * own >= fullest) {
        let of = &index.results[result];
        let before = latest.entry(of.machine).or_insert(result);
        if index.results[*before].started < of.started {
            *before = result;
        }
    }
    latest
}

fn table(kept: &[EngineSummary], index: &Index) -> Table {
    let latest = latest(kept, index);
    let results: BTreeSet<usize> = latest.values().copied().collect();
    let mut engines: BTreeMap<usize, Vec<&EngineSummary>> = BTreeMap::new();
    let mut first: HashMap<usize, [Vec<usize>; 2]> = HashMap::new();
    for one in kept.iter().filter(|kept| results.contains(&kept.result)) {
        engines.entry(one.engine).or_default().push(one);
        let firsts = first.entry(one.result).or_default();
        for (first, stands) in firsts.iter_mut().zip([&one.rows, &one.questions]) {
            // The others are compared with the first, so no other engine has a ratio of exactly 1.
            if one.ranked && stands.ratio() == Some(1.0) {
                first.push(one.engine);
            }
        }
    }
    // An engine that was not installed on any machine has nothing to show.
    let has_run = |all: &[&EngineSummary]| all.iter().any(|kept| kept.version.is_some());
    let over = |(engine, all): (usize, Vec<&EngineSummary>)| {
        let spread = |of: fn(&EngineSummary) -> &Past| {
            let ranked = all.iter().filter(|kept| kept.ranked);
            let ratios: Vec<f64> = ranked.filter_map(|kept| of(kept).ratio()).collect();
            Spread::new(&ratios)
        };
        let used = |place: usize| {
            let known: Vec<f64> = all.iter().filter_map(|kept| kept.used[place]).collect();
            median(&known).map(Number)
        };
        OverMachines {
            engine,
            machines: all.len(),
            rows: spread(|kept| &kept.rows),
            questions: spread(|kept| &kept.questions),
            used: std::array::from_fn(used),
        }
    };
    let machine = |(machine, result): (usize, usize)| {
        let [rows, questions] = first.remove(&result).unwrap_or_default();
        (machine, result, rows, questions)
    };
    Table {
        engines: engines.into_iter().filter(|(_, all)| has_run(all)).map(over).collect(),
        machines: latest.into_iter().map(machine).collect(),
    }
}
