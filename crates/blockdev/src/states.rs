//! Selects times at which the power could be cut, and the losses of the device at each.
//!
//! The bounds are those of *Finding Crash-Consistency Bugs with Bounded Black-Box Crash Testing*
//! (OSDI 2018) and *All File Systems Are Not Created Equal* (OSDI 2014). The states cover every
//! prefix. Between two flushes each single write is lost, all but one, and some subsets. The last
//! write is torn.

use std::collections::HashMap;
use std::fmt;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::image::{BLOCK, Image};
use crate::log::{Log, Record};

/// Bytes that a device writes completely or not at all.
pub const SECTOR: usize = 512;

/// Number of random subsets of the changes between two flushes.
const SUBSETS: usize = 4;

/// A time at which the power is cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cut {
    /// Number of records that had reached the device.
    pub at: usize,
    /// Indexes in the log of lost records: changes after the last flush.
    pub lost: Vec<usize>,
    /// The last record, if only its beginning was written.
    pub torn: Option<Torn>,
    /// The part of a [lying](Log::lying_states) device that has its earlier content.
    pub erased: Option<Erased>,
}

/// A cut in compact form, because a long log has many.
#[derive(Clone, Copy, Debug)]
struct CompactCut {
    at: usize,
    lost: Lost,
}

/// Which changes since the last flush are lost.
#[derive(Clone, Copy, Debug)]
enum Lost {
    Nothing,
    One(usize),
    AllBut(usize),
    /// Each with a probability of one half, by a seed.
    Some(u64),
    /// The end of the last change. It ends on the device at `end`.
    End {
        kept: usize,
        end: u64,
    },
}

/// An erase block that a card rewrote for a write within it, and lost. It has an earlier content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Erased {
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// Number of records after which the block had this content.
    pub since: usize,
}

impl fmt::Display for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, length, since } = self;
        write!(f, "bytes {offset} to {} as after record {since}", offset + length)
    }
}

impl Cut {
    /// Whether a write is torn within a block of [`BLOCK`] bytes. This cannot happen on a device
    /// whose sectors have that size.
    pub fn tears_a_block(&self) -> bool {
        self.torn.is_some_and(|torn| !torn.end.is_multiple_of(BLOCK as u64))
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after record {}", self.at)?;
        match &self.lost[..] {
            [] => {}
            [one] => write!(f, ", without {one}")?,
            [first, .., last] => {
                write!(f, ", without {} of {first} to {last}", self.lost.len())?;
            }
        }
        if let Some(torn) = self.torn {
            write!(f, ", of {} the first {} bytes", torn.record, torn.kept)?;
        }
        self.erased.map_or(Ok(()), |erased| write!(f, ", {erased}"))
    }
}

/// A write of which only the beginning is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Torn {
    /// Index in the log.
    pub record: usize,
    /// Number of its bytes that are present.
    pub kept: usize,
    /// Offset on the device at which these bytes end.
    pub end: u64,
}

/// The content of a device after a cut.
#[derive(Clone, Debug)]
pub struct State {
    /// The cut. It is the latest of several with the same result, because most commits were
    /// acknowledged before it.
    pub cut: Cut,
    /// The content.
    pub image: Image,
}

impl Log {
    /// Returns up to `most` different states of cuts after the record `from`, in the order of their
    /// cuts. If there are more, the seed selects a sample.
    pub fn states(&self, from: usize, most: usize, seed: u64) -> Vec<State> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut compact_cuts = self.compact_cuts(from, &mut random);
        compact_cuts.shuffle(&mut random);
        let mut states: HashMap<u64, State> = HashMap::new();
        // As many cuts as states are missing, in order, so that each continues from an earlier one.
        let mut drawn = 0;
        while states.len() < most && drawn < compact_cuts.len() {
            let until = (drawn + most - states.len()).min(compact_cuts.len());
            let some = compact_cuts[drawn..until].iter();
            let mut some: Vec<Cut> = some.map(|compact| self.expand(*compact)).collect();
            drawn = until;
            some.sort_by_key(|cut| cut.at);
            self.add_states(some, &mut states);
        }
        in_order(states)
    }

    /// Adds the states of cuts, which are in order, to those known by their digests.
    pub(crate) fn add_states(&self, cuts: Vec<Cut>, states: &mut HashMap<u64, State>) {
        let (mut kept, mut flushed) = (self.base.clone(), 0);
        for cut in cuts {
            // Everything before the last flush is kept, and is applied once.
            let flush = self.flushed_before(cut.at);
            for record in &self.records[flushed..flush] {
                record.apply(&mut kept);
            }
            flushed = flush;
            let state = self.state_from(&kept, flushed, cut);
            let latest = |state: &State| (state.cut.at, state.cut.torn.is_none());
            let digest = state.image.digest();
            if states.get(&digest).is_none_or(|known| latest(known) < latest(&state)) {
                states.insert(digest, state);
            }
        }
    }

    /// Returns the cuts after the record `from`.
    fn compact_cuts(&self, from: usize, random: &mut impl Rng) -> Vec<CompactCut> {
        let mut compact_cuts = vec![CompactCut { at: from, lost: Lost::Nothing }];
        let mut window: Vec<usize> = Vec::new();
        for (place, record) in self.records.iter().enumerate() {
            let mut at = |at, lost| compact_cuts.push(CompactCut { at, lost });
            match record {
                Record::IgnoredFlush => continue,
                Record::Flush => {
                    if place >= from {
                        possible_losses(&window, random, |lost| at(place, lost));
                        at(place + 1, Lost::Nothing);
                    }
                    window.clear();
                    continue;
                }
                Record::Write { .. } | Record::Discard { .. } => window.push(place),
            }
            if place < from {
                continue;
            }
            at(place + 1, Lost::Nothing);
            if window.len() > 1 {
                at(place + 1, Lost::Some(random.random()));
            }
            if let Record::Write { offset, data } = record {
                for unit in [SECTOR, BLOCK] {
                    let units = data.len().div_ceil(unit);
                    if units > 1 {
                        let kept = random.random_range(1..units) * unit;
                        at(place + 1, Lost::End { kept, end: offset + kept as u64 });
                    }
                }
            }
        }
        let at = self.records.len();
        possible_losses(&window, random, |lost| compact_cuts.push(CompactCut { at, lost }));
        compact_cuts
    }

    /// Expands a cut from its compact form.
    fn expand(&self, CompactCut { at, lost }: CompactCut) -> Cut {
        let window = (self.flushed_before(at)..at).filter(|place| self.records[*place].is_change());
        let (lost, torn) = match lost {
            Lost::Nothing => (Vec::new(), None),
            Lost::One(one) => (vec![one], None),
            Lost::AllBut(one) => (window.filter(|place| *place != one).collect(), None),
            Lost::Some(seed) => {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                (window.filter(|_| random.random_bool(0.5)).collect(), None)
            }
            Lost::End { kept, end } => (Vec::new(), Some(Torn { record: at - 1, kept, end })),
        };
        Cut { at, lost, torn, erased: None }
    }

    /// Returns the content of the device after a cut.
    pub fn image(&self, cut: &Cut) -> Image {
        let flushed = self.flushed_before(cut.at);
        self.state_from(&self.prefix(flushed), flushed, cut.clone()).image
    }

    /// Returns the number of records that had been flushed when `at` records had reached the
    /// device.
    fn flushed_before(&self, at: usize) -> usize {
        let mut before = self.records[..at].iter();
        before.rposition(|record| *record == Record::Flush).map_or(0, |flush| flush + 1)
    }

    /// Returns the state after a cut. If the present or the missing part of a torn write changes
    /// nothing, the write is lost or whole instead: no tear is needed for that content.
    fn state_from(&self, kept: &Image, flushed: usize, mut cut: Cut) -> State {
        let mut image = kept.clone();
        for (place, record) in self.records.iter().enumerate().take(cut.at).skip(flushed) {
            match (record, cut.torn) {
                _ if cut.lost.contains(&place) => {}
                (Record::Write { offset, data }, Some(torn)) if torn.record == place => {
                    let (present, missing) = data.split_at(torn.kept);
                    if image.holds(*offset, present) {
                        cut.lost.push(place);
                        cut.torn = None;
                    } else if image.holds(torn.end, missing) {
                        record.apply(&mut image);
                        cut.torn = None;
                    } else {
                        image.write(*offset, present);
                    }
                }
                _ => record.apply(&mut image),
            }
        }
        if let Some(erased) = cut.erased {
            self.erase(&mut image, erased);
        }
        State { cut, image }
    }
}

/// Returns states in the order of their cuts.
pub(crate) fn in_order(states: HashMap<u64, State>) -> Vec<State> {
    let mut states: Vec<State> = states.into_values().collect();
    states.sort_by(|a, b| a.cut.cmp(&b.cut));
    states
}

/// Passes possible losses of the changes between two flushes to `lose`: each single change, all but
/// one, and some subsets. The second flush has not ended.
fn possible_losses(window: &[usize], random: &mut impl Rng, mut lose: impl FnMut(Lost)) {
    match window {
        [] => {}
        // Nothing else can be lost, but its commit may have been acknowledged by now.
        [one] => lose(Lost::One(*one)),
        several => {
            for one in several {
                lose(Lost::One(*one));
                lose(Lost::AllBut(*one));
            }
            (0..SUBSETS).for_each(|_| lose(Lost::Some(random.random())));
        }
    }
}

#[cfg(test)]
mod tests;
