//! The built-in cards. `docs/flash.md` gives the source of each figure, and lists the figures that
//! no vendor publishes.

use embermark_model::card::{Card, Cleaning, Mapping, Spread};
use embermark_model::choice::{self, UnknownName};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Name, one-line description and parameters of a card.
type BuiltIn = (&'static str, &'static str, fn() -> Card);

/// Spare space for writes. Raw flash comes in powers of two and cards in powers of ten. At most
/// that difference is left, after firmware and bad blocks.
const SPARE: Spread = Spread { low: 30, typical: 50, high: 74 };

/// Every built-in card.
pub const CARDS: [BuiltIn; 4] = [
    ("sd-32gb", "a cheap SD card of 32 GB: log blocks, few of them open", sd_32gb),
    ("sd-a2-64gb", "an SD card of 64 GB of class A2: page-mapped, with a write cache", sd_a2_64gb),
    ("emmc-8gb", "an eMMC of 8 GB with MLC flash: page-mapped", emmc_8gb),
    ("emmc-32gb", "an eMMC of 32 GB with TLC flash: page-mapped", emmc_32gb),
];

/// Returns the names of the built-in cards.
pub fn names() -> impl Iterator<Item = &'static str> {
    CARDS.iter().map(|(name, ..)| *name)
}

/// Returns the built-in card with a name.
///
/// # Errors
/// If the name is unknown. The error lists the valid names and suggests the nearest.
pub fn built_in(name: &str) -> Result<Card, UnknownName> {
    let found = CARDS.iter().find(|(known, ..)| *known == name);
    let card = found.map(|(name, _, make)| Card { name: (*name).to_owned(), ..make() });
    card.ok_or_else(|| choice::unknown("card", name, names()))
}

fn sd_32gb() -> Card {
    Card {
        name: String::new(),
        mapping: Mapping::LogBlocks { open_units: Spread { low: 2, typical: 5, high: 10 } },
        capacity_bytes: 31_910_789_120,
        page_bytes: 16 * KIB,
        erase_block_bytes: 4 * MIB,
        spare_permille: SPARE,
        cycles: Spread { low: 300, typical: 1_000, high: 3_000 },
        cache_bytes: 0,
        filled_permille: 1_000,
    }
}

fn sd_a2_64gb() -> Card {
    Card {
        mapping: Mapping::PageMapped { map_bytes: 4 * KIB, cleaning: Cleaning::Greedy },
        capacity_bytes: 64_000_000_000,
        cache_bytes: 256 * KIB,
        ..sd_32gb()
    }
}

fn emmc_8gb() -> Card {
    Card {
        mapping: Mapping::PageMapped { map_bytes: 4 * KIB, cleaning: Cleaning::Greedy },
        capacity_bytes: 7_818_182_656,
        cycles: Spread { low: 1_000, typical: 3_000, high: 3_000 },
        cache_bytes: 256 * KIB,
        ..sd_32gb()
    }
}

fn emmc_32gb() -> Card {
    Card {
        capacity_bytes: 31_268_536_320,
        cycles: Spread { low: 500, typical: 1_000, high: 3_000 },
        ..emmc_8gb()
    }
}
