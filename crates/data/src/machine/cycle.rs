//! Finds the beginning and end of a working cycle from the noisy angle of the main drive.

use std::ops::Range;

use super::{AMPLITUDE, Stamp};

/// Half the amplitude. An angle above it has left the cycle's beginning.
pub const HALF: u16 = AMPLITUDE / 2;

/// An eighth of the amplitude. An angle below it has not left the cycle's beginning.
pub const EIGHTH: u16 = AMPLITUDE / 8;

/// Returns the cycle around a time by the rule of the workload's source. The samples are 0 to
/// `len`, with times `at`, which never decrease, and angles `angle`. `from` is the first sample
/// after the time.
///
/// 1. t1 is the first sample from `from` on above half the amplitude.
/// 2. t2 is the last before t1 below an eighth of it.
/// 3. t3 is the last before t2 above half of it.
/// 4. The cycle begins at t4, the smallest angle between t3 and t2, the earliest of equal ones.
/// 5. It ends before t5, the first sample after t1 below an eighth.
///
/// Before and after refer to times: samples with the same time are neither, and begin or end a
/// cycle together. The thresholds are so far apart that noise at one of them does not affect the
/// other. `None` if one of these samples does not exist: the cycle is cut by the beginning or end
/// of the samples.
pub fn cycle(
    len: usize,
    at: impl Fn(usize) -> Stamp,
    angle: impl Fn(usize) -> u16,
    from: usize,
) -> Option<Range<usize>> {
    // The first sample with the same time, and the first with a later time.
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
mod tests {
    use super::*;

    fn found(angles: &[u16], from: usize) -> Option<Range<usize>> {
        cycle(angles.len(), |i| Stamp { s: i as i64, ns: 0 }, |i| angles[i], from)
    }

    /// Finds the cycle among samples of which `tied` consecutive ones have the same time.
    fn found_tied(angles: &[u16], tied: usize, from: usize) -> Option<Range<usize>> {
        cycle(angles.len(), |i| Stamp { s: (i / tied) as i64, ns: 0 }, |i| angles[i], from)
    }

    /// Turns of ten samples each: 0, 455, …, 4095.
    fn turns(n: usize) -> Vec<u16> {
        (0..n * 10).map(|i| (i % 10) as u16 * 455).collect()
    }

    #[test]
    fn the_cycle_of_any_moment_within_it_is_the_same_until_half_of_the_next() {
        let angles = turns(4);
        for from in 10..=19 {
            assert_eq!(found(&angles, from), Some(10..20), "from {from}");
        }
        assert_eq!(found(&angles, 20), Some(20..30));
    }

    #[test]
    fn a_cycle_cut_by_the_beginning_or_the_end_is_none() {
        let angles = turns(3);
        assert_eq!(found(&angles, 0), None, "nothing tells where the first one began");
        assert_eq!(found(&angles, 20), None, "nothing tells where the last one ends");
        assert_eq!(found(&angles[..21], 12), Some(10..20), "its end is the last sample");
        assert_eq!(found(&angles[..20], 12), None);
        assert_eq!(found(&angles, 30), None, "no sample after the moment");
        assert_eq!(found(&[], 0), None);
    }

    #[test]
    fn no_cycle_at_all_is_none() {
        assert_eq!(found(&[0; 100], 10), None, "it stands still");
        assert_eq!(found(&[AMPLITUDE; 100], 10), None);
        assert_eq!(found(&[1_000; 100], 10), None, "between the thresholds");
    }

    #[test]
    fn noise_at_the_thresholds_moves_neither_end() {
        let mut angles = turns(4);
        // Above half, below it, above again. Below an eighth, above it, below again.
        angles.splice(14..17, [HALF + 3, HALF - 3, HALF + 3]);
        angles.splice(10..13, [0, EIGHTH + 3, EIGHTH - 3]);
        assert_eq!(found(&angles, 12), Some(10..20));
        // The drop from one turn to the next is not a single step.
        angles.splice(18..21, [AMPLITUDE, HALF - 5, 2]);
        angles.splice(8..11, [AMPLITUDE, HALF - 5, 2]);
        assert_eq!(found(&angles, 12), Some(10..20));
    }

    #[test]
    fn exactly_a_threshold_is_neither_above_nor_below_it() {
        let angles = [4_000, 0, 100, HALF, EIGHTH, HALF + 1, HALF, EIGHTH, EIGHTH - 1];
        assert_eq!(found(&angles, 1), Some(1..8));
    }

    #[test]
    fn of_equal_smallest_angles_the_earliest_begins_the_cycle() {
        let angles = [4_000, 7, 0, 0, 100, 200, 3_000, 4_000, 0];
        assert_eq!(found(&angles, 3), Some(2..8));
    }

    #[test]
    fn samples_of_one_time_are_neither_before_nor_after_each_other() {
        // Turns of 62 samples: above half from 32 on, below an eighth up to 7.
        let angles: Vec<u16> = (0..248).map(|i| (i % 62) as u16 * 66).collect();
        assert_eq!(found_tied(&angles, 1, 80), found(&angles, 80));
        assert_eq!((found(&angles, 80), found(&angles, 130)), (Some(62..124), Some(124..186)));
        // 60 to 63 have the same time, in which the turn before ends. The next begins after it.
        assert_eq!(found_tied(&angles, 4, 80), Some(64..124));
        // 184 to 187 have the same time, in which the next turn begins. This one ends before it.
        assert_eq!(found_tied(&angles, 4, 130), Some(124..184));
        assert_eq!(found_tied(&angles, 20, 130), None, "nothing lies between two times in a row");
    }
}
