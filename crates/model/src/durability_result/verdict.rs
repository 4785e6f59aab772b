//! The possible verdicts of a try.

use serde::{Deserialize, Serialize};

/// A finding about a database, from best to worst. All but [`Verdict::Holds`] and
/// [`Verdict::HalfMade`] break the promise of a tier that covers the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The exact state after some commit, and every acknowledged commit is present.
    Holds,
    /// The state after an earlier commit: acknowledged ones after it are lost.
    LostCommits,
    /// Part of a commit is present.
    HalfCommit,
    /// A commit is missing while a later one is present, or a row has an old version.
    Hole,
    /// The rows of the columnar copy differ from the pairs.
    CopiesDiffer,
    /// A row that nobody wrote, or rows that the engine fails to read.
    CorruptRow,
    /// The engine cannot open the database.
    NotOpened,
    /// The engine cannot open the database, whose creation had not been acknowledged. No tier
    /// promises that it can.
    HalfMade,
    /// A signal that nobody sent ended the engine's process.
    Crashed,
    /// The engine did not answer within 20 s.
    Hangs,
    /// The database opens and holds what it must, but the engine's own check finds a fault.
    CheckFailed,
    /// The database opens but takes no new commits.
    NotWritable,
}

impl Verdict {
    /// All verdicts, in the order in which they are reported, with the words that a report uses.
    pub const ALL: [(Self, &str); 12] = [
        (Self::Holds, "holds"),
        (Self::LostCommits, "lost acknowledged commits"),
        (Self::HalfCommit, "half a commit"),
        (Self::Hole, "a hole"),
        (Self::CopiesDiffer, "its copies differ"),
        (Self::CorruptRow, "corrupt rows"),
        (Self::NotOpened, "does not open"),
        (Self::HalfMade, "does not open while it was made"),
        (Self::Crashed, "its process crashes"),
        (Self::Hangs, "does not answer"),
        (Self::CheckFailed, "its own check finds fault"),
        (Self::NotWritable, "takes no new commits"),
    ];

    /// Returns the words that a report uses.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether this breaks the promise of a tier that survives the experiment.
    pub const fn is_violation(self) -> bool {
        !matches!(self, Self::Holds | Self::HalfMade)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_in_its_place_among_all() {
        for (place, (verdict, words)) in Verdict::ALL.into_iter().enumerate() {
            assert_eq!((verdict as usize, verdict.name()), (place, words));
        }
    }
}
