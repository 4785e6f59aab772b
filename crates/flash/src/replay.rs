//! Feeds a model with a recording until the card is in a steady state.

use embermark_blockdev::{Access, RequestKind};
use embermark_model::card::{Card, Cleaning, End, Mapping};

use crate::buffer::Buffer;
use crate::page_mapped::RESERVE;
use crate::{Geometry, LogBlocks, PageMapped, Translation};

/// Share by which two successive rounds may differ in pages programmed.
const STEADY: f64 = 0.01;

/// Number of rounds after which a card that is not steady is accepted as it is.
const MOST_ROUNDS: u32 = 40;

/// Largest number of passes per round. A recording that hardly writes needs many.
const MOST_PASSES: u64 = 100_000;

/// A period whose work is reported separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Beginning in ns of the events' clock.
    pub began: u64,
    /// End, on the same clock.
    pub ended: u64,
}

/// Work of one pass of a recording, the mean over the passes of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Bytes written to the card.
    pub written_bytes: f64,
    /// Bytes programmed into flash.
    pub programmed_bytes: f64,
    /// Number of blocks erased.
    pub erases: f64,
}

/// Result of replaying a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Work of each window.
    pub windows: Vec<Work>,
    /// Work of everything, including what is in no window.
    pub all: Work,
    /// Whether two successive rounds gave the same result.
    pub steady: bool,
}

/// A recording that does not fit on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recorded device has {device_bytes} bytes, and the card {capacity_bytes}")]
pub struct DeviceTooLarge {
    /// Size of the recorded device in bytes.
    pub device_bytes: u64,
    /// Size of the card in bytes.
    pub capacity_bytes: u64,
}

/// Makes the model of a card at an end of its parameters, with a device of this size at its
/// beginning. The device is full, and so is the card's configured share of the rest. All of it was
/// written once, in order.
///
/// # Errors
/// If the device is larger than the card.
pub fn model_of(
    card: &Card,
    end: End,
    device_bytes: u64,
) -> Result<Box<dyn Translation>, DeviceTooLarge> {
    let Card { capacity_bytes, page_bytes, erase_block_bytes, .. } = *card;
    if device_bytes > capacity_bytes {
        return Err(DeviceTooLarge { device_bytes, capacity_bytes });
    }
    let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX - 1);
    Ok(match card.mapping {
        Mapping::LogBlocks { open_units } => {
            let (pages, block) =
                (device_bytes.div_ceil(page_bytes), erase_block_bytes / page_bytes);
            Box::new(LogBlocks::new(page_bytes, number(block), number(pages), open_units.at(end)))
        }
        Mapping::PageMapped { map_bytes, cleaning } => {
            let block_units = erase_block_bytes / map_bytes;
            let device = device_bytes.div_ceil(map_bytes);
            let rest = (capacity_bytes - device_bytes) / map_bytes;
            let cold = rest * u64::from(card.filled_permille.min(1000)) / 1000;
            let blocks = card.blocks(end);
            // A full block of data that never change is never the one with the fewest valid pages,
            // so it can be left out. By age its turn comes like any other one's.
            let (units, blocks) = match cleaning {
                Cleaning::Fifo => (device + cold, blocks),
                Cleaning::Greedy => (device, blocks.saturating_sub(cold / block_units)),
            };
            let geometry = Geometry {
                unit_bytes: map_bytes,
                page_units: number(page_bytes / map_bytes),
                block_units: number(block_units),
                units: number(units),
                blocks: number(blocks.max(units.div_ceil(block_units) + u64::from(RESERVE))),
            };
            Box::new(PageMapped::new(geometry, cleaning).filled(geometry.units))
        }
    })
}

/// Replays a recording of a device of this size repeatedly. Returns the work of each window in one
/// pass, once two successive rounds gave the same result. A round has as many passes as it takes to
/// program [`Translation::round_pages`]. The first round, in which there is room, does not count.
///
/// `cache_bytes` is the size of the card's write cache. Windows do not overlap and are in order of
/// time, like events.
pub fn replay<I>(
    card: &mut dyn Translation,
    cache_bytes: u64,
    device_bytes: u64,
    events: &I,
    windows: &[Window],
) -> Replayed
where
    I: IntoIterator<Item = Access> + Clone,
{
    let units = device_bytes.div_ceil(card.unit_bytes());
    let buffer = Buffer::new(card, u32::try_from(units).unwrap_or(u32::MAX), cache_bytes);
    let mut replayer = Replayer { card, buffer, windows };
    let mut before: Option<f64> = None;
    for round in 0..MOST_ROUNDS {
        let (windows, all) = replayer.round(events);
        let now = all.programmed_bytes;
        let steady = now == 0.0 || before.is_some_and(|was| (now - was).abs() <= STEADY * was);
        if steady || round + 1 == MOST_ROUNDS {
            return Replayed { windows, all, steady };
        }
        before = (round > 0).then_some(now);
    }
    Replayed { windows: Vec::new(), all: Work::default(), steady: false }
}

/// A recording that is replayed on a card.
struct Replayer<'a> {
    card: &'a mut dyn Translation,
    buffer: Buffer,
    windows: &'a [Window],
}

impl Replayer<'_> {
    /// Replays all passes of a round. Returns the mean work per pass for each window and in total.
    fn round<I>(&mut self, events: &I) -> (Vec<Work>, Work)
    where
        I: IntoIterator<Item = Access> + Clone,
    {
        // Work outside the windows has its own account.
        let others = self.windows.len();
        self.card.charge_to(others);
        let (begun, charged) = (self.card.done(), self.card.costs().to_vec());
        let (until, mut passes) = (begun.pages + self.card.round_pages(), 0);
        let mut written = vec![0; others + 1];
        while passes < MOST_PASSES && (passes == 0 || self.card.done().pages < until) {
            let before = self.card.done();
            self.pass(events.clone(), &mut written);
            passes += 1;
            if self.card.done() == before {
                break;
            }
        }
        let mean = |total: f64| total / passes as f64;
        let page_bytes = self.card.page_bytes() as f64;
        let (costs, done) = (self.card.costs(), self.card.done());
        let of_window = |window: usize| Work {
            written_bytes: mean(written[window] as f64),
            programmed_bytes: mean((costs[window].pages - charged[window].pages) * page_bytes),
            erases: mean(costs[window].erases - charged[window].erases),
        };
        let all = Work {
            written_bytes: mean(written.iter().sum::<u64>() as f64),
            programmed_bytes: mean((done.pages - begun.pages) as f64 * page_bytes),
            erases: mean((done.erases - begun.erases) as f64),
        };
        ((0..others).map(of_window).collect(), all)
    }

    /// Replays once, and adds the bytes that are written in each window, and in none.
    fn pass(&mut self, events: impl IntoIterator<Item = Access>, written: &mut [u64]) {
        let (mut window, others) = (0, self.windows.len());
        for event in events {
            while self.windows.get(window).is_some_and(|one| one.ended < event.ns) {
                window += 1;
            }
            let within = self.windows.get(window).is_some_and(|one| one.began <= event.ns);
            let account = if within { window } else { others };
            self.card.charge_to(account);
            written[account] += self.execute(event);
        }
        // The card programs its cached units before the next pass.
        self.card.charge_to(others);
        self.buffer.flush(self.card);
    }

    /// Executes a request. Returns the bytes that it writes.
    fn execute(&mut self, Access { kind, offset, length, .. }: Access) -> u64 {
        match kind {
            RequestKind::Read => {}
            RequestKind::Write => {
                self.buffer.write_bytes(offset, length, self.card);
                return length;
            }
            RequestKind::Discard => self.buffer.discard_bytes(offset, length, self.card),
            RequestKind::Flush => self.buffer.flush(self.card),
        }
        0
    }
}

#[cfg(test)]
mod tests;
