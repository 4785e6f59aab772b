//! The order in which trials run.

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// One trial to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index of the cell among those that run.
    pub cell: usize,
    /// Number of the trial in its cell, from 0.
    pub trial: u32,
    /// Position among all trials of the run, from 0.
    pub order: u32,
}

/// Returns the order of the trials of cells, with the number of trials per cell in `trials`. It
/// goes round by round: every cell has its n-th trial before any has its next. The order within a
/// round is random. A drift of the machine thus affects all cells alike. The same seed gives the
/// same order.
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
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_its_nth_trial_before_any_has_its_next() {
        let turns = order(&[3; 7], 42);
        assert_eq!(turns.len(), 21);
        for (round, turns) in turns.chunks(7).enumerate() {
            let mut cells: Vec<usize> = turns.iter().map(|turn| turn.cell).collect();
            cells.sort_unstable();
            assert_eq!(cells, (0..7).collect::<Vec<_>>());
            assert!(turns.iter().all(|turn| turn.trial as usize == round));
        }
        assert!(turns.iter().enumerate().all(|(i, turn)| turn.order as usize == i));
    }

    #[test]
    fn the_seed_alone_decides_the_order_and_rounds_differ() {
        let cells = |turns: &[Turn]| turns.iter().map(|turn| turn.cell).collect::<Vec<_>>();
        let turns = order(&[2; 12], 42);
        assert_eq!(turns, order(&[2; 12], 42));
        assert_ne!(turns, order(&[2; 12], 43));
        assert_ne!(cells(&turns[..12]), (0..12).collect::<Vec<_>>());
        assert_ne!(cells(&turns[..12]), cells(&turns[12..]));
    }

    #[test]
    fn a_cell_with_fewer_trials_has_no_more_than_those() {
        let turns = order(&[1, 3, 2], 42);
        assert_eq!(turns.len(), 6);
        for (cell, trials) in [(0, 1), (1, 3), (2, 2)] {
            let own: Vec<u32> = turns.iter().filter(|t| t.cell == cell).map(|t| t.trial).collect();
            assert_eq!(own, (0..trials).collect::<Vec<_>>());
        }
    }
}
