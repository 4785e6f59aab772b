//! The columns of the CSV about clients and schedules. Those of latencies are of the line's phase, over
//! its counted runs.

use embermark_model::result::{Latency, PhaseResult, Run};

/// The columns' names.
pub(super) const HEADER: [&str; 15] = [
    "clients",
    "ops_per_second",
    "slowest_client_per_second",
    "fastest_client_per_second",
    "target_rate",
    "achieved_rate",
    "kept_up",
    "late_p99_ns",
    "service_p50_ns",
    "service_p99_ns",
    "service_p99_9_ns",
    "response_mean_ns",
    "response_p50_ns",
    "response_p99_ns",
    "response_p99_9_ns",
];

/// The columns of a line; empty what it has not.
pub(super) fn columns(phase: Option<&PhaseResult>, run: Option<&Run>) -> [String; 15] {
    let Some(run) = run else { return Default::default() };
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let whole = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rates = || run.clients.iter().filter_map(|client| client.ops_per_second());
    let schedule = run.schedule;
    let service = phase.and_then(|phase| phase.latency.as_ref());
    let response = phase.and_then(|phase| phase.response.as_ref());
    let tail = |of: Option<&Latency>, get: fn(&Latency) -> Option<u64>| whole(of.and_then(get));
    [
        run.clients.len().max(1).to_string(),
        number(run.ops_per_second()),
        number(rates().reduce(f64::min)),
        number(rates().reduce(f64::max)),
        whole(schedule.map(|schedule| schedule.target_rate)),
        number(schedule.map(|schedule| schedule.achieved_rate)),
        schedule.map(|schedule| schedule.kept_up().to_string()).unwrap_or_default(),
        whole(schedule.and_then(|schedule| schedule.late_p99_ns)),
        tail(service, |latency| Some(latency.p50)),
        tail(service, |latency| latency.p99),
        tail(service, |latency| latency.p99_9),
        number(schedule.map(|schedule| schedule.response_ns)),
        tail(response, |latency| Some(latency.p50)),
        tail(response, |latency| latency.p99),
        tail(response, |latency| latency.p99_9),
    ]
}
