//! Writes the HTML report, with the facts that embermark adds to the results.

use std::collections::BTreeMap;
use std::path::Path;

use embermark_engines::registry;
use embermark_model::durability_result::Outcome;
use embermark_model::result::{EngineFacts, ResultFile};
use embermark_model::tuning_result::TuningResult;
use embermark_report::ReportError;
use embermark_report::html::{self, PageOptions, PhaseFacts, Source, WorkloadFacts};
use embermark_workloads::{WORKLOADS, Workload};

use super::show::ReportFacts;
use crate::error::Failure;
use crate::plan::workloads_of_plan;

/// Writes the page of one or several results to `file`.
///
/// # Errors
/// If this build has no page, if two results are of the same run, or if the file cannot be written.
pub fn write(
    results: &[(&Path, &ResultFile)],
    file: &Path,
    known: &ReportFacts,
) -> Result<(), Failure> {
    let sources: Vec<Source<'_>> =
        results.iter().map(|(path, result)| Source { path, result }).collect();
    let own = results.iter().flat_map(|(_, result)| workloads_of_plan(&result.plan));
    let options = PageOptions {
        order: &known.order,
        explanations: &known.explanations,
        engines: engines(),
        workloads: WORKLOADS.iter().copied().chain(own).map(facts).collect(),
        durability: &known.durability,
        rows_per_day: known.rows_per_day,
    };
    let page = html::page(&sources, options).map_err(|error| match error {
        ReportError::SameRun { .. } => Failure::usage(error),
        _ => Failure::runtime(error),
    })?;
    std::fs::write(file, page).map_err(Failure::unwritable(file))
}

/// Writes the page of a run of `embermark durability` to `file`.
///
/// # Errors
/// If this build has no page, or if the file cannot be written.
pub fn write_durability(run: &Outcome, file: &Path) -> Result<(), Failure> {
    let page = html::durability_page(run, &unpublishable()).map_err(Failure::runtime)?;
    std::fs::write(file, page).map_err(Failure::unwritable(file))
}

/// Writes the page of a result of `embermark tune` to `file`.
///
/// # Errors
/// If this build has no page, or if the file cannot be written.
pub fn write_tuning(result: &TuningResult, file: &Path) -> Result<(), Failure> {
    let page = html::tuning_page(result, &unpublishable()).map_err(Failure::runtime)?;
    std::fs::write(file, page).map_err(Failure::unwritable(file))
}

/// Returns the engines whose licences forbid publishing figures.
pub fn unpublishable() -> Vec<&'static str> {
    let engines = registry::all().iter().filter(|engine| engine.forbids_publishing());
    engines.map(|engine| engine.info().id).collect()
}

/// Returns embermark's facts about its engines, by id.
pub fn engines() -> BTreeMap<String, EngineFacts> {
    let engines = registry::all().iter().map(|engine| engine.info());
    engines.map(|info| (info.id.to_owned(), info.facts())).collect()
}

/// Returns embermark's facts about a workload.
pub fn facts(workload: &dyn Workload) -> WorkloadFacts {
    let info = workload.info();
    let phases = info
        .phases
        .iter()
        .map(|phase| PhaseFacts { name: phase.name.to_owned(), about: phase.about.to_owned() });
    WorkloadFacts { id: info.id.to_owned(), about: info.about.to_owned(), phases: phases.collect() }
}
