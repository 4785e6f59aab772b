//! Bounds of a range, made as long as the keys they are compared with: the engine compares keys
//! of one length alone.

use super::ffi::Comparison;
use crate::kv::Direction;

/// The relation to the fitted bound of the first key that lies within it: from the bound on when
/// the way is forward, below the bound when it is backward.
pub(super) fn comparison(bound: &[u8], direction: Direction, length: usize) -> Comparison {
    // Cut off, a longer bound is the key just below it.
    match (direction, bound.len() > length) {
        (Direction::Forward, false) => Comparison::GreaterThanOrEqual,
        (Direction::Forward, true) => Comparison::GreaterThan,
        (Direction::Backward, false) => Comparison::LessThan,
        (Direction::Backward, true) => Comparison::LessThanOrEqual,
    }
}

/// Makes a bound as long as `key`: a longer one is cut off; to a shorter one zeros are added, for
/// the lowest key that begins with it.
pub(super) fn fit(bound: &[u8], key: &mut [u8]) {
    let shared = bound.len().min(key.len());
    let (head, tail) = key.split_at_mut(shared);
    head.copy_from_slice(&bound[..shared]);
    tail.fill(0);
}

#[cfg(test)]
mod tests;
