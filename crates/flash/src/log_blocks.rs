//! A card whose table has only an entry per erase block. Writes to a block go into its own log
//! block, of which there are few. Sooner or later the two are merged.
//!
//! The scheme is that of Kim and others, *A space-efficient flash translation layer for
//! CompactFlash systems*, IEEE Transactions on Consumer Electronics 48(2), 2002.

use crate::ledger::{Cost, Ledger};
use crate::{Translation, WorkCounts};

/// Number of times that the log blocks are filled per round. A round needs many merges for a mean,
/// because each is of a whole block.
const FILLED: u64 = 64;

/// A card with log blocks.
#[derive(Clone, Debug)]
pub struct LogBlocks {
    page_bytes: u64,
    block_pages: u32,
    most_open: usize,
    /// Whether each page holds anything.
    valid: Vec<bool>,
    /// Blocks with a log block, with the last written one at the end.
    open: Vec<OpenBlock>,
    done: WorkCounts,
    copied: u64,
    ledger: Ledger,
}

/// A block that has a log block.
#[derive(Clone, Debug)]
struct OpenBlock {
    block: u32,
    /// Number of used pages of the log block.
    used: u32,
    /// Whether they are the first pages of the block, each once and in its place.
    in_order: bool,
    /// Number of them that each account has written.
    writers: Vec<(usize, u32)>,
}

impl OpenBlock {
    /// Makes one without used pages.
    const fn new(block: u32) -> Self {
        Self { block, used: 0, in_order: true, writers: Vec::new() }
    }

    /// Uses a page of it.
    fn write(&mut self, within: u32, account: usize) {
        self.in_order &= within == self.used;
        self.used += 1;
        match self.writers.iter_mut().find(|(writer, _)| *writer == account) {
            Some((_, pages)) => *pages += 1,
            None => self.writers.push((account, 1)),
        }
    }
}

impl LogBlocks {
    /// Makes a card with this number of pages, all with content, and at most `most_open` open
    /// blocks at a time.
    pub fn new(page_bytes: u64, block_pages: u32, pages: u32, most_open: u32) -> Self {
        Self {
            page_bytes,
            block_pages,
            most_open: most_open.max(1) as usize,
            valid: vec![true; pages as usize],
            open: Vec::new(),
            done: WorkCounts::default(),
            copied: 0,
            ledger: Ledger::new(),
        }
    }

    /// Merges a block and its log block into one, and erases what is left over. The accounts that
    /// wrote to the log block are charged, and not the account whose write causes the merge.
    fn merge(&mut self, OpenBlock { block, used, in_order, writers }: OpenBlock) {
        let first = block as usize * self.block_pages as usize;
        let after = (first + self.block_pages as usize).min(self.valid.len());
        let valid = |from: usize| {
            let pages = self.valid.get(from.min(after)..after).unwrap_or_default();
            pages.iter().filter(|valid| **valid).count() as u64
        };
        let (pages, erases) = if in_order {
            // The log block replaces the block. Missing pages are copied (a partial merge), or none
            // are missing (a switch).
            (valid(first + used as usize), 1)
        } else {
            // All valid pages go into a third block.
            (valid(first), 2)
        };
        self.done.pages += pages;
        self.copied += pages;
        self.done.erases += erases;
        for (account, written) in writers {
            let share = f64::from(written) / f64::from(used);
            let cost = Cost { pages: pages as f64 * share, erases: erases as f64 * share };
            self.ledger.charge(account, cost);
        }
    }

    fn write(&mut self, page: u32) {
        let (block, within) = (page / self.block_pages, page % self.block_pages);
        let place = self.open.iter().position(|open| open.block == block);
        let known = match place.map(|place| self.open.remove(place)) {
            Some(full) if full.used == self.block_pages => {
                self.merge(full);
                None
            }
            known => known,
        };
        let mut open = known.unwrap_or(OpenBlock::new(block));
        if self.open.len() == self.most_open {
            let oldest = self.open.remove(0);
            self.merge(oldest);
        }
        let account = self.ledger.opened();
        open.write(within, account);
        self.valid[page as usize] = true;
        self.done.pages += 1;
        self.ledger.charge(account, Cost { pages: 1.0, erases: 0.0 });
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

    fn done(&self) -> WorkCounts {
        self.done
    }

    fn copied_pages(&self) -> u64 {
        self.copied
    }

    fn charge_to(&mut self, account: usize) {
        self.ledger.open(account);
    }

    fn costs(&self) -> &[Cost] {
        self.ledger.costs()
    }

    fn round_pages(&self) -> u64 {
        FILLED * self.most_open as u64 * u64::from(self.block_pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u32 = 256;

    /// A card with 20 blocks of 256 pages.
    fn card(open: u32) -> LogBlocks {
        LogBlocks::new(16 << 10, PAGES, 20 * PAGES, open)
    }

    #[test]
    fn a_block_written_in_order_takes_the_place_of_the_old_one() {
        let mut card = card(1);
        for _ in 0..3 {
            (0..20 * PAGES).for_each(|page| card.program(&[page]));
        }
        // The last one is still open.
        assert_eq!(card.done(), WorkCounts { pages: 60 * u64::from(PAGES), erases: 59 });
    }

    #[test]
    fn what_a_block_lacks_that_was_begun_in_order_is_copied() {
        let mut card = card(1);
        card.program(&[0, 1, 2]);
        card.program(&[PAGES]);
        // Three pages and the 253 others, and then the page that caused the merge.
        assert_eq!(card.done(), WorkCounts { pages: 256 + 1, erases: 1 });
    }

    #[test]
    fn a_write_outside_the_open_ones_merges_the_one_that_was_left_alone_the_longest() {
        let mut card = card(2);
        // Two blocks alternately, in the middle: both stay open.
        for _ in 0..10 {
            card.program(&[7, PAGES + 7]);
        }
        assert_eq!(card.done(), WorkCounts { pages: 20, erases: 0 });
        // A third one merges the first: 256 pages into a third block, and two erased.
        card.program(&[2 * PAGES]);
        assert_eq!(card.done(), WorkCounts { pages: 21 + 256, erases: 2 });
        // The second is still open.
        card.program(&[PAGES + 8]);
        assert_eq!(card.done().erases, 2);
    }

    #[test]
    fn a_log_block_that_is_full_is_merged() {
        let mut card = card(4);
        (0..PAGES).for_each(|_| card.program(&[5]));
        assert_eq!(card.done(), WorkCounts { pages: 256, erases: 0 });
        card.program(&[5]);
        assert_eq!(card.done(), WorkCounts { pages: 257 + 256, erases: 2 });
    }

    #[test]
    fn with_more_blocks_open_less_is_merged() {
        let programmed = |open| {
            let mut card = card(open);
            for step in 0..1_000_u32 {
                card.program(&[step % 4 * PAGES + step % 13]);
            }
            card.done().pages
        };
        assert!(programmed(1) > 100 * 1_000, "each write merges a block");
        assert!(programmed(3) > programmed(4));
        assert!(programmed(4) < 4 * 1_000);
    }

    #[test]
    fn a_merge_is_charged_to_those_who_wrote_what_is_merged() {
        let mut card = card(1);
        card.charge_to(0);
        card.program(&[7, 9, 11]);
        card.charge_to(1);
        card.program(&[8]);
        card.charge_to(2);
        // It merges what the others wrote, but pays only for its own page.
        card.program(&[PAGES]);
        let costs = card.costs();
        assert_eq!(costs[0], Cost { pages: 3.0 + 192.0, erases: 1.5 });
        assert_eq!(costs[1], Cost { pages: 1.0 + 64.0, erases: 0.5 });
        assert_eq!(costs[2], Cost { pages: 1.0, erases: 0.0 });
    }

    #[test]
    fn what_is_discarded_is_not_copied() {
        let mut card = card(1);
        (10..PAGES).for_each(|page| card.discard(page));
        card.program(&[3]);
        card.program(&[PAGES]);
        assert_eq!(card.done(), WorkCounts { pages: 1 + 10 + 1, erases: 2 });
    }
}
