//! The order in which trials run.

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// One trial to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Place of the cell among those that run.
    pub cell: usize,
    /// Trial of that cell, from 0.
    pub trial: u32,
    /// Position among all trials of the run, from 0.
    pub order: u32,
}

/// The order of the trials of cells, of which each has as many as `trials` says: round by round, so
/// that every cell has had its n-th trial before any has its next, and shuffled anew in each round. A
/// drift of the machine thus meets all cells alike. The same seed gives the same order.
pub fn order(trials: &[u32], seed: u64) -> Vec<Turn> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut turns = Vec::new();
    for trial in 0..trials.iter().copied().max().unwrap_or(0) {
        let mut round: Vec<usize> =
            (0..trials.len()).filter(|cell| trial < trials[*cell]).collect();
        round.shuffle(&mut random);
        for cell in round {
            turns.push(Turn { cell, trial, order: turns.len() as u32 });
        }
    }
    turns
}

#[cfg(test)]
mod tests;
