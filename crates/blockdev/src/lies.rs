//! A device that lies: states that no device may leave which does what it says.

use std::collections::HashMap;
use std::fmt;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::image::Image;
use crate::log::{Log, Record};
use crate::states::{Cut, State, in_order};

/// Bytes of the erase blocks that are tried, as powers of two: 128 KiB to 4 MiB.
const ERASED: std::ops::RangeInclusive<u32> = 17..=22;

/// An erase block that a card wrote anew for a write within it, and lost: it holds what it did some time
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Erased {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
    /// It holds what it did after so many records.
    pub since: usize,
}

impl fmt::Display for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, length, since } = self;
        write!(f, "bytes {offset} to {} as after record {since}", offset + length)
    }
}

impl Log {
    /// Up to `most` states that differ, in the order of their cuts, drawn by the seed. Half are of a
    /// device that answers every second flush and does not do it; of the others the erase block around
    /// the last write holds what it did some time before, flushed or not.
    pub fn states_of_lies(&self, most: usize, seed: u64) -> Vec<State> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut unflushed = self.clone();
        for record in &mut unflushed.records {
            if *record == Record::Flush && random.random_bool(0.5) {
                *record = Record::Ignored;
            }
        }
        let half = unflushed.states(0, most / 2, seed);
        let mut states: HashMap<u64, State> =
            half.into_iter().map(|state| (state.image.digest(), state)).collect();
        let writes: Vec<(usize, u64)> = self.writes().collect();
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

    /// The place of each write, and where it begins.
    fn writes(&self) -> impl Iterator<Item = (usize, u64)> {
        let writes = self.records.iter().enumerate();
        writes.filter_map(|(place, record)| match record {
            Record::Write { offset, .. } => Some((place, *offset)),
            _ => None,
        })
    }

    /// Makes an erase block of an image hold what it did.
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
mod tests;
