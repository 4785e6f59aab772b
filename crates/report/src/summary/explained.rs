//! Requests of an operation to the operating system, from the trials that count them.

use embermark_model::result::{CallKind, Cell, OsCost, Resources, ResultFile, SystemCalls};
use serde::Serialize;

use super::column::Quantity::{Bytes, Number};
use super::column::{Amounts, Column};
use crate::text;

/// Requests of an operation of a phase, by the keys of [`explained_columns`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Explanation {
    /// Requests by the engine: by the worker of an embedded one, or by all processes of a server.
    pub engine: Amounts,
    /// Requests by the client, if it is another process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Amounts>,
    /// System calls that are more than 5 % of the engine's, by name with their share. The most
    /// frequent comes first.
    pub frequent_calls: Vec<(String, f64)>,
    /// Operations of the run whose system calls were counted.
    pub traced_ops: Option<u64>,
    /// Operations of the run whose other figures were counted.
    pub ops: u64,
}

/// Source of a count of a run.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// System calls, from the run that is traced.
    Calls(fn(&SystemCalls) -> u64),
    /// Other counts of the operating system, from a run that is not traced.
    Cost(fn(&OsCost) -> Option<u64>),
    /// Resources of that run.
    Used(fn(&Resources) -> Option<u64>),
}

/// A column for an operation, and its count of a run.
type Count = (Column, Source);

const fn calls(labels: [&'static str; 3], of: fn(&SystemCalls) -> u64) -> Count {
    (Column::new(labels, Number), Source::Calls(of))
}

const fn cost(labels: [&'static str; 3], of: fn(&OsCost) -> Option<u64>) -> Count {
    (Column::new(labels, Number), Source::Cost(of))
}

const fn bytes(key: &'static str, about: &'static str, of: Source) -> Count {
    (Column::new([key, about, about], Bytes), of)
}

/// Every count. CSV and Parquet have it under its key, as the total of a run.
pub(crate) const COUNTS: &[Count] = &[
    calls(["calls", "calls", "system calls"], SystemCalls::total),
    calls(["read_calls", "read", "to read"], |of| of.count(CallKind::Read)),
    calls(["write_calls", "write", "to write"], |of| of.count(CallKind::Write)),
    calls(["flush_calls", "flush", "to flush"], |of| of.count(CallKind::Flush)),
    calls(["memory_calls", "memory", "to map and unmap memory"], |of| of.count(CallKind::Memory)),
    calls(["wait_calls", "wait", "to wait and to wake"], |of| of.count(CallKind::Wait)),
    calls(["network_calls", "network", "to send and receive"], |of| of.count(CallKind::Network)),
    calls(["other_calls", "other", "other system calls"], |of| of.count(CallKind::Other)),
    bytes("file_read_bytes", "read from files", Source::Calls(|of| of.file_read_bytes)),
    bytes("file_written_bytes", "written to files", Source::Calls(|of| of.file_written_bytes)),
    calls(["synced_writes", "synced write", "writes that sync themselves"], |of| of.synced_writes),
    cost(["minor_faults", "minor faults", "page faults without I/O"], |of| of.minor_faults),
    cost(["major_faults", "major faults", "page faults with I/O"], |of| of.major_faults),
    cost(["voluntary_switches", "switches, waiting", "context switches, waiting"], |of| {
        of.voluntary_switches
    }),
    cost(["involuntary_switches", "switches, preempted", "context switches, preempted"], |of| {
        of.involuntary_switches
    }),
    bytes("read_bytes", "read from storage", Source::Used(|of| of.read_bytes)),
    cost(["instructions", "instructions", "instructions"], |of| of.instructions),
    cost(["cache_misses", "cache misses", "cache misses"], |of| of.cache_misses),
];

/// Returns the columns of an [`Explanation`] by table, with its title: those of system calls, and
/// the others.
pub fn explained_columns() -> [(&'static str, Vec<Column>); 2] {
    let tables = [
        ("what an operation cost: system calls", true),
        ("what an operation cost: other counts", false),
    ];
    tables.map(|(title, calls)| {
        let own = COUNTS.iter().filter(|(_, of)| matches!(of, Source::Calls(_)) == calls);
        (title, own.map(|(column, _)| *column).collect())
    })
}

/// Returns the requests of an operation of a phase of a cell. `None` if they were not counted.
pub fn explained(cell: &Cell, phase: &str) -> Option<Explanation> {
    let run = cell.explained(phase)?;
    let explained = run.explained.as_ref()?;
    let (traced_ops, ops) = (explained.traced_ops, run.ops);
    let per = |count: u64, ops: u64| (ops > 0).then(|| count as f64 / ops as f64);
    let amounts = |cost: &OsCost, used: &Resources| -> Amounts {
        let amount = |of: Source| match of {
            Source::Calls(of) => per(of(cost.calls.as_ref()?), traced_ops?),
            Source::Cost(of) => per(of(cost)?, ops),
            Source::Used(of) => per(of(used)?, ops),
        };
        COUNTS.iter().map(|(column, of)| (*column, amount(*of))).collect()
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

/// Smallest share from which a system call is named.
const FREQUENT: f64 = 0.05;

fn frequent(calls: &SystemCalls) -> Vec<(String, f64)> {
    let total = calls.total() as f64;
    let named = calls.by_kind.values().flatten();
    let shares = named.map(|(name, count)| (text::plain(name), *count as f64 / total));
    let mut frequent: Vec<(String, f64)> = shares.filter(|(_, share)| *share > FREQUENT).collect();
    frequent.sort_by(|a, b| b.1.total_cmp(&a.1));
    frequent
}

/// Lists the reasons why something was not counted, without duplicates.
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
