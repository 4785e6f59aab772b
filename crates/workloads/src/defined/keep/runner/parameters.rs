//! Parameters of a `keep`, and its outcome.

use std::time::Duration;

use embermark_language::{Commit, Keep, Work};
use embermark_meter::Recorder;
use embermark_model::answer::Difference;
use embermark_model::result::Timeline;

use crate::defined::cell::Cell;

/// Parameters of a `keep`.
#[derive(Clone, Copy)]
pub(in super::super::super) struct KeepParameters<'a> {
    pub cell: &'a Cell,
    pub keep: &'a Keep,
    /// The longest duration.
    pub longest: Duration,
    /// Rows per second. `None`: as many as the engine takes.
    pub rate: Option<u64>,
    /// Whether answers are checked. The null engine gives none.
    pub checked: bool,
}

/// Outcome of a `keep`.
pub(in super::super::super) struct KeepOutcome {
    /// Rows inserted.
    pub came: u64,
    /// Questions asked.
    pub asked: u64,
    /// Time spent by the engine and its client.
    pub elapsed_ns: u64,
    /// The first wrong answer.
    pub wrong: Option<Difference>,
    pub recorder: Recorder,
    pub timeline: Timeline,
}

/// Returns the rows per commit of the insert. `None` if a variant commits every row on its own.
pub(super) fn batch(parameters: &KeepParameters<'_>) -> Option<usize> {
    let Work::Insert { commit: Commit::Batch(rows), .. } =
        parameters.cell.work(parameters.keep.insert)
    else {
        return None;
    };
    let each = parameters.cell.commit == Some(Commit::Each);
    usize::try_from(*rows).ok().filter(|_| !each)
}
