//! Samples long campaigns: `make test` runs a part of each, `make test-long` runs all.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::test_name;

/// Environment variable that `make test-long` sets, to run every campaign completely.
pub const LONG: &str = "EMBERMARK_TEST_LONG";

/// Environment variable with the seed of the selection. `scripts/test.sh` sets it to the commit, so
/// that it changes with each commit. To repeat a selection, set it to the value that the test
/// printed.
pub const SEED: &str = "EMBERMARK_TEST_SEED";

/// Returns the part of a campaign that the test of this thread runs: `most` of `all`, in their
/// order, selected by [`SEED`] and the name of the test. With [`LONG`] it returns all.
pub fn sampled<T>(all: impl IntoIterator<Item = T>, most: usize) -> Vec<T> {
    let all: Vec<T> = all.into_iter().collect();
    if !is_long() && most < all.len() {
        println!("sampled: {most} of {}, by {SEED}={}", all.len(), seed());
    }
    let chosen = chosen(&test_name(), all.len(), most);
    all.into_iter().zip(chosen).filter_map(|(one, chosen)| chosen.then_some(one)).collect()
}

/// Whether every campaign runs completely, by [`LONG`].
pub fn is_long() -> bool {
    env::var_os(LONG).is_some()
}

/// Returns a number of cases: `few`, or `all` with [`LONG`].
pub fn cases<T>(few: T, all: T) -> T {
    if is_long() { all } else { few }
}

/// Selects the tests of a campaign by its name. This is for programs that list their tests
/// themselves and mark the others as ignored.
pub fn chosen(campaign: &str, count: usize, most: usize) -> Vec<bool> {
    let all = is_long();
    let drawn = draw_numbers(&seed(), campaign, count, most);
    (0..count).map(|n| all || drawn.contains(&n)).collect()
}

fn seed() -> String {
    env::var(SEED).unwrap_or_default()
}

/// Returns the `most` numbers below `count` with the smallest hashes.
fn draw_numbers(seed: &str, test: &str, count: usize, most: usize) -> Vec<usize> {
    let hash = |n: usize| {
        // A new hasher has the same keys everywhere.
        let mut hasher = DefaultHasher::new();
        // Includes the count, so that a draw among engines and one among tiers are independent.
        (seed, test, count, n).hash(&mut hasher);
        hasher.finish()
    };
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.sort_by_key(|n| hash(*n));
    numbers.truncate(most);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_same_for_a_seed_and_over_many_seeds_every_one_is_drawn() {
        assert_eq!(draw_numbers("a", "b", 9, 4), draw_numbers("a", "b", 9, 4));
        let mut seen = [0; 9];
        for seed in 0..200 {
            let chosen = draw_numbers(&seed.to_string(), "b", 9, 4);
            assert_eq!(chosen.len(), 4);
            chosen.iter().for_each(|n| seen[*n] += 1);
        }
        // About 89 of 200 are expected of each. The standard deviation is 7.
        assert!(seen.iter().all(|times| (60..=120).contains(times)), "{seen:?}");
    }

    #[test]
    fn a_part_keeps_the_order_and_what_is_short_is_whole() {
        assert_eq!(sampled(["a", "b"], 2), ["a", "b"]);
        assert!(sampled(0..100, 10).is_sorted());
    }
}
