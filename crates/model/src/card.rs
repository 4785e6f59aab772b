//! A flash card, as far as a model of its flash translation layer has to know it.

use serde::{Deserialize, Serialize};

/// A parameter that no vendor prints: what is likely, and both ends of what is believable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// The end at which a card lasts the shortest.
    pub low: u32,
    /// What is likely.
    pub typical: u32,
    /// The end at which it lasts the longest.
    pub high: u32,
}

/// Which of a card's parameters a model is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Those at which it lasts the shortest.
    Low,
    /// Those that are likely.
    Typical,
    /// Those at which it lasts the longest.
    High,
}

impl End {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Low, Self::Typical, Self::High];
}

impl Spread {
    /// The same at both ends.
    pub const fn of(one: u32) -> Self {
        Self { low: one, typical: one, high: one }
    }

    /// Its value at an end.
    pub const fn at(self, end: End) -> u32 {
        match end {
            End::Low => self.low,
            End::Typical => self.typical,
            End::High => self.high,
        }
    }
}

/// Which block a card cleans next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cleaning {
    /// The one that was filled the longest ago.
    Fifo,
    /// The one with the fewest valid pages.
    Greedy,
}

/// How a card finds what was written to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Mapping {
    /// A table with a place for every unit: eMMC, A2 cards.
    PageMapped {
        /// Bytes of such a unit: a page, or a part of one.
        map_bytes: u64,
        /// Which block it cleans next.
        cleaning: Cleaning,
    },
    /// A table with a place for every erase block, and a log block for each of a few that are open:
    /// cheap SD cards.
    LogBlocks {
        /// How many may be open at a time.
        open_units: Spread,
    },
}

/// A flash card, or another managed flash device, as a model of it takes it. `docs/flash.md` has the
/// sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// How it maps addresses.
    #[serde(flatten)]
    pub mapping: Mapping,
    /// Bytes that its user sees.
    pub capacity_bytes: u64,
    /// Bytes that are programmed at once.
    pub page_bytes: u64,
    /// Bytes that are erased at once.
    pub erase_block_bytes: u64,
    /// Flash beyond the capacity that writes can use, in thousandths of the capacity.
    pub spare_permille: Spread,
    /// How often a block can be erased.
    pub cycles: Spread,
    /// Bytes of its volatile write cache; 0: it holds the page that is being filled and no more.
    pub cache_bytes: u64,
    /// How much of the card beside the recorded device holds data that never change, in thousandths.
    pub filled_permille: u32,
}

impl Card {
    /// Erase blocks of its flash at an end of its spare space.
    pub const fn blocks(&self, end: End) -> u64 {
        let spare = self.capacity_bytes / 1000 * self.spare_permille.at(end) as u64;
        (self.capacity_bytes + spare) / self.erase_block_bytes
    }

    /// Days until every block has been erased as often as it can be, wear being even, where `erases`
    /// blocks are erased a day. `None` where none is.
    pub fn days(&self, end: End, erases: f64) -> Option<f64> {
        let all = self.blocks(end) as f64 * f64::from(self.cycles.at(end));
        (erases > 0.0).then(|| all / erases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_lasts_until_each_of_its_blocks_was_erased_as_often_as_it_can_be() {
        let card = Card {
            name: "one".to_owned(),
            mapping: Mapping::LogBlocks { open_units: Spread::of(4) },
            capacity_bytes: 1_000 << 20,
            page_bytes: 16 << 10,
            erase_block_bytes: 1 << 20,
            spare_permille: Spread { low: 0, typical: 50, high: 100 },
            cycles: Spread { low: 100, typical: 1_000, high: 3_000 },
            cache_bytes: 0,
            filled_permille: 1_000,
        };
        // 1,000 blocks a hundred times over at ten blocks a day.
        assert_eq!(card.days(End::Low, 10.0), Some(10_000.0));
        assert_eq!(card.days(End::High, 10.0), Some(1_100.0 * 3_000.0 / 10.0));
        assert_eq!(card.days(End::Low, 0.0), None);
    }
}
