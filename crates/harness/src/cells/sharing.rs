//! Plans in which several clients share the operations, or operations start at a target rate.

use embermark_model::plan::Plan;
use embermark_workloads::Info as WorkloadInfo;

use super::{distinct, ids, is_requested};
use crate::{Catalog, HarnessError, Result};

/// Largest number of clients of a cell.
const MOST_CLIENTS: u32 = 256;

/// Highest target rate in operations per second. The loop that starts them takes some tens of
/// nanoseconds for each.
const HIGHEST_TARGET_RATE: u64 = 10_000_000;

/// Returns the variants that a workload runs if clients share the operations or operations start at
/// a target rate. They contain the phases with point operations, each in the first variant that has
/// it.
pub(super) fn variants(plan: &Plan, workload: &WorkloadInfo) -> Vec<(&'static str, Vec<String>)> {
    let of = |variant: &str| workload.points.iter().find(|(name, _)| *name == variant);
    let mut variants: Vec<_> =
        distinct(&plan.variants).iter().filter_map(|name| of(name)).collect();
    if variants.is_empty() {
        variants.extend(workload.points.first());
    }
    let mut planned: Vec<(&str, Vec<String>)> = Vec::new();
    for (variant, phases) in variants {
        let is_new = |name: &str| planned.iter().all(|(_, known)| known.iter().all(|k| k != name));
        // Phases with arriving rows have one writer and also take the rate.
        let arrivals = workload.arrivals.iter().filter(|_| plan.clients == 1);
        let mine = phases.iter().chain(arrivals);
        let mine = mine.filter(|name| is_requested(plan, name) && is_new(name));
        let phases: Vec<String> = mine.map(|name| (*name).to_owned()).collect();
        if !phases.is_empty() {
            planned.push((variant, phases));
        }
    }
    planned
}

fn check_numbers(plan: &Plan) -> Result<()> {
    if !(1..=MOST_CLIENTS).contains(&plan.clients) {
        return Err(HarnessError::Plan(format!(
            "{} clients are not supported: give --clients 1 to {MOST_CLIENTS}",
            plan.clients
        )));
    }
    if plan.target_rate.is_some_and(|rate| !(1..=HIGHEST_TARGET_RATE).contains(&rate)) {
        return Err(HarnessError::Plan(format!(
            "the rate exceeds the most operations per second of a client: give a rate from 1 to {HIGHEST_TARGET_RATE}"
        )));
    }
    Ok(())
}

/// Checks that every workload of the plan has phases that several clients can share.
pub(super) fn check(plan: &Plan, catalog: &Catalog, workloads: &[WorkloadInfo]) -> Result<()> {
    check_numbers(plan)?;
    let names =
        |some: &[WorkloadInfo]| ids(some.iter().copied().filter(|info| !info.points.is_empty()));
    let all: Vec<_> = catalog.workloads.iter().map(|workload| workload.info()).collect();
    let without = workloads.iter().find(|info| info.points.is_empty());
    let problem = match without {
        Some(other) if plan.clients > 1 => format!(
            "workload '{}' has no point operations that {} clients could share: leave out --clients, or \
             run {}",
            other.id,
            plan.clients,
            names(&all)
        ),
        _ if plan.target_rate.is_some()
            && names(workloads).is_empty()
            && workloads.iter().all(|info| !info.until_steady && info.arrivals.is_empty()) =>
        {
            format!(
                "none of the workloads has point operations to start at a rate: leave it out, or run {}",
                names(&all)
            )
        }
        _ => {
            let with = workloads.iter().filter(|info| !info.points.is_empty());
            let mut bare = with.filter(|info| plan.is_shared() && variants(plan, info).is_empty());
            let Some(info) = bare.next() else { return Ok(()) };
            let phases: Vec<String> = (info.points.iter())
                .map(|(variant, phases)| format!("{} in {variant}", phases.join(", ")))
                .collect();
            format!(
                "only point operations of '{}' can run with several clients or at a rate, and none is \
                 selected: {}",
                info.id,
                phases.join("; ")
            )
        }
    };
    Err(HarnessError::Plan(problem))
}
