//! Columns of what was observed in phases of a fixed time. The usual names of roles, counts and
//! latencies are listed here, so that files of several results have the same columns. Other names
//! follow them.

use embermark_model::result::{
    DiskCurve, Latency, Observed, ResultFile, Run, SteadyFigure, Timeline,
};

use super::column::{Column, Figure, Get, column, flag, real, run, used, whole, word};
use crate::{ageing, text};

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
    if runs(file).any(|run| disk(run).is_some()) {
        columns.extend(disk_columns());
    }
    if runs(file).any(|run| timeline(run).is_some()) {
        columns.extend(timeline_columns());
    }
    for role in named(&ROLES, file, |seen| seen.processes.keys().collect()) {
        let prefix = format!("observed_{role}_");
        columns.extend(used(&prefix, move |run| observation(run)?.processes.get(&role)));
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

fn disk(run: &Run) -> Option<&DiskCurve> {
    observation(run)?.disk.as_ref()
}

/// Returns the columns of disk use over time: the disk at both ends, every point, and the cost of
/// sampling.
fn disk_columns() -> [Column; 4] {
    [
        run("observed_disk_begin_bytes", |run| Some(disk(run)?.begin_bytes)),
        run("observed_disk_end_bytes", |run| Some(disk(run)?.end_bytes)),
        run("observed_disk_sampling_cpu_ns", |run| disk(run)?.cpu_ns),
        word("observed_disk_points", |line| {
            // Seconds and bytes: `0.100:57344 0.200:61440`.
            let points = disk(line.run?.1)?.points.iter();
            Some(text::joined(points.map(|(seconds, bytes)| format!("{seconds:.3}:{bytes}")), " "))
        }),
    ]
}

fn timeline(run: &Run) -> Option<&Timeline> {
    observation(run)?.timeline.as_ref()
}

/// Returns the columns of the timeline: whether and when it became steady, the last rounds, and
/// every slice.
fn timeline_columns() -> Vec<Column> {
    let figure = |name: &str, of: &'static [&'static str], get: fn(&SteadyFigure) -> f64| {
        real(name, move |line| {
            let figures = &timeline(line.run?.1)?.steady.figures;
            of.iter().find_map(|name| figures.get(*name)).map(get)
        })
    };
    vec![
        flag("steady", |line| Some(timeline(line.run?.1)?.steady.reached)),
        real("steady_after_s", |line| Some(timeline(line.run?.1)?.steady.after_s)),
        real("steady_turnovers", |line| Some(timeline(line.run?.1)?.steady.turnovers)),
        figure("steady_spread", &["throughput", "latency"], |of| of.spread),
        figure("steady_slope", &["throughput", "latency"], |of| of.slope),
        figure("steady_space_spread", &["space"], |of| of.spread),
        figure("steady_space_slope", &["space"], |of| of.slope),
        real("steady_rows_per_second", |line| ageing::throughput(timeline(line.run?.1)?)),
        real("written_per_user_byte", |line| ageing::written_per_byte(line.run?.1)),
        run("space_bytes", |run| timeline(run)?.rounds.last()?.allocated_bytes),
        run("stalls_above_100ms", |run| Some(timeline(run)?.stalled)),
        word("expiry", |line| Some(text::plain(&timeline(line.run?.1)?.expiry))),
        word("timeline", |line| Some(slices(timeline(line.run?.1)?))),
    ]
}

/// Formats each slice: its end, rows in, median, 99th percentile and maximum of its commits in ns,
/// bytes allocated, and bytes written to the device,
/// `1.000:52000:140000:900000:2000000:57344:61440`. Unmeasured parts are empty.
fn slices(timeline: &Timeline) -> String {
    let shown = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let slices = timeline.slices.iter().map(|slice| {
        let commits = slice.commits;
        let parts = [
            Some(slice.rows_in),
            commits.map(|of| of.p50),
            commits.and_then(|of| of.p99),
            commits.map(|of| of.max),
            slice.allocated_bytes,
            slice.device_written_bytes,
        ];
        format!("{:.3}:{}", slice.until_s, text::joined(parts.into_iter().map(shown), ":"))
    });
    text::joined(slices, " ")
}
