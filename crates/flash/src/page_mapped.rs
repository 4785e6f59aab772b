//! A card whose table has an entry for every page, or part of one. It writes to any free position,
//! and cleans blocks to get more.

use std::collections::VecDeque;

use embermark_model::card::Cleaning;

use crate::ledger::{Cost, Ledger};
use crate::victims::Victims;
use crate::{Translation, WorkCounts};

/// No value.
const NONE: u32 = u32::MAX;

/// Number of blocks beyond the valid content that cleaning needs: the one that is being filled, and
/// a free one.
pub(crate) const RESERVE: u32 = 2;

/// Sizes of a page-mapped card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes per unit.
    pub unit_bytes: u64,
    /// Units per page.
    pub page_units: u32,
    /// Units per block.
    pub block_units: u32,
    /// Number of units that the user sees.
    pub units: u32,
    /// Number of blocks of its flash.
    pub blocks: u32,
}

/// A page-mapped card. All writes, by the user and by cleaning, go one after the other into one
/// open block. When it is full and no other one is free, the next block by its policy is cleaned:
/// its valid units are written again, and it is erased.
#[derive(Clone, Debug)]
pub struct PageMapped {
    geometry: Geometry,
    /// Position of each unit in flash, in units.
    position: Vec<u32>,
    /// Unit at each position.
    unit_at: Vec<u32>,
    /// Number of valid units of each block.
    valid: Vec<u32>,
    free: VecDeque<u32>,
    victims: Victims,
    open: u32,
    /// The next position in the open block.
    next: u32,
    done: WorkCounts,
    copied_units: u64,
    ledger: Ledger,
}

impl PageMapped {
    /// Makes an erased card. It has at least two blocks more than the user's units fill.
    pub fn new(geometry: Geometry, cleaning: Cleaning) -> Self {
        let Geometry { block_units, units, .. } = geometry;
        let blocks = geometry.blocks.max(units.div_ceil(block_units) + RESERVE);
        Self {
            geometry: Geometry { blocks, ..geometry },
            position: vec![NONE; units as usize],
            unit_at: vec![NONE; blocks as usize * block_units as usize],
            valid: vec![0; blocks as usize],
            free: (1..blocks).collect(),
            victims: Victims::new(cleaning, blocks, block_units),
            open: 0,
            next: 0,
            done: WorkCounts::default(),
            copied_units: 0,
            ledger: Ledger::new(),
        }
    }

    /// Writes the first units once, in order, without counting that.
    #[must_use]
    pub fn filled(mut self, units: u32) -> Self {
        for unit in 0..units.min(self.geometry.units) {
            self.write(unit);
        }
        self.pad();
        (self.done, self.copied_units, self.ledger) = (WorkCounts::default(), 0, Ledger::new());
        self
    }

    /// Writes a unit at the next position.
    fn write(&mut self, unit: u32) {
        self.discard(unit);
        self.make_room();
        self.put(unit);
    }

    /// Takes another block if the open one is full, and cleans as long as that leaves none free.
    fn make_room(&mut self) {
        while self.next == self.geometry.block_units {
            self.victims.add(self.open, self.valid[self.open as usize]);
            // There is one, because cleaning has left it.
            let Some(free) = self.free.pop_front() else { unreachable!("a block is kept free") };
            (self.open, self.next) = (free, 0);
            if self.free.is_empty() {
                self.clean();
            }
        }
    }

    /// Writes the valid content of a block to the open one, which is empty, and erases the block.
    fn clean(&mut self) {
        let Some(victim) = self.victims.take() else { return };
        let first = victim * self.geometry.block_units;
        for at in first..first + self.geometry.block_units {
            let unit = std::mem::replace(&mut self.unit_at[at as usize], NONE);
            if unit != NONE {
                self.put(unit);
                self.copied_units += 1;
            }
        }
        self.valid[victim as usize] = 0;
        self.done.erases += 1;
        self.free.push_back(victim);
    }

    fn put(&mut self, unit: u32) {
        if self.next.is_multiple_of(self.geometry.page_units) {
            self.done.pages += 1;
            // In a steady state a block is erased for each one that is programmed. The block that
            // happens to be erased says nothing about the writer.
            let Geometry { block_units, page_units, .. } = self.geometry;
            let erases = f64::from(page_units) / f64::from(block_units);
            self.ledger.charge(self.ledger.opened(), Cost { pages: 1.0, erases });
        }
        let at = self.open * self.geometry.block_units + self.next;
        self.unit_at[at as usize] = unit;
        self.position[unit as usize] = at;
        self.valid[self.open as usize] += 1;
        self.next += 1;
    }
}

impl Translation for PageMapped {
    fn unit_bytes(&self) -> u64 {
        self.geometry.unit_bytes
    }

    fn page_bytes(&self) -> u64 {
        self.geometry.unit_bytes * u64::from(self.geometry.page_units)
    }

    fn program(&mut self, units: &[u32]) {
        for unit in units {
            self.write(*unit);
        }
    }

    fn pad(&mut self) {
        self.next = self.next.next_multiple_of(self.geometry.page_units);
    }

    fn discard(&mut self, unit: u32) {
        let at = std::mem::replace(&mut self.position[unit as usize], NONE);
        if at == NONE {
            return;
        }
        self.unit_at[at as usize] = NONE;
        let block = at / self.geometry.block_units;
        let valid = &mut self.valid[block as usize];
        *valid -= 1;
        self.victims.unit_invalidated(block, *valid);
    }

    fn done(&self) -> WorkCounts {
        self.done
    }

    fn copied_pages(&self) -> u64 {
        self.copied_units / u64::from(self.geometry.page_units)
    }

    fn charge_to(&mut self, account: usize) {
        self.ledger.open(account);
    }

    fn costs(&self) -> &[Cost] {
        self.ledger.costs()
    }

    fn round_pages(&self) -> u64 {
        let Geometry { blocks, block_units, page_units, units, .. } = self.geometry;
        let pages = |units: u64| units / u64::from(page_units);
        let all = u64::from(blocks) * u64::from(block_units);
        match self.victims {
            // Every block is cleaned once.
            Victims::Fifo(_) => pages(all),
            // The spare space is overwritten once.
            Victims::Greedy(_) => pages(all - u64::from(units)),
        }
    }
}

#[cfg(test)]
mod tests;
