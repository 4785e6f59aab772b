//! A workload file on one database.

mod arriving;
mod foreign_client;
mod judge;
mod ready;
mod run;
mod work;

use std::sync::Arc;

use embermark_clients::Tape;
use embermark_contract::{EngineError, Reopener, Result, Store};
use embermark_language::{Arrive, Keep, Work};
use embermark_meter::{Measured, Meter};
use embermark_model::result::Execution;
use smallvec::SmallVec;

use super::bench::foreign_client::ForeignClient;
pub(super) use super::bench::foreign_client::ROLE;
use super::bench::judge::DistinctAnswers;
use super::client_checks::{self, ClientOperations};
use super::client_task::ClientTask;
use super::client_threads::ClientThreads;
use super::keep::{self, KeepOutcome};
use super::kind::{changes_rows, is_question, loads};
use super::oracle::Oracle;
use super::port;
use super::prepared::PreparedCell;
use super::steady_state::SteadyStateMonitor;
use super::{Arena, Cell, Database, Found, family, mix};
use crate::http::Client;
use crate::observer::no_companions;
use crate::write_behind::Buffer;
use crate::{
    Bench, BenchPhase, CheckError, NoopObserver, Outcome, Passed, PhaseObserver, Prepared, Repeat,
};

/// State of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableState {
    /// Exactly its loaded rows, loaded by the fastest path.
    Loaded,
    /// The same rows, as a phase has inserted them.
    Inserted,
    /// Anything else.
    Else,
}

/// A prepared cell on an open database.
pub(super) struct FileBench {
    pub(super) phases: Vec<BenchPhase>,
    pub(super) prepared: PreparedCell,
    oracle: Oracle,
    pub(super) database: Box<dyn Database>,
    /// Program in another language that does the work instead of this one.
    pub(super) client: Option<ForeignClient>,
    /// State of each table.
    table_states: Vec<TableState>,
    /// Whether maintenance has run since the last change.
    maintained: bool,
    pub(super) found: Found,
    /// Distinct answers to the requests of a repeated question.
    pub(super) different: DistinctAnswers,
    /// Last result of each question of a sequence, and its distinct answers.
    pub(super) by_step: Vec<(Found, DistinctAnswers)>,
    /// Client tasks of the phase that is ready, if it is a mix or several clients share it.
    client_tasks: Vec<ClientTask>,
    /// Clients that wait for the phase that is ready, if it has several.
    client_threads: Option<ClientThreads>,
    /// Operations of all clients in the last run, including clients on other machines.
    client_operations: Vec<ClientOperations>,
    /// The outcome so far of the run that is ready or under way.
    pub(super) outcome: Outcome,
    /// Encoded operations, the phases they belong to, and whether these are parts of a mix.
    arena: Arc<Arena>,
    laid: Option<(SmallVec<[usize; 4]>, bool)>,
    /// Why the phase that is ready cannot be done.
    refused: Option<EngineError>,
    /// Monitor to which the clients of the mix that is ready report the durations of their rounds,
    /// if the mix ends when it is steady.
    monitor: Option<Arc<SteadyStateMonitor>>,
    /// Process that posts the rows of the phase that is ready.
    poster: Option<Client>,
    /// Buffer of the phase that is ready, if another thread commits its rows.
    buffer: Option<Buffer>,
    /// Outcome of a `keep`.
    keep_outcome: Option<KeepOutcome>,
    /// Number of arrived rows that were stored.
    arrived: Option<u64>,
}

impl FileBench {
    pub(super) fn new(
        mut prepared: PreparedCell,
        database: Box<dyn Database>,
        client: Option<ForeignClient>,
    ) -> Self {
        let arena = std::mem::take(&mut prepared.arena);
        let execution = |phase: usize| match &prepared.csv[phase] {
            Some(_) if !database.loads_csv() => Execution::ClientSide,
            _ => database.execution(phase).unwrap_or(Execution::Native),
        };
        let phases = prepared.names.iter().enumerate().map(|(phase, name)| BenchPhase {
            name,
            ops: prepared.ops(phase),
            kind: prepared.kinds[phase],
            execution: match prepared.cell.work(phase) {
                // Its times are those of commits.
                Work::Keep(keep) => execution(keep.insert),
                _ => whole(prepared.cell.parts_of(phase).into_iter().map(execution)),
            },
        });
        Self {
            phases: phases.collect(),
            oracle: Oracle::new(Arc::clone(&prepared.cell)),
            table_states: vec![TableState::Else; prepared.cell.tables.len()],
            arena: Arc::new(arena),
            laid: None,
            prepared,
            database,
            client,
            maintained: false,
            found: Found::default(),
            different: DistinctAnswers::default(),
            by_step: Vec::new(),
            client_tasks: Vec::new(),
            client_threads: None,
            client_operations: Vec::new(),
            outcome: Outcome::default(),
            refused: None,
            monitor: None,
            poster: None,
            buffer: None,
            keep_outcome: None,
            arrived: None,
        }
    }

    fn cell(&self) -> &Cell {
        &self.prepared.cell
    }

    /// Lays out the operations of these phases, which run at the same time. They are the same in
    /// every run.
    fn lay_out(&mut self, phases: &[usize], in_mix: bool) {
        if self.laid.as_ref().is_some_and(|(laid, mix)| (&laid[..], *mix) == (phases, in_mix)) {
            return;
        }
        let Self { prepared, database, arena, .. } = self;
        let laid = phases.iter().map(|phase| (*phase, prepared.operations(*phase, in_mix)));
        port::lay_out(&mut **database, arena, laid);
        self.laid = Some((SmallVec::from_slice(phases), in_mix));
    }
}

/// Returns whether the engine or client code does work that consists of parts: the engine, if it
/// does all parts.
fn whole(parts: impl IntoIterator<Item = Execution>) -> Execution {
    let is_client_side = parts.into_iter().any(|by| by == Execution::ClientSide);
    if is_client_side { Execution::ClientSide } else { Execution::Native }
}

impl Bench for FileBench {
    fn phases(&self) -> &[BenchPhase] {
        &self.phases
    }

    fn ready(&mut self, phase: usize) -> Result<()> {
        self.make_phase_ready(phase)
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Outcome> {
        self.observe(phase, meter, &mut NoopObserver)
    }

    fn observe(
        &mut self,
        phase: usize,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Outcome> {
        let answer = self.answer(phase, meter, observer)?;
        let done = self.client_operations.iter().map(|did| did.ops).collect();
        let execution = self.answered_by(phase);
        self.outcome.pipelined = self.found.pipelined;
        Ok(Outcome { answer, done, execution, ..std::mem::take(&mut self.outcome) })
    }

    fn check(
        &mut self,
        phase: usize,
        outcome: &Outcome,
        measured: Measured,
    ) -> std::result::Result<Passed, CheckError> {
        if self.prepared.is_guest {
            let what = "to check answers, which the machine that opened the database does";
            return Err(EngineError::unsupported("a client machine", what).into());
        }
        if self.prepared.spec.own_clients.is_some() {
            self.client_operations = client_checks::operations_by_client(phase, &outcome.done);
        }
        if let Work::Sql(sql) = self.cell().work(phase) {
            return self.check_question(phase, sql);
        }
        self.judge(phase, &outcome.answer, measured).map(|()| Passed::default())
    }

    fn plan(&mut self, phase: usize) -> Option<String> {
        // A program in another language has its own connection to the same engine.
        let plan = self.database.plan(phase).transpose()?;
        Some(plan.unwrap_or_else(|error| format!("not available: {error}")))
    }

    fn repeat(&self, phase: usize) -> Repeat {
        match self.cell().work(phase) {
            _ if self.client.is_some() => Repeat::Never,
            Work::Mix(_) | Work::Keep(_) | Work::Arrive(_) => Repeat::Never,
            work if is_question(work) && self.phases[phase].ops == 0 => Repeat::Never,
            work if changes_rows(work) => Repeat::Restored,
            Work::Open { .. } => Repeat::Restored,
            Work::Sequence(sequence) if sequence.insert.is_some() => Repeat::Restored,
            _ => Repeat::Reads,
        }
    }

    fn once(&self, phase: usize) -> bool {
        match self.cell().work(phase) {
            Work::Mix(mix) => mix.lasts.is_some(),
            Work::Keep(_) | Work::Arrive(_) => true,
            _ => false,
        }
    }

    fn lasts(&self, phase: usize) -> bool {
        matches!(self.cell().work(phase), Work::Keep(_) | Work::Arrive(_))
    }

    fn target_rate(&self, phase: usize) -> Option<f64> {
        match self.cell().work(phase) {
            Work::Mix(of) => mix::target_rate(of),
            Work::Keep(_) => self.prepared.spec.target_rate.map(|rate| rate as f64),
            _ => None,
        }
    }

    fn begins_cold(&self, phase: usize) -> bool {
        self.prepared.spec.cold && !loads(self.cell().work(phase))
    }

    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        if self.prepared.is_guest {
            return None;
        }
        let cell = self.cell();
        match cell.work(phase) {
            Work::Keep(Keep { table, .. }) | Work::Arrive(Arrive { table, .. }) => {
                Some(ops * keep::row_bytes(&cell.tables[*table]))
            }
            Work::Delete { .. } => Some(0),
            _ => Some(cell.rows_of(cell.insert_of(phase)?).user_bytes(ops as usize)),
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        self.database.lifecycle().tier_settings()
    }

    fn maintain_as_left(&mut self) -> Result<()> {
        if !self.prepared.is_guest {
            self.database.lifecycle().maintain()?;
        }
        self.maintained = true;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.client_threads = None;
        if self.cell().definition.keep().is_some() {
            // In its aged state.
            self.database.lifecycle().maintain()?;
        } else if !self.prepared.is_guest {
            self.make_ready()?;
        }
        self.database.close()
    }
}

impl Prepared for PreparedCell {
    fn open(self: Box<Self>, store: Store, reopener: Reopener) -> Result<Box<dyn Bench>> {
        let tape = self.spec.program.is_some().then(Tape::default);
        let (store, reopener) = match &tape {
            Some(tape) => (tape.wrap(store)?, tape.reopener(reopener)),
            None => (store, reopener),
        };
        let mut database = family::open(store, reopener, Arc::clone(&self.cell))?;
        let client = match (&self.spec.program, tape) {
            (Some(program), Some(tape)) => {
                let companions = self.spec.companions.clone().ok_or_else(no_companions)?;
                let opened = database.lifecycle();
                let (connection, tier) = (opened.connection()?, opened.tier_settings()?);
                let program = program.clone();
                Some(ForeignClient { program, companions, tape, connection, tier, process: None })
            }
            _ => None,
        };
        if self.spec.clients > 1 {
            // An engine with one client at a time reports it here, before anything is loaded.
            database.lifecycle().open_client()?;
        }
        Ok(Box::new(FileBench::new(*self, database, client)))
    }

    fn join(mut self: Box<Self>, store: Store) -> Result<Box<dyn Bench>> {
        self.is_guest = true;
        let database = family::attach(store, Arc::clone(&self.cell))?;
        Ok(Box::new(FileBench::new(*self, database, None)))
    }
}
