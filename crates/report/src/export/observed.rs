//! Columns of what was observed in phases of a fixed time. The usual names of roles, counts and
//! latencies are listed here, so that files of several results have the same columns. Other names
//! follow them.

use embermark_model::result::{Latency, Observed, Resources, ResultFile, Run};

use super::column::{Column, Figure, Get, column, run, whole};
use super::{disk, timeline};
use crate::text;

const ROLES: [&str; 4] = ["server", "writer", "reader", "sensor"];

const COUNTS: [&str; 11] = [
    "samples",
    "lost",
    "lost-ever",
    "deadline-misses",
    "latest-ns",
    "reads",
    "missed-slots",
    "target-rate",
    "achieved-rate",
    "sustained-rate",
    "filled",
];

const LATENCIES: [&str; 4] = ["response", "commit", "read", "staleness"];

const PROCESS: [(&str, Figure<Resources>); 5] = [
    ("cpu_ns", |used| used.cpu_ns),
    ("peak_bytes", |used| used.peak_bytes),
    ("mean_bytes", |used| used.mean_bytes),
    ("read_bytes", |used| used.read_bytes),
    ("written_bytes", |used| used.written_bytes),
];

pub(super) const LATENCY: [(&str, Figure<Latency>); 8] = [
    ("samples", |latency| Some(latency.samples)),
    ("min_ns", |latency| Some(latency.min)),
    ("mean_ns", |latency| Some(latency.mean.round() as u64)),
    ("p50_ns", |latency| Some(latency.p50)),
    ("p95_ns", |latency| latency.p95),
    ("p99_ns", |latency| latency.p99),
    ("p99_9_ns", |latency| latency.p99_9),
    ("max_ns", |latency| Some(latency.max)),
];

/// Returns the columns for what occurs in a result.
pub(super) fn observed(file: &ResultFile) -> Vec<Column> {
    let mut columns = vec![
        run("observed_window_ns", |run| Some(observation(run)?.window_ns)),
        run("observed_network_bytes", |run| observation(run)?.network_bytes),
        column(
            "observed_disk_growth_bytes",
            Get::Whole(Box::new(|line| observation(line.run?.1)?.disk_growth_bytes)),
        ),
    ];
    if runs(file).any(|run| disk::disk(run).is_some()) {
        columns.extend(disk::columns());
    }
    if runs(file).any(|run| timeline::run_timeline(run).is_some()) {
        columns.extend(timeline::columns());
    }
    for role in named(&ROLES, file, |seen| seen.processes.keys().collect()) {
        columns.extend(PROCESS.map(|(name, get)| {
            let (name, role) = (format!("observed_{role}_{name}"), role.clone());
            whole(&name, move |line| get(observation(line.run?.1)?.processes.get(&role)?))
        }));
    }
    for count in named(&COUNTS, file, |seen| seen.counts.keys().collect()) {
        columns.push(whole(&format!("observed_{count}"), move |line| {
            observation(line.run?.1)?.counts.get(&count).copied()
        }));
    }
    for kind in named(&LATENCIES, file, |seen| seen.latencies.keys().collect()) {
        columns.extend(LATENCY.map(|(name, get)| {
            let (name, kind) = (format!("observed_{kind}_{name}"), kind.clone());
            whole(&name, move |line| get(observation(line.run?.1)?.latencies.get(&kind)?))
        }));
    }
    columns
}

fn runs(file: &ResultFile) -> impl Iterator<Item = &Run> {
    let trials = file.cells.iter().flat_map(|cell| &cell.trials);
    trials.flat_map(|trial| &trial.phases).flat_map(|phase| &phase.runs)
}

/// Returns the known names, then further names that occur in the file.
fn named(
    known: &[&str],
    file: &ResultFile,
    keys: impl Fn(&Observed) -> Vec<&String>,
) -> Vec<String> {
    let mut found: Vec<&str> =
        runs(file).filter_map(observation).flat_map(keys).map(String::as_str).collect();
    found.sort_unstable();
    text::unique(known.iter().copied().chain(found)).into_iter().map(str::to_owned).collect()
}

fn observation(run: &Run) -> Option<&Observed> {
    run.observed.as_ref()
}
