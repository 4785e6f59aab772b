//! Writes the HTML report, with the facts that embermark adds to the results.

use std::collections::BTreeMap;
use std::path::Path;

use embermark_engines::registry;
use embermark_model::result::{EngineFacts, ResultFile};
use embermark_report::ReportError;
use embermark_report::html::{self, PageOptions, PhaseFacts, Source, WorkloadFacts};
use embermark_workloads::{WORKLOADS, Workload};

use super::show::{PAGE, ReportFacts};
use crate::error::Failure;
use crate::output;
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
    let page = html::data(&sources, options).and_then(|page| page.html());
    let page = page.map_err(|error| match error {
        ReportError::SameRun { .. } => Failure::usage(error),
        _ => Failure::runtime(error),
    })?;
    output::write(file, page)
}

/// Writes a page into the folder `out` of a finished result, and returns the line that names it.
/// The result is saved, so a failure is only a note.
pub fn write_next_to_result(page: Result<String, ReportError>, out: &Path) -> String {
    let file = out.join(PAGE);
    let written = page.map_err(Failure::runtime).and_then(|page| output::write(&file, page));
    match written {
        Ok(()) => format!("  page    {}\n", file.display()),
        Err(failure) => {
            say!("embermark: no {PAGE}: {failure}");
            String::new()
        }
    }
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
