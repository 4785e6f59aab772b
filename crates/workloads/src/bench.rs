//! A workload on one database.

use embermark_contract::{EngineError, Reopener, Store};
use embermark_meter::{Measured, Meter};
use embermark_model::result::{Execution, PhaseKind, PhaseResult};

use crate::observer::PhaseObserver;
use crate::outcome::{CheckError, Outcome, Passed};

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
