//! Derives the cells of a plan.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::time::Duration;

use embermark_engines::{Availability, Engine, Kind, Tier};
use embermark_model::plan::{Plan, Rate};
use embermark_model::{CellId, Configuration, Durability, Extent, MemoryLimit, Scale, Status};
use embermark_workloads::{CONFIRMATIONS, Info as WorkloadInfo, Protocol, VariantInfo};
use serde::{Deserialize, Serialize};

use crate::{Catalog, Result};

mod check;
mod conditions;
mod sharing;

pub use check::{
    check_configuration, check_configurations, check_effects, check_licences, check_urls,
};
pub(crate) use conditions::{least_memory_limit, never_cold, skip_memory_limits, skip_storages};
use conditions::{unsupported, unsupported_condition};

/// A cell before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCell {
    /// Identity of the cell.
    pub id: CellId,
    /// The phases that it runs.
    pub phases: Vec<String>,
    /// The tier that the engine's setting provides, if it differs from the requested one.
    #[serde(default, alias = "keeps", skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// True for an engine that is never ranked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// True if the engine's licence forbids publishing its figures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpublishable: bool,
    /// Why it will not run, if that is known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<Skip>,
}

impl PlannedCell {
    /// Returns the reason if it will not run because its storage cannot be imitated here.
    pub fn lacks_storage(&self) -> Option<&str> {
        let skip = self.skip.as_ref().filter(|skip| skip.status == Status::Unavailable)?;
        skip.reason.strip_prefix(&format!("storage {}: ", self.id.storage?))
    }
}

/// Why a cell will not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// [`Status::Unsupported`] or [`Status::Unavailable`].
    pub status: Status,
    /// Why, and what to do.
    pub reason: String,
}

/// Checks that a plan can run: every name is known and every number is useful.
///
/// # Errors
/// If the plan names something unknown, asks for nothing, or contradicts itself.
pub fn check(plan: &Plan, catalog: &Catalog) -> Result<()> {
    check_and_resolve(plan, catalog).map(drop)
}

/// Checks a plan. Returns its columns with their engines, and its workloads, each once.
fn check_and_resolve<'a>(plan: &'a Plan, catalog: &Catalog) -> Result<ResolvedNames<'a>> {
    check::values(plan)?;
    check_configurations(&plan.configurations, catalog)?;
    let engines = (distinct(&plan.engines).into_iter())
        .map(|id| Ok((&**id, catalog.engine_of(&plan.configurations, id)?)))
        .collect::<Result<Vec<_>>>()?;
    let workloads = (distinct(&plan.workloads).into_iter())
        .map(|id| Ok(catalog.workload(id)?.info()))
        .collect::<Result<Vec<_>>>()?;
    check::names(plan, catalog, &workloads)?;
    Ok((engines, workloads))
}

type ResolvedNames<'a> = (Vec<(&'a str, &'static dyn Engine)>, Vec<WorkloadInfo>);

/// Returns every cell of a plan, in plan order: workload, scale, memory limit, storage, tier,
/// variant, engine. A repeated name counts once. Asks each engine whether it is available, but
/// starts none.
///
/// # Errors
/// If the plan names something unknown, asks for nothing, or contradicts itself.
pub fn planned(plan: &Plan, catalog: &Catalog) -> Result<Vec<PlannedCell>> {
    let (engines, workloads) = check_and_resolve(plan, catalog)?;
    let with = |(column, engine)| (column, engine, missing(column, engine, plan));
    let engines: Vec<_> = engines.into_iter().map(with).collect();

    let mut cells = Vec::new();
    for workload in workloads.iter().filter(|workload| !plan.cold || workload.cold) {
        let variants = variants(plan, workload);
        for Extent { scale, memory_limit, storage } in extents(plan, workload) {
            for durability in distinct(&plan.durabilities) {
                for (variant, phases) in &variants {
                    for (column, engine, missing) in &engines {
                        let id = CellId {
                            workload: workload.id.to_owned(),
                            scale,
                            durability: *durability,
                            variant: (*variant).to_owned(),
                            engine: (*column).to_owned(),
                            memory_limit,
                            storage,
                        };
                        cells.push(cell(id, phases.clone(), *engine, missing.clone(), plan));
                    }
                }
            }
        }
    }
    Ok(cells)
}

/// Returns the cell of a trial whose durability does not matter.
pub(crate) fn plain_cell(workload: &str, scale: Scale, variant: &str, engine: &str) -> CellId {
    CellId {
        workload: workload.to_owned(),
        scale,
        durability: Durability::None,
        variant: variant.to_owned(),
        engine: engine.to_owned(),
        memory_limit: None,
        storage: None,
    }
}

/// Keeps only the first of several tiers that an engine makes by the same setting.
pub(crate) fn once_per_setting(
    cells: &mut Vec<PlannedCell>,
    plan: &Plan,
    catalog: &Catalog,
) -> Result<()> {
    let mut kept: Vec<(String, Tier, Durability)> = Vec::new();
    let mut again = Vec::with_capacity(cells.len());
    for PlannedCell { id, .. } in &*cells {
        let tier = catalog.engine_of(&plan.configurations, &id.engine)?.tier(id.durability);
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
    plan: &Plan,
) -> PlannedCell {
    let reference = engine.info().kind == Kind::Reference;
    // The author of a configuration's settings states what they keep, by choosing the tier.
    let own = plan.configurations.get(&id.engine);
    let is_own = own.is_some_and(Configuration::has_settings);
    let (effective_durability, skip) = match engine.tier(id.durability) {
        Tier::Offered { effective_durability: effective, .. } => {
            ((effective != id.durability && !is_own).then_some(effective), missing)
        }
        Tier::Unsupported { why } => (None, Some(missing.unwrap_or_else(|| unsupported(why)))),
    };
    let skip = skip.or_else(|| unsupported_condition(&id, engine, plan).map(unsupported));
    let unpublishable = engine.forbids_publishing();
    PlannedCell { id, phases, effective_durability, reference, unpublishable, skip }
}

/// Returns why an engine cannot run here, if it cannot. An engine that is reached by URL need not
/// be installed.
fn missing(column: &str, engine: &dyn Engine, plan: &Plan) -> Option<Skip> {
    let id = engine.info().id;
    let unavailable = |reason| Some(Skip { status: Status::Unavailable, reason });
    if let (false, Availability::Missing { why, remedy }) =
        (plan.urls.contains_key(column), engine.availability())
    {
        return unavailable(format!("{why}; {remedy}"));
    }
    if engine.forbids_publishing() && plan.accepted_licences.iter().all(|other| other != id) {
        return unavailable(format!(
            "its licence forbids publishing benchmark results without its vendor's consent; if you have accepted it, add --accept-license {id}"
        ));
    }
    None
}

/// Returns what a workload runs unless the plan says otherwise.
const fn protocol(plan: &Plan, workload: &WorkloadInfo) -> Protocol {
    if plan.overview { workload.overview } else { workload.usual }
}

/// Returns the duration of a workload's phases that last a fixed time, and that of their warm-up,
/// in milliseconds.
pub(crate) fn times(plan: &Plan, workload: &WorkloadInfo) -> (u64, u64) {
    let own = protocol(plan, workload);
    let milliseconds = |time: Duration| time.as_millis() as u64;
    (
        plan.window_ms.unwrap_or_else(|| milliseconds(own.window)),
        plan.warm_up_ms.unwrap_or_else(|| milliseconds(own.warm_up)),
    )
}

/// Returns the time in ms that the phases of a trial last as requested, or at most.
pub(crate) fn lasting_ms(plan: &Plan, workload: &WorkloadInfo, phases: usize) -> u64 {
    let (window_ms, warm_up_ms) = times(plan, workload);
    let windows = match (workload.lasts, plan.rate) {
        (false, _) if workload.until_steady => phases as u64,
        (false, _) => 0,
        (true, Rate::PerSecond(_)) => phases as u64,
        (true, Rate::Max) => CONFIRMATIONS,
    };
    (window_ms + warm_up_ms).saturating_mul(windows)
}

/// Returns why a run may take longer than its time limit, as far as its plan shows. Runs of other
/// phases are stopped. `None` without a limit.
///
/// # Errors
/// If the catalog lacks a workload.
pub fn may_exceed(plan: &Plan, cells: &[PlannedCell], catalog: &Catalog) -> Result<Option<String>> {
    let Some(limit) = plan.lasts_ms else { return Ok(None) };
    if plan.rate == Rate::Max {
        let says = "a search for the highest rate takes a minute or more of each engine, and is not \
                    stopped";
        return Ok(Some(says.to_owned()));
    }
    let mut fixed_ms = 0_u64;
    for PlannedCell { id, phases, .. } in cells {
        let workload = catalog.workload(&id.workload)?.info();
        fixed_ms = fixed_ms.saturating_add(lasting_ms(plan, &workload, phases.len()));
    }
    Ok((fixed_ms > limit).then(|| {
        let seconds = fixed_ms.div_ceil(1_000);
        format!("phases of a fixed length take up to {seconds} s, and are not stopped")
    }))
}

/// Returns the number of trials of each cell.
pub(crate) fn trials(plan: &Plan, cells: &[PlannedCell], catalog: &Catalog) -> Result<Vec<u32>> {
    let trials = cells.iter().map(|cell| {
        let workload = catalog.workload(&cell.id.workload)?.info();
        Ok(protocol(plan, &workload).trials.filter(|_| plan.own_trials).unwrap_or(plan.trials))
    });
    trials.collect()
}

/// Returns the scales, each with each memory limit, and each of these on each storage. With a
/// workload's own protocol the largest scale is repeated within its memory limit.
fn extents(plan: &Plan, workload: &WorkloadInfo) -> Vec<Extent> {
    let scales = scales(plan, workload);
    let limits = match plan.memory_limits.as_slice() {
        [] => vec![None],
        limits => distinct(limits).into_iter().copied().collect(),
    };
    let within = |scale: Scale| limits.iter().map(move |limit| (scale, *limit));
    let mut sizes: Vec<(Scale, Option<MemoryLimit>)> =
        scales.iter().copied().flat_map(within).collect();
    let named = plan.scales_of.contains_key(workload.id) || !plan.scales.is_empty();
    let own = !named && plan.memory_limits.is_empty();
    let own = protocol(plan, workload).memory_limit.filter(|_| own);
    sizes.extend(own.zip(scales.into_iter().max()).map(|(limit, scale)| (scale, Some(limit))));
    let named = plan.storages.iter().map(|storage| storage.as_ref().map(|storage| storage.name));
    let storages = match plan.storages.as_slice() {
        [] => vec![None],
        _ => named.collect(),
    };
    let on_each = |(scale, memory_limit)| {
        storages.iter().map(move |storage| Extent { scale, memory_limit, storage: *storage })
    };
    sizes.into_iter().flat_map(on_each).collect()
}

fn scales(plan: &Plan, workload: &WorkloadInfo) -> Vec<Scale> {
    let of_all = Some(&plan.scales).filter(|scales| !scales.is_empty());
    match plan.scales_of.get(workload.id).or(of_all) {
        Some(named) => distinct(named).into_iter().copied().collect(),
        None if workload.whole => vec![Scale::Full],
        None => protocol(plan, workload).scales.iter().copied().map(Scale::Rows).collect(),
    }
}

/// Returns the variants that a workload runs, each with its phases. The first variant that it knows
/// runs every requested phase that is not [apart](WorkloadInfo::apart). The others run only the
/// requested phases that they change, and so does a variant whose phases are all apart. A variant
/// that changes none is left out, because it would repeat the first one's work under another name.
/// A workload that has none of the requested phases is left out too.
fn variants(plan: &Plan, workload: &WorkloadInfo) -> Vec<(&'static str, Vec<String>)> {
    if plan.is_shared() && !workload.points.is_empty() {
        return sharing::variants(plan, workload);
    }
    let runs = |name: &&str| is_due(plan, workload, name) && is_requested(plan, name);
    let all: Vec<&str> = workload.phases.iter().map(|p| p.name).filter(runs).collect();
    let known = |name: &str| workload.variants.iter().find(|v| v.name == name);
    let mut variants: Vec<_> =
        distinct(&plan.variants).iter().filter_map(|name| known(name)).collect();
    if variants.is_empty() {
        let own = protocol(plan, workload).variants;
        variants.extend(own.iter().copied().filter_map(known));
        // A separate phase that is requested by name adds its variant.
        let brings = |v: &&VariantInfo| {
            let mut phases = v.changes.iter();
            plan.phases.is_some()
                && workload.is_apart(v)
                && phases.any(|name| is_requested(plan, name))
        };
        variants.extend(workload.variants.iter().filter(brings));
    }
    let mut planned: Vec<(&str, Vec<String>)> = Vec::new();
    let first = variants.iter().position(|variant| !workload.is_apart(variant));
    for (place, variant) in variants.into_iter().enumerate() {
        let whole = Some(place) == first;
        let mine = |name: &&&str| {
            variant.changes.contains(name) || (whole && !workload.apart.contains(name))
        };
        let phases: Vec<String> = all.iter().filter(mine).map(|name| (*name).to_owned()).collect();
        if !phases.is_empty() {
            planned.push((variant.name, phases));
        }
    }
    planned
}

/// Whether a phase belongs to the run. A search for the highest rate runs the phases that search
/// for one. Other runs skip the phases that only do that.
fn is_due(plan: &Plan, workload: &WorkloadInfo, name: &str) -> bool {
    let searches = plan.rate == Rate::Max;
    workload.arrivals.contains(&name) || workload.searches.contains(&name) == searches
}

/// Whether a plan requests the phase with this name.
fn is_requested(plan: &Plan, name: &str) -> bool {
    plan.phases.as_ref().is_none_or(|phases| phases.iter().any(|phase| phase == name))
}

/// Returns the items without repetition, in the order of their first appearance.
fn distinct<T: Eq + Hash>(items: &[T]) -> Vec<&T> {
    let mut seen = std::collections::HashSet::new();
    items.iter().filter(|item| seen.insert(*item)).collect()
}

/// Returns the ids of workloads, for a message.
fn ids(workloads: impl Iterator<Item = WorkloadInfo>) -> String {
    workloads.map(|info| info.id).collect::<Vec<_>>().join(", ")
}

/// Returns the staged files that the cells need: every workload and scale of a cell that will run.
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
