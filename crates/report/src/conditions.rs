//! Conditions of a whole run that change its figures and that a plain run does not have. Memory
//! limits and storages are conditions of single cells, and a network applies to every private
//! server; headings name them elsewhere.

use embermark_model::MemoryLimit;
use embermark_model::plan::{Plan, Rate};

use crate::{format, text};

/// A condition in words.
struct Condition {
    /// With its exact value.
    exact: String,
    /// As headings have it. `None` if they leave it out.
    heading: Option<String>,
}

/// Returns the conditions that headings name: `4 clients`, `target rate 2.00 k/s`, `cold reads`.
/// `is_paced` is false for figures to which the target rate does not apply.
pub(crate) fn of_heading(plan: &Plan, is_paced: bool) -> Vec<String> {
    let all = conditions(plan, is_paced).into_iter();
    all.filter_map(|condition| condition.heading).collect()
}

/// Returns all conditions with their exact values. Figures that differ in one may not be compared.
pub(crate) fn exact(plan: &Plan) -> Vec<String> {
    conditions(plan, true).into_iter().map(|condition| condition.exact).collect()
}

fn conditions(plan: &Plan, is_paced: bool) -> Vec<Condition> {
    // Without `..`, so that a new option is either a condition here or named among these. If it
    // changes figures, `CONDITIONS` of `compare::manifests` needs it too.
    let Plan {
        // Columns, conditions of cells, and that of private servers.
        workloads: _,
        workload_files: _,
        engines: _,
        configurations: _,
        engine_libraries: _,
        scales: _,
        scales_of: _,
        durabilities: _,
        variants: _,
        data: _,
        memory_limits: _,
        storages: _,
        network: _,
        urls: _,
        accepted_licences: _,
        // The number of measurements, and what else is measured.
        runs: _,
        warmup_runs: _,
        trials: _,
        own_trials: _,
        timeout_ms: _,
        budget_ms: _,
        lasts_ms: _,
        left_out: _,
        cards: _,
        // Other rows of the same distribution, and a name for other fields.
        seed: _,
        repeats: _,
        phases,
        clients,
        target_rate,
        cold,
        memory_bytes,
        max_run_time_ms,
        overview,
        window_ms,
        warm_up_ms,
        rate,
        p99_limit_ms,
        disk_bytes,
    } = plan;
    let usual = Plan::default();
    let named = |says: String| Condition { exact: says.clone(), heading: Some(says) };
    let unnamed = |says: String| Condition { exact: says, heading: None };
    let searches = *rate == Rate::Max;
    let all = [
        phases.as_ref().map(|all| unnamed(format!("only {}", text::plain(&all.join(", "))))),
        (*clients > 1).then(|| named(format::counted((*clients).into(), "client"))),
        target_rate.filter(|_| is_paced).map(|rate| Condition {
            exact: format!("{rate} operations per second"),
            heading: Some(format!("target rate {}", format::rate(rate as f64))),
        }),
        cold.then(|| named("cold reads".to_owned())),
        (*memory_bytes != usual.memory_bytes)
            .then(|| unnamed(format!("cache {}", MemoryLimit(*memory_bytes)))),
        // A run that it stops does another amount of work.
        (*max_run_time_ms != usual.max_run_time_ms).then(|| match max_run_time_ms {
            Some(ms) => unnamed(format!("runs of at most {}", time(*ms))),
            None => unnamed("runs without a time limit".to_owned()),
        }),
        overview.then(|| unnamed("windows of an overview".to_owned())),
        window_ms.map(|ms| unnamed(format!("windows of {}", time(ms)))),
        warm_up_ms.map(|ms| unnamed(format!("warm-up of {}", time(ms)))),
        match rate {
            Rate::Max => Some(unnamed("highest rate".to_owned())),
            Rate::PerSecond(rate) => (Rate::PerSecond(*rate) != usual.rate)
                .then(|| unnamed(format!("{rate} samples per second"))),
        },
        (searches && *p99_limit_ms != usual.p99_limit_ms)
            .then(|| unnamed(format!("p99 of commits up to {}", time(*p99_limit_ms)))),
        disk_bytes.map(|bytes| unnamed(format!("file system of {}", MemoryLimit(bytes)))),
    ];
    all.into_iter().flatten().collect()
}

/// Formats a time without rounding it: `60 ms`, `20 s`.
fn time(ms: u64) -> String {
    match ms.is_multiple_of(1_000) {
        true => format!("{} s", ms / 1_000),
        false => format!("{ms} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_run_has_none_and_a_heading_names_those_that_a_reader_must_know() {
        assert_eq!(exact(&Plan::default()), Vec::<String>::new());
        let plan = Plan {
            clients: 4,
            target_rate: Some(2_001),
            cold: true,
            memory_bytes: 256 << 20,
            max_run_time_ms: Some(60),
            window_ms: Some(20),
            warm_up_ms: Some(5_000),
            ..Plan::default()
        };
        assert_eq!(of_heading(&plan, true), ["4 clients", "target rate 2.00 k/s", "cold reads"]);
        assert_eq!(of_heading(&plan, false), ["4 clients", "cold reads"]);
        let all = exact(&plan).join(", ");
        assert_eq!(
            all,
            "4 clients, 2001 operations per second, cold reads, cache 256 MiB, runs of at most 60 ms, \
             windows of 20 ms, warm-up of 5 s"
        );
        let unlimited = Plan { max_run_time_ms: None, ..Plan::default() };
        assert_eq!(exact(&unlimited), ["runs without a time limit"]);
        let highest = Plan { rate: Rate::Max, p99_limit_ms: 50, ..Plan::default() };
        assert_eq!(exact(&highest), ["highest rate", "p99 of commits up to 50 ms"]);
    }
}
