//! A workload on one database.

use embermark_contract::{EngineError, Reopener, Store};
use embermark_meter::{Measured, Meter};
use embermark_model::result::{Execution, PhaseKind, PhaseResult};

use crate::observer::PhaseObserver;
use crate::outcome::{CheckError, Outcome, Passed};

/// A prepared cell without its engine.
pub trait Prepared {
    /// Sets the workload up on an open, empty database. `reopener` opens the database again.
    ///
    /// # Errors
    /// Fails when the engine refuses its tables or statements.
    fn open(
        self: Box<Self>,
        store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError>;

    /// Sets up this machine's clients on a database that another machine has [opened](Self::open).
    /// `store` is one client of that database. The bench does its share of each phase. The other
    /// machine prepares the database before it and checks the answers of all clients.
    ///
    /// # Errors
    /// Unsupported by default, for workloads without clients on several machines. Otherwise fails
    /// when the engine refuses.
    fn join(self: Box<Self>, _store: Store) -> Result<Box<dyn Bench>, EngineError> {
        Err(EngineError::unsupported("this workload", "clients on several machines"))
    }
}

/// A phase of a [`Bench`].
#[derive(Clone, Copy, Debug)]
pub struct BenchPhase {
    /// Its name.
    pub name: &'static str,
    /// Operations of a full run. 0 for a closed loop, which does as many as
    /// [`Spec::window`](crate::Spec::window) allows.
    pub ops: u64,
    /// Whether the engine or client code does the work.
    pub execution: Execution,
    /// Kind of its operations, and the criterion that its times count towards.
    pub kind: PhaseKind,
}

impl BenchPhase {
    /// Returns the phase's result before the first run.
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

/// A workload on one database. For each run of each phase the harness calls `ready`, then `run`
/// with its probes around it, then `check`.
pub trait Bench {
    /// Returns the phases in the order in which they run. Other calls name a phase by its index.
    fn phases(&self) -> &[BenchPhase];

    /// Brings the database into the state in which the phase begins. Outside the clock.
    ///
    /// # Errors
    /// Returns the engine's error.
    fn ready(&mut self, phase: usize) -> Result<(), EngineError>;

    /// Runs the phase once inside the meter's clock and returns its outcome.
    ///
    /// # Errors
    /// Returns the engine's error.
    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Outcome, EngineError>;

    /// Returns whether a phase runs once per trial, however many runs were asked for, because one
    /// run is long enough.
    fn once(&self, phase: usize) -> bool {
        self.lasts(phase)
    }

    /// Returns whether a very short run can be repeated to measure its mean time.
    fn repeat(&self, _phase: usize) -> Repeat {
        Repeat::Never
    }

    /// Returns the engine's plan for the query of a phase that has run, or why there is none.
    /// `None` when the phase has no query or the engine cannot show plans. Outside the clock.
    fn plan(&mut self, _phase: usize) -> Option<String> {
        None
    }

    /// Returns the operations per second that a phase starts on its own schedule, if it has one.
    fn target_rate(&self, _phase: usize) -> Option<f64> {
        None
    }

    /// Returns whether a phase lasts a fixed time and opens its own measurement window. It runs
    /// once per trial, because its window is long.
    fn lasts(&self, _phase: usize) -> bool {
        false
    }

    /// Runs a phase as [`run`](Self::run) does. A phase that [lasts](Self::lasts) notifies `observer`
    /// when its window opens and closes, and reports its counts.
    ///
    /// # Errors
    /// Returns the engine's error.
    fn observe(
        &mut self,
        phase: usize,
        meter: &mut Meter,
        _observer: &mut dyn PhaseObserver,
    ) -> Result<Outcome, EngineError> {
        self.run(phase, meter)
    }

    /// Compares the outcome of the run just `measured` with the oracle's. After a phase that
    /// changes data it also reads the whole store back and compares it. With clients on several
    /// machines, `outcome` is that of all of them. Outside the clock.
    ///
    /// # Errors
    /// Fails on a wrong answer, or when the store cannot be read back.
    fn check(
        &mut self,
        phase: usize,
        outcome: &Outcome,
        measured: Measured,
    ) -> Result<Passed, CheckError>;

    /// Returns whether a phase begins with nothing of the database in memory. The harness then
    /// drops its files' pages after [`ready`](Self::ready).
    fn begins_cold(&self, _phase: usize) -> bool {
        false
    }

    /// Returns the bytes of user data that the first `ops` operations of a phase insert: the values
    /// of the rows at the width of their types, keys included, absent values 0. `None` for a phase
    /// that neither inserts nor deletes rows. The size of the database is measured after the other
    /// phases.
    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64>;

    /// Reads the settings that keep the durability tier back from the engine
    /// ([`Lifecycle::tier_settings`](embermark_contract::Lifecycle::tier_settings)). Outside the
    /// clock.
    ///
    /// # Errors
    /// Returns the engine's error.
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        Ok(Vec::new())
    }

    /// Runs maintenance on the database as a phase that inserts rows has left it.
    ///
    /// # Errors
    /// Returns the engine's error.
    fn maintain_as_left(&mut self) -> Result<(), EngineError>;

    /// Loads the database fully, runs maintenance, and closes it.
    ///
    /// # Errors
    /// Returns the engine's error.
    fn finish(self: Box<Self>) -> Result<(), EngineError>;
}

/// Whether a run can be repeated at once, with [`ready`](Bench::ready) in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It cannot.
    Never,
    /// It can. `ready` must undo what the run changed, which can take long.
    Restored,
    /// It can. The run only reads, so `ready` has almost nothing to do.
    Reads,
}
