//! Measures candidates by runs of the harness.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use embermark_engines::{SettingValues, as_set, registry};
use embermark_harness::progress::Silent;
use embermark_harness::{HarnessError, RunOptions, check_settings};
use embermark_model::plan::Plan;
use embermark_model::result::{Cell, ResultFile};
use embermark_model::tuning_result::{Kept, Set};
use embermark_model::{Configuration, Configurations};

use crate::columns::{ColumnResult, Columns};
use crate::search::Bench;

/// What is tuned.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Id of the engine, or name of its current configuration.
    pub name: String,
    /// The engine with its current settings, which replace embermark's.
    pub today: Configuration,
}

impl Subject {
    /// Returns the engine with settings added to the current ones.
    pub fn with(&self, set: &Set) -> Configuration {
        let mut own = self.today.clone();
        own.settings.extend(set.iter().map(|(name, value)| (name.clone(), value.clone())));
        own
    }
}

/// Candidates that were opened once before the search.
#[derive(Clone, Debug)]
pub struct Screening {
    /// Candidates to try.
    pub accepted: Vec<Set>,
    /// The others, each with the reason.
    pub rejected: Vec<(Set, String)>,
}

/// Why settings cannot be measured.
#[derive(Debug)]
pub enum MeasureError {
    /// A run did not take place or ended early.
    Run(HarnessError),
    /// The current settings did not complete the work, for this reason.
    Current(String),
}

impl From<HarnessError> for MeasureError {
    fn from(error: HarnessError) -> Self {
        Self::Run(error)
    }
}

/// Cost of the runs so far.
#[derive(Clone, Copy, Debug, Default)]
struct RunCosts {
    trials: u32,
    trial_time: Duration,
    runs: u32,
    overhead: Duration,
}

/// Measures by runs of the harness, each in its own folder.
pub struct HarnessBench<'a> {
    /// What is tuned.
    pub subject: &'a Subject,
    /// The work. The search sets its engines, configurations and trials.
    pub plan: &'a Plan,
    /// How a run is executed. The runs' directories are in its folder.
    pub options: &'a RunOptions,
    /// When the search must end.
    pub ends: Instant,
    /// Tests whether settings keep the tier.
    pub keeps_tier: &'a mut dyn FnMut(&Configuration) -> Result<Kept, HarnessError>,
    /// Announces the next step.
    pub announce: &'a dyn Fn(&str),
    /// Duration and number of trials, number of runs, and the runs' time without their trials.
    spent: RunCosts,
    /// Duration of the longest test of the tier.
    proof_time: Duration,
    /// The last run, and the names of its columns.
    last: Option<ResultFile>,
    names: Vec<String>,
}

impl<'a> HarnessBench<'a> {
    /// Creates it before the first run.
    pub fn new(
        (subject, plan, options): (&'a Subject, &'a Plan, &'a RunOptions),
        ends: Instant,
        keeps_tier: &'a mut dyn FnMut(&Configuration) -> Result<Kept, HarnessError>,
        announce: &'a dyn Fn(&str),
    ) -> Self {
        let spent = RunCosts::default();
        Self {
            subject,
            plan,
            options,
            ends,
            keeps_tier,
            announce,
            spent,
            proof_time: Duration::ZERO,
            last: None,
            names: Vec::new(),
        }
    }

    /// Returns the result of the last run, and the names of its columns, that of the current
    /// settings first.
    pub fn last(&self) -> Option<(&ResultFile, &[String])> {
        Some((self.last.as_ref()?, &self.names))
    }

    /// Returns the time that [`Bench::time_left`] keeps for what the next step's and the last run
    /// take beside their trials.
    pub fn overhead(&self) -> Duration {
        self.spent.overhead / self.spent.runs.max(1) * 2
    }

    /// Returns the folder of the last run.
    pub fn folder(&self) -> PathBuf {
        self.options.out.join(format!("{}-{}", self.subject.name, self.spent.runs))
    }

    /// Measures the current settings once, to learn how long a trial takes, and opens each
    /// candidate. Returns those to try, and the others with the reasons.
    ///
    /// # Errors
    /// If the current settings cannot be measured.
    pub fn screen(&mut self, candidates: Vec<Set>) -> Result<Screening, MeasureError> {
        self.trials("today's settings, to know how long a trial takes", &[Set::new()], 1)?;
        let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
        for set in candidates {
            if self.is_current(&set) {
                rejected.push((set, "as it is today".to_owned()));
                continue;
            }
            match self.check_candidate(&set) {
                Ok(_) => accepted.push(set),
                Err(error) => rejected.push((set, error.to_string())),
            }
        }
        Ok(Screening { accepted, rejected })
    }

    /// Runs trials of columns in turns. With `count` it also runs those that count bytes.
    ///
    /// # Errors
    /// If there is no run, or the current settings do not complete it: nothing can be compared
    /// with them.
    fn run(
        &mut self,
        about: &str,
        columns: &[Set],
        (times, count): (u32, bool),
    ) -> Result<Columns, MeasureError> {
        let plural = if times == 1 { "trial" } else { "trials" };
        (self.announce)(&format!("{about}: {times} {plural} of each, in turns"));
        self.spent.runs += 1;
        let own: Vec<Configuration> = columns.iter().map(|set| self.subject.with(set)).collect();
        self.names = own.iter().enumerate().map(|(at, own)| column_name(at, own)).collect();
        let named = self.names.iter().cloned().zip(own);
        let plan = Plan {
            engines: self.names.clone(),
            configurations: named.filter(|(name, own)| *name != own.engine).collect(),
            trials: times,
            own_trials: false,
            lasts_ms: None,
            // Rows are the same in every run, but the order of trials differs.
            ..self.plan.clone()
        };
        let options = RunOptions { out: self.folder(), count, ..self.options.clone() };
        let began = Instant::now();
        let result = embermark_harness::run(&plan, &options, &mut Silent)?;
        let trials = || result.cells.iter().flat_map(|cell| &cell.trials);
        let trial_time = Duration::from_nanos(trials().map(|trial| trial.wall_ns).sum());
        self.spent.trials += trials().count() as u32;
        self.spent.trial_time += trial_time;
        self.spent.overhead += began.elapsed().saturating_sub(trial_time);
        let lacks = |cell: &Cell| Some((cell.id.storage?, cell.lacks_storage()?.to_owned()));
        if let Some((storage, why)) = result.cells.iter().find_map(lacks) {
            return Err(HarnessError::storage(storage, &why).into());
        }
        let ended: Columns = self.names.iter().map(|name| column_result(&result, name)).collect();
        if let (Some(ColumnResult::Out(why)), true) = (ended.first(), columns[0].is_empty()) {
            return Err(MeasureError::Current(why.clone()));
        }
        self.last = Some(result);
        Ok(ended)
    }

    /// Whether the last run had exactly these values, as the engine reported them or as they were
    /// set.
    fn is_current(&self, set: &Set) -> bool {
        let Ok(engine) = registry::find(&self.subject.today.engine) else { return false };
        let cells = self.last.iter().flat_map(|file| &file.cells);
        let Some(trial) = cells.flat_map(|cell| &cell.trials).next() else { return false };
        let as_set = as_set("");
        set.iter().all(|(name, value)| {
            trial.settings.get(name).is_some_and(|found| {
                let found = found.strip_suffix(&*as_set).unwrap_or(found);
                let found = found.strip_suffix(" bytes").unwrap_or(found);
                match engine.settings().find(name) {
                    Some(known) if !matches!(known.takes, SettingValues::Any) => {
                        known.matches(value, found)
                    }
                    _ => value.eq_ignore_ascii_case(found),
                }
            })
        })
    }

    /// Opens the database with these settings added to the current ones. Returns reported settings
    /// that are not the tier's, if there are any.
    fn check_candidate(&self, set: &Set) -> Result<Option<String>, HarnessError> {
        let dir = self.options.data.clone().unwrap_or_else(std::env::temp_dir);
        let RunOptions { worker, catalog, .. } = self.options;
        let one = Configurations::from([("candidate".to_owned(), self.subject.with(set))]);
        let says = check_settings(&one, &self.plan.durabilities, &dir, worker, catalog)?;
        Ok(says.into_iter().next())
    }
}

/// Returns the name of a column: the engine's if it has embermark's settings, otherwise one by its
/// index.
fn column_name(at: usize, own: &Configuration) -> String {
    match own.has_settings() || own.library.is_some() {
        true => format!("settings-{at}"),
        false => own.engine.clone(),
    }
}

impl Bench for HarnessBench<'_> {
    type Error = MeasureError;

    fn trials(
        &mut self,
        about: &str,
        columns: &[Set],
        times: u32,
    ) -> Result<Columns, MeasureError> {
        self.run(about, columns, (times, false))
    }

    fn final_trials(&mut self, winner: &Set, times: u32) -> Result<Columns, MeasureError> {
        self.run("the winner, again", &[Set::new(), winner.clone()], (times, true))
    }

    fn keeps_tier(&mut self, set: &Set) -> Result<Kept, MeasureError> {
        let own = self.subject.with(set);
        (self.announce)(&format!("does {own} keep the tier?"));
        let began = Instant::now();
        let kept = (self.keeps_tier)(&own)?;
        self.proof_time = self.proof_time.max(began.elapsed());
        // What the engine itself reports as weaker is not taken, whatever a few power cuts left.
        let weak = self.check_candidate(set)?;
        Ok(match (kept, weak) {
            (Kept::Broken { lost }, _) | (_, Some(lost)) => Kept::Broken { lost },
            (kept, None) => kept,
        })
    }

    fn proof_time(&self) -> Duration {
        self.proof_time
    }

    fn time_left(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now()).saturating_sub(self.overhead())
    }

    fn trial_time(&self) -> Duration {
        self.spent.trial_time / self.spent.trials.max(1)
    }
}

/// Returns the results of a column's cells.
fn column_result(result: &ResultFile, column: &str) -> ColumnResult {
    let cells: Vec<&Cell> = result.cells.iter().filter(|cell| cell.id.engine == column).collect();
    if let Some(cell) = cells.iter().find(|cell| cell.has_failure()) {
        return ColumnResult::Out(reason(cell));
    }
    let trials = cells.iter().map(|cell| cell.trials.len()).min().unwrap_or(0);
    let of = |at: usize| {
        let mut times = BTreeMap::new();
        for cell in &cells {
            for phase in cell.trials[at].phases.iter().filter(|phase| phase.status.has_figures()) {
                let name = match cells.len() {
                    1 => phase.phase.clone(),
                    _ => format!("{} {} {}", cell.id.workload, cell.id.variant, phase.phase),
                };
                if let Some(time) = phase.mean_time() {
                    times.insert(name, time);
                }
            }
        }
        times
    };
    let times: Vec<BTreeMap<String, f64>> = (0..trials).map(of).collect();
    // Trials without a figure, of an engine that cannot do the work, are not equally fast.
    match times.is_empty() || times.iter().any(BTreeMap::is_empty) {
        true => ColumnResult::Out(match cells.first() {
            Some(cell) => reason(cell),
            None => "nothing was measured".to_owned(),
        }),
        false => ColumnResult::Times(times),
    }
}

/// Returns why a cell has no figures: its own reason, or that of a trial or a phase.
fn reason(cell: &Cell) -> String {
    let trials = || cell.lost_trials.iter().chain(&cell.trials);
    let of_trial = || trials().find_map(|trial| trial.reason.clone());
    let of_phase =
        || trials().flat_map(|trial| &trial.phases).find_map(|phase| phase.reason.clone());
    let said = cell.reason.clone().or_else(of_trial).or_else(of_phase);
    said.unwrap_or_else(|| cell.status.to_string())
}
