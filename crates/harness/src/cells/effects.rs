//! Rejects options without an effect, which a user would take for applied.

use embermark_model::plan::Plan;
use embermark_workloads::Info as WorkloadInfo;

use super::variants;
use crate::{Catalog, HarnessError};

/// Checks that every option of a plan has an effect on some cell.
///
/// # Errors
/// If an option has no effect. The error names the first one and what would give it an effect.
pub fn check_effects(plan: &Plan, catalog: &Catalog) -> Result<(), HarnessError> {
    let (_, workloads) = super::resolve_names(plan, catalog)?;
    let runs = |has: &dyn Fn(&WorkloadInfo, &str) -> bool| {
        workloads.iter().any(|info| {
            let mut cells = variants(plan, info).into_iter();
            cells.any(|(_, phases)| phases.iter().any(|phase| has(info, phase)))
        })
    };
    let windowed = |info: &WorkloadInfo, phase: &str| info.windowed.contains(&phase);
    let options = [
        (
            plan.window_ms.is_some() && !runs(&windowed),
            "window: no selected phase lasts for a window",
        ),
        (
            plan.warm_up_ms.is_some_and(|ms| ms > 0) && !runs(&|info, _| info.lasts),
            "warm-up: only the workload machine uses it, and it is not selected",
        ),
        (
            plan.disk_bytes.is_some() && !runs(&|info, _| info.until_steady),
            "disk-size: only workloads with a window of rows, such as retention, use it, and none is selected",
        ),
    ];
    if let Some((_, why)) = options.into_iter().find(|(idle, _)| *idle) {
        return Err(HarnessError::Plan(format!("{why}: leave it out")));
    }
    let runs = |engine: &str| {
        let is = |id: &String| {
            let found = catalog.engine_of(&plan.configurations, id);
            found.is_ok_and(|found| found.info().id == engine)
        };
        plan.engines.iter().any(is)
    };
    let accepted = plan.accepted_licences.iter().find(|engine| !runs(engine));
    accepted.map_or(Ok(()), |engine| Err(does_not_run("--accept-license", engine)))?;
    check_urls(plan)
}

/// Checks that every engine with a URL runs.
///
/// # Errors
/// If one does not. The error names the first one.
pub fn check_urls(plan: &Plan) -> Result<(), HarnessError> {
    let idle = plan.urls.keys().find(|engine| !plan.engines.contains(engine));
    idle.map_or(Ok(()), |engine| Err(does_not_run("--url", engine)))
}

fn does_not_run(option: &str, engine: &str) -> HarnessError {
    HarnessError::Plan(format!(
        "{option} {engine}: it does not run here: name it among the engines, or leave {option} out"
    ))
}
