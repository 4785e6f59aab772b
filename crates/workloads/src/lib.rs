//! The executor of workload files ([`defined`]): what each phase does, in one implementation per data model, and an oracle. The
//! machine at 1 kHz is the only workload with code of its own; rows that arrive by themselves are a module for both.
//!
//! A workload drives stores through the trait of their data model and knows no engine. To add one: a file
//! in the crate `language`, and a line beside its name.

use std::error::Error;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use embermark_clients::Program;
use embermark_contract::{EngineError, Reopener, Store};
use embermark_data::DataError;
use embermark_language::{PUBLISHED, parse};
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Difference};
use embermark_model::choice::{self, UnknownName};
use embermark_model::plan::{DataSource, Dataset, Rate};
use embermark_model::result::{Execution, PhaseKind, PhaseResult, SteadyState, WriteBehind};
use embermark_model::{MemoryLimit, ResultSet, Scale};

mod arrivals;
pub mod defined;
mod generated;
mod http;
mod machine;
mod observer;
mod reopenable;
mod strategy;
mod write_behind;

pub use arrivals::{CONFIRMATIONS, FASTEST};
use defined::Defined;
pub use observer::{Companions, NoopObserver, PhaseObserver};
use strategy::Strategy;

/// Every workload.
pub static WORKLOADS: LazyLock<Vec<&'static dyn Workload>> = LazyLock::new(|| {
    let all: [Option<&'static dyn Workload>; 6] = [
        published("sensors"),
        published("contacts"),
        Some(&machine::Machine),
        published("events"),
        published("htap"),
        published("retention"),
    ];
    all.into_iter().flatten().collect()
});

/// A workload that is a published file. A test of the language reads them all, so that none is missing.
fn published(name: &str) -> Option<&'static dyn Workload> {
    let (_, text) = PUBLISHED.iter().find(|(known, _)| *known == name)?;
    Some(Defined::leak(parse(name, text, &[]).ok()?, PathBuf::new(), 0.0))
}

/// The workload of that id.
///
/// # Errors
/// When there is none; the error names the nearest and all valid ids.
pub fn find(id: &str) -> Result<&'static dyn Workload, UnknownName> {
    WORKLOADS
        .iter()
        .find(|workload| workload.info().id == id)
        .copied()
        .ok_or_else(|| choice::unknown("workload", id, WORKLOADS.iter().map(|w| w.info().id)))
}

/// What a workload is.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line and in results.
    pub id: &'static str,
    /// What it stands for, in a line.
    pub about: &'static str,
    /// Its phases in the order in which reports show them.
    pub phases: &'static [PhaseInfo],
    /// Its variants.
    pub variants: &'static [VariantInfo],
    /// What runs when every workload does: small, all of them done in minutes.
    pub overview: Protocol,
    /// What runs when it is asked for by name.
    pub usual: Protocol,
    /// Whether its rows may come from a file.
    pub reads_files: bool,
    /// Whether its own scale is every row of its files, in place of those of its protocols.
    pub whole: bool,
    /// Whether its phases last by the clock, with what passes between client and server counted.
    pub lasts: bool,
    /// Whether its phases go on until they are steady, for the window at most, on a disk of the trial's own,
    /// and take a target rate of rows. Such a workload runs where it is asked for by name alone.
    pub until_steady: bool,
    /// Whether phases that read may begin with a database of which nothing is in memory.
    pub cold: bool,
    /// Phases that look for a highest rate: they run when the plan asks for it, and then alone.
    pub searches: &'static [&'static str],
    /// Phases of rows that arrive by themselves: at a rate, or, where the plan asks for the highest, in search of it.
    pub arrivals: &'static [&'static str],
    /// Phases that run in the variants that change them, and in no other: a plan that does not ask for
    /// such a variant does not run them.
    pub apart: &'static [&'static str],
    /// Phases that last for a time of their own, however long others may.
    pub timed: &'static [&'static str],
    /// Phases that go on for the window of the plan.
    pub windowed: &'static [&'static str],
    /// Clients that its phases have at the same time, where that is more than the plan's.
    pub clients: u32,
    /// Its first phase of reads by key.
    pub gets: Option<&'static str>,
    /// Whether its clients may be on several machines: it can be [joined](Prepared::join).
    pub joins: bool,
    /// The phases made of operations on one row each, by variant, the usual variant first: several
    /// clients may share them, and they may start at a target rate. Then no other phase runs.
    pub points: &'static [(&'static str, &'static [&'static str])],
}

impl Info {
    /// Whether a variant does nothing but phases that run in no other.
    pub fn is_apart(&self, variant: &VariantInfo) -> bool {
        let is_apart = |phase| self.apart.contains(phase);
        !variant.changes.is_empty() && variant.changes.iter().all(is_apart)
    }
}

/// Which cells of a workload a run has.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Rows.
    pub scales: &'static [u64],
    /// Variants by name; the first one runs every phase.
    pub variants: &'static [&'static str],
    /// How long a phase goes on that lasts by the clock.
    pub window: Duration,
    /// How long it goes on before that, unmeasured.
    pub warm_up: Duration,
    /// The largest of the scales runs once more within this limit of memory.
    pub memory_limit: Option<MemoryLimit>,
    /// Trials of a cell, where they are not the plan's: one window of minutes is many seconds.
    pub trials: Option<u32>,
}

impl Protocol {
    /// Scales and variants, with closed loops of 100 ms.
    pub const fn of(scales: &'static [u64], variants: &'static [&'static str]) -> Self {
        let (window, warm_up) = (Duration::from_millis(100), Duration::ZERO);
        Self { scales, variants, window, warm_up, memory_limit: None, trials: None }
    }
}

/// A phase, as the help text tells of it.
#[derive(Clone, Copy, Debug)]
pub struct PhaseInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
}

/// A named way of doing phases.
#[derive(Clone, Copy, Debug)]
pub struct VariantInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does differently, in a line.
    pub about: &'static str,
    /// The phases that it changes: those it runs when another variant runs them all, or alone where all
    /// of them are [apart](Info::apart).
    pub changes: &'static [&'static str],
}

/// A workload. Stateless and shared.
pub trait Workload: Sync {
    /// What it is.
    fn info(&self) -> Info;

    /// Opens the rows a plan asks for; the parent process does so once in a run.
    ///
    /// # Errors
    /// When the data cannot be used.
    fn source(&self, data: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError>;

    /// Phases of which nobody knows the right answer beforehand: referees are to be asked for it.
    fn questions(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Prepares one cell in the worker process: rows, oracle and operation sequences, everything
    /// that must exist before a clock starts.
    ///
    /// # Errors
    /// When the staged rows cannot be read.
    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError>;

    /// What a process does that takes part beside the worker, in `role`; `task` is what it was
    /// [started](Companions::start) with, `store` the worker's database, opened a second time, where
    /// it was to have it. Standard input is its parent's to close, `out` the pipe that its parent
    /// reads. The kernel ends it with its parent.
    ///
    /// # Errors
    /// Whatever keeps it from its task; a workload that starts none has no roles.
    fn companion(
        &self,
        role: &str,
        _task: &str,
        _store: Option<Store>,
        _out: File,
    ) -> Result<(), Box<dyn Error>> {
        Err(format!("this workload has no process in the role of '{role}'").into())
    }
}

/// Rows to stage for workers.
pub trait Source {
    /// Writes the rows of a scale to `file`, in the form that [`Workload::prepare`] reads, and
    /// tells what they are.
    ///
    /// # Errors
    /// When the data has fewer rows than the scale, or the file cannot be written.
    fn stage(&self, scale: Scale, file: &Path) -> Result<Dataset, WorkloadError>;
}

/// What a worker must know to prepare a cell.
#[derive(Clone)]
pub struct Spec {
    /// The staged rows.
    pub rows: PathBuf,
    /// The variant's name.
    pub variant: String,
    /// Seed of the operation sequences: the same for every engine.
    pub seed: u64,
    /// How long a phase goes on that lasts by the clock.
    pub window: Duration,
    /// How long it goes on before that, unmeasured.
    pub warm_up: Duration,
    /// Samples a second of what a sensor makes.
    pub rate: Rate,
    /// Clients that share the operations of a phase.
    pub clients: u32,
    /// Which of them are on this machine, where they are on several.
    pub own_clients: Option<Range<u32>>,
    /// Operations a second that are started, by all clients together (open loop); `None`: each
    /// client starts its next one when the last has ended (closed loop).
    pub target_rate: Option<u64>,
    /// Limit of the 99th percentile of commit latency at the highest rate.
    pub p99_limit: Duration,
    /// Whether the database is opened again before each run of a phase that reads.
    pub cold: bool,
    /// Starts processes that take part; none where nobody can.
    pub companions: Option<Rc<dyn Companions>>,
    /// The program in another language that does the phases in place of this one, where one does.
    pub program: Option<Program>,
    /// The engine's id, for which somebody may have written a question in words of its own.
    pub engine: String,
    /// Whether the engine only adds rows (`Engine::is_append_only`).
    pub appends_only: bool,
    /// Whose answers to [questions](Workload::questions) lie beside the rows.
    pub referees: &'static [&'static str],
    /// Whether this engine is such a referee: its answers are put beside the rows.
    pub is_referee: bool,
}

impl Spec {
    /// A cell of rows, a variant and a seed; everything else as it usually is.
    pub fn of(rows: PathBuf, variant: impl Into<String>, seed: u64) -> Self {
        Self {
            rows,
            variant: variant.into(),
            seed,
            window: Duration::from_millis(100),
            warm_up: Duration::ZERO,
            rate: Rate::default(),
            clients: 1,
            own_clients: None,
            target_rate: None,
            p99_limit: Duration::from_millis(100),
            cold: false,
            companions: None,
            program: None,
            engine: String::new(),
            appends_only: false,
            referees: &[],
            is_referee: false,
        }
    }
}

/// A cell ready to meet its engine.
pub trait Prepared {
    /// Sets the workload up on an open, empty database, which `reopener` opens again.
    ///
    /// # Errors
    /// When the engine refuses its tables or statements.
    fn open(
        self: Box<Self>,
        store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError>;

    /// Sets up the clients of this machine on a database that another machine has
    /// [opened](Self::open), of which `store` is a client. The bench does its share of every phase; the
    /// other one readies the database before, and checks the answers of all.
    ///
    /// # Errors
    /// Unsupported, the default, where a workload has no clients on several machines; else when the engine
    /// refuses.
    fn join(self: Box<Self>, _store: Store) -> Result<Box<dyn Bench>, EngineError> {
        Err(EngineError::unsupported("this workload", "clients on several machines"))
    }
}

/// A phase of a [`Bench`].
#[derive(Clone, Copy, Debug)]
pub struct BenchPhase {
    /// Its name.
    pub name: &'static str,
    /// Operations of a full run; 0 for a closed loop, which does as many as [`Spec::window`] allows.
    pub ops: u64,
    /// Whether the engine does it itself or client code does.
    pub execution: Execution,
    /// What its operations are, and the criterion that its times count for.
    pub kind: PhaseKind,
}

impl BenchPhase {
    /// Returns the result of the phase as it is before the first run.
    pub fn to_result(self) -> PhaseResult {
        PhaseResult {
            phase: self.name.to_owned(),
            kind: Some(self.kind),
            execution: self.execution,
            ops: self.ops,
            ..PhaseResult::default()
        }
    }
}

/// A workload on one database. The harness calls, for each run of each phase: `ready`, then `run`
/// with the probes around it, then `check`.
pub trait Bench {
    /// The phases, in the order in which they run; calls name a phase by its place in it.
    fn phases(&self) -> &[BenchPhase];

    /// Puts the database into the state in which the phase begins. Outside the clock.
    ///
    /// # Errors
    /// When the engine reports one.
    fn ready(&mut self, phase: usize) -> Result<(), EngineError>;

    /// Runs the phase once inside the meter's clock, and returns what came of it.
    ///
    /// # Errors
    /// When the engine reports one.
    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Outcome, EngineError>;

    /// Whether a phase runs once in a trial, however many runs were asked for: it is long, and has
    /// everything to say after one.
    fn once(&self, phase: usize) -> bool {
        self.lasts(phase)
    }

    /// Whether a run of a phase that is over at once may be made several times, for its mean time.
    fn repeat(&self, _phase: usize) -> Repeat {
        Repeat::Never
    }

    /// What plan the engine has for the query of a phase that was run, as it tells it, or why it tells none; `None` where there
    /// is no query, or the engine has no words for plans. Outside the clock.
    fn plan(&mut self, _phase: usize) -> Option<String> {
        None
    }

    /// Operations a second that a phase itself starts on a schedule, where it does.
    fn target_rate(&self, _phase: usize) -> Option<f64> {
        None
    }

    /// Whether a phase lasts by the clock and says itself when the measuring begins. It runs once in
    /// a trial: its window is long.
    fn lasts(&self, _phase: usize) -> bool {
        false
    }

    /// Runs a phase as [`run`](Self::run) does; one that [lasts](Self::lasts) tells `observer` when to
    /// look, and what there is to see.
    ///
    /// # Errors
    /// When the engine reports one.
    fn observe(
        &mut self,
        phase: usize,
        meter: &mut Meter,
        _observer: &mut dyn PhaseObserver,
    ) -> Result<Outcome, EngineError> {
        self.run(phase, meter)
    }

    /// Compares what came of the run that was just `measured` with what the oracle says; after a phase that
    /// changes data the whole store is read back and compared too. Where clients are on several machines, the
    /// outcome is that of all. Outside the clock.
    ///
    /// # Errors
    /// A wrong answer, or an engine that fails to be read back.
    fn check(
        &mut self,
        phase: usize,
        outcome: &Outcome,
        measured: Measured,
    ) -> Result<Passed, CheckError>;

    /// Bytes of user data that the first `ops` operations of a phase put in: the values of the rows
    /// at the width of their types, keys included, absent values 0. `None` for a phase that neither puts rows in
    /// nor deletes any: after the others the size of the database is looked at.
    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64>;

    /// The settings that keep the durability tier, asked of the engine again
    /// ([`Lifecycle::tier_settings`](embermark_contract::Lifecycle::tier_settings)). Outside the clock.
    ///
    /// # Errors
    /// When the engine reports one.
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        Ok(Vec::new())
    }

    /// Maintenance of the database as a run of a phase that puts rows in has left it.
    ///
    /// # Errors
    /// When the engine reports one.
    fn maintain_as_left(&mut self) -> Result<(), EngineError>;

    /// Leaves the database fully loaded, with maintenance done, and closes it.
    ///
    /// # Errors
    /// When the engine reports one.
    fn finish(self: Box<Self>) -> Result<(), EngineError>;
}

/// Whether a run may be made again right after it, with [`ready`](Bench::ready) between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It may not.
    Never,
    /// It may; `ready` has to undo what the run changed, which may take long.
    Restored,
    /// It may, and `ready` has next to nothing to do: the run only reads.
    Reads,
}

/// What came of a run.
#[derive(Default)]
pub struct Outcome {
    /// What the engine answered.
    pub answer: Answer,
    /// Operations that each client did, in their order, where clients are on several machines: in a run those of
    /// this machine.
    pub done: Vec<u64>,
    /// By the engine's own means or by client code, where only the run has shown it: a question that either of two
    /// copies of the data may answer. `None`: as it was [opened](BenchPhase::execution).
    pub execution: Option<Execution>,
    /// What was measured of each part, where the phase does several things at the same time: each is shown as a
    /// phase of its own.
    pub parts: Vec<MeasuredPart>,
    /// What took the time, where that was a client in another process by its own clock.
    pub timed_by: Option<String>,
    /// Nanoseconds of an operation that does nothing in the loop of that client.
    pub client_floor_ns: Option<f64>,
    /// Whether the changes of a transaction were sent without waiting for the answer to each.
    pub pipelined: bool,
    /// Whether it ended because it was steady, of a phase that goes on until it is and says so nowhere else.
    pub steady: Option<SteadyState>,
    /// Bytes of the engine's log as it was found, of a phase that opens a database with its log.
    pub log_bytes: Option<u64>,
    /// What the buffer held, of a phase that commits on another thread than the one that accepts rows.
    pub write_behind: Option<WriteBehind>,
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self { answer, ..Self::default() }
    }
}

/// What a check that passed has to tell.
#[derive(Debug, Default)]
pub struct Passed {
    /// Who said what is right, or that nobody did, where that was no oracle.
    pub by: Option<String>,
    /// The answer, where nobody said what is right: to be compared with that of other engines.
    pub unchecked: Option<ResultSet>,
}

/// A part of a phase that does several things at the same time, as a run was measured.
pub struct MeasuredPart {
    /// Its name: the phase's and its own, `live/window`.
    pub name: &'static str,
    /// By the engine's own means or by client code.
    pub execution: Execution,
    /// What was measured.
    pub meter: Meter,
    /// Operations a second that were to be started; `None` of a closed loop.
    pub target_rate: Option<f64>,
}

/// A check that did not pass.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The engine answered wrongly.
    #[error("wrong answer: {0}")]
    Wrong(#[from] Difference),
    /// Those who should say what is right differ.
    #[error("{0}")]
    Disputed(String),
    /// The engine failed while its content was read back.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A workload cannot have what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The rows.
    #[error(transparent)]
    Data(#[from] DataError),
    /// All rows of a source that has no end.
    #[error(
        "scale 'full' means every row of a file, and synthetic rows have no end: \
         give the file with --data, or a number of rows"
    )]
    Endless,
    /// A name that is none of the workload's.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// Keys that are not there, of a table in which every key is.
    #[error(
        "table '{table}' has every value that the last column of its key can have, so that no key is \
         absent: leave 'absent' out, or give that column a wider type"
    )]
    NoAbsentKey {
        /// The table.
        table: String,
    },
    /// A workload file's rows that do not fit what is asked of them.
    #[error("{0}")]
    Unfit(String),
}
