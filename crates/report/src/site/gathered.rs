//! What is kept of every result: how each engine stands in each table. From that come the tables over all
//! machines, and an engine's history.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use embermark_model::result::ResultFile;
use serde::Serialize;

use super::cells;
use super::figures::Figures;
use super::index::Index;
use super::number::Number;
use super::standing::{Stands, Timed};
use crate::statistics::{geometric_mean, median};
use crate::summary::{Group, Resource};
use crate::text;

/// The resources that are compared over machines.
const RESOURCES: [Resource; 3] = [Resource::Peak, Resource::Disk, Resource::Written];

/// Everything that is kept, by group.
#[derive(Default)]
pub(super) struct Gathered {
    groups: BTreeMap<usize, Vec<Kept>>,
    versions: Vec<String>,
    known: HashMap<String, usize>,
}

/// How an engine stands in a table of a result.
struct Kept {
    result: usize,
    engine: usize,
    /// Place in [`Gathered::versions`]; absent where it never opened.
    version: Option<usize>,
    /// Whether it competes.
    ranked: bool,
    rows: KeptStands,
    questions: KeptStands,
    used: [Option<f64>; RESOURCES.len()],
}

impl Kept {
    /// Whether it ran, and competes.
    const fn ran(&self) -> bool {
        self.ranked && self.version.is_some()
    }
}

/// How it stands in one kind of work.
enum KeptStands {
    Timed { ratio: Option<f64>, ns: f64, whole: bool },
    Says(String),
    Nothing,
}

impl KeptStands {
    fn of(stands: &Stands) -> Self {
        match stands {
            Stands::Timed(timed) => {
                let Timed { ratio, ns, .. } = timed;
                Self::Timed { ratio: *ratio, ns: *ns, whole: timed.is_whole() }
            }
            Stands::Says(says) => Self::Says(text::clipped(says, 80)),
            Stands::Nothing => Self::Nothing,
        }
    }

    /// Its ratio, where it answered every phase.
    const fn ratio(&self) -> Option<f64> {
        match self {
            Self::Timed { ratio, whole: true, .. } => *ratio,
            _ => None,
        }
    }
}

/// A table over machines: of each its [latest result of many engines](latest).
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "OverMachines"))]
pub(super) struct Table {
    /// Each engine over machines.
    engines: Vec<OverMachines>,
    /// Machine, result, and who is first in rows and in questions there.
    machines: Vec<(usize, usize, Vec<usize>, Vec<usize>)>,
}

/// An engine over machines.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EngineOverMachines"))]
struct OverMachines {
    /// The place of the engine.
    engine: usize,
    /// Machines with a result that has it.
    machines: usize,
    /// Its ratios over the rows.
    rows: Option<Spread>,
    /// Its ratios over the questions.
    questions: Option<Spread>,
    /// Medians of memory, size and bytes written.
    used: [Option<Number>; RESOURCES.len()],
}

/// Ratios over machines: on how many, their geometric mean, the least and the most.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Spread(usize, Number, Number, Number);

impl Spread {
    fn of(ratios: &[f64]) -> Option<Self> {
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
    /// `[result, version, rows, questions, used]`: rows and questions are `[ns, ratio]`, a text or nothing.
    results: Vec<HistoryRow>,
}

type HistoryRow = (usize, Option<usize>, Past, Past, [Option<Number>; RESOURCES.len()]);

/// How an engine stood once.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
enum Past {
    Timed(Number, Option<Number>),
    Says(String),
    #[cfg_attr(test, ts(type = "null"))]
    Nothing(Option<()>),
}

impl Past {
    fn of(kept: &KeptStands) -> Self {
        match kept {
            KeptStands::Timed { ns, .. } => Self::Timed(Number(*ns), kept.ratio().map(Number)),
            KeptStands::Says(says) => Self::Says(says.clone()),
            KeptStands::Nothing => Self::Nothing(None),
        }
    }
}

impl Gathered {
    /// Adds a table of a result.
    pub fn add(&mut self, result: usize, figures: &Figures, file: &ResultFile, group: &Group<'_>) {
        let kept = self.groups.entry(figures.group).or_default();
        for (place, engine) in group.engines.iter().enumerate() {
            let own = file.cells.iter();
            let own = own.filter(|cell| cell.id.engine == engine.id && group.holds(&cell.id));
            let versions = &mut self.versions;
            let version = own.flat_map(cells::versions).next().map(|version| {
                *self.known.entry(version).or_insert_with_key(|version| {
                    versions.push(version.clone());
                    versions.len() - 1
                })
            });
            kept.push(Kept {
                result,
                engine: figures.engines[place],
                version,
                ranked: engine.ranked(group.durability),
                rows: KeptStands::of(&figures.rows[place]),
                questions: KeptStands::of(&figures.questions[place]),
                used: RESOURCES.map(|resource| group.usage[place].get(resource)),
            });
        }
    }

    /// Of each group the engines that ran in it and compete.
    pub fn ran(&self) -> impl Iterator<Item = (usize, BTreeSet<usize>)> {
        self.groups.iter().map(|(group, kept)| {
            (*group, kept.iter().filter(|kept| kept.ran()).map(|kept| kept.engine).collect())
        })
    }

    /// The table of each group.
    pub fn tables(&self, index: &Index) -> impl Iterator<Item = (usize, Table)> {
        self.groups.iter().map(|(group, kept)| (*group, table(kept, index)))
    }

    /// The history of each engine in each group that it has been in: engine, group, history.
    pub fn histories(&self) -> impl Iterator<Item = (usize, usize, History<'_>)> {
        self.groups.iter().flat_map(|(group, kept)| {
            let engines: BTreeSet<usize> = kept.iter().map(|kept| kept.engine).collect();
            engines.into_iter().map(|engine| (engine, *group, self.history(kept, engine)))
        })
    }

    fn history(&self, kept: &[Kept], engine: usize) -> History<'_> {
        let own = || kept.iter().filter(|kept| kept.engine == engine);
        let versions: BTreeSet<usize> = own().filter_map(|kept| kept.version).collect();
        let places: HashMap<usize, usize> =
            versions.iter().enumerate().map(|(place, version)| (*version, place)).collect();
        let row = |kept: &Kept| {
            let version = kept.version.and_then(|version| places.get(&version).copied());
            let used = kept.used.map(|used| used.map(Number));
            (kept.result, version, Past::of(&kept.rows), Past::of(&kept.questions), used)
        };
        History {
            versions: versions.iter().map(|version| &*self.versions[*version]).collect(),
            results: own().map(row).collect(),
        }
    }
}

/// By machine its latest result that has at least half of the engines of the fullest result of all. A result of one or two
/// engines, as of a part of a published comparison, would leave all other engines without a place.
fn latest(kept: &[Kept], index: &Index) -> BTreeMap<usize, usize> {
    let mut engines: BTreeMap<usize, usize> = BTreeMap::new();
    for one in kept {
        *engines.entry(one.result).or_default() += usize::from(one.ran());
    }
    let fullest = engines.values().copied().max().unwrap_or_default();
    let mut latest: BTreeMap<usize, usize> = BTreeMap::new();
    for result in
        engines.into_iter().filter(|(_, own)| 2 * own >= fullest).map(|(result, _)| result)
    {
        let (machine, started) = index.of_result(result);
        let before = latest.entry(machine).or_insert(result);
        if index.of_result(*before).1 < started {
            *before = result;
        }
    }
    latest
}

fn table(kept: &[Kept], index: &Index) -> Table {
    let latest = latest(kept, index);
    let results: BTreeSet<usize> = latest.values().copied().collect();
    let mut engines: BTreeMap<usize, Vec<&Kept>> = BTreeMap::new();
    let mut first: HashMap<usize, [Vec<usize>; 2]> = HashMap::new();
    for one in kept.iter().filter(|kept| results.contains(&kept.result)) {
        engines.entry(one.engine).or_default().push(one);
        let firsts = first.entry(one.result).or_default();
        for (first, stands) in firsts.iter_mut().zip([&one.rows, &one.questions]) {
            // The first is what the others are held against: of nobody else the ratio is 1.
            if one.ranked && stands.ratio() == Some(1.0) {
                first.push(one.engine);
            }
        }
    }
    // One that was installed nowhere has nothing to show.
    let has_run = |all: &[&Kept]| all.iter().any(|kept| kept.version.is_some());
    let over = |(engine, all): (usize, Vec<&Kept>)| {
        let spread = |of: fn(&Kept) -> &KeptStands| {
            let ranked = all.iter().filter(|kept| kept.ranked);
            let ratios: Vec<f64> = ranked.filter_map(|kept| of(kept).ratio()).collect();
            Spread::of(&ratios)
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
