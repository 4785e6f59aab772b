//! Memory limits, imitated storages and cold reads: which cells cannot have them.

use embermark_engines::{Engine, Kind};
use embermark_model::plan::Plan;
use embermark_model::{CellId, MemoryLimit, Status};

use super::{PlannedCell, Skip};
use crate::{Catalog, Result};

/// Makes the skip of something that an engine, or this machine, cannot do.
pub(super) fn unsupported(why: impl Into<String>) -> Skip {
    Skip { status: Status::Unsupported, reason: why.into() }
}

/// Returns why an engine cannot have the memory limit or storage of a cell, if it cannot.
pub(super) fn unsupported_condition(
    id: &CellId,
    engine: &dyn Engine,
    plan: &Plan,
) -> Option<&'static str> {
    let by_url = plan.urls.contains_key(&id.engine);
    if id.memory_limit.is_some() && by_url {
        return Some("embermark cannot limit the memory of a server given by its URL");
    }
    if id.storage.is_some() && by_url {
        return Some("the files of a server given by its URL are on its own storage");
    }
    match engine.info().kind {
        Kind::Reference if id.memory_limit.is_some() => {
            Some("it keeps every row in memory, so a limit would only end it")
        }
        Kind::Server if plan.cold => Some(
            "cold reads of a server require a restart on its data, which its adapter cannot do",
        ),
        Kind::Reference if plan.cold => Some("it keeps nothing that could be read from storage"),
        _ => None,
    }
}

/// Returns the smallest memory limit of the cells that will run, if any has one.
pub(crate) fn least_memory_limit(cells: &[PlannedCell]) -> Option<MemoryLimit> {
    let runnable = cells.iter().filter(|cell| cell.skip.is_none());
    runnable.filter_map(|cell| cell.id.memory_limit).min()
}

/// Skips the cells with a memory limit, which cannot be set here, with the reason.
pub(crate) fn skip_memory_limits(cells: &mut [PlannedCell], why: &str) {
    let limited = |cell: &&mut PlannedCell| cell.skip.is_none() && cell.id.memory_limit.is_some();
    for cell in cells.iter_mut().filter(limited) {
        cell.skip = Some(unsupported(format!("needs root or a delegated control group: {why}")));
    }
}

/// Skips the cells of a storage that cannot be imitated here, with the reason.
pub(crate) fn skip_storages(
    cells: &mut [PlannedCell],
    leave_out: impl Fn(&CellId) -> bool,
    why: &str,
) {
    for cell in cells.iter_mut().filter(|cell| cell.skip.is_none() && leave_out(&cell.id)) {
        let Some(storage) = cell.id.storage else { continue };
        let reason = format!("storage {storage}: {why}");
        cell.skip = Some(Skip { status: Status::Unavailable, reason });
    }
}

/// Describes the workloads of a plan that are left out because their reads cannot be cold.
pub(crate) fn never_cold(plan: &Plan, catalog: &Catalog) -> Result<Option<String>> {
    let infos = plan.workloads.iter().map(|id| Ok(catalog.workload(id)?.info()));
    let infos = infos.collect::<Result<Vec<_>>>()?;
    let without: Vec<&str> =
        infos.iter().filter(|info| plan.cold && !info.cold).map(|info| info.id).collect();
    let says = || format!("--cold does not apply to {}: left out", without.join(", "));
    Ok((!without.is_empty()).then(says))
}
