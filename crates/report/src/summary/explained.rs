//! What an operation asked of the operating system, of the trials that explain.

use embermark_model::result::{CallKind, Cell, OsCost, Resources, ResultFile, Run, SystemCalls};
use serde::Serialize;

use super::column::Quantity::{self, Bytes, Number};
use super::column::{Amounts, Column};
use crate::text;

/// What an operation of a phase asked for, by the keys of [`explained_columns`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// By the engine: the worker of an embedded one, all processes of a server.
    pub engine: Amounts,
    /// By the client, where it is another process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Amounts>,
    /// The engine's system calls that are more than 5 % of all of them, by name with their share, the
    /// most frequent first.
    pub frequent_calls: Vec<(String, f64)>,
    /// Operations of the run whose system calls were counted.
    pub traced_ops: Option<u64>,
    /// Operations of the run of which everything else is.
    pub ops: u64,
}

/// The counts of one side of a run.
struct Part<'a> {
    cost: &'a OsCost,
    used: &'a Resources,
    traced_ops: Option<u64>,
    ops: u64,
}

impl Part<'_> {
    fn calls(&self, kind: CallKind) -> Option<f64> {
        per(self.cost.calls.as_ref()?.of(kind), self.traced_ops?)
    }

    fn own(&self, count: Option<u64>) -> Option<f64> {
        per(count?, self.ops)
    }
}

fn per(count: u64, ops: u64) -> Option<f64> {
    (ops > 0).then(|| count as f64 / ops as f64)
}

/// A column, and what an operation has of it.
type Amount = (Column, fn(&Part<'_>) -> Option<f64>);

const fn column(
    [key, heading, about]: [&'static str; 3],
    quantity: Quantity,
    of: fn(&Part<'_>) -> Option<f64>,
) -> Amount {
    (Column { key, heading, about, quantity }, of)
}

/// How many of the columns are of system calls.
const OF_CALLS: usize = 11;

const AMOUNTS: [Amount; 18] = [
    column(["calls", "calls", "system calls"], Number, |part| {
        per(part.cost.calls.as_ref()?.total(), part.traced_ops?)
    }),
    column(["read_calls", "read", "to read"], Number, |part| part.calls(CallKind::Read)),
    column(["write_calls", "write", "to write"], Number, |part| part.calls(CallKind::Write)),
    column(["flush_calls", "flush", "to flush"], Number, |part| part.calls(CallKind::Flush)),
    column(["synced_writes", "synced write", "writes that sync themselves"], Number, |part| {
        per(part.cost.calls.as_ref()?.synced_writes, part.traced_ops?)
    }),
    column(["memory_calls", "memory", "to map and unmap memory"], Number, |part| {
        part.calls(CallKind::Memory)
    }),
    column(["wait_calls", "wait", "to wait and to wake"], Number, |part| {
        part.calls(CallKind::Wait)
    }),
    column(["network_calls", "network", "to send and receive"], Number, |part| {
        part.calls(CallKind::Network)
    }),
    column(["other_calls", "other", "other system calls"], Number, |part| {
        part.calls(CallKind::Other)
    }),
    column(["file_read_bytes", "read from files", "read from files"], Bytes, |part| {
        per(part.cost.calls.as_ref()?.file_read_bytes, part.traced_ops?)
    }),
    column(["file_written_bytes", "written to files", "written to files"], Bytes, |part| {
        per(part.cost.calls.as_ref()?.file_written_bytes, part.traced_ops?)
    }),
    column(["minor_faults", "minor faults", "page faults without I/O"], Number, |part| {
        part.own(part.cost.minor_faults)
    }),
    column(["major_faults", "major faults", "page faults with I/O"], Number, |part| {
        part.own(part.cost.major_faults)
    }),
    column(
        ["voluntary_switches", "switches, waiting", "context switches, waiting"],
        Number,
        |part| part.own(part.cost.voluntary_switches),
    ),
    column(
        ["involuntary_switches", "switches, preempted", "context switches, preempted"],
        Number,
        |part| part.own(part.cost.involuntary_switches),
    ),
    column(["storage_read_bytes", "read from storage", "read from storage"], Bytes, |part| {
        part.own(part.used.read_bytes)
    }),
    column(["instructions", "instructions", "instructions"], Number, |part| {
        part.own(part.cost.instructions)
    }),
    column(["cache_misses", "cache misses", "cache misses"], Number, |part| {
        part.own(part.cost.cache_misses)
    }),
];

/// The columns of an [`Explanation`]: those of system calls, and the others.
pub fn explained_columns() -> [Vec<Column>; 2] {
    let (calls, others) = AMOUNTS.split_at(OF_CALLS);
    [calls, others].map(|columns| columns.iter().map(|(column, _)| *column).collect())
}

/// What an operation of a phase of a cell asked for; `None` where nobody counted it.
pub fn explained(cell: &Cell, phase: &str) -> Option<Explanation> {
    of_run(cell.explained(phase)?)
}

fn of_run(run: &Run) -> Option<Explanation> {
    let explained = run.explained.as_ref()?;
    let (traced_ops, ops) = (explained.traced_ops, run.ops);
    let amounts = |cost: &OsCost, used: &Resources| -> Amounts {
        let part = Part { cost, used, traced_ops, ops };
        AMOUNTS.iter().map(|(column, of)| (*column, of(&part))).collect()
    };
    let client = explained.client.as_ref();
    Some(Explanation {
        engine: amounts(&explained.engine, &run.engine),
        client: client.map(|cost| amounts(cost, &run.client.unwrap_or_default())),
        frequent_calls: explained.engine.calls.as_ref().map(frequent).unwrap_or_default(),
        traced_ops,
        ops,
    })
}

/// A system call is named from this share of all on.
const FREQUENT: f64 = 0.05;

fn frequent(calls: &SystemCalls) -> Vec<(String, f64)> {
    let total = calls.total() as f64;
    let named = calls.by_kind.values().flatten();
    let shares = named.map(|(name, count)| (text::plain(name), *count as f64 / total));
    let mut frequent: Vec<(String, f64)> = shares.filter(|(_, share)| *share > FREQUENT).collect();
    frequent.sort_by(|a, b| b.1.total_cmp(&a.1));
    frequent
}

/// Why something was not explained, each reason once.
pub(crate) fn not_explained(file: &ResultFile) -> Vec<String> {
    let trials = file.cells.iter().filter_map(|cell| Some((cell, cell.explaining.as_deref()?)));
    let reasons = trials.flat_map(|(cell, trial)| {
        let ended = trial.reason.as_ref().filter(|_| !trial.status.has_figures());
        let ended = ended.map(|why| format!("{}: {why}", cell.id));
        let runs = trial.phases.iter().flat_map(|phase| &phase.runs);
        let explained = runs.filter_map(|run| run.explained.as_ref());
        ended.into_iter().chain(explained.flat_map(|run| run.not_explained.clone()))
    });
    text::unique(reasons.map(|why| text::plain(&why)))
}
