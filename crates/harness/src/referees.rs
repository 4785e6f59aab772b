//! Referees: engines that answer, once and untimed, the questions of which nobody knows the right answer
//! beforehand, over the rows of the trials and before them.

use embermark_engines::{Availability, DataModel};
use embermark_model::{CellId, Durability};

use crate::HarnessError;
use crate::cells::{self, PlannedCell};
use crate::session::{Purpose, Run};

/// Their ids. They have no code in common.
pub(crate) const REFEREES: &[&str] = &["sqlite", "duckdb"];

/// Asks them the questions that cells of SQL engines have; their answers lie beside the rows then, made
/// anew when a run is gone on with. What one cannot say is noted.
pub(crate) fn ask(run: &mut Run<'_>) -> Result<(), HarnessError> {
    let catalog = run.options.catalog;
    let cells = run.journal.head.cells.iter().filter(|cell| cell.skip.is_none());
    let answers = |cell: &&PlannedCell| {
        let engine = catalog.engine_of(run.plan, &cell.id.engine);
        engine.is_ok_and(|engine| engine.info().family == DataModel::Sql)
    };
    let cells: Vec<PlannedCell> = cells.filter(answers).cloned().collect();
    for (id, scales) in cells::stages(&cells) {
        let workload = catalog.workload(&id)?;
        let own = || cells.iter().filter(|cell| cell.id.workload == id);
        let is_planned = |name: &str| own().any(|cell| cell.phases.iter().any(|own| own == name));
        let questions = workload.questions().into_iter().filter(|name| is_planned(name));
        let questions: Vec<String> = questions.map(str::to_owned).collect();
        let Some(variant) = workload.info().variants.first().filter(|_| !questions.is_empty())
        else {
            continue;
        };
        for scale in scales {
            let rows = run.stages.file(&id, scale)?.to_owned();
            for referee in REFEREES {
                let here = catalog.engine(referee);
                if !here.is_ok_and(|it| matches!(it.availability(), Availability::Ready { .. })) {
                    run.progress.note(&format!("{referee} is not here to say what is right"));
                    continue;
                }
                let asked = questions.join(", ");
                run.progress
                    .note(&format!("asking {referee} what is right of {id} {scale}: {asked}"));
                let cell = CellId {
                    workload: id.clone(),
                    scale,
                    durability: Durability::None,
                    variant: variant.name.to_owned(),
                    engine: (*referee).to_owned(),
                    memory_limit: None,
                };
                let name = format!("referee-{}", cell.slug());
                let trial = run.trial(&cell, &questions, &rows, &name, Purpose::Referee)?;
                let Some(trial) = trial else { return Ok(()) };
                let cannot = |why: Option<String>| why.unwrap_or_else(|| trial.status.to_string());
                for phase in trial.phases.iter().filter(|phase| !phase.status.has_figures()) {
                    let why = cannot(phase.reason.clone());
                    run.progress.note(&format!("{referee} cannot say {}: {why}", phase.phase));
                }
                if !trial.status.has_figures() && trial.phases.is_empty() {
                    let why = cannot(trial.reason.clone());
                    run.progress.note(&format!("{referee} cannot say what is right: {why}"));
                }
            }
        }
    }
    Ok(())
}
