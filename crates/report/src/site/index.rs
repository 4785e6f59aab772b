//! Index of the site, from which a reader chooses. Every view loads it first, so it is small:
//! repeated words are replaced with their indexes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use embermark_model::result::{EngineFacts, Machine, ResultFile};
use embermark_model::{Durability, Extent, Scale};
use serde::{Serialize, Serializer};

use super::figures::short;
use super::ids::{self, UniqueNames};
use super::indexed;
use crate::export::label;
use crate::html::WorkloadFacts;
use crate::summary::{Column, Group, Resource};
use crate::{conditions, notes, summary, text};

/// Version of the format.
pub(super) const VERSION: u32 = 2;

/// Longest description of a workload or a machine, in characters.
const LONGEST: usize = 240;

/// Limit of the difference between kernels in the memory of one machine, in bytes.
const SAME_MEMORY: u64 = 256 << 20;

/// The index.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Index {
    /// Version of the format.
    site: u32,
    /// Version of embermark that made the site.
    tool: &'static str,
    /// Resources that are shown.
    columns: Vec<Column>,
    /// Id and description.
    workloads: Vec<(String, String)>,
    /// Groups of figures that may be compared.
    pub groups: Vec<GroupEntry>,
    /// The columns of results.
    pub engines: Vec<EngineEntry>,
    /// The machines.
    pub machines: Vec<MachineEntry>,
    /// The results.
    pub results: Vec<ResultEntry>,
    /// Sets of groups that results have, each as the first and the last of every run of neighbours.
    shapes: Vec<Vec<usize>>,
    /// For each engine, the groups in which it has a history.
    pub histories: Vec<BTreeSet<usize>>,
    #[serde(skip)]
    known: Lookup,
}

/// Indexes of the known choices.
#[derive(Default)]
struct Lookup {
    workloads: HashMap<String, usize>,
    abouts: HashMap<String, String>,
    groups: HashMap<GroupKey, usize>,
    engines: HashMap<EngineKey, usize>,
    engine_names: UniqueNames,
    machines: HashMap<String, usize>,
    machine_names: UniqueNames,
    result_names: UniqueNames,
    shapes: HashMap<Vec<usize>, usize>,
    /// Groups of the result that was added last.
    own: BTreeSet<usize>,
}

/// Key that distinguishes groups of several results: the workload's index, scale, memory and
/// storage, tier, other conditions.
type GroupKey = (usize, Extent, Durability, String);

/// Key that distinguishes columns of several results: name, engine, settings, client.
type EngineKey = (String, String, String, String);

/// A group of figures that may be compared.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Group"))]
pub(super) struct GroupEntry {
    /// Index of its workload.
    workload: usize,
    /// The scale as text.
    scale: String,
    /// Number of rows. Absent for all rows of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// The memory limit as text, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    /// The imitated storage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    storage: Option<String>,
    /// The tier.
    tier: Durability,
    /// Other conditions that a plain run does not have.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    conditions: String,
    /// Number of results that have it.
    results: usize,
    /// Number of engines that ran in it and compete, without configurations and clients of other
    /// languages.
    pub engines: usize,
}

/// A column of results.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Engine"))]
pub(super) struct EngineEntry {
    /// The column's name in addresses.
    id: String,
    /// The column's name.
    name: String,
    /// The name of the engine.
    engine: String,
    /// `embedded`, `server` or `reference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Its data model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The engine's licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    licence: Option<String>,
    /// The client. Absent for embermark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    /// Settings of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<String>,
    /// Whether it is a plain engine: no configuration, and no client of another language.
    #[serde(skip)]
    pub plain: bool,
}

/// Hardware, as its firmware and its kernel describe it. There may be a thousand, so it is
/// serialized as `[id, name, says]`.
#[derive(Serialize)]
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(rename = "PackedMachine", type = "[id: string, name: string, says: string]")
)]
pub(super) struct MachineEntry(String, String, String);

/// A result, serialized as `[id, machine, label, started, tool, shape]`.
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(
        rename = "PackedResult",
        type = "[id: string, machine: number, label: string, started: string, tool: string, shape: number]"
    )
)]
pub(super) struct ResultEntry {
    pub id: String,
    pub machine: usize,
    label: String,
    pub started: String,
    tool: String,
    shape: usize,
}

impl Serialize for ResultEntry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { id, machine, label, started, tool, shape } = self;
        (id, machine, label, started, tool, shape).serialize(to)
    }
}

impl Index {
    /// Makes an index without results.
    pub fn new(workloads: &[WorkloadFacts]) -> Self {
        let abouts = workloads.iter().map(|of| (of.id.clone(), of.about.clone())).collect();
        Self {
            site: VERSION,
            tool: env!("CARGO_PKG_VERSION"),
            columns: Resource::SHOWN.iter().map(|resource| resource.column).collect(),
            known: Lookup { abouts, ..Lookup::default() },
            ..Self::default()
        }
    }

    /// Adds a result, whose groups are added next. Returns its index.
    pub fn add_result(&mut self, path: &Path, file: &ResultFile) -> usize {
        let manifest = &file.manifest;
        let machine = self.machine(&manifest.machine);
        let repeats = file.plan.repeats.as_ref().map(|of| format!("repeats {of}"));
        self.results.push(ResultEntry {
            id: self.known.result_names.unique(&manifest.run_id, &manifest.run_id),
            machine,
            label: short(&repeats.unwrap_or_else(|| label(path))),
            started: text::clipped(&manifest.started, 20),
            tool: short(&manifest.tool.version),
            shape: 0,
        });
        self.results.len() - 1
    }

    /// Completes a result after its groups were added.
    pub fn end_result(&mut self, place: usize) {
        let mut shape: Vec<usize> = Vec::new();
        for group in std::mem::take(&mut self.known.own) {
            match shape.last_mut().filter(|last| **last + 1 == group) {
                Some(last) => *last = group,
                None => shape.extend([group, group]),
            }
        }
        self.results[place].shape =
            indexed(&mut self.known.shapes, &mut self.shapes, shape, Clone::clone);
    }

    fn machine(&mut self, machine: &Machine) -> usize {
        let emulated = machine.emulates.as_ref().map(|of| short(&of.device));
        let memory = machine.memory_bytes.map(|bytes| bytes.div_ceil(SAME_MEMORY));
        let (board, cpu) = (machine.board.as_deref().map(short), machine.cpu.as_deref().map(short));
        // The firmware of a virtual machine names no board, and older results do not say that.
        let board = board.filter(|board| !board.contains("virtual machine"));
        let key = format!("{board:?} {cpu:?} {:?} {memory:?} {emulated:?}", machine.cpus);
        let names = &mut self.known.machine_names;
        indexed(&mut self.known.machines, &mut self.machines, key, |key| {
            let own = board.or(cpu).unwrap_or_else(|| "unknown machine".to_owned());
            let emulated = emulated.map(|device| format!("{device}, emulated on {own}"));
            let name = emulated.unwrap_or(own);
            let id = names.unique(&ids::with_digest(&name, key), key);
            MachineEntry(id, name, text::clipped(&notes::hardware(machine), LONGEST))
        })
    }

    /// Adds a group of the result at `place`. Returns its index.
    pub fn group(&mut self, group: &Group<'_>, place: usize) -> usize {
        debug_assert_eq!(place + 1, self.results.len(), "groups are those of the last result");
        let workload = self.workload(group.workload);
        let key = (workload, group.extent, group.durability, group_conditions(group));
        let entry = |(.., conditions): &GroupKey| GroupEntry {
            workload,
            scale: group.extent.scale.to_string(),
            rows: match group.extent.scale {
                Scale::Rows(rows) => Some(rows),
                Scale::Full => None,
            },
            limit: group.extent.memory_limit.map(|limit| limit.to_string()),
            storage: group.extent.storage.map(|storage| storage.to_string()),
            tier: group.durability,
            conditions: conditions.clone(),
            results: 0,
            engines: 0,
        };
        let at = indexed(&mut self.known.groups, &mut self.groups, key, entry);
        self.groups[at].results += 1;
        self.known.own.insert(at);
        at
    }

    fn workload(&mut self, id: &str) -> usize {
        let about = self.known.abouts.get(id).map(|about| text::clipped(about, LONGEST));
        let entry = |_: &String| (short(id), about.unwrap_or_default());
        indexed(&mut self.known.workloads, &mut self.workloads, id.to_owned(), entry)
    }

    /// Adds a column of a result. Returns its index.
    pub fn engine(
        &mut self,
        file: &ResultFile,
        column: &str,
        facts: &BTreeMap<String, EngineFacts>,
    ) -> usize {
        let base = file.plan.engine_of(column);
        let configuration = file.plan.configurations.get(column);
        let settings = configuration.filter(|of| of.has_settings()).map(|of| of.subject());
        let client = file.plan.client_of(column).map(ToString::to_string);
        let part = |text: &Option<String>| text.clone().unwrap_or_default();
        let key = (column.to_owned(), base.to_owned(), part(&settings), part(&client));
        let (names, histories) = (&mut self.known.engine_names, &mut self.histories);
        indexed(&mut self.known.engines, &mut self.engines, key, |key| {
            let known = facts.get(base).or_else(|| file.manifest.engines.get(column));
            histories.push(BTreeSet::new());
            EngineEntry {
                id: names.unique(column, &format!("{key:?}")),
                name: short(column),
                engine: short(known.map_or(base, |facts| &facts.name)),
                kind: summary::kind(file, column, facts).map(short),
                model: known.map(|facts| short(&facts.data_model)),
                licence: known.map(|facts| short(&facts.licence)),
                client: client.as_deref().map(short),
                settings: settings.as_deref().map(short),
                plain: column == base,
            }
        })
    }
}

/// Returns the conditions of a run beyond workload, scale, memory, storage and tier that affect its
/// figures. Runs that differ in them are in different tables.
fn group_conditions(group: &Group<'_>) -> String {
    let plan = &group.file.plan;
    let own_file = plan.workload_files.get(group.workload);
    let data = group.dataset.and_then(|data| data.sha256.as_ref());
    let machines = group.file.manifest.client_machines.len();
    let parts = [
        (machines > 1).then(|| format!("on {machines} client machines")),
        notes::network::name(group.file).map(|link| format!("servers over imitated {link}")),
        data.map(|digest| format!("rows {}", text::clipped(digest, 9))),
        own_file.map(|own| format!("file {}", ids::digest(&own.text))),
    ];
    let parts = parts.into_iter().flatten();
    text::joined(conditions::exact(plan).into_iter().chain(parts), ", ")
}
