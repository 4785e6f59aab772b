//! A flash card, as a model of its flash translation layer sees it.

use serde::{Deserialize, Serialize};

/// A parameter that no vendor publishes: its likely value and both ends of its plausible range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// The end at which a card wears out soonest.
    pub low: u32,
    /// The likely value.
    pub typical: u32,
    /// The end at which a card lasts longest.
    pub high: u32,
}

/// Selects values of a card's parameters for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The values at which the card wears out soonest.
    Low,
    /// The likely values.
    Typical,
    /// The values at which the card lasts longest.
    High,
}

impl End {
    /// All ends.
    pub const ALL: [Self; 3] = [Self::Low, Self::Typical, Self::High];
}

impl Spread {
    /// Makes a parameter with the same value at every end.
    pub const fn exact(one: u32) -> Self {
        Self { low: one, typical: one, high: one }
    }

    /// Returns the value at an end.
    pub const fn at(self, end: End) -> u32 {
        match end {
            End::Low => self.low,
            End::Typical => self.typical,
            End::High => self.high,
        }
    }
}

/// How a card chooses the block to clean next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cleaning {
    /// The block that was filled the longest ago.
    Fifo,
    /// The block with the fewest valid pages.
    Greedy,
}

/// How a card maps addresses to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Mapping {
    /// A table with an entry for every unit: eMMC, A2 cards.
    PageMapped {
        /// Size of such a unit in bytes: a page, or a part of one.
        map_bytes: u64,
        /// How the next block to clean is chosen.
        cleaning: Cleaning,
    },
    /// A table with an entry for every erase block, and a log block for each of a few open ones:
    /// cheap SD cards.
    LogBlocks {
        /// Number of blocks that may be open at the same time.
        open_units: Spread,
    },
}

/// A flash card, or another managed flash device, with the parameters of its model. `docs/flash.md`
/// has the sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Name of the card.
    pub name: String,
    /// How it maps addresses.
    #[serde(flatten)]
    pub mapping: Mapping,
    /// Capacity that the user sees, in bytes.
    pub capacity_bytes: u64,
    /// Bytes that are programmed at once.
    pub page_bytes: u64,
    /// Bytes that are erased at once.
    pub erase_block_bytes: u64,
    /// Flash beyond the capacity that writes can use, in thousandths of the capacity.
    pub spare_permille: Spread,
    /// Number of times that a block can be erased.
    pub cycles: Spread,
    /// Size of the volatile write cache in bytes. 0: the cache holds only the page that is being
    /// filled.
    pub cache_bytes: u64,
    /// Share of the rest of the card, outside the recorded device, that holds data which never
    /// change, in thousandths.
    pub filled_permille: u32,
}

impl Card {
    /// Returns the number of erase blocks at an end of the spare space.
    pub const fn blocks(&self, end: End) -> u64 {
        let spare = self.capacity_bytes / 1000 * self.spare_permille.at(end) as u64;
        (self.capacity_bytes + spare) / self.erase_block_bytes
    }

    /// Returns the number of days until every block has been erased as often as it can be, if
    /// `erases` blocks are erased per day and wear is even. `None` if no block is erased.
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
            mapping: Mapping::LogBlocks { open_units: Spread::exact(4) },
            capacity_bytes: 1_000 << 20,
            page_bytes: 16 << 10,
            erase_block_bytes: 1 << 20,
            spare_permille: Spread { low: 0, typical: 50, high: 100 },
            cycles: Spread { low: 100, typical: 1_000, high: 3_000 },
            cache_bytes: 0,
            filled_permille: 1_000,
        };
        // 1,000 blocks, 100 times each, at ten blocks per day.
        assert_eq!(card.days(End::Low, 10.0), Some(10_000.0));
        assert_eq!(card.days(End::High, 10.0), Some(1_100.0 * 3_000.0 / 10.0));
        assert_eq!(card.days(End::Low, 0.0), None);
    }
}
