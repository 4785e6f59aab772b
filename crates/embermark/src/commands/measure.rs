//! Measures a plan into a folder, and writes its page and tables next to the result.

use std::fs;
use std::path::Path;

use embermark_harness::{
    HarnessError, RESULT, RunOptions, check_machine, check_settings, progress,
};
use embermark_model::plan::Plan;
use embermark_model::result::{Cell, ResultFile};
use embermark_report::evidence::Record;
use embermark_report::{Format, Options};

use super::page;
use super::show::{PAGE, ReportFacts, ShowArgs, TABLES};
use crate::error::Failure;
use crate::output;

/// Whether a run begins or resumes.
#[derive(Clone, Copy)]
pub enum RunStart<'a> {
    /// Begins a run of this plan.
    Begin(&'a Plan),
    /// Resumes a run. A plan that is given must be that of the run.
    Resume(Option<&'a Plan>),
}

/// Measures a plan into the folder of `options`. If a signal ends the run, returns the unfinished
/// result of the trials that have ended, if there were any.
pub fn measure(start: RunStart<'_>, options: &RunOptions) -> Result<Option<ResultFile>, Failure> {
    if let RunStart::Begin(plan) = start {
        check_machine(plan)?;
        let dir = options.data.clone().unwrap_or_else(std::env::temp_dir);
        let RunOptions { worker, catalog, .. } = &options;
        let tried =
            check_settings(&plan.configurations, &plan.durabilities, &dir, worker, catalog)?;
        tried.iter().for_each(|says| say!("{says}"));
    }
    let durability = Record::with(Vec::new());
    let provisional = move |result: &ResultFile| provisional(result, &durability);
    let mut progress = progress::on_stderr(Some(Box::new(provisional)));
    let outcome = match start {
        RunStart::Begin(plan) => embermark_harness::run(plan, options, progress.as_mut()),
        RunStart::Resume(plan) => embermark_harness::resume(plan, options, progress.as_mut()),
    };
    match outcome {
        Err(HarnessError::Interrupted { result }) => Ok(result.map(|result| *result)),
        outcome => Ok(Some(outcome?)),
    }
}

/// Rows of a terminal that the progress bar and its surroundings take.
const PROGRESS_ROWS: usize = 5;

/// Formats the result so far for the terminal on standard error. On a small one only the end is
/// shown, which has the table.
fn provisional(result: &ResultFile, durability: &Record) -> String {
    let (width, rows) = output::terminal();
    let options = Options { width, durability, ..Options::default() };
    let screen = embermark_report::provisional(result, &options);
    let lines: Vec<&str> = screen.lines().collect();
    let from =
        rows.map_or(0, |rows| lines.len().saturating_sub(rows.saturating_sub(PROGRESS_ROWS)));
    lines[from..].join("\n")
}

/// Writes the page and the tables of a result next to it, in `out`. The measurement is done and
/// saved, so a failure here is only a note on standard error.
pub fn write_reports(result: &ResultFile, out: &Path, show: &ShowArgs, known: &ReportFacts) {
    let path = out.join(RESULT);
    let tables =
        || output::write(&out.join(TABLES), show.text(known, result, Format::Table, &path)?);
    for (name, made) in
        [(PAGE, page::write(&[(&path, result)], &out.join(PAGE), known)), (TABLES, tables())]
    {
        if let Err(failure) = made {
            // An older file must not stay in its place.
            let _ = fs::remove_file(out.join(name));
            say!("embermark: no {name}: {failure}");
        }
    }
}

/// Whether a cell, or a trial of one, is wrong, failed or timed out.
pub fn is_failure(result: &ResultFile) -> bool {
    result.cells.iter().any(Cell::has_failure)
}
