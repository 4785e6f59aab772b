//! What a card holds in memory before it programs it: its write cache, or the page that is being
//! filled.

use std::collections::VecDeque;

use crate::Translation;

/// Units that were written and are in no page yet, oldest first.
#[derive(Debug)]
pub struct Buffer {
    order: VecDeque<u32>,
    held: Vec<bool>,
    most: usize,
    page_units: usize,
    page: Vec<u32>,
}

impl Buffer {
    /// Makes the buffer of a card with this number of user units, with room for `cache_bytes`, and
    /// at least for a page.
    pub fn new(card: &dyn Translation, units: u32, cache_bytes: u64) -> Self {
        let page_units = (card.page_bytes() / card.unit_bytes()) as usize;
        let most = ((cache_bytes / card.unit_bytes()) as usize).max(page_units);
        Self {
            order: VecDeque::new(),
            held: vec![false; units as usize],
            most,
            page_units,
            page: Vec::with_capacity(page_units),
        }
    }

    /// Writes the units that a range of bytes touches.
    pub fn write_bytes(&mut self, offset: u64, length: u64, card: &mut dyn Translation) {
        let unit = card.unit_bytes();
        for number in offset / unit..(offset + length).div_ceil(unit) {
            self.write(number as u32, card);
        }
    }

    /// Discards the units that a range of bytes covers. A partly discarded unit still holds the
    /// rest.
    pub fn discard_bytes(&mut self, offset: u64, length: u64, card: &mut dyn Translation) {
        let unit = card.unit_bytes();
        for number in offset.div_ceil(unit)..(offset + length) / unit {
            self.discard(number as u32, card);
        }
    }

    /// Writes a unit. A unit that is held already is overwritten.
    pub fn write(&mut self, unit: u32, card: &mut dyn Translation) {
        let held = &mut self.held[unit as usize];
        if std::mem::replace(held, true) {
            return;
        }
        self.order.push_back(unit);
        while self.order.len() > self.most {
            self.program(card);
        }
    }

    /// Programs everything. A page that it does not fill is programmed as well.
    pub fn flush(&mut self, card: &mut dyn Translation) {
        while !self.order.is_empty() {
            self.program(card);
        }
        card.pad();
    }

    /// Discards a unit, here and on the card.
    pub fn discard(&mut self, unit: u32, card: &mut dyn Translation) {
        if std::mem::replace(&mut self.held[unit as usize], false) {
            self.order.retain(|held| *held != unit);
        }
        card.discard(unit);
    }

    /// Programs a page.
    fn program(&mut self, card: &mut dyn Translation) {
        let units = self.page_units.min(self.order.len());
        self.page.extend(self.order.drain(..units));
        for unit in &self.page {
            self.held[*unit as usize] = false;
        }
        card.program(&self.page);
        self.page.clear();
    }
}
