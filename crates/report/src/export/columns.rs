//! Columns of what was measured that CSV and Parquet have alike. Names of roles, counts and
//! distributions that a workload watches are known here, so that files of several results have the
//! same columns; others follow them.

use std::collections::BTreeSet;

use embermark_model::result::{
    DeviceIo, DiskSize, Latency, Maintenance, Observed, PhaseResult, Resources, ResultFile, Run,
    Trial,
};

/// What a line is about, as deep as it goes.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub trial: Option<&'a Trial>,
    pub phase: Option<&'a PhaseResult>,
    pub run: Option<&'a Run>,
}

/// A column of whole numbers; empty where something was not measured.
pub(super) struct Column {
    pub name: String,
    get: Get,
}

type Figure<T> = fn(&T) -> Option<u64>;

enum Get {
    Trial(Figure<Trial>),
    Phase(Figure<Latency>),
    Response(Figure<Latency>),
    Run(Figure<Run>),
    Growth,
    Process(String, Figure<Resources>),
    Count(String),
    Latency(String, Figure<Latency>),
}

const ROLES: [&str; 4] = ["server", "writer", "reader", "sensor"];

const COUNTS: [&str; 8] = [
    "samples",
    "lost",
    "lost-ever",
    "deadline-misses",
    "latest-ns",
    "reads",
    "missed-slots",
    "sustained-rate",
];

const LATENCIES: [&str; 3] = ["commit", "read", "staleness"];

const TRIAL: [(&str, Figure<Trial>); 11] = [
    ("open_ns", |trial| trial.open_ns),
    ("wall_ns", |trial| Some(trial.wall_ns)),
    ("baseline_bytes", |trial| trial.baseline_bytes),
    ("disk_allocated_bytes", |trial| allocated(trial.disk)),
    ("disk_apparent_bytes", |trial| apparent(trial.disk)),
    ("device_read_bytes", |trial| read(trial.device_io)),
    ("device_written_bytes", |trial| written(trial.device_io)),
    ("device_flushes", |trial| flushes(trial.device_io)),
    ("background_cpu_ns", |trial| trial.background_cpu.map(|cpu| cpu.cpu_ns)),
    ("background_stolen_ns", |trial| trial.background_cpu.map(|cpu| cpu.stolen_ns)),
    ("total_cpu_ns", |trial| trial.background_cpu.map(|cpu| cpu.total_cpu_ns)),
];

/// Columns that the CSV has among its first.
const USAGE: [(&str, Figure<Run>); 8] = [
    ("cpu_ns", |run| run.engine.cpu_ns),
    ("peak_bytes", |run| run.engine.peak_bytes),
    ("read_bytes", |run| run.engine.read_bytes),
    ("written_bytes", |run| run.engine.written_bytes),
    ("client_cpu_ns", |run| run.client?.cpu_ns),
    ("client_peak_bytes", |run| run.client?.peak_bytes),
    ("client_read_bytes", |run| run.client?.read_bytes),
    ("client_written_bytes", |run| run.client?.written_bytes),
];

/// Columns about clients and schedules, which the CSV has among its first too, some with decimals.
const SHARED: [(&str, Figure<Run>); 7] = [
    ("clients", |run| Some(run.clients.len().max(1) as u64)),
    ("slowest_client_per_second", |run| rates(run).reduce(f64::min).map(whole)),
    ("fastest_client_per_second", |run| rates(run).reduce(f64::max).map(whole)),
    ("target_rate", |run| Some(run.schedule?.target_rate)),
    ("achieved_rate", |run| Some(whole(run.schedule?.achieved_rate))),
    ("late_p99_ns", |run| run.schedule?.late_p99_ns),
    ("response_mean_ns", |run| Some(whole(run.schedule?.response_ns))),
];

const RESPONSE: [(&str, Figure<Latency>); 3] = [
    ("response_p50_ns", |latency| Some(latency.p50)),
    ("response_p99_ns", |latency| latency.p99),
    ("response_p99_9_ns", |latency| latency.p99_9),
];

const RUN: [(&str, Figure<Run>); 18] = [
    ("mean_bytes", |run| run.engine.mean_bytes),
    ("user_bytes", |run| Some(run.loaded?.user_bytes)),
    ("run_device_read_bytes", |run| read(device(run))),
    ("run_device_written_bytes", |run| written(device(run))),
    ("run_device_flushes", |run| flushes(device(run))),
    ("maintenance_ns", |run| Some(maintenance(run)?.elapsed_ns)),
    ("maintenance_cpu_ns", |run| maintenance(run)?.engine.cpu_ns),
    ("maintenance_peak_bytes", |run| maintenance(run)?.engine.peak_bytes),
    ("maintenance_read_bytes", |run| maintenance(run)?.engine.read_bytes),
    ("maintenance_written_bytes", |run| maintenance(run)?.engine.written_bytes),
    ("maintenance_device_written_bytes", |run| written(maintenance(run)?.device_io)),
    ("maintenance_device_read_bytes", |run| read(maintenance(run)?.device_io)),
    ("maintenance_device_flushes", |run| flushes(maintenance(run)?.device_io)),
    ("before_maintenance_allocated_bytes", |run| allocated(maintenance(run)?.disk_before)),
    ("before_maintenance_apparent_bytes", |run| apparent(maintenance(run)?.disk_before)),
    ("after_maintenance_allocated_bytes", |run| allocated(maintenance(run)?.disk_after)),
    ("after_maintenance_apparent_bytes", |run| apparent(maintenance(run)?.disk_after)),
    ("observed_window_ns", |run| Some(observed(run)?.window_ns)),
];

const PROCESS: [(&str, Figure<Resources>); 5] = [
    ("cpu_ns", |used| used.cpu_ns),
    ("peak_bytes", |used| used.peak_bytes),
    ("mean_bytes", |used| used.mean_bytes),
    ("read_bytes", |used| used.read_bytes),
    ("written_bytes", |used| used.written_bytes),
];

const LATENCY: [(&str, Figure<Latency>); 8] = [
    ("samples", |latency| Some(latency.samples)),
    ("min_ns", |latency| Some(latency.min)),
    ("mean_ns", |latency| Some(latency.mean.round() as u64)),
    ("p50_ns", |latency| Some(latency.p50)),
    ("p95_ns", |latency| latency.p95),
    ("p99_ns", |latency| latency.p99),
    ("p99_9_ns", |latency| latency.p99_9),
    ("max_ns", |latency| Some(latency.max)),
];

fn rates(run: &Run) -> impl Iterator<Item = f64> {
    run.clients.iter().filter_map(|client| client.ops_per_second())
}

fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// What reached the device, where files of today and of before say it.
fn device(run: &Run) -> Option<DeviceIo> {
    run.device_io.or(run.loaded.and_then(|loaded| loaded.device_io))
}

fn maintenance(run: &Run) -> Option<&Maintenance> {
    run.maintenance()
}

fn observed(run: &Run) -> Option<&Observed> {
    run.observed.as_ref()
}

fn allocated(size: Option<DiskSize>) -> Option<u64> {
    Some(size?.allocated_bytes)
}

fn apparent(size: Option<DiskSize>) -> Option<u64> {
    Some(size?.apparent_bytes)
}

fn read(io: Option<DeviceIo>) -> Option<u64> {
    Some(io?.read_bytes)
}

fn written(io: Option<DeviceIo>) -> Option<u64> {
    Some(io?.written_bytes)
}

fn flushes(io: Option<DeviceIo>) -> Option<u64> {
    Some(io?.flushes)
}

/// The same behind those that the CSV has among its first.
pub(super) fn with_usage(file: &ResultFile) -> Vec<Column> {
    let column = |name: &str, get| Column { name: name.to_owned(), get };
    let runs = USAGE.iter().chain(&SHARED).map(|(name, get)| column(name, Get::Run(*get)));
    let response = RESPONSE.iter().map(|(name, get)| column(name, Get::Response(*get)));
    runs.chain(response).chain(of(file)).collect()
}

/// Every column for a result.
pub(super) fn of(file: &ResultFile) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut add = |name: String, get: Get| {
        columns.push(Column { name: name.replace('-', "_"), get });
    };
    for (name, get) in TRIAL {
        add(name.to_owned(), Get::Trial(get));
    }
    for (name, get) in LATENCY {
        add(format!("latency_{name}"), Get::Phase(get));
    }
    for (name, get) in RUN {
        add(name.to_owned(), Get::Run(get));
    }
    add("observed_network_bytes".to_owned(), Get::Run(|run| observed(run)?.network_bytes));
    add("observed_disk_growth_bytes".to_owned(), Get::Growth);
    for role in named(&ROLES, file, |seen| seen.processes.keys().collect()) {
        for (name, get) in PROCESS {
            add(format!("observed_{role}_{name}"), Get::Process(role.clone(), get));
        }
    }
    for count in named(&COUNTS, file, |seen| seen.counts.keys().collect()) {
        add(format!("observed_{count}"), Get::Count(count));
    }
    for latency in named(&LATENCIES, file, |seen| seen.latencies.keys().collect()) {
        for (name, get) in LATENCY {
            add(format!("observed_{latency}_{name}"), Get::Latency(latency.clone(), get));
        }
    }
    columns
}

/// The known names, and after them whatever else was watched.
fn named(
    known: &[&str],
    file: &ResultFile,
    keys: impl Fn(&Observed) -> Vec<&String>,
) -> Vec<String> {
    let trials = file.cells.iter().flat_map(|cell| &cell.trials);
    let runs = trials.flat_map(|trial| &trial.phases).flat_map(|phase| &phase.runs);
    let found: BTreeSet<&str> =
        runs.filter_map(observed).flat_map(&keys).map(String::as_str).collect();
    let further = found.into_iter().filter(|name| !known.contains(name));
    known.iter().copied().chain(further).map(str::to_owned).collect()
}

impl Column {
    /// The number of a line; `None` where it was not measured, or the line is not about it.
    pub fn of(&self, at: &At<'_>) -> Option<i64> {
        let seen = || observed(at.run?);
        let number = match &self.get {
            Get::Growth => return seen()?.disk_growth_bytes,
            Get::Trial(get) => get(at.trial?),
            Get::Phase(get) => get(at.phase?.latency.as_ref()?),
            Get::Response(get) => get(at.phase?.response.as_ref()?),
            Get::Run(get) => get(at.run?),
            Get::Process(role, get) => get(seen()?.processes.get(role)?),
            Get::Count(name) => seen()?.counts.get(name).copied(),
            Get::Latency(name, get) => get(seen()?.latencies.get(name)?),
        };
        i64::try_from(number?).ok()
    }
}
