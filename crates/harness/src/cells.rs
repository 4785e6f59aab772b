//! From a plan to its cells.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::time::Duration;

use embermark_engines::{Availability, Engine, Kind, Tier};
use embermark_model::choice;
use embermark_model::plan::{DataSource, Plan, Rate};
use embermark_model::{CellId, Durability, Scale, Status};
use embermark_workloads::{Info as WorkloadInfo, Protocol, machine};
use serde::{Deserialize, Serialize};

use crate::{Catalog, HarnessError};

mod sharing;

/// A cell before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCell {
    /// Which box.
    pub id: CellId,
    /// The phases that it runs.
    pub phases: Vec<String>,
    /// The tier that the engine's setting provides, when that is not the one asked for.
    #[serde(default, alias = "keeps", skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// True for an engine that is never ranked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// True where the engine's licence forbids publishing its figures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpublishable: bool,
    /// Why it will not run, known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<Skip>,
}

/// Why a cell will not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// [`Status::Unsupported`] or [`Status::Unavailable`].
    pub status: Status,
    /// Why, and what to do.
    pub reason: String,
}

/// Checks that a plan can be carried out: every name known, every number of use.
///
/// # Errors
/// When the plan names something unknown, asks for nothing, or contradicts itself.
pub fn check(plan: &Plan, catalog: &Catalog) -> Result<(), HarnessError> {
    named(plan, catalog).map(drop)
}

/// The engines and workloads of a plan that was checked, each once.
fn named(plan: &Plan, catalog: &Catalog) -> Result<Named, HarnessError> {
    check_numbers(plan)?;
    let engines = (distinct(&plan.engines).into_iter())
        .map(|id| Ok(catalog.engine(id)?))
        .collect::<Result<Vec<_>, HarnessError>>()?;
    let workloads = (distinct(&plan.workloads).into_iter())
        .map(|id| Ok(catalog.workload(id)?.info()))
        .collect::<Result<Vec<_>, HarnessError>>()?;
    check_names(plan, catalog, &workloads)?;
    Ok((engines, workloads))
}

type Named = (Vec<&'static dyn Engine>, Vec<WorkloadInfo>);

/// Every cell of a plan, in plan order: workload, scale, tier, variant, engine. A name given twice
/// counts once. Asks each engine whether it is available, and starts none.
///
/// # Errors
/// When the plan names something unknown, asks for nothing, or contradicts itself.
pub fn planned(plan: &Plan, catalog: &Catalog) -> Result<Vec<PlannedCell>, HarnessError> {
    let (engines, workloads) = named(plan, catalog)?;
    let engines: Vec<_> =
        engines.into_iter().map(|engine| (engine, missing(engine, plan))).collect();

    let mut cells = Vec::new();
    for workload in &workloads {
        let variants = variants(plan, workload);
        for scale in scales(plan, workload) {
            for durability in distinct(&plan.durabilities) {
                for (variant, phases) in &variants {
                    for (engine, missing) in &engines {
                        let id = CellId {
                            workload: workload.id.to_owned(),
                            scale,
                            durability: *durability,
                            variant: (*variant).to_owned(),
                            engine: engine.info().id.to_owned(),
                        };
                        cells.push(cell(id, phases.clone(), *engine, missing.clone()));
                    }
                }
            }
        }
    }
    Ok(cells)
}

/// Keeps of the tiers that an engine makes by one and the same setting the first.
///
/// # Errors
/// When a cell names an engine that the catalog has not.
pub(crate) fn once_per_setting(
    cells: &mut Vec<PlannedCell>,
    catalog: &Catalog,
) -> Result<(), HarnessError> {
    let mut kept: Vec<(String, Tier, Durability)> = Vec::new();
    let mut again = Vec::with_capacity(cells.len());
    for PlannedCell { id, .. } in &*cells {
        let tier = catalog.engine(&id.engine)?.tier(id.durability);
        let known = kept.iter().find(|(engine, other, _)| *engine == id.engine && *other == tier);
        again.push(known.is_some_and(|(.., durability)| *durability != id.durability));
        if known.is_none() {
            kept.push((id.engine.clone(), tier, id.durability));
        }
    }
    let mut again = again.into_iter();
    cells.retain(|_| !again.next().unwrap_or_default());
    Ok(())
}

fn cell(
    id: CellId,
    phases: Vec<String>,
    engine: &dyn Engine,
    missing: Option<Skip>,
) -> PlannedCell {
    let reference = engine.info().kind == Kind::Reference;
    let (effective_durability, skip) = match engine.tier(id.durability) {
        Tier::Offered { effective_durability: effective, .. } => {
            ((effective != id.durability).then_some(effective), missing)
        }
        Tier::Unsupported { why } => {
            let unsupported = Skip { status: Status::Unsupported, reason: why.to_owned() };
            (None, Some(missing.unwrap_or(unsupported)))
        }
    };
    let unpublishable = engine.forbids_publishing();
    PlannedCell { id, phases, effective_durability, reference, unpublishable, skip }
}

/// Why an engine cannot run here, if so. One that is reached by a URL need not be installed.
fn missing(engine: &dyn Engine, plan: &Plan) -> Option<Skip> {
    let id = engine.info().id;
    let unavailable = |reason| Some(Skip { status: Status::Unavailable, reason });
    if let (false, Availability::Missing { why, remedy }) =
        (plan.urls.contains_key(id), engine.availability())
    {
        return unavailable(format!("{why}; {remedy}"));
    }
    if engine.forbids_publishing() && plan.accepted_licences.iter().all(|other| other != id) {
        return unavailable(format!(
            "its licence forbids publishing benchmark results without its vendor's consent; if you \
             have accepted it, say so with --accept-license {id}"
        ));
    }
    None
}

/// What a workload runs where the plan leaves it open.
const fn protocol(plan: &Plan, workload: &WorkloadInfo) -> Protocol {
    if plan.as_published {
        workload.published
    } else if plan.overview {
        workload.overview
    } else {
        workload.usual
    }
}

/// How long a phase of a workload goes on that lasts by the clock, and how long before that, in
/// milliseconds.
pub(crate) fn times(plan: &Plan, workload: &WorkloadInfo) -> (u64, u64) {
    let own = protocol(plan, workload);
    let milliseconds = |time: Duration| time.as_millis() as u64;
    (
        plan.window_ms.unwrap_or_else(|| milliseconds(own.window)),
        plan.warm_up_ms.unwrap_or_else(|| milliseconds(own.warm_up)),
    )
}

/// How many trials each of the cells has.
pub(crate) fn trials(
    plan: &Plan,
    cells: &[PlannedCell],
    catalog: &Catalog,
) -> Result<Vec<u32>, HarnessError> {
    let trials = cells.iter().map(|cell| {
        let workload = catalog.workload(&cell.id.workload)?.info();
        Ok(protocol(plan, &workload).trials.filter(|_| plan.own_trials).unwrap_or(plan.trials))
    });
    trials.collect()
}

fn scales(plan: &Plan, workload: &WorkloadInfo) -> Vec<Scale> {
    if plan.scales.is_empty() {
        return protocol(plan, workload).scales.iter().copied().map(Scale::Rows).collect();
    }
    distinct(&plan.scales).into_iter().copied().collect()
}

/// The variants a workload runs, each with its phases: the first one it knows runs every phase
/// asked for, the others those of them that they change. A variant that changes none is left out:
/// it would repeat the first one's work under another name; so is a workload that has none of the
/// phases asked for.
fn variants(plan: &Plan, workload: &WorkloadInfo) -> Vec<(&'static str, Vec<String>)> {
    if plan.is_shared() && !workload.points.is_empty() {
        return sharing::variants(plan, workload);
    }
    let searches = plan.rate == Rate::Max;
    let runs = |name: &&str| asked(plan, name) && workload.searches.contains(name) == searches;
    let all: Vec<&str> = workload.phases.iter().map(|p| p.name).filter(runs).collect();
    let known = |name: &str| workload.variants.iter().find(|v| v.name == name);
    let mut variants: Vec<_> =
        distinct(&plan.variants).iter().filter_map(|name| known(name)).collect();
    if variants.is_empty() {
        let own = protocol(plan, workload).variants;
        variants.extend(own.iter().copied().filter_map(known));
    }
    let mut planned: Vec<(&str, Vec<String>)> = Vec::new();
    for variant in variants {
        let mine = |name: &&&str| planned.is_empty() || variant.changes.contains(name);
        let phases: Vec<String> = all.iter().filter(mine).map(|name| (*name).to_owned()).collect();
        if !phases.is_empty() {
            planned.push((variant.name, phases));
        }
    }
    planned
}

/// Whether a plan asks for the phase of that name.
fn asked(plan: &Plan, name: &str) -> bool {
    plan.phases.as_ref().is_none_or(|phases| phases.iter().any(|phase| phase == name))
}

fn check_numbers(plan: &Plan) -> Result<(), HarnessError> {
    let problem = if plan.workloads.is_empty() {
        "no workload is asked for: name at least one"
    } else if plan.engines.is_empty() {
        "no engine is asked for: name at least one"
    } else if plan.durabilities.is_empty() {
        "no durability is asked for: give at least one, such as process"
    } else if plan.trials == 0 {
        "0 trials measure nothing: give at least 1"
    } else if plan.warmup_runs >= plan.runs {
        return Err(HarnessError::Plan(format!(
            "{} runs of which the first {} warm up leave none to count: give at least {} runs",
            plan.runs,
            plan.warmup_runs,
            plan.warmup_runs.saturating_add(1)
        )));
    } else if plan.p99_limit_ms == 0 {
        "a 99th percentile of at most 0 admits no rate: give a time such as 100ms"
    } else if matches!(plan.rate, Rate::PerSecond(0)) {
        "a rate of 0 samples a second is no machine: give at least 1"
    } else if matches!(plan.rate, Rate::PerSecond(rate) if rate > machine::FASTEST) {
        return Err(HarnessError::Plan(format!(
            "no sensor makes so many samples a second: give a rate up to {}, or max",
            machine::FASTEST
        )));
    } else if plan.window_ms == Some(0) {
        "a window of 0 leaves a closed loop no time: give a time such as 300ms"
    } else if plan.max_run_time_ms == Some(0) {
        "a longest run time of 0 leaves no time to measure: give a time, or none"
    } else if plan.timeout_ms == Some(0) {
        "a time-out of 0 leaves no time for a trial: give a longer one"
    } else if plan.memory_bytes == 0 {
        "0 bytes of cache memory: give at least 1 MiB"
    } else {
        return Ok(());
    };
    Err(HarnessError::Plan(problem.to_owned()))
}

/// Every variant, phase and URL must belong to something that the plan asks for.
fn check_names(
    plan: &Plan,
    catalog: &Catalog,
    workloads: &[WorkloadInfo],
) -> Result<(), HarnessError> {
    let check = |what, given: &str, valid: Vec<&'static str>| {
        let known = valid.contains(&given);
        let valid = distinct(&valid).into_iter().copied();
        if known { Ok(()) } else { Err(choice::unknown(what, given, valid)) }
    };
    if let (DataSource::File(file), Some(other)) =
        (&plan.data, workloads.iter().find(|workload| !workload.reads_files))
    {
        return Err(HarnessError::Plan(format!(
            "workload '{}' makes its own rows: leave out --data {}, or run it apart",
            other.id,
            file.display()
        )));
    }
    if plan.rate == Rate::Max && workloads.iter().all(|workload| workload.searches.is_empty()) {
        let with: Vec<&str> = (catalog.workloads.iter().map(|w| w.info()))
            .filter(|info| !info.searches.is_empty())
            .map(|info| info.id)
            .collect();
        return Err(HarnessError::Plan(format!(
            "none of the workloads has a highest rate to look for: leave out --rate max, or run {}",
            with.join(", ")
        )));
    }
    sharing::check(plan, catalog, workloads)?;
    for variant in &plan.variants {
        let valid = workloads.iter().flat_map(|w| w.variants).map(|v| v.name);
        check("variant", variant, valid.collect())?;
    }
    for phase in plan.phases.iter().flatten() {
        let valid = workloads.iter().flat_map(|w| w.phases).map(|p| p.name);
        check("phase", phase, valid.collect())?;
    }
    for id in plan.urls.keys() {
        if catalog.engine(id)?.info().kind != Kind::Server {
            return Err(HarnessError::Plan(format!(
                "a URL is given for '{id}', which is no server: leave it out"
            )));
        }
    }
    for id in &plan.accepted_licences {
        if !catalog.engine(id)?.forbids_publishing() {
            return Err(HarnessError::Plan(format!(
                "the licence of '{id}' need not be accepted: leave it out of --accept-license"
            )));
        }
    }
    Ok(())
}

/// The items without repetition, in the order of their first appearance.
fn distinct<T: Eq + Hash>(items: &[T]) -> Vec<&T> {
    let mut seen = std::collections::HashSet::new();
    items.iter().filter(|item| seen.insert(*item)).collect()
}

/// The staged files a set of cells needs: every (workload, scale) of a cell that will run.
pub(crate) fn stages(cells: &[PlannedCell]) -> BTreeMap<String, Vec<Scale>> {
    let mut stages: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.skip.is_none()) {
        let scales = stages.entry(cell.id.workload.clone()).or_default();
        if !scales.contains(&cell.id.scale) {
            scales.push(cell.id.scale);
        }
    }
    stages
}
