//! Chooses the block that is cleaned next.

use std::collections::VecDeque;

use embermark_model::card::Cleaning;

/// No block.
const NONE: u32 = u32::MAX;

/// Full blocks, in the order in which they are cleaned.
#[derive(Clone, Debug)]
pub(crate) enum Victims {
    /// In the order in which they became full.
    Fifo(VecDeque<u32>),
    /// By the number of their valid units.
    Greedy(ByValid),
}

impl Victims {
    /// Makes an empty list for this number of blocks with this number of units.
    pub fn new(cleaning: Cleaning, blocks: u32, units: u32) -> Self {
        match cleaning {
            Cleaning::Fifo => Self::Fifo(VecDeque::new()),
            Cleaning::Greedy => Self::Greedy(ByValid::new(blocks, units)),
        }
    }

    /// Adds a block that has become full.
    pub fn add(&mut self, block: u32, valid: u32) {
        match self {
            Self::Fifo(all) => all.push_back(block),
            Self::Greedy(all) => all.add(block, valid),
        }
    }

    /// Records that a unit of a block has become invalid and that `valid` units are left. Does
    /// nothing for a block that is not full.
    pub fn unit_invalidated(&mut self, block: u32, valid: u32) {
        if let Self::Greedy(all) = self
            && all.has(block)
        {
            all.remove(block, valid + 1);
            all.add(block, valid);
        }
    }

    /// Removes and returns the next block.
    pub fn take(&mut self) -> Option<u32> {
        match self {
            Self::Fifo(all) => all.pop_front(),
            Self::Greedy(all) => all.take(),
        }
    }
}

/// A list of blocks for each number of valid units, so that the one with the fewest is found at
/// once.
#[derive(Clone, Debug)]
pub(crate) struct ByValid {
    first: Vec<u32>,
    next: Vec<u32>,
    before: Vec<u32>,
    known: Vec<bool>,
    /// No list before this one has blocks.
    least: usize,
}

impl ByValid {
    fn new(blocks: u32, units: u32) -> Self {
        let blocks = blocks as usize;
        Self {
            first: vec![NONE; units as usize + 1],
            next: vec![NONE; blocks],
            before: vec![NONE; blocks],
            known: vec![false; blocks],
            least: 0,
        }
    }

    fn has(&self, block: u32) -> bool {
        self.known[block as usize]
    }

    fn add(&mut self, block: u32, valid: u32) {
        let (at, valid) = (block as usize, valid as usize);
        let first = self.first[valid];
        (self.next[at], self.before[at], self.known[at]) = (first, NONE, true);
        if first != NONE {
            self.before[first as usize] = block;
        }
        self.first[valid] = block;
        self.least = self.least.min(valid);
    }

    fn remove(&mut self, block: u32, valid: u32) {
        let at = block as usize;
        let (before, next) = (self.before[at], self.next[at]);
        match before {
            NONE => self.first[valid as usize] = next,
            before => self.next[before as usize] = next,
        }
        if next != NONE {
            self.before[next as usize] = before;
        }
        self.known[at] = false;
    }

    fn take(&mut self) -> Option<u32> {
        while let Some(first) = self.first.get(self.least) {
            if *first != NONE {
                let block = *first;
                self.remove(block, self.least as u32);
                return Some(block);
            }
            self.least += 1;
        }
        self.least = 0;
        None
    }
}
