//! The moments at which the power could be cut, and what the device could have lost at each.
//!
//! Bounded as *Finding Crash-Consistency Bugs with Bounded Black-Box Crash Testing* (OSDI 2018) and
//! *All File Systems Are Not Created Equal* (OSDI 2014) have it: every prefix; between two flushes each
//! single write lost, all but one lost, and some subsets; the last write torn.

use std::collections::HashMap;
use std::io;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::image::{BLOCK, Image};
use crate::log::{Log, Record};

/// Bytes that a device writes whole or not at all.
pub const SECTOR: usize = 512;

/// Random subsets of what lies between two flushes.
const SUBSETS: usize = 4;

/// A moment at which the power is cut.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    /// So many records had reached the device.
    pub at: usize,
    /// Those of them that it lost, by their place in the log: changes after the last flush.
    pub lost: Vec<usize>,
    /// The last one, where only its begin was written.
    pub torn: Option<Torn>,
}

/// A write of which only the begin is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Torn {
    /// Its place in the log.
    pub record: usize,
    /// How many bytes of it are there.
    pub kept: usize,
}

/// What a device holds after a cut.
#[derive(Clone, Debug)]
pub struct State {
    /// The cut. Of several that leave the same the latest, before which the most was promised.
    pub cut: Cut,
    /// The content.
    pub image: Image,
}

impl Log {
    /// Up to `most` states that differ, in the order of their cuts: all that [`cuts`](Self::cuts) lists
    /// where they are so few, else a sample that the seed draws.
    ///
    /// # Errors
    /// When the base cannot be read.
    pub fn states(&self, from: usize, most: usize, seed: u64) -> io::Result<Vec<State>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut cuts = self.cuts(from, &mut random);
        cuts.shuffle(&mut random);
        let mut states: HashMap<u64, State> = HashMap::new();
        // Enough to find as many that differ, and in order, so that each begins where one before was.
        let mut drawn = 0;
        while states.len() < most && drawn < cuts.len() {
            let until = (drawn + most - states.len()).min(cuts.len());
            let mut some = cuts[drawn..until].to_vec();
            drawn = until;
            some.sort_by_key(|cut| cut.at);
            let (mut kept, mut flushed) = (self.base.clone(), 0);
            for cut in some {
                // Everything before the last flush is kept, and is made once.
                let flush = self.flushed_before(cut.at);
                for record in &self.records[flushed..flush] {
                    record.apply(&mut kept)?;
                }
                flushed = flush;
                let image = self.image_from(&kept, flushed, &cut)?;
                let known = states
                    .entry(image.digest())
                    .or_insert_with(|| State { cut: cut.clone(), image });
                if known.cut.at < cut.at {
                    known.cut = cut;
                }
            }
        }
        let mut states: Vec<State> = states.into_values().collect();
        states.sort_by(|a, b| (a.cut.at, &a.cut.lost).cmp(&(b.cut.at, &b.cut.lost)));
        Ok(states)
    }

    /// The moments, from after the record `from` on.
    fn cuts(&self, from: usize, random: &mut impl Rng) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let mut window: Vec<usize> = Vec::new();
        cuts.push(Cut { at: from, lost: Vec::new(), torn: None });
        for (place, record) in self.records.iter().enumerate() {
            if !record.is_change() {
                if place >= from {
                    reordered(&window, place, random, &mut cuts);
                    cuts.push(Cut { at: place + 1, lost: Vec::new(), torn: None });
                }
                window.clear();
                continue;
            }
            window.push(place);
            if place < from {
                continue;
            }
            cuts.push(Cut { at: place + 1, lost: Vec::new(), torn: None });
            if window.len() > 1 {
                let lost = subset(&window, random);
                cuts.push(Cut { at: place + 1, lost, torn: None });
            }
            if let Record::Write { data, .. } = record {
                for unit in [SECTOR, BLOCK] {
                    let units = data.len().div_ceil(unit);
                    if units > 1 {
                        let kept = random.random_range(1..units) * unit;
                        let torn = Some(Torn { record: place, kept });
                        cuts.push(Cut { at: place + 1, lost: Vec::new(), torn });
                    }
                }
            }
        }
        reordered(&window, self.records.len(), random, &mut cuts);
        cuts
    }

    /// What the device holds after a cut.
    ///
    /// # Errors
    /// When the base cannot be read.
    pub fn image(&self, cut: &Cut) -> io::Result<Image> {
        let flushed = self.flushed_before(cut.at);
        self.image_from(&self.prefix(flushed)?, flushed, cut)
    }

    /// How many records had been flushed when so many had reached the device.
    fn flushed_before(&self, at: usize) -> usize {
        let mut before = self.records[..at].iter();
        before.rposition(|record| !record.is_change()).map_or(0, |flush| flush + 1)
    }

    fn image_from(&self, kept: &Image, flushed: usize, cut: &Cut) -> io::Result<Image> {
        let mut image = kept.clone();
        for (place, record) in self.records.iter().enumerate().take(cut.at).skip(flushed) {
            match (record, cut.torn) {
                _ if cut.lost.contains(&place) => {}
                (Record::Write { offset, data }, Some(torn)) if torn.record == place => {
                    image.write(*offset, &data[..torn.kept])?;
                }
                _ => record.apply(&mut image)?,
            }
        }
        Ok(image)
    }
}

/// What could be lost of changes between two flushes, the second of which is the record `at` and has
/// not ended: each one, all but one, all, and some subsets.
fn reordered(window: &[usize], at: usize, random: &mut impl Rng, cuts: &mut Vec<Cut>) {
    if window.len() < 2 {
        return;
    }
    for (place, one) in window.iter().enumerate() {
        cuts.push(Cut { at, lost: vec![*one], torn: None });
        let others = window.iter().enumerate().filter(|(other, _)| *other != place);
        let others = others.map(|(_, other)| *other).collect();
        cuts.push(Cut { at, lost: others, torn: None });
    }
    cuts.extend((0..SUBSETS).map(|_| Cut { at, lost: subset(window, random), torn: None }));
}

/// Each with one chance in two.
fn subset(window: &[usize], random: &mut impl Rng) -> Vec<usize> {
    window.iter().copied().filter(|_| random.random_bool(0.5)).collect()
}

#[cfg(test)]
mod tests;
