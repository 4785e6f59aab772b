//! Referees: engines that answer queries without a known right answer. They run once and untimed on
//! the same rows, before the trials.

use std::path::Path;

use embermark_engines::{Availability, DataModel};
use embermark_model::{CellId, Durability};

use crate::HarnessError;
use crate::cells::{self, PlannedCell};
use crate::purpose::Purpose;
use crate::session::Run;

/// Ids of the referees, which have no code in common.
pub(crate) const REFEREES: &[&str] = &["sqlite", "duckdb"];

/// Makes the referees answer the queries of the SQL engines' cells. The answers are stored next to
/// the rows, and computed again when a run is resumed. Shows a note for a query that a referee
/// cannot answer.
pub(crate) fn ask(run: &mut Run<'_>) -> Result<(), HarnessError> {
    let catalog = run.options.catalog;
    let cells = run.journal.head.cells.iter().filter(|cell| cell.skip.is_none());
    let answers = |cell: &&PlannedCell| {
        let engine = catalog.engine_of(&run.plan.configurations, &cell.id.engine);
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
                let cell = CellId {
                    workload: id.clone(),
                    scale,
                    durability: Durability::None,
                    variant: variant.name.to_owned(),
                    engine: (*referee).to_owned(),
                    memory_limit: None,
                    storage: None,
                };
                answer(run, &cell, &questions, &rows)?;
                run.stop_if_interrupted()?;
            }
        }
    }
    Ok(())
}

/// Makes one referee answer the queries of a cell.
fn answer(
    run: &mut Run<'_>,
    cell: &CellId,
    questions: &[String],
    rows: &Path,
) -> Result<(), HarnessError> {
    let CellId { engine: referee, workload, scale, .. } = cell;
    let here = run.options.catalog.engine(referee);
    if !here.is_ok_and(|engine| matches!(engine.availability(), Availability::Ready { .. })) {
        run.progress.note(&format!("{referee} is not available to check the answers"));
        return Ok(());
    }
    let asked = questions.join(", ");
    run.progress
        .note(&format!("asking {referee} for the right answers of {workload} {scale}: {asked}"));
    let name = format!("referee-{}", cell.slug());
    let Some(trial) = run.trial(cell, questions, rows, &name, Purpose::Referee)? else {
        return Ok(());
    };
    for question in questions {
        let phase = trial.phases.iter().find(|phase| phase.phase == *question);
        if phase.is_some_and(|phase| phase.status.has_figures()) {
            continue;
        }
        let why = phase.and_then(|phase| phase.reason.as_ref()).or(trial.reason.as_ref());
        let why = why.map_or_else(|| trial.status.to_string(), Clone::clone);
        // Engines show the position of an error in the text below it.
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        run.progress.note(&format!("{referee} cannot answer {question}: {why}"));
    }
    Ok(())
}
