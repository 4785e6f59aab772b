//! The harness's own cost: point reads on the `null` engine, which does nothing.

use embermark_model::plan::DataSource;
use embermark_model::result::{Floor, Run as PhaseRun, Trial};
use embermark_model::{CellId, Durability, Scale, Status};

use crate::HarnessError;
use crate::progress::Silent;
use crate::session::{Purpose, Run};
use crate::stage::Stages;
use crate::trial::TrialOutcome;

/// The engine that does nothing.
const ENGINE: &str = "null";

/// The phase it is measured on.
const PHASE: &str = "read";

/// The most rows it is measured on.
const ROWS: u64 = 100_000;

/// What became of the floor.
pub(crate) enum Measured {
    Floor(Floor),
    /// It should have worked; why it did not.
    Not(String),
    /// Interrupted, or the first workload has no point reads, or there is no `null` engine.
    NotApplicable,
}

/// Runs one trial of the `null` engine on the first workload: on the largest scale of the plan that
/// is no larger than [`ROWS`], or on as many synthetic rows.
///
/// # Errors
/// When the rows cannot be staged or the worker cannot be started.
pub(crate) fn measure(run: &Run<'_>) -> Result<Measured, HarnessError> {
    let catalog = &run.options.catalog;
    let Some(first) = run.plan.workloads.first() else { return Ok(Measured::NotApplicable) };
    let workload = catalog.workload(first)?;
    let info = workload.info();
    let has_phase = info.phases.iter().any(|phase| phase.name == PHASE);
    let Some(variant) = info.variants.first().filter(|_| has_phase) else {
        return Ok(Measured::NotApplicable);
    };
    if catalog.engine(ENGINE).is_err() {
        return Ok(Measured::NotApplicable);
    }

    let staged = run.stages.largest(info.id, Scale::Rows(ROWS));
    let (scale, rows) = match staged {
        Some(staged) => staged,
        None => {
            let (scale, mut own) = (Scale::Rows(ROWS), Stages::default());
            let dir = run.dirs.rows().join("floor");
            std::fs::create_dir(&dir)
                .map_err(|error| HarnessError::file(&dir, "create the folder", error))?;
            own.add(workload, &[scale], &DataSource::Synthetic, run.plan.seed, &dir)?;
            let Some(file) = own.file(info.id, scale) else { return Ok(Measured::NotApplicable) };
            (scale, file.to_owned())
        }
    };
    let cell = CellId {
        workload: info.id.to_owned(),
        scale,
        durability: Durability::None,
        variant: variant.name.to_owned(),
        engine: ENGINE.to_owned(),
    };
    let phases = [PHASE.to_owned()];
    Ok(match run.trial(&cell, &phases, &rows, "floor", Purpose::Floor, &mut Silent)? {
        TrialOutcome::Interrupted => Measured::NotApplicable,
        TrialOutcome::Trial(trial) => of(&trial),
    })
}

fn of(trial: &Trial) -> Measured {
    let runs = trial.phases.iter().filter(|phase| phase.phase == PHASE).flat_map(|p| &p.runs);
    let counted = runs.filter(|run| !run.discarded && run.ops > 0);
    let per_op = |run: &PhaseRun| run.elapsed_ns as f64 / run.ops as f64;
    match median(counted.map(per_op).collect()) {
        Some(read_ns) if trial.status.has_figures() => Measured::Floor(Floor { read_ns }),
        _ => {
            let unknown = || Status::Failed.to_string();
            Measured::Not(trial.reason.clone().unwrap_or_else(unknown))
        }
    }
}

/// The median; of an even number the mean of the middle two.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (middle, upper) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(f64::midpoint(values[middle], values[upper]))
}

#[cfg(test)]
mod tests;
