//! What a reader of the site chooses from: small, since every view loads it first. Words that repeat have
//! a number.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use embermark_model::result::{EngineFacts, Machine, ResultFile};
use embermark_model::{Durability, Scale};
use serde::{Serialize, Serializer};

use super::ids::{self, Names};
use crate::export::label;
use crate::html::WorkloadFacts;
use crate::summary::{Column, Group, Resource};
use crate::{notes, summary, text};

/// The version of this form.
pub(super) const VERSION: u32 = 2;

/// The longest text of a choice.
const LONGEST: usize = 120;

/// The memory of one machine differs from kernel to kernel by less than this.
const SAME_MEMORY: u64 = 256 << 20;

/// The choices.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Index {
    /// The version of this form.
    site: u32,
    /// The version of embermark that made the site.
    tool: &'static str,
    /// What is shown of resources.
    columns: Vec<Column>,
    /// Id and what it stands for.
    workloads: Vec<(String, String)>,
    /// What may be compared.
    groups: Vec<GroupOf>,
    /// The columns of results.
    engines: Vec<EngineOf>,
    /// The machines.
    machines: Vec<MachineOf>,
    /// The results.
    results: Vec<ResultOf>,
    /// Sets of groups that results have, each as first and last of every run of neighbours.
    shapes: Vec<Vec<usize>>,
    /// Of each engine the groups that it has a history in.
    histories: Vec<BTreeSet<usize>>,
    #[serde(skip)]
    known: Known,
}

/// Where the choices are that are known.
#[derive(Default)]
struct Known {
    workloads: HashMap<String, usize>,
    abouts: HashMap<String, String>,
    groups: HashMap<GroupKey, usize>,
    engines: HashMap<EngineKey, usize>,
    engine_names: Names,
    machines: HashMap<String, usize>,
    machine_names: Names,
    result_names: Names,
    shapes: HashMap<Vec<usize>, usize>,
    /// The groups of the result that was added last.
    own: Vec<usize>,
}

/// What tells groups of several results apart.
#[derive(Clone, PartialEq, Eq, Hash)]
struct GroupKey {
    workload: usize,
    scale: Scale,
    limit: Option<u64>,
    storage: Option<String>,
    tier: Durability,
    conditions: String,
}

/// What tells columns of several results apart: name, engine, settings, client.
type EngineKey = (String, String, String, String);

/// What may be compared.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Group"))]
struct GroupOf {
    /// The place of its workload.
    workload: usize,
    /// The scale as it is written.
    scale: String,
    /// Absent for all rows of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// The memory limit as it is written, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    /// The imitated storage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    storage: Option<String>,
    /// The tier.
    tier: Durability,
    /// What else was asked for than a plain run has: clients, a rate, cold reads, rows of one's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    conditions: String,
    /// How many results have it.
    results: usize,
    /// How many engines ran in it and compete, each as it comes and used by embermark itself.
    engines: usize,
}

/// A column of results.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Engine"))]
struct EngineOf {
    /// The column's name in an address.
    id: String,
    /// The column's name.
    name: String,
    /// The name of its engine.
    engine: String,
    /// `embedded`, `server` or `reference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Its data model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The licence of the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    licence: Option<String>,
    /// Absent: embermark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    /// Settings of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<String>,
    /// An engine as it comes: no configuration, and no client of another language.
    #[serde(skip)]
    plain: bool,
}

/// Hardware, by what its firmware and its kernel say of it. There may be a thousand: it is written as
/// `[id, name, says]`.
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(rename = "PackedMachine", type = "[id: string, name: string, says: string]")
)]
struct MachineOf {
    id: String,
    name: String,
    says: String,
}

impl Serialize for MachineOf {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.id, &self.name, &self.says).serialize(to)
    }
}

/// A result, written as `[id, machine, label, started, tool, shape]`.
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(
        rename = "PackedResult",
        type = "[id: string, machine: number, label: string, started: string, tool: string, shape: number]"
    )
)]
struct ResultOf {
    id: String,
    machine: usize,
    label: String,
    started: String,
    tool: String,
    shape: usize,
}

impl Serialize for ResultOf {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { id, machine, label, started, tool, shape } = self;
        (id, machine, label, started, tool, shape).serialize(to)
    }
}

impl Index {
    /// Without a result.
    pub fn new(workloads: &[WorkloadFacts]) -> Self {
        let abouts = workloads.iter().map(|of| (of.id.clone(), of.about.clone())).collect();
        Self {
            site: VERSION,
            tool: env!("CARGO_PKG_VERSION"),
            columns: Resource::SHOWN.map(Resource::column).into(),
            workloads: Vec::new(),
            groups: Vec::new(),
            engines: Vec::new(),
            machines: Vec::new(),
            results: Vec::new(),
            shapes: Vec::new(),
            histories: Vec::new(),
            known: Known { abouts, ..Known::default() },
        }
    }

    /// Adds a result; its groups follow.
    pub fn add_result(&mut self, path: &Path, file: &ResultFile) -> usize {
        let manifest = &file.manifest;
        let machine = self.machine(&manifest.machine);
        let short = |text: &str| text::clipped(text, LONGEST);
        let repeats = file.plan.repeats.as_ref().map(|of| format!("repeats {of}"));
        self.results.push(ResultOf {
            id: self.known.result_names.of(&manifest.run_id, &manifest.run_id),
            machine,
            label: short(&repeats.unwrap_or_else(|| label(path))),
            started: text::clipped(&manifest.started, 20),
            tool: short(&manifest.tool.version),
            shape: 0,
        });
        self.known.own.clear();
        self.results.len() - 1
    }

    /// The id of a result.
    pub fn id_of(&self, place: usize) -> &str {
        &self.results[place].id
    }

    /// Ends the groups of a result.
    pub fn end_result(&mut self, place: usize) {
        let mut own = std::mem::take(&mut self.known.own);
        own.sort_unstable();
        own.dedup();
        let mut shape: Vec<usize> = Vec::new();
        for group in own {
            match shape.last_mut().filter(|last| **last + 1 == group) {
                Some(last) => *last = group,
                None => shape.extend([group, group]),
            }
        }
        let shapes = &mut self.shapes;
        self.results[place].shape = *self.known.shapes.entry(shape).or_insert_with_key(|shape| {
            shapes.push(shape.clone());
            shapes.len() - 1
        });
    }

    fn machine(&mut self, machine: &Machine) -> usize {
        let emulated = machine.emulates.as_ref().map(|of| text::clipped(&of.device, LONGEST));
        let named =
            |name: &Option<String>| name.as_deref().map(|name| text::clipped(name, LONGEST));
        let memory = machine.memory_bytes.map(|bytes| bytes.div_ceil(SAME_MEMORY));
        let (board, cpu) = (named(&machine.board), named(&machine.cpu));
        let key = format!("{board:?} {cpu:?} {:?} {memory:?} {emulated:?}", machine.cpus);
        if let Some(known) = self.known.machines.get(&key) {
            return *known;
        }
        // The firmware of a virtual machine names no board.
        let board = board.filter(|board| !board.contains("virtual machine"));
        let own = board.or(cpu).unwrap_or_else(|| "unknown machine".to_owned());
        let name = emulated.map_or(own.clone(), |device| format!("{device}, emulated on {own}"));
        let id = ids::with_digest(&name, &key);
        self.machines.push(MachineOf {
            id: self.known.machine_names.of(&id, &key),
            name,
            says: text::clipped(&notes::hardware(machine), 2 * LONGEST),
        });
        self.known.machines.insert(key, self.machines.len() - 1);
        self.machines.len() - 1
    }

    /// The number of a group, which the result at `place` has.
    pub fn group(&mut self, file: &ResultFile, group: &Group<'_>, place: usize) -> usize {
        debug_assert_eq!(place + 1, self.results.len(), "groups are those of the last result");
        let workload = self.workload(group.workload);
        let key = GroupKey {
            workload,
            scale: group.scale,
            limit: group.memory_limit.map(|limit| limit.0),
            storage: group.storage.map(|storage| storage.to_string()),
            tier: group.durability,
            conditions: conditions(file, group),
        };
        let groups = &mut self.groups;
        let at = *self.known.groups.entry(key).or_insert_with_key(|key| {
            groups.push(GroupOf {
                workload,
                scale: key.scale.to_string(),
                rows: match key.scale {
                    Scale::Rows(rows) => Some(rows),
                    Scale::Full => None,
                },
                limit: group.memory_limit.map(|limit| limit.to_string()),
                storage: key.storage.clone(),
                tier: key.tier,
                conditions: key.conditions.clone(),
                results: 0,
                engines: 0,
            });
            groups.len() - 1
        });
        self.groups[at].results += 1;
        self.known.own.push(at);
        at
    }

    fn workload(&mut self, id: &str) -> usize {
        let (workloads, abouts) = (&mut self.workloads, &self.known.abouts);
        *self.known.workloads.entry(id.to_owned()).or_insert_with_key(|id| {
            let about = abouts.get(id).map(|about| text::clipped(about, 2 * LONGEST));
            workloads.push((text::clipped(id, LONGEST), about.unwrap_or_default()));
            workloads.len() - 1
        })
    }

    /// The number of a column of a result.
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
        if let Some(known) = self.known.engines.get(&key) {
            return *known;
        }
        let known = facts.get(base).or_else(|| file.manifest.engines.get(column));
        let short = |text: &str| text::clipped(text, LONGEST);
        self.engines.push(EngineOf {
            id: self.known.engine_names.of(column, &format!("{key:?}")),
            name: short(column),
            engine: short(known.map_or(base, |facts| &facts.name)),
            kind: summary::kind(file, column, facts).map(short),
            model: known.map(|facts| short(&facts.data_model)),
            licence: known.map(|facts| short(&facts.licence)),
            client: client.as_deref().map(short),
            settings: settings.as_deref().map(short),
            plain: column == base,
        });
        self.histories.push(BTreeSet::new());
        self.known.engines.insert(key, self.engines.len() - 1);
        self.engines.len() - 1
    }

    /// Notes that these engines have a history in a group.
    pub fn has_history(&mut self, engines: &[usize], group: usize) {
        for engine in engines {
            self.histories[*engine].insert(group);
        }
    }

    /// Notes the engines that ran and compete in a group.
    pub fn ran(&mut self, group: usize, engines: &BTreeSet<usize>) {
        let plain = engines.iter().filter(|engine| self.engines[**engine].plain);
        self.groups[group].engines = plain.count();
    }

    /// The machine of a result, and when that began.
    pub fn of_result(&self, place: usize) -> (usize, &str) {
        let result = &self.results[place];
        (result.machine, &result.started)
    }

    /// How many results there are.
    pub const fn results(&self) -> usize {
        self.results.len()
    }

    /// How many machines there are.
    pub const fn machines(&self) -> usize {
        self.machines.len()
    }
}

/// What a run asked for beyond workload, scale, memory, storage and tier, on which its figures depend: those of
/// runs that differ in it are in tables of their own.
fn conditions(file: &ResultFile, group: &Group<'_>) -> String {
    let plan = &file.plan;
    let own_file = plan.workload_files.get(group.workload);
    let data = group.dataset.and_then(|data| data.sha256.as_ref());
    let parts = [
        (plan.clients > 1).then(|| format!("{} clients", plan.clients)),
        plan.target_rate.map(|rate| format!("{rate} operations per second")),
        plan.cold.then(|| "cold reads".to_owned()),
        data.map(|digest| format!("rows {}", text::clipped(digest, 9))),
        own_file.map(|own| format!("file {}", ids::digest(&own.text))),
    ];
    text::joined(parts.into_iter().flatten(), ", ")
}
