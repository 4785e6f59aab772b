//! Where a working cycle begins and ends, told from the noisy angle of the main drive.

use std::ops::Range;

use super::{AMPLITUDE, Stamp};

/// Half the amplitude: an angle above it has left the cycle's beginning.
pub const HALF: u16 = AMPLITUDE / 2;

/// An eighth of the amplitude: an angle below it has not left the cycle's beginning.
pub const EIGHTH: u16 = AMPLITUDE / 8;

/// The cycle around a moment, by the rule of the workload's source: of samples 0 to `len`, whose
/// times, which never fall, `at` tells, and whose angles `angle`, with `from` the first sample after
/// the moment,
///
/// 1. t1 is the first sample from `from` on above half the amplitude;
/// 2. t2 the last before t1 below an eighth of it;
/// 3. t3 the last before t2 above half of it;
/// 4. the cycle begins at t4, the smallest angle between t3 and t2, the earliest of equal ones;
/// 5. it ends before t5, the first sample after t1 below an eighth.
///
/// Before and after are of times: samples of one time are neither to each other, and begin or end a
/// cycle together. The thresholds are so far apart that noise at one of them moves nothing else. `None`
/// when one of these is not among the samples: the cycle is cut by their beginning or their end.
pub fn cycle(
    len: usize,
    at: impl Fn(usize) -> Stamp,
    angle: impl Fn(usize) -> u16,
    from: usize,
) -> Option<Range<usize>> {
    // The first sample of the same time, and the first of a later one.
    let first = |i: usize| (0..i).rev().find(|&other| at(other) != at(i)).map_or(0, |i| i + 1);
    let past = |i: usize| (i + 1..len).find(|&other| at(other) != at(i)).unwrap_or(len);
    let t1 = (from..len).find(|&i| angle(i) > HALF)?;
    let t2 = (0..first(t1)).rev().find(|&i| angle(i) < EIGHTH)?;
    let t3 = (0..first(t2)).rev().find(|&i| angle(i) > HALF)?;
    let t4 = (past(t3)..first(t2)).min_by_key(|&i| angle(i))?;
    let t5 = (past(t1)..len).find(|&i| angle(i) < EIGHTH)?;
    Some(first(t4)..first(t5))
}

#[cfg(test)]
mod tests;
