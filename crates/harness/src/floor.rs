//! Measures the time and memory of the harness itself: runs the phases of every workload on the
//! `null` engine, which does nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use embermark_meter::statistics::median;
use embermark_model::plan::DataSource;
use embermark_model::result::{Floor, PhaseResult, Run as PhaseRun, Trial};
use embermark_model::{Scale, Status};
use embermark_workloads::{Info, Workload};

use crate::cells::plain_cell;
use crate::purpose::Purpose;
use crate::session::Run;
use crate::stage::prepare_in_thread;
use crate::{HarnessError, Result};

/// The engine that does nothing.
const ENGINE: &str = "null";

/// Largest number of rows that its times are measured on.
const ROWS: u64 = 100_000;

/// Runs a trial of the `null` engine on every workload and scale of the plan, except workloads
/// whose phases last for a fixed time or run until they are steady. Times are measured on the
/// largest scale of at most [`ROWS`] rows, and memory on every scale. If all scales are larger, or
/// are a whole file, a workload with a [`point_read`] runs on [`ROWS`] synthetic rows too, and the
/// times of any other are those of its smallest scale. Returns the floor, and the reasons why
/// workloads are missing from it.
pub(crate) fn measure(run: &mut Run<'_>) -> Result<(Option<Floor>, Vec<String>)> {
    let (catalog, plan) = (&run.options.catalog, run.plan);
    let (mut floor, mut problems) = (Floor::default(), Vec::new());
    if catalog.engine(ENGINE).is_err() {
        return Ok((None, problems));
    }
    for id in &plan.workloads {
        let workload = catalog.workload(id)?;
        let info = workload.info();
        let Some((scale, rows)) =
            rows(run, workload)?.filter(|_| !info.lasts && !info.until_steady)
        else {
            continue;
        };
        let Some(variant) = info.variants.first() else { continue };
        let phases = info.phases.iter().map(|phase| phase.name);
        let phases = phases.filter(|phase| !info.timed.contains(phase));
        let phases: Vec<String> = phases.map(str::to_owned).collect();
        if phases.is_empty() {
            continue;
        }
        let cell = |scale| plain_cell(info.id, scale, variant.name, ENGINE);
        let mut staged = run.stages.all(info.id);
        staged.retain(|(other, _)| *other != scale);
        staged.push((scale, rows));
        let mut last = Trial::default();
        for (scale, rows) in staged {
            let name = format!("floor-{}-{scale}", info.id);
            last = run.trial(&cell(scale), &phases, &rows, &name, Purpose::Floor)?;
            add_peaks(&mut floor, info.id, scale, &last);
        }
        let measured = ns_per_operation(&last);
        // A workload that has only queries in SQL is unsupported, which is not a problem.
        if measured.is_empty() && last.status != Status::Unsupported {
            let unknown = || Status::Failed.to_string();
            problems.push(format!("{}: {}", info.id, last.reason.unwrap_or_else(unknown)));
        } else if !measured.is_empty() {
            floor.phases.insert(info.id.to_owned(), measured);
        }
    }
    for id in &plan.workloads {
        let read = point_read(&catalog.workload(id)?.info());
        let phases = floor.phases.get(id).zip(read);
        floor.read_ns = floor.read_ns.or(phases.and_then(|(all, read)| all.get(read)).copied());
    }
    Ok(((!floor.phases.is_empty()).then_some(floor), problems))
}

/// Returns the phase of reads by key of a workload that reads sensor logs. Its synthetic rows have
/// the same form, so they can be made for any plan.
fn point_read(info: &Info) -> Option<&'static str> {
    info.gets.filter(|_| info.reads_files)
}

/// Returns the scale and the staged rows on which a workload's times are taken.
fn rows(run: &Run<'_>, workload: &'static dyn Workload) -> Result<Option<(Scale, PathBuf)>> {
    let info = workload.info();
    let staged = run.stages.all(info.id);
    if let Some(largest) = staged.iter().rfind(|(scale, _)| *scale <= Scale::Rows(ROWS)) {
        return Ok(Some(largest.clone()));
    }
    if point_read(&info).is_none() {
        return Ok(staged.into_iter().next());
    }
    let dir = run.dirs.rows().join("floor");
    std::fs::create_dir(&dir)
        .map_err(|error| HarnessError::file(&dir, "create the folder", error))?;
    let (scales, data) = ([Scale::Rows(ROWS)], DataSource::Synthetic);
    let interrupt = &run.options.interrupt;
    let own = prepare_in_thread(workload, &scales, &data, run.plan.seed, &dir, interrupt)?;
    Ok(own.into_iter().next().map(|(scale, file, _)| (scale, file)))
}

/// Returns the median ns per operation of each phase whose runs have more than one.
fn ns_per_operation(trial: &Trial) -> BTreeMap<String, f64> {
    let per_op = |run: &PhaseRun| run.elapsed_ns as f64 / run.ops as f64;
    let median_of = |phase: &PhaseResult| {
        let counted = phase.runs.iter().filter(|run| !run.discarded && run.ops > 1);
        median(&counted.map(per_op).collect::<Vec<f64>>())
    };
    let phases = trial.phases.iter().filter(|phase| phase.status.has_figures());
    phases.filter_map(|phase| Some((phase.phase.clone(), median_of(phase)?))).collect()
}

/// Adds the peak memory of each phase over its counted runs, minus what the worker had before.
fn add_peaks(floor: &mut Floor, workload: &str, scale: Scale, trial: &Trial) {
    let before = trial.baseline_bytes.unwrap_or(0);
    let peak = |phase: &PhaseResult| {
        let counted = phase.runs.iter().filter(|run| !run.discarded);
        let peak = counted.filter_map(|run| run.engine.peak_bytes).max()?;
        Some((phase.phase.clone(), peak.saturating_sub(before)))
    };
    let phases = trial.phases.iter().filter(|phase| phase.status.has_figures());
    let peaks: BTreeMap<String, u64> = phases.filter_map(peak).collect();
    if !peaks.is_empty() {
        let own = floor.peak_bytes.entry(workload.to_owned()).or_default();
        own.insert(scale.to_string(), peaks);
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::result::Resources;

    use super::*;

    #[test]
    fn the_memory_of_a_phase_is_the_most_of_its_counted_runs_above_what_was_there_before() {
        let run = |peak, discarded| PhaseRun {
            discarded,
            engine: Resources { peak_bytes: peak, ..Resources::default() },
            ..PhaseRun::default()
        };
        let phase = |name: &str, runs| PhaseResult {
            phase: name.to_owned(),
            runs,
            ..PhaseResult::default()
        };
        let trial = Trial {
            baseline_bytes: Some(1_000),
            phases: vec![
                phase("load", vec![run(Some(9_000), true), run(Some(3_000), false)]),
                phase("read", vec![run(Some(2_500), false), run(Some(2_000), false)]),
                phase("update", vec![run(None, false)]),
            ],
            ..Trial::default()
        };
        let (mut floor, scale) = (Floor::default(), Scale::Rows(10_000));
        add_peaks(&mut floor, "sensors", scale, &trial);
        let peak = |phases: &[&str]| floor.peak_of("sensors", scale, phases);
        assert_eq!(peak(&["load", "read"]), Some(2_000));
        assert_eq!((peak(&["read", "none"]), peak(&["update"])), (Some(1_500), None));
        assert_eq!(floor.peak_of("sensors", Scale::Rows(1), &["load"]), None);
    }
}
