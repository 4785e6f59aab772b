//! Feeds a model with what was recorded, until the card is in a steady state.

use embermark_model::card::{Card, Cleaning, End, Mapping};

use crate::buffer::Buffer;
use crate::page_mapped::RESERVE;
use crate::{Event, Geometry, Kind, LogBlocks, PageMapped, Translation};

/// The share by which two rounds in a row may differ, in pages programmed.
const STEADY: f64 = 0.01;

/// Rounds after which a card that is not steady is taken as it is.
const MOST_ROUNDS: u32 = 40;

/// Passes of a round at most: a recording that hardly writes needs many.
const MOST_PASSES: u64 = 100_000;

/// A time in which what is done is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its first moment, in ns of the events' clock.
    pub began: u64,
    /// Its last one.
    pub ended: u64,
}

/// What one pass of a recording came to, the mean over the passes of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Bytes that were written to the card.
    pub written_bytes: f64,
    /// Bytes that were programmed into flash.
    pub programmed_bytes: f64,
    /// Blocks that were erased.
    pub erases: f64,
}

/// What a card made of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Of each window.
    pub windows: Vec<Work>,
    /// Of all, what lies in no window too.
    pub all: Work,
    /// Whether two rounds in a row came to the same.
    pub steady: bool,
}

/// A recording that has no place on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recorded device has {device_bytes} bytes, and the card {capacity_bytes}")]
pub struct Refused {
    /// Bytes of the recorded device.
    pub device_bytes: u64,
    /// Bytes of the card.
    pub capacity_bytes: u64,
}

/// The model of a card at an end of its parameters, with a device of so many bytes at its beginning. The
/// device is full, and so is the share of the rest that the card says; all of it was written once, in
/// order.
///
/// # Errors
/// When the device is larger than the card.
pub fn model_of(card: &Card, end: End, device_bytes: u64) -> Result<Box<dyn Translation>, Refused> {
    let Card { capacity_bytes, page_bytes, erase_block_bytes, .. } = *card;
    if device_bytes > capacity_bytes {
        return Err(Refused { device_bytes, capacity_bytes });
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
            // A full block of data that never change is never the one with the fewest valid pages: it
            // is as if it were not there. By age its turn comes like any other one's.
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

/// Replays what was recorded on a device of so many bytes again and again, and tells what each window of
/// one pass comes to: when two rounds in a row came to the same. A round is as many passes as it takes to
/// program what is spare once. The first one, in which there is room, is no part of it.
///
/// `cache_bytes` are those of the card's write cache. Windows do not overlap, and are in the order of
/// time, as events are.
pub fn replay<I>(
    card: &mut dyn Translation,
    cache_bytes: u64,
    device_bytes: u64,
    events: &I,
    windows: &[Window],
) -> Replayed
where
    I: IntoIterator<Item = Event> + Clone,
{
    let units = device_bytes.div_ceil(card.unit_bytes());
    let buffer = Buffer::new(card, u32::try_from(units).unwrap_or(u32::MAX), cache_bytes);
    let mut player = Player { card, buffer, windows, works: Vec::new() };
    let mut before: Option<f64> = None;
    for round in 0..MOST_ROUNDS {
        let works = player.round(events);
        let pages = works.last().map_or(0.0, |all| all.programmed_bytes);
        let steady = before.is_some_and(|before| (pages - before).abs() <= STEADY * before);
        if steady || pages == 0.0 || round + 1 == MOST_ROUNDS {
            let (windows, all) = works.split_at(windows.len());
            let all = all.first().copied().unwrap_or_default();
            return Replayed { windows: windows.to_vec(), all, steady: steady || pages == 0.0 };
        }
        before = (round > 0).then_some(pages);
    }
    Replayed { windows: Vec::new(), all: Work::default(), steady: false }
}

/// A recording that is played to a card.
struct Player<'a> {
    card: &'a mut dyn Translation,
    buffer: Buffer,
    windows: &'a [Window],
    /// Of each window, and of all.
    works: Vec<Work>,
}

impl Player<'_> {
    /// Plays as often as a round has it; the mean over the passes.
    fn round<I>(&mut self, events: &I) -> Vec<Work>
    where
        I: IntoIterator<Item = Event> + Clone,
    {
        self.works = vec![Work::default(); self.windows.len() + 1];
        let (until, mut passes) = (self.card.done().pages + self.card.round_pages(), 0);
        while passes < MOST_PASSES && (passes == 0 || self.card.done().pages < until) {
            let before = self.card.done();
            self.pass(events.clone());
            passes += 1;
            if self.card.done() == before {
                break;
            }
        }
        let mean = |total: f64| total / passes as f64;
        let mean = |work: &Work| Work {
            written_bytes: mean(work.written_bytes),
            programmed_bytes: mean(work.programmed_bytes),
            erases: mean(work.erases),
        };
        self.works.iter().map(mean).collect()
    }

    /// Plays once.
    fn pass(&mut self, events: impl IntoIterator<Item = Event>) {
        let mut window = 0;
        for event in events {
            while self.windows.get(window).is_some_and(|one| one.ended < event.ns) {
                window += 1;
            }
            let within = self.windows.get(window).filter(|one| one.began <= event.ns);
            self.take(event, within.map(|_| window));
        }
        // What a card holds back at the end it programs before the next pass.
        self.take(Event { ns: 0, kind: Kind::Flush, offset: 0, length: 0 }, None);
    }

    fn take(&mut self, Event { kind, offset, length, .. }: Event, window: Option<usize>) {
        let before = self.card.done();
        let unit = self.card.unit_bytes();
        let written = match kind {
            Kind::Flush => {
                self.buffer.flush(self.card);
                0
            }
            Kind::Write => {
                for number in offset / unit..(offset + length).div_ceil(unit) {
                    self.buffer.write(number as u32, self.card);
                }
                length
            }
            Kind::Discard => {
                // A unit of which a part is given up holds the rest still.
                for number in offset.div_ceil(unit)..(offset + length) / unit {
                    self.buffer.discard(number as u32, self.card);
                }
                0
            }
        };
        let done = self.card.done();
        let work = Work {
            written_bytes: written as f64,
            programmed_bytes: ((done.pages - before.pages) * self.card.page_bytes()) as f64,
            erases: (done.erases - before.erases) as f64,
        };
        let all = self.windows.len();
        for place in window.into_iter().chain([all]) {
            let sum = &mut self.works[place];
            sum.written_bytes += work.written_bytes;
            sum.programmed_bytes += work.programmed_bytes;
            sum.erases += work.erases;
        }
    }
}

#[cfg(test)]
mod tests;
