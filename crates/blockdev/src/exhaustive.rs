//! Enumerates every state of a short log, within stated bounds.

use std::collections::HashMap;

use crate::image::BLOCK;
use crate::log::{Log, Record};
use crate::states::{Cut, SECTOR, State, Torn, in_order};

/// Largest number of changes between two flushes for which every subset is lost. With more changes,
/// each single one is lost, and all but each single one.
pub const MAX_SUBSET_CHANGES: usize = 6;
/// Number of first blocks of a write at whose ends it is torn.
pub const TORN_BLOCKS: usize = 16;

impl Log {
    /// Returns every different state of cuts after the record `from`, in order. It covers every
    /// prefix, and between two flushes the loss of every subset of up to `MAX_SUBSET_CHANGES`
    /// changes. The last write is torn at every sector within its first and its last block, and at
    /// the end of each of its first `TORN_BLOCKS` blocks.
    pub fn every_state(&self, from: usize) -> Vec<State> {
        let mut states = HashMap::new();
        self.add_states(self.every_cut(from), &mut states);
        in_order(states)
    }

    /// Returns the cuts, in order.
    fn every_cut(&self, from: usize) -> Vec<Cut> {
        let after = |at| Cut { at, lost: Vec::new(), torn: None, erased: None };
        let (mut cuts, mut window) = (vec![after(from)], Vec::new());
        for (place, record) in self.records.iter().enumerate() {
            match record {
                Record::IgnoredFlush => continue,
                Record::Flush => {
                    if place >= from {
                        cuts.extend(possible_losses(&window, place));
                        cuts.push(after(place + 1));
                    }
                    window.clear();
                    continue;
                }
                Record::Write { .. } | Record::Discard { .. } => window.push(place),
            }
            if place < from {
                continue;
            }
            if let Record::Write { offset, data } = record {
                let torn = |kept: usize| Torn { record: place, kept, end: offset + kept as u64 };
                let torn = torn_lengths(data.len()).map(|kept| Some(torn(kept)));
                cuts.extend(torn.map(|torn| Cut { torn, ..after(place + 1) }));
            }
            cuts.push(after(place + 1));
        }
        cuts.extend(possible_losses(&window, self.records.len()));
        cuts
    }
}

/// Returns the cuts at the end of a window of changes, with the changes that could be lost.
fn possible_losses(window: &[usize], at: usize) -> Vec<Cut> {
    let lost = |lost| Cut { at, lost, torn: None, erased: None };
    let chosen = |choose: &dyn Fn(usize) -> bool| {
        lost((0..window.len()).filter(|n| choose(*n)).map(|n| window[n]).collect())
    };
    if window.len() <= MAX_SUBSET_CHANGES {
        return (1..1_u32 << window.len()).map(|set| chosen(&|n| set >> n & 1 == 1)).collect();
    }
    (0..window.len()).flat_map(|one| [chosen(&|n| n == one), chosen(&|n| n != one)]).collect()
}

/// Returns the possible numbers of bytes that are present of a torn write of that length.
fn torn_lengths(length: usize) -> impl Iterator<Item = usize> {
    (1..length.div_ceil(SECTOR)).map(|sector| sector * SECTOR).filter(move |kept| {
        let at_end = kept % BLOCK == 0 && kept / BLOCK <= TORN_BLOCKS;
        at_end || *kept < BLOCK || kept + BLOCK > length
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::image::Image;

    /// Writes `fill` into this number of blocks, starting at a block number.
    fn write(block: u64, fill: u8, blocks: usize) -> Record {
        Record::Write { offset: block * BLOCK as u64, data: vec![fill; blocks * BLOCK].into() }
    }

    fn log(records: Vec<Record>) -> Log {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![0; 64 * BLOCK]).unwrap();
        Log { base: Image::from_file(file.path()).unwrap(), records, times: Vec::new() }
    }

    /// Returns the first byte of each of this number of blocks.
    fn blocks(image: &Image, count: usize) -> Vec<u8> {
        let mut all = vec![0; image.bytes() as usize];
        image.read(0, &mut all);
        all.iter().copied().step_by(BLOCK).take(count).collect()
    }

    /// Returns the states of whole writes, as their first bytes.
    fn whole(states: &[State], count: usize) -> HashSet<Vec<u8>> {
        let whole = states.iter().filter(|state| state.cut.torn.is_none());
        whole.map(|state| blocks(&state.image, count)).collect()
    }

    #[test]
    fn of_few_changes_every_subset_is_there_once_and_the_latest_cut_of_each() {
        let few = MAX_SUBSET_CHANGES as u64;
        let log = log((0..few).map(|n| write(n, n as u8 + 1, 1)).chain([Record::Flush]).collect());
        let states = log.every_state(0);
        let digests: HashSet<u64> = states.iter().map(|state| state.image.digest()).collect();
        assert_eq!(digests.len(), states.len());
        let expected: HashSet<Vec<u8>> = (0..1_u32 << few)
            .map(|set| (0..few).map(|n| if set >> n & 1 == 1 { n as u8 + 1 } else { 0 }).collect())
            .collect();
        assert_eq!(whole(&states, MAX_SUBSET_CHANGES), expected);
        // The state of the flush, with everything kept. Every other state is at most of the time
        // before it.
        let latest = |blocks_are: &dyn Fn(&[u8]) -> bool| {
            let is = |s: &&State| {
                s.cut.torn.is_none() && blocks_are(&blocks(&s.image, MAX_SUBSET_CHANGES))
            };
            states.iter().find(is).map(|state| state.cut.at)
        };
        assert_eq!(latest(&|b| b.iter().all(|byte| *byte > 0)), Some(MAX_SUBSET_CHANGES + 1));
        assert_eq!(latest(&|b| b.iter().all(|byte| *byte == 0)), Some(MAX_SUBSET_CHANGES));
        // Each write torn at each of its sectors.
        let torn = states.iter().filter(|state| state.cut.tears_a_block());
        assert_eq!(torn.count(), MAX_SUBSET_CHANGES * (BLOCK / SECTOR - 1));
    }

    #[test]
    fn of_more_each_one_and_all_but_each_are_lost() {
        let more = MAX_SUBSET_CHANGES as u64 + 2;
        let log = log((0..more).map(|n| write(n, 1, 1)).collect());
        let found = whole(&log.every_state(0), more as usize);
        for one in 0..more as usize {
            for lost in [0, 1] {
                let state: Vec<u8> =
                    (0..more as usize).map(|n| if n == one { lost } else { 1 - lost }).collect();
                assert!(found.contains(&state), "{state:?}");
            }
        }
    }

    #[test]
    fn a_long_write_is_torn_at_sectors_at_its_ends_and_at_blocks() {
        let length = (TORN_BLOCKS + 4) * BLOCK;
        let kept: Vec<usize> = torn_lengths(length).collect();
        let expected = 2 * (BLOCK / SECTOR - 1) + TORN_BLOCKS;
        assert_eq!(kept.len(), expected, "{kept:?}");
        assert!(kept.iter().all(|kept| kept % SECTOR == 0 && (1..length).contains(kept)));
        assert_eq!(torn_lengths(2 * BLOCK).count(), 2 * BLOCK / SECTOR - 1);
        assert_eq!(torn_lengths(SECTOR).count(), 0);
    }

    #[test]
    fn what_was_flushed_before_the_first_cut_is_in_every_state() {
        let log = log(vec![write(0, 1, 1), Record::Flush, write(1, 2, 2), write(0, 3, 1)]);
        let states = log.every_state(2);
        assert!(states.iter().all(|state| state.cut.at >= 2 && blocks(&state.image, 1)[0] > 0));
        let expected = [[1, 0], [1, 2], [3, 0], [3, 2]].map(Vec::from);
        assert_eq!(whole(&states, 2), expected.into_iter().collect());
    }
}
