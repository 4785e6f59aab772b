//! How a try can end.

use serde::{Deserialize, Serialize};

/// What was found out about a database, worse ones later. All but [`Verdict::Holds`] and [`Verdict::HalfMade`] break
/// the promise of a tier that covers the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Exactly what some commit had left, and every one acknowledged is there.
    Holds,
    /// What an earlier commit had left: acknowledged ones are lost, from some commit on.
    LostCommits,
    /// A commit is there in part.
    HalfCommit,
    /// A commit is missing and a later one there, or a row has an old version.
    Hole,
    /// The rows of its second copy, in columns, are not its pairs.
    CopiesDiffer,
    /// A row that nobody wrote, or rows that the engine fails to read.
    CorruptRow,
    /// The engine does not open what is there.
    NotOpened,
    /// The engine does not open what is there, and its making had not been acknowledged. No tier
    /// promises that it does.
    HalfMade,
    /// The engine's process was ended by a signal that nobody sent.
    Crashed,
    /// The engine did not answer within 20 s.
    Hangs,
    /// It opens, holds what it must, and its own check finds fault.
    CheckFailed,
    /// It opens and takes no new commits.
    NotWritable,
}

impl Verdict {
    /// Every one, in the order in which they are told.
    pub const ALL: [Self; 12] = [
        Self::Holds,
        Self::LostCommits,
        Self::HalfCommit,
        Self::Hole,
        Self::CopiesDiffer,
        Self::CorruptRow,
        Self::NotOpened,
        Self::HalfMade,
        Self::Crashed,
        Self::Hangs,
        Self::CheckFailed,
        Self::NotWritable,
    ];

    /// In the words of a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::LostCommits => "lost acknowledged commits",
            Self::HalfCommit => "half a commit",
            Self::Hole => "a hole",
            Self::CopiesDiffer => "its copies differ",
            Self::CorruptRow => "corrupt rows",
            Self::NotOpened => "does not open",
            Self::HalfMade => "does not open while it was made",
            Self::Crashed => "its process crashes",
            Self::Hangs => "does not answer",
            Self::CheckFailed => "its own check finds fault",
            Self::NotWritable => "takes no new commits",
        }
    }

    /// Whether a tier that survives the experiment had promised otherwise.
    pub const fn is_violation(self) -> bool {
        !matches!(self, Self::Holds | Self::HalfMade)
    }
}
