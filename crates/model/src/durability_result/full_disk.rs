//! What an engine did when its disk was full.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// File systems of a fixed size that one engine filled in one tier, and what it did in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullDisk {
    /// Bytes of the device.
    pub disk_bytes: u64,
    /// Bytes of each of the two files of ballast: the removal of one makes some room.
    pub ballast_bytes: u64,
    /// Each with a seed of its own, in the order in which they were filled.
    pub fills: Vec<Fill>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    /// Seed of the work.
    pub seed: u64,
    /// Bytes that were free when the work began.
    pub room_bytes: u64,
    /// Commits acknowledged until the engine could no more, the table's among them.
    pub commits: u64,
    /// Bytes that were free then.
    pub free_bytes: u64,
    /// How the work ended.
    pub stopped: Said<Stopped>,
    /// For how long the call that ended it had not returned, in ms; of what does not answer until it was
    /// given room. Absent where no call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_ms: Option<f64>,
    /// Whether every row was read on the full disk, by the process that had filled it.
    pub reads: Said<Tried>,
    /// Whether commits go on when there is room.
    pub goes_on: Said<GoesOn>,
    /// How long after there was room the first commit was acknowledged that goes on by itself, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on_ms: Option<f64>,
    /// Whether the removal of a quarter of the rows makes room on the full disk.
    pub deletes: Said<Deletes>,
    /// Whether another process opens the database on the full disk, after all of the first were killed.
    pub opens: Said<Tried>,
    /// The worst that was found of the rows, wherever they were looked at.
    pub verdict: Verdict,
    /// Where that was found, unless it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// What was seen, and what the engine said where it failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said<T> {
    /// What was seen.
    pub is: T,
    /// What the engine said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl<T> Said<T> {
    /// With nothing said.
    pub const fn nothing(is: T) -> Self {
        Self { is, message: None }
    }

    /// With what was said.
    pub fn that(is: T, message: impl Into<String>) -> Self {
        Self { is, message: Some(message.into()) }
    }
}

/// How the work on a disk ended that became full, worse ones later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// A commit was refused with an error.
    Error,
    /// It did not: commits were acknowledged without a block being free, until the experiment ended it.
    NoError,
    /// A commit had not returned within the time that the experiment waits.
    Hangs,
    /// The server's process ended.
    ServerEnds,
    /// The process ended that had the database open.
    ProcessEnds,
}

impl Stopped {
    /// In the words of a report.
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

/// Whether something was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tried {
    /// It was.
    Yes,
    /// It failed.
    No,
    /// It was not asked for; the message says why.
    NotAsked,
}

impl Tried {
    /// In the words of a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::NotAsked => "-",
        }
    }
}

/// What it took for commits to go on, when there was room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoesOn {
    /// Nothing.
    ByItself,
    /// The database was opened again.
    Reopened,
    /// Commits failed after that, too, or it did not open.
    No,
}

impl GoesOn {
    /// In the words of a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ByItself => "by itself",
            Self::Reopened => "opened again",
            Self::No => "no",
        }
    }
}

/// Whether the removal of rows made room for commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deletes {
    /// It did.
    MakeRoom,
    /// It did after the engine's own maintenance.
    MakeRoomMaintained,
    /// Rows were removed, and commits failed as before.
    MakeNone,
    /// It was refused itself.
    Refused,
    /// It was not asked for; the message says why.
    NotAsked,
}

impl Deletes {
    /// In the words of a report.
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
