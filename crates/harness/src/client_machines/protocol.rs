//! The messages between the conductor and the process on a client machine, and the interface that
//! sends them.

use std::ops::Range;

use embermark_model::CellId;
use embermark_model::Status;
use embermark_model::answer::Answer;
use embermark_model::plan::{Dataset, Plan};
use embermark_model::result::{
    ClientRun, ClockOffset, Latency, Machine, PhaseResult, Resources, Tool, Trial,
};
use serde::{Deserialize, Serialize};

/// Description of a machine, sent before anything else.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// Its program.
    pub tool: Tool,
    /// The machine.
    pub machine: Machine,
}

/// What the process on a machine is started with: one trial of one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The cell.
    pub cell: CellId,
    /// The plan. Its clients are those of all machines.
    pub plan: Plan,
    /// The server, with its secrets.
    pub url: String,
    /// Name of the database or schema that is made on it.
    pub guest: String,
    /// The clients that are on this machine.
    pub own_clients: Range<u32>,
}

/// The next thing for a process to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// Make rows, keys and their expected answers.
    Prepare,
    /// Open the database and create its tables.
    Open,
    /// Become a client of the database that another machine has opened.
    Join {
        /// Address of the database, in the engine's own form. It may hold a password.
        at: String,
    },
    /// Prepare the database, or the clients, for a run of a phase.
    Ready {
        /// Name of the phase.
        phase: String,
    },
    /// Run a phase.
    Run {
        /// Name of the phase.
        phase: String,
        /// When to begin, in ns since 1970 by the machine's own clock.
        begin_ns: i64,
    },
    /// Check the answer of all machines to a run.
    Check {
        /// Name of the phase.
        phase: String,
        /// Their answers, added up.
        answer: Answer,
        /// Operations of each client of every machine, in order.
        done: Vec<u64>,
        /// Whether one of them stopped at the longest run time.
        capped: bool,
        /// Duration of the run in ns.
        elapsed_ns: u64,
    },
    /// Close the clients, and the database if this machine opened it, and end.
    Close,
}

/// Reply of a process that has executed an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// The rows are made.
    Prepared {
        /// Description of the rows.
        dataset: Dataset,
    },
    /// The database is open.
    Opened {
        /// Address of the database. It may hold a password.
        at: String,
        /// Facts about the trial so far.
        trial: Box<Trial>,
        /// The phases in the order in which they run, without runs yet.
        phases: Vec<PhaseResult>,
    },
    /// The order is executed.
    Done,
    /// A phase was run.
    Ran(Box<Ran>),
    /// The answer was checked.
    Checked {
        /// `ok`, or `wrong` with the first difference.
        status: Status,
        /// Why, if not ok.
        reason: Option<String>,
    },
    /// The process cannot continue.
    Failed {
        /// Failed, unsupported or unavailable.
        status: Status,
        /// The reason.
        reason: String,
    },
}

/// What the clients of one machine did in a run. Times are ns since 1970 by the machine's own
/// clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
    /// Start of the first client.
    pub began_ns: i64,
    /// End of the last client.
    pub ended_ns: i64,
    /// Start of the last client and end of the first one. All were working in between.
    pub all_ns: (i64, i64),
    /// Number of operations done at even intervals between start and end, beginning with 0.
    pub curve: Vec<u64>,
    /// Whether a client stopped at the longest run time.
    pub capped: bool,
    /// What each client did.
    pub clients: Vec<ClientRun>,
    /// Operations that each client did of its share.
    pub done: Vec<u64>,
    /// Their answer.
    pub answer: Answer,
    /// Latency of their operations.
    pub latency: Option<Latency>,
    /// Latency from an operation's scheduled start.
    pub response: Option<Latency>,
    /// Delay of operations whose client was ready in time.
    pub late: Option<Latency>,
    /// Share of its rate that each client achieved.
    pub achieved: Vec<f64>,
    /// Resources that the process used.
    pub client: Option<Resources>,
}

/// Sends orders to the machines.
pub trait OrderTransport {
    /// Returns the machines' names, in the order of their shares.
    fn names(&self) -> Vec<String>;

    /// Describes each machine.
    ///
    /// # Errors
    /// If a machine cannot be asked. The error gives its name and the reason.
    fn facts(&mut self) -> Result<Vec<Facts>, String>;

    /// Starts a process on every machine, with its job.
    ///
    /// # Errors
    /// If the process cannot be started on a machine. The error gives its name and the reason.
    fn start(&mut self, jobs: &[Job]) -> Result<(), String>;

    /// Sends orders to machines, all at the same time, and returns when all have replied. If
    /// `clocks` is set, measures the clock of each of these machines first.
    fn send(&mut self, orders: &[(usize, Vec<Order>)], clocks: bool) -> Vec<MachineReplies>;
}

/// Replies of a machine.
pub struct MachineReplies {
    /// One reply per order, up to the first that failed, or the reason why the device sent
    /// no reply.
    pub replies: Result<Vec<Reply>, String>,
    /// How far its clock is ahead of this machine's.
    pub clock: Option<ClockOffset>,
}
