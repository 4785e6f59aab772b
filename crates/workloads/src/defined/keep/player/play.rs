//! What is played, and what came of it.

use std::time::Duration;

use embermark_language::{Commit, Keep, Work};
use embermark_meter::Recorder;
use embermark_model::answer::Difference;
use embermark_model::result::Timeline;

use crate::defined::cell::Cell;

/// What is to be played.
#[derive(Clone, Copy)]
pub(in super::super::super) struct Play<'a> {
    pub cell: &'a Cell,
    pub keep: &'a Keep,
    /// The longest time.
    pub longest: Duration,
    /// Rows a second; `None`: as many as it takes.
    pub rate: Option<u64>,
    /// Whether answers are looked at: not those of an engine that gives none.
    pub checked: bool,
}

/// What was played.
pub(in super::super::super) struct Played {
    /// Rows that came in.
    pub came: u64,
    /// Questions that were asked.
    pub asked: u64,
    /// Time that was the engine's and its client's.
    pub elapsed_ns: u64,
    /// The first wrong answer.
    pub wrong: Option<Difference>,
    pub recorder: Recorder,
    pub timeline: Timeline,
}

/// Rows of a commit, as the insert has it, unless a variant says of all that each row is one.
pub(super) fn batch(play: &Play<'_>) -> Option<usize> {
    let Work::Insert { commit: Commit::Batch(rows), .. } = play.cell.work(play.keep.insert) else {
        return None;
    };
    let each = play.cell.commit == Some(Commit::Each);
    usize::try_from(*rows).ok().filter(|_| !each)
}
