//! The assumptions behind the figures of a modelled card, in words.

use embermark_model::Card;
use embermark_model::card::{Cleaning, Mapping, Spread};

use crate::format;

/// Formats a parameter: `one`, or `30 to 74, likely 50`.
fn spread(all: Spread, show: impl Fn(u32) -> String) -> String {
    let Spread { low, typical, high } = all;
    match low == high {
        true => show(typical),
        false => format!("{} to {}, likely {}", show(low), show(high), show(typical)),
    }
}

/// Describes the parameters of a card in one line.
pub(super) fn card(card: &Card) -> String {
    let bytes = |count: u64| match count.is_multiple_of(1 << 10) {
        true if count >= 1 << 20 && count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        true => format!("{} KiB", count >> 10),
        false => format::bytes(count as f64),
    };
    let share = |permille: u32| format!("{} %", f64::from(permille) / 10.0);
    let mapping = match card.mapping {
        Mapping::PageMapped { map_bytes, cleaning } => {
            let next = match cleaning {
                Cleaning::Fifo => "the oldest block is cleaned next",
                Cleaning::Greedy => "the block with the fewest valid pages is cleaned next",
            };
            format!("page-mapped in units of {}, {next}", bytes(map_bytes))
        }
        Mapping::LogBlocks { open_units } => {
            let open = spread(open_units, |open| open.to_string());
            format!("log blocks, {open} of them open at a time")
        }
    };
    let cache = match card.cache_bytes {
        0 => "no write cache".to_owned(),
        cache => format!("a write cache of {}", bytes(cache)),
    };
    format!(
        "{}, {}; pages of {}, erase blocks of {}; {cache}; spare space {}; each block erased {} times; \
         {} of the card next to the database's disk filled with data that never change",
        format::bytes(card.capacity_bytes as f64),
        mapping,
        bytes(card.page_bytes),
        bytes(card.erase_block_bytes),
        spread(card.spare_permille, share),
        spread(card.cycles, |cycles| format::count(cycles.into())),
        share(card.filled_permille),
    )
}

/// Explains the model to readers of its figures.
pub(super) const MODEL: &str = "no card was measured: every write, discard and flush that reached the disk \
    in the trial that counts was replayed on a model of the card, repeatedly until it was steady; \
    programmed: bytes programmed into flash by one run of the phase and the maintenance after it, by the \
    card's likely parameters; ends: at both ends of them, where that is another figure. A ratio \
    counts only if both ends confirm it (docs/flash.md)";

/// Explains the assumptions behind years.
pub(super) fn years(rows_per_day: Option<f64>) -> String {
    match rows_per_day {
        Some(rate) => format!(
            "until every block reached its erase limit, at {} rows per day inserted that way and nothing else \
             written; from the parameters with the shortest life to those with the longest; wear even \
             over the whole card; rows that are deleted, questions and the system's own writes not counted",
            format::number(rate)
        ),
        None => "how long the card lasts at your rate: --rows-per-day 1M".to_owned(),
    }
}
