//! Referees: engines that answer queries without a known right answer. They run once and untimed on
//! the same rows, before the trials.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use embermark_engines::{Availability, DataModel};
use embermark_model::{CellId, Status};

use crate::cells::{self, PlannedCell};
use crate::purpose::Purpose;
use crate::session::Run;
use crate::{HarnessError, Result};

/// Ids of the referees, which have no code in common.
pub(crate) const REFEREES: &[&str] = &["sqlite", "duckdb"];

/// Makes the referees answer the queries of the SQL engines' cells. The answers are stored next to
/// the rows, and computed again when a run is resumed. Shows a note for a query that a referee
/// cannot answer.
///
/// # Errors
/// If there are queries that every referee refuses to prepare. The error has all of them.
pub(crate) fn ask(run: &mut Run<'_>) -> Result<()> {
    let mut refused = BTreeSet::new();
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
            let mut refusals = Vec::new();
            for referee in REFEREES {
                let cell = cells::plain_cell(&id, scale, variant.name, referee);
                refusals.push(answer(run, &cell, &questions, &rows)?);
            }
            let text = run.plan.workload_files.get(&id).map_or("", |file| &*file.text);
            let mistakes = questions.iter().filter_map(|question| {
                let said = refused_by_all(question, &refusals)?;
                Some(format!("{id}: {}: {said}", place_of(text, question)))
            });
            refused.extend(mistakes);
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    Err(HarnessError::Plan(refused.into_iter().collect::<Vec<_>>().join("\n")))
}

/// Why a referee cannot prepare a query, by the name of its phase.
type Refusals = BTreeMap<String, String>;

/// Beginning of the reason for a query that is not for an engine.
const NO_TEXT: &str = "the workload file has neither";

/// Returns the mistake that no referee can prepare a query, in the referees' words. `None` if one
/// can, or the query is for other engines only.
fn refused_by_all(question: &str, all: &[Refusals]) -> Option<String> {
    let reasons: Vec<&String> =
        all.iter().map(|refusals| refusals.get(question)).collect::<Option<_>>()?;
    let said = REFEREES.iter().zip(&reasons).filter(|(_, why)| !why.contains(NO_TEXT));
    let said: Vec<String> = said.map(|(referee, why)| format!("\n  {referee}: {why}")).collect();
    if said.is_empty() {
        return None;
    }
    Some(format!(
        "no engine that checks answers can prepare its SQL: correct it, or write a text for another \
         engine as sql-ENGINE = \"SELECT …\":{}",
        said.concat()
    ))
}

/// Returns the name of a phase as a workload file has it, and the line of its header if it has one.
fn place_of(text: &str, phase: &str) -> String {
    let header = format!("[phase.{phase}]");
    match text.lines().position(|line| line.trim_start().starts_with(&header)) {
        Some(before) => format!("line {}: phase.{phase}", before + 1),
        None => format!("phase.{phase}"),
    }
}

/// Makes one referee answer the queries of a cell. Returns the queries that it cannot prepare.
fn answer(run: &mut Run<'_>, cell: &CellId, questions: &[String], rows: &Path) -> Result<Refusals> {
    let mut refusals = Refusals::new();
    let CellId { engine: referee, workload, scale, .. } = cell;
    let here = run.options.catalog.engine(referee);
    if !here.is_ok_and(|engine| matches!(engine.availability(), Availability::Ready { .. })) {
        run.progress.note(&format!("{referee} is not available to check the answers"));
        return Ok(refusals);
    }
    let asked = questions.join(", ");
    run.progress
        .note(&format!("asking {referee} for the right answers of {workload} {scale}: {asked}"));
    let name = format!("referee-{}", cell.slug());
    let trial = run.trial(cell, questions, rows, &name, Purpose::Referee)?;
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
        if phase.is_some_and(|phase| phase.status == Status::Unsupported) {
            refusals.insert(question.clone(), why);
        }
    }
    Ok(refusals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusals(of: &[(&str, &str)]) -> Refusals {
        of.iter().map(|(name, why)| ((*name).to_owned(), (*why).to_owned())).collect()
    }

    #[test]
    fn a_query_is_refused_if_no_referee_can_prepare_it() {
        let none = format!("{NO_TEXT} `sql` nor `sql-duckdb`");
        let sqlite = refusals(&[("f", "no such table: rr"), ("g", "no FILTER"), ("own", &none)]);
        let duckdb = refusals(&[("f", "Table rr does not exist"), ("own", &none)]);
        let all = [sqlite, duckdb];
        let text = refused_by_all("f", &all).unwrap();
        assert!(text.contains("sql-ENGINE"), "{text}");
        let words = "\n  sqlite: no such table: rr\n  duckdb: Table rr does not exist";
        assert!(text.ends_with(words), "{text}");
        assert_eq!(refused_by_all("g", &all), None);
        assert_eq!(refused_by_all("own", &all), None);
    }

    #[test]
    fn the_place_of_a_query_is_the_line_of_its_phase() {
        let text = "[table.r]\nrows = 3\n [phase.f] # a query\nsql = \"SELECT 1\"\n";
        assert_eq!(place_of(text, "f"), "line 3: phase.f");
        assert_eq!(place_of(text, "g"), "phase.g");
    }
}
