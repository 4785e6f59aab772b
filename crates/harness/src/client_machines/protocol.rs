//! What the conductor and the process on a client machine say to each other.

use std::ops::Range;

use embermark_model::CellId;
use embermark_model::Status;
use embermark_model::answer::Answer;
use embermark_model::fingerprint::Checksum;
use embermark_model::plan::{Dataset, Plan};
use embermark_model::result::{ClientRun, Latency, Machine, PhaseResult, Resources, Tool, Trial};
use serde::{Deserialize, Serialize};

/// What a machine is, told before anything else.
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
    /// What was asked for: its clients are those of all machines.
    pub plan: Plan,
    /// The server, with its secrets.
    pub url: String,
    /// Name of what is made on it.
    pub guest: String,
    /// Which of the clients are on this machine.
    pub own_clients: Range<u32>,
}

/// What a process is to do next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// To make rows, keys and what they must answer.
    Prepare,
    /// To open the database and make its tables.
    Open,
    /// To become a client of the database that another machine has opened.
    Join {
        /// What reaches it, in the engine's own form. It may hold a password.
        at: String,
    },
    /// To ready the database for a run of a phase, or its clients for one.
    Ready {
        /// The phase's name.
        phase: String,
    },
    /// To run a phase.
    Run {
        /// The phase's name.
        phase: String,
        /// When to begin, in ns since 1970 by the machine's own clock.
        begin_ns: i64,
    },
    /// To check what all machines answered to a run.
    Check {
        /// The phase's name.
        phase: String,
        /// Their answers, added up.
        answer: Part,
        /// Operations that each client of every machine did, in their order.
        done: Vec<u64>,
        /// Whether one of them stopped at the longest run time.
        capped: bool,
        /// How long the run took, in ns.
        elapsed_ns: u64,
    },
    /// To close its clients, and the database where it opened that, and to end.
    Close,
}

/// An answer of which each machine has a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Rows changed.
    Count(u64),
    /// Rows read, and the wrapping sum of their fingerprints.
    Checksum {
        /// Rows.
        rows: u64,
        /// The sum.
        sum: u64,
    },
}

impl Part {
    /// Of an answer; `None` of one that has no parts.
    pub(super) const fn of(answer: &Answer) -> Option<Self> {
        match answer {
            Answer::Count(count) => Some(Self::Count(*count)),
            Answer::Checksum(Checksum { rows, sum }) => {
                Some(Self::Checksum { rows: *rows, sum: *sum })
            }
            Answer::Rows(_) | Answer::Parts(_) => None,
        }
    }

    /// Both together; `None` where they are of different kinds.
    pub(super) const fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Count(one), Self::Count(other)) => Some(Self::Count(one + other)),
            (Self::Checksum { rows, sum }, Self::Checksum { rows: more, sum: other }) => {
                Some(Self::Checksum { rows: rows + more, sum: sum.wrapping_add(other) })
            }
            _ => None,
        }
    }
}

impl From<Part> for Answer {
    fn from(part: Part) -> Self {
        match part {
            Part::Count(count) => Self::Count(count),
            Part::Checksum { rows, sum } => Self::Checksum(Checksum { rows, sum }),
        }
    }
}

/// What a process says when it has carried an order out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// Its rows are made.
    Prepared {
        /// What they are.
        dataset: Dataset,
    },
    /// The database is open.
    Opened {
        /// What reaches it. It may hold a password.
        at: String,
        /// What is known of the trial.
        trial: Box<Trial>,
        /// The phases in the order in which they run, without runs yet.
        phases: Vec<PhaseResult>,
    },
    /// That is done.
    Done,
    /// A phase was run.
    Ran(Box<Ran>),
    /// The answer was looked at.
    Checked {
        /// `ok`, or `wrong` with the first difference.
        status: Status,
        /// Why, when not ok.
        reason: Option<String>,
    },
    /// It cannot go on.
    Failed {
        /// Failed, unsupported or unavailable.
        status: Status,
        /// Why.
        reason: String,
    },
}

/// What the clients of one machine did in a run. Times are ns since 1970 by the machine's own clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
    /// The first client's start.
    pub began_ns: i64,
    /// The last client's end.
    pub ended_ns: i64,
    /// The last client's start and the first one's end: between them all were at work.
    pub all_ns: (i64, i64),
    /// How many operations had been done at even intervals between start and end, 0 first.
    pub curve: Vec<u64>,
    /// Whether a client stopped at the longest run time.
    pub capped: bool,
    /// What each client did.
    pub clients: Vec<ClientRun>,
    /// Operations that each did of its share.
    pub done: Vec<u64>,
    /// What they answered.
    pub answer: Part,
    /// Latency of their operations.
    pub latency: Option<Latency>,
    /// The same from an operation's scheduled start.
    pub response: Option<Latency>,
    /// By how much operations were late for which a client was ready.
    pub late: Option<Latency>,
    /// Of each client the share of its rate that it achieved.
    pub achieved: Vec<f64>,
    /// What the process used.
    pub client: Option<Resources>,
}
