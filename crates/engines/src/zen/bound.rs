//! Bounds of a range, changed to the length of the keys that they are compared with. The engine
//! only compares keys of the same length.

use super::ffi::Comparison;
use crate::kv::Direction;

/// Returns the relation that the first key within the range has to the fitted bound: from the bound
/// on for a forward walk, below the bound for a backward one.
pub(super) fn comparison(bound: &[u8], direction: Direction, length: usize) -> Comparison {
    // A longer bound, once cut off, is the key just below it.
    match (direction, bound.len() > length) {
        (Direction::Forward, false) => Comparison::GreaterThanOrEqual,
        (Direction::Forward, true) => Comparison::GreaterThan,
        (Direction::Backward, false) => Comparison::LessThan,
        (Direction::Backward, true) => Comparison::LessThanOrEqual,
    }
}

/// Makes a bound as long as `key`: cuts off a longer one, and pads a shorter one with zeros, which
/// gives the lowest key that begins with it.
pub(super) fn fit_length(bound: &[u8], key: &mut [u8]) {
    let shared = bound.len().min(key.len());
    let (head, tail) = key.split_at_mut(shared);
    head.copy_from_slice(&bound[..shared]);
    tail.fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitted_bound_lets_in_the_same_keys_as_the_bound_itself() {
        let values = [0, 1, 0x7f, 0x80, 0xff];
        let keys: Vec<[u8; 2]> =
            values.iter().flat_map(|&a| values.iter().map(move |&b| [a, b])).collect();
        let mut bounds: Vec<Vec<u8>> = keys.iter().map(|key| key.to_vec()).collect();
        bounds.extend(values.iter().map(|&a| vec![a]));
        bounds.extend(
            keys.iter()
                .flat_map(|key| [[key[0], key[1], 0], [key[0], key[1], 0xff]])
                .map(Vec::from),
        );
        bounds.push(Vec::new());
        for bound in &bounds {
            let mut fitted = [0xaa; 2];
            fit_length(bound, &mut fitted);
            for key in &keys {
                for direction in [Direction::Forward, Direction::Backward] {
                    let within = match comparison(bound, direction, 2) {
                        Comparison::GreaterThanOrEqual => *key >= fitted,
                        Comparison::GreaterThan => *key > fitted,
                        Comparison::LessThan => *key < fitted,
                        Comparison::LessThanOrEqual => *key <= fitted,
                        Comparison::Equal => panic!("no range"),
                    };
                    let expected = match direction {
                        Direction::Forward => key[..] >= bound[..],
                        Direction::Backward => key[..] < bound[..],
                    };
                    assert_eq!(within, expected, "{key:?} and {bound:?} {direction:?}");
                }
            }
        }
    }
}
