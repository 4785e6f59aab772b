//! What an engine does when its disk is full.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// File systems of a fixed size that one engine filled in one tier, and what it did on each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullDisk {
    /// Size of the device in bytes.
    pub disk_bytes: u64,
    /// Size in bytes of each of the two ballast files. Removing one makes some room.
    pub ballast_bytes: u64,
    /// The fills, each with its own seed, in order.
    pub fills: Vec<Fill>,
}

/// One filled file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    /// Seed of the work.
    pub seed: u64,
    /// Free bytes when the work began.
    pub room_bytes: u64,
    /// Commits acknowledged until the disk was full, including that of the table.
    pub commits: u64,
    /// Free bytes at that time.
    pub free_bytes: u64,
    /// How the work ended.
    pub stopped: Observation<Stopped>,
    /// How long the call that ended the work had not returned, in ms. For a call that hangs this is
    /// until it was given room. Absent if no call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_ms: Option<f64>,
    /// Whether every row could be read on the full disk by the process that had filled it.
    pub reads: Observation<Tried>,
    /// Whether commits resume when there is room.
    pub goes_on: Observation<CommitRecovery>,
    /// Time in ms from when there was room to the first acknowledged commit, for an engine that
    /// resumes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on_ms: Option<f64>,
    /// Whether removing a quarter of the rows makes room on the full disk.
    pub deletes: Observation<DeleteOutcome>,
    /// Whether another process can open the database on the full disk after every process of the
    /// first was killed.
    pub opens: Observation<Tried>,
    /// The worst finding about the rows, in any of the checks.
    pub verdict: Verdict,
    /// Where it was found, unless the rows hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// An observation, and the engine's message if it failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation<T> {
    /// The observation.
    pub is: T,
    /// The engine's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl<T> Observation<T> {
    /// Makes an observation without a message.
    pub const fn new(is: T) -> Self {
        Self { is, message: None }
    }

    /// Makes an observation with a message.
    pub fn with_message(is: T, message: impl Into<String>) -> Self {
        Self { is, message: Some(message.into()) }
    }
}

/// How the work ended when the disk became full, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// A commit was refused with an error.
    Error,
    /// No commit was refused: commits were acknowledged without a free block until the experiment
    /// ended it.
    NoError,
    /// A commit had not returned within the experiment's time limit.
    Hangs,
    /// The server's process ended.
    ServerEnds,
    /// The process that had the database open ended.
    ProcessEnds,
}

impl Stopped {
    /// Returns the words that a report uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "an error",
            Self::NoError => "no error",
            Self::Hangs => "does not answer",
            Self::ServerEnds => "its server ends",
            Self::ProcessEnds => "its process ends",
        }
    }
}

/// Whether something succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tried {
    /// It did.
    Yes,
    /// It failed.
    No,
    /// It was not tried. The message says why.
    NotAsked,
}

impl Tried {
    /// Returns the words that a report uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::NotAsked => "-",
        }
    }
}

/// What was needed for commits to resume once there was room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitRecovery {
    /// Nothing.
    ByItself,
    /// Opening the database again.
    Reopened,
    /// Commits still failed after that, or the database could not be opened.
    No,
}

impl CommitRecovery {
    /// Returns the words that a report uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ByItself => "by itself",
            Self::Reopened => "opened again",
            Self::No => "no",
        }
    }
}

/// Whether removing rows made room for commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeleteOutcome {
    /// It did.
    MakeRoom,
    /// It did after the engine's own maintenance.
    MakeRoomMaintained,
    /// Rows were removed, but commits still failed.
    MakeNone,
    /// The removal itself was refused.
    Refused,
    /// It was not tried. The message says why.
    NotAsked,
}

impl DeleteOutcome {
    /// Returns the words that a report uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MakeRoom => "makes room",
            Self::MakeRoomMaintained => "after maintenance",
            Self::MakeNone => "makes none",
            Self::Refused => "refused",
            Self::NotAsked => "-",
        }
    }
}
