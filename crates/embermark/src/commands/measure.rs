//! Measures a plan into a folder, and writes its page and tables next to the result.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use embermark_harness::progress::{self, Progress};
use embermark_harness::{HarnessError, RESULT, RunOptions, check_machine, check_settings};
use embermark_model::plan::Plan;
use embermark_model::result::{Cell, ResultFile};
use embermark_model::{CellId, Status};
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
    let known = ReportFacts::new(Vec::new());
    let mut progress = Provisional { under: progress::on_stderr(), known };
    let progress: &mut dyn Progress = &mut progress;
    let outcome = match start {
        RunStart::Begin(plan) => embermark_harness::run(plan, options, progress),
        RunStart::Resume(plan) => embermark_harness::resume(plan, options, progress),
    };
    match outcome {
        Err(HarnessError::Interrupted { result }) => Ok(result.map(|result| *result)),
        outcome => Ok(Some(outcome?)),
    }
}

/// Rows of a terminal that the progress bar and its surroundings take.
const PROGRESS_ROWS: usize = 5;

/// Progress that also shows the results so far, once every cell was measured.
struct Provisional {
    under: Box<dyn Progress>,
    known: ReportFacts,
}

impl Progress for Provisional {
    fn note(&mut self, text: &str) {
        self.under.note(text);
    }

    fn started(&mut self, trials: u32) {
        self.under.started(trials);
    }

    fn started_for(&mut self, began: Instant, lasts: Duration) {
        self.under.started_for(began, lasts);
    }

    fn so_far(&mut self, result: &ResultFile) {
        let (width, rows) = output::terminal();
        let durability = &self.known.durability;
        let options = Options { width, durability, ..Options::default() };
        let screen = embermark_report::provisional(result, &options);
        // On a small terminal only the end is shown, which has the table.
        let lines: Vec<&str> = screen.lines().collect();
        let from =
            rows.map_or(0, |rows| lines.len().saturating_sub(rows.saturating_sub(PROGRESS_ROWS)));
        self.under.screen(&lines[from..].join("\n"));
    }

    fn trial(&mut self, number: u32, cell: &CellId, index: u32) {
        self.under.trial(number, cell, index);
    }

    fn phase(&mut self, name: &str, run: u32, runs: u32) {
        self.under.phase(name, run, runs);
    }

    fn to_go(&mut self, lasts: Duration) {
        self.under.to_go(lasts);
    }

    fn trial_ended(&mut self, status: Status, reason: Option<&str>, wall: Duration) {
        self.under.trial_ended(status, reason, wall);
    }

    fn finished(&mut self) {
        self.under.finished();
    }
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
