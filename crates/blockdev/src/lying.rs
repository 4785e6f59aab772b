//! States of a lying device, which a correct device cannot leave.

use std::collections::HashMap;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::image::Image;
use crate::log::{Log, Record};
use crate::states::{Cut, Erased, State, in_order};

/// Sizes of the erase blocks that are tried, as powers of two: 128 KiB to 4 MiB.
const ERASED: std::ops::RangeInclusive<u32> = 17..=22;

impl Log {
    /// Returns up to `most` different states, in the order of their cuts, selected by the seed.
    /// Half are of a device that acknowledges half of its flushes, at random, without doing them. In
    /// the others the erase block around the last write has an earlier content, flushed or not.
    pub fn lying_states(&self, most: usize, seed: u64) -> Vec<State> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut unflushed = self.clone();
        for record in &mut unflushed.records {
            if *record == Record::Flush && random.random_bool(0.5) {
                *record = Record::IgnoredFlush;
            }
        }
        let half = unflushed.states(0, most / 2, seed);
        let mut states: HashMap<u64, State> =
            half.into_iter().map(|state| (state.image.digest(), state)).collect();
        let write = |(place, record): (usize, &Record)| match record {
            Record::Write { offset, .. } => Some((place, *offset)),
            _ => None,
        };
        let writes: Vec<_> = self.records.iter().enumerate().filter_map(write).collect();
        let tries = if writes.is_empty() { 0 } else { 2 * most };
        for _ in 0..tries {
            if states.len() >= most {
                break;
            }
            let (place, written) = writes[random.random_range(0..writes.len())];
            let length = 1 << random.random_range(ERASED);
            let offset = written - written % length;
            let since = random.random_range(0..=place);
            let erased = Some(Erased { offset, length, since });
            let cut = Cut { at: place + 1, lost: Vec::new(), torn: None, erased };
            let image = self.image(&cut);
            states.entry(image.digest()).or_insert(State { cut, image });
        }
        in_order(states)
    }

    /// Restores the earlier content of an erase block in an image.
    pub(crate) fn erase(&self, image: &mut Image, erased: Erased) {
        let Erased { offset, length, since } = erased;
        let before = self.prefix(since);
        let end = (offset + length).min(image.bytes());
        let mut content = vec![0; end.saturating_sub(offset) as usize];
        before.read(offset, &mut content);
        image.write(offset, &content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::BLOCK;

    fn log() -> Log {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(8 << 20).unwrap();
        let write = |n: u64| Record::Write {
            offset: n * 40 * BLOCK as u64,
            data: [n as u8 + 1; BLOCK].into(),
        };
        let records = (0..40).flat_map(|n| [write(n), Record::Flush]).collect();
        Log { base: Image::from_file(file.path()).unwrap(), records, times: Vec::new() }
    }

    /// Returns how many of the first writes of the log a state holds, and how many were before its
    /// cut.
    fn held(state: &State) -> (usize, usize) {
        let before = state.cut.at.div_ceil(2);
        let byte = |n: usize| {
            let mut byte = [0];
            state.image.read((n * 40 * BLOCK) as u64, &mut byte);
            usize::from(byte[0]) == n + 1
        };
        ((0..before).take_while(|n| byte(*n)).count(), (0..before).filter(|n| byte(*n)).count())
    }

    #[test]
    fn what_was_flushed_is_lost_in_some_states_and_the_seed_says_in_which() {
        let log = log();
        let states = log.lying_states(60, 3);
        assert_eq!(states.len(), 60);
        let cuts =
            |seed| -> Vec<Cut> { log.lying_states(60, seed).into_iter().map(|s| s.cut).collect() };
        assert_eq!(cuts(3), cuts(3));
        assert_ne!(cuts(3), cuts(4));
        // With skipped flushes an older write is lost that had been flushed.
        let lost = states.iter().filter(|s| s.cut.erased.is_none());
        assert!(lost.clone().any(|s| held(s).0 + 1 < s.cut.at.div_ceil(2)));
        assert!(lost.count() >= 20);
    }

    #[test]
    fn an_erase_block_holds_what_it_did_and_all_else_is_there() {
        let log = log();
        let states = log.lying_states(60, 3);
        let erased: Vec<_> = states.iter().filter_map(|s| s.cut.erased.map(|e| (s, e))).collect();
        assert!(erased.len() >= 20);
        for (state, Erased { offset, length, since }) in erased {
            assert!(length.is_power_of_two() && (128 << 10..=4 << 20).contains(&length));
            assert_eq!(offset % length, 0);
            for n in 0..state.cut.at.div_ceil(2) as u64 {
                let at = n * 40 * BLOCK as u64;
                let mut byte = [0];
                state.image.read(at, &mut byte);
                let gone = (offset..offset + length).contains(&at) && 2 * n as usize >= since;
                assert_eq!(u64::from(byte[0]), if gone { 0 } else { n + 1 }, "{n} {:?}", state.cut);
            }
        }
    }
}
