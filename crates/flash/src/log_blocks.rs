//! A card with a place in its table for every erase block alone. What is written to one goes into a log
//! block of its own, of which there are few; sooner or later the two are merged.
//!
//! The scheme is that of Kim and others, *A space-efficient flash translation layer for CompactFlash
//! systems*, IEEE Transactions on Consumer Electronics 48(2), 2002.

use crate::{Done, Translation};

/// How often the log blocks are filled in a round: merges come in whole blocks, of which there have to be
/// many for a mean.
const FILLED: u64 = 64;

/// A card with log blocks.
#[derive(Clone, Debug)]
pub struct LogBlocks {
    page_bytes: u64,
    block_pages: u32,
    most_open: usize,
    /// Whether each page holds anything.
    valid: Vec<bool>,
    /// Blocks with a log block, the one that was written to last at the end.
    open: Vec<Open>,
    done: Done,
}

/// A block that has a log block.
#[derive(Clone, Copy, Debug)]
struct Open {
    block: u32,
    /// Pages of the log block that are used.
    used: u32,
    /// They are the first pages of the block, each once and in its place.
    in_order: bool,
}

impl LogBlocks {
    /// A card of so many pages, all of which hold something, with at most so many blocks open at a time.
    pub fn new(page_bytes: u64, block_pages: u32, pages: u32, most_open: u32) -> Self {
        Self {
            page_bytes,
            block_pages,
            most_open: most_open.max(1) as usize,
            valid: vec![true; pages as usize],
            open: Vec::new(),
            done: Done::default(),
        }
    }

    /// Makes one block of a block and its log block, and erases what is left over.
    fn merge(&mut self, Open { block, used, in_order }: Open) {
        let first = block as usize * self.block_pages as usize;
        let after = (first + self.block_pages as usize).min(self.valid.len());
        let valid = |from: usize| {
            let pages = self.valid.get(from.min(after)..after).unwrap_or_default();
            pages.iter().filter(|valid| **valid).count() as u64
        };
        if in_order {
            // The log block takes the place of the block, with what it lacks copied (a partial merge) or
            // with nothing lacking (a switch).
            self.done.pages += valid(first + used as usize);
            self.done.erases += 1;
        } else {
            // All that is valid goes into a third one.
            self.done.pages += valid(first);
            self.done.erases += 2;
        }
    }

    fn write(&mut self, page: u32) {
        let (block, within) = (page / self.block_pages, page % self.block_pages);
        let place = self.open.iter().position(|open| open.block == block);
        let known = place.map(|place| self.open.remove(place));
        let known = match known {
            Some(full) if full.used == self.block_pages => {
                self.merge(full);
                None
            }
            known => known,
        };
        let mut open = known.unwrap_or(Open { block, used: 0, in_order: true });
        if self.open.len() == self.most_open {
            let oldest = self.open.remove(0);
            self.merge(oldest);
        }
        open.in_order &= within == open.used;
        open.used += 1;
        self.valid[page as usize] = true;
        self.done.pages += 1;
        self.open.push(open);
    }
}

impl Translation for LogBlocks {
    fn unit_bytes(&self) -> u64 {
        self.page_bytes
    }

    fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    fn program(&mut self, units: &[u32]) {
        for page in units {
            self.write(*page);
        }
    }

    fn pad(&mut self) {}

    fn discard(&mut self, page: u32) {
        self.valid[page as usize] = false;
    }

    fn done(&self) -> Done {
        self.done
    }

    fn round_pages(&self) -> u64 {
        FILLED * self.most_open as u64 * u64::from(self.block_pages)
    }
}

#[cfg(test)]
mod tests;
