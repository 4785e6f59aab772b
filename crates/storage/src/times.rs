//! The model of a storage: when each request ends. It does no I/O and has no clock.
//!
//! The device works on as many requests at a time as its queue is deep. Their latencies pass in
//! parallel; their bytes are transferred one after the other. Without a write cache, a write ends
//! when it is in the medium. With a cache, it ends when the cache has room for it, and the cache
//! drains into the medium in the background. A flush ends when everything is in the medium. What the
//! translation layer copies and erases delays the write that causes it.

use std::collections::VecDeque;

use embermark_blockdev::{Request, RequestKind, Timing};
use embermark_flash::{Buffer, Done, Refused, Translation, model_of};
use embermark_model::card::{End, Spread};
use embermark_model::storage::{Flash, Platters, Storage, Transfer};

const SECOND: u64 = 1_000_000_000;

/// Computes when requests to a storage end, from the likely values of its parameters. Times are in
/// ns of the caller's clock.
pub struct Times {
    read: Rate,
    write: Rate,
    flush_ns: u64,
    /// When each of the parallel requests ends.
    slots: Vec<u64>,
    /// When the last transfer ends.
    transferred: u64,
    /// The offset behind the last read.
    read_to: u64,
    /// The medium behind the cache.
    medium: Medium,
    cache: Option<Cache>,
}

/// [`Transfer`] in ns.
#[derive(Clone, Copy)]
struct Rate {
    random_ns: u64,
    sequential_ns: u64,
    bytes_per_second: u64,
}

impl Rate {
    fn of(Transfer { random_us, sequential_us, kb_per_s }: Transfer) -> Self {
        Self {
            random_ns: ns(random_us),
            sequential_ns: ns(sequential_us),
            bytes_per_second: u64::from(kb_per_s.typical).max(1) * 1_000,
        }
    }

    /// Returns the transfer time of `length` bytes.
    const fn bytes(self, length: u64) -> u64 {
        length * SECOND / self.bytes_per_second
    }
}

/// Converts the likely value of a parameter from µs to ns.
fn ns(us: Spread) -> u64 {
    u64::from(us.typical) * 1_000
}

/// The medium behind the cache: flash or platters.
struct Medium {
    /// When its queued work ends.
    free: u64,
    /// The offset behind the last write.
    written_to: u64,
    layer: Option<Layer>,
    heads: Option<Heads>,
}

/// A flash translation layer, fed with the writes.
struct Layer {
    card: Box<dyn Translation>,
    buffer: Buffer,
    /// Whether each write is programmed before it ends, as without a cache.
    writes_through: bool,
    erase_ns: u64,
    /// Time to copy a page.
    page_ns: u64,
}

impl Layer {
    fn new(
        flash: &Flash,
        cache_bytes: u64,
        write: Rate,
        device_bytes: u64,
    ) -> Result<Self, Refused> {
        let card = model_of(&flash.card, End::Typical, device_bytes)?;
        let units = u32::try_from(device_bytes.div_ceil(card.unit_bytes())).unwrap_or(u32::MAX);
        let buffer = Buffer::new(&*card, units, cache_bytes);
        let page_ns = write.bytes(card.page_bytes());
        let (erase_ns, writes_through) = (ns(flash.erase_us), cache_bytes == 0);
        Ok(Self { card, buffer, writes_through, erase_ns, page_ns })
    }

    /// Takes a write, and returns its stall in ns: the time of copies and erases.
    fn write(&mut self, offset: u64, length: u64) -> u64 {
        let before = (self.card.done().erases, self.card.copied_pages());
        let unit = self.card.unit_bytes();
        for number in offset / unit..(offset + length).div_ceil(unit) {
            self.buffer.write(number as u32, &mut *self.card);
        }
        if self.writes_through {
            self.buffer.flush(&mut *self.card);
        }
        self.stall(before)
    }

    /// Takes a flush, and returns its stall in ns.
    fn flush(&mut self) -> u64 {
        let before = (self.card.done().erases, self.card.copied_pages());
        self.buffer.flush(&mut *self.card);
        self.stall(before)
    }

    fn stall(&self, (erases, copied): (u64, u64)) -> u64 {
        (self.card.done().erases - erases) * self.erase_ns
            + (self.card.copied_pages() - copied) * self.page_ns
    }

    fn discard(&mut self, offset: u64, length: u64) {
        let unit = self.card.unit_bytes();
        // A unit that is discarded in part still holds the rest.
        for number in offset.div_ceil(unit)..(offset + length) / unit {
            self.buffer.discard(number as u32, &mut *self.card);
        }
    }
}

/// Heads over turning platters. A track is what passes below the heads in one turn. Seek time grows
/// with the square root of the distance (C. Ruemmler, J. Wilkes, *An introduction to disk drive modeling*, IEEE Computer 27(3), 1994).
struct Heads {
    turn_ns: u64,
    track_bytes: u64,
    tracks: u64,
    track_seek_ns: u64,
    full_seek_ns: u64,
    track: u64,
}

impl Heads {
    fn new(platters: Platters, write: Rate) -> Self {
        let turn_ns = 60 * SECOND / u64::from(platters.turns_per_minute.max(1));
        let track_bytes = (write.bytes_per_second * turn_ns / SECOND).max(1);
        Self {
            turn_ns,
            track_bytes,
            tracks: (platters.capacity_bytes / track_bytes).max(1),
            track_seek_ns: ns(platters.track_seek_us),
            full_seek_ns: ns(platters.full_seek_us),
            track: 0,
        }
    }

    /// Moves the heads, and returns the time from `from` until `offset` is below them.
    fn reach(&mut self, offset: u64, from: u64) -> u64 {
        let track = offset / self.track_bytes;
        let way = track.abs_diff(self.track);
        self.track = track;
        let further = self.full_seek_ns.saturating_sub(self.track_seek_ns) as f64;
        let seek = match way {
            0 => 0,
            way => {
                let share = (way as f64 / self.tracks as f64).min(1.0).sqrt();
                self.track_seek_ns + (further * share) as u64
            }
        };
        // In 128 bits, since it is a product of bytes and ns.
        let within = u128::from(offset % self.track_bytes) * u128::from(self.turn_ns);
        let place = (within / u128::from(self.track_bytes)) as u64;
        let now = (from + seek) % self.turn_ns;
        seek + (place + self.turn_ns - now) % self.turn_ns
    }
}

/// A write cache: for each write in it when the medium holds it, and its bytes; oldest first.
struct Cache {
    bytes: u64,
    write_ns: u64,
    held: VecDeque<(u64, u64)>,
    held_bytes: u64,
}

impl Cache {
    /// Returns when there is room for `length` more bytes: now, or when enough writes have reached the
    /// medium.
    fn room(&mut self, length: u64, now: u64) -> u64 {
        let mut at = now;
        while let Some((done, bytes)) = self.held.front().copied() {
            if done > at {
                if self.held_bytes + length <= self.bytes {
                    break;
                }
                at = done;
            }
            self.held.pop_front();
            self.held_bytes -= bytes;
        }
        at
    }
}

impl Times {
    /// Makes the model of a storage whose first `device_bytes` are the device.
    ///
    /// # Errors
    /// The device is larger than the storage.
    pub fn new(storage: &Storage, device_bytes: u64) -> Result<Self, Refused> {
        let write = Rate::of(storage.write);
        let layer = |flash: &Flash| Layer::new(flash, storage.cache_bytes, write, device_bytes);
        let medium = Medium {
            free: 0,
            written_to: u64::MAX,
            layer: storage.flash.as_ref().map(layer).transpose()?,
            heads: storage.disk.map(|platters| Heads::new(platters, write)),
        };
        let cache = (storage.cache_bytes > 0).then(|| Cache {
            bytes: storage.cache_bytes,
            write_ns: ns(storage.cached_write_us),
            held: VecDeque::new(),
            held_bytes: 0,
        });
        Ok(Self {
            read: Rate::of(storage.read),
            write,
            flush_ns: ns(storage.flush_us),
            slots: vec![0; storage.queue_depth.max(1) as usize],
            transferred: 0,
            read_to: u64::MAX,
            medium,
            cache,
        })
    }

    /// Returns the work of the translation layer so far, if the storage has one.
    pub fn done(&self) -> Option<Done> {
        self.medium.layer.as_ref().map(|layer| layer.card.done())
    }

    fn read(&mut self, offset: u64, length: u64, begin: u64) -> u64 {
        let sequential = self.read_to == offset;
        self.read_to = offset + length;
        let mut ready =
            begin + if sequential { self.read.sequential_ns } else { self.read.random_ns };
        if let Some(heads) = self.medium.heads.as_mut().filter(|_| !sequential) {
            // The heads finish their queued work first.
            ready = ready.max(self.medium.free);
            ready += heads.reach(offset, ready);
            self.medium.free = ready;
        }
        self.transfer(self.read.bytes(length), ready)
    }

    fn write(&mut self, offset: u64, length: u64, begin: u64) -> u64 {
        let Some(cache) = &mut self.cache else {
            return self.program(offset, length, begin);
        };
        let (ready, taken) = (cache.room(length, begin) + cache.write_ns, self.read.bytes(length));
        let end = self.transfer(taken, ready);
        let done = self.program(offset, length, end);
        if let Some(cache) = &mut self.cache {
            cache.held.push_back((done, length));
            cache.held_bytes += length;
        }
        end
    }

    /// Transfers bytes when the bus is free, and returns the end.
    fn transfer(&mut self, takes: u64, ready: u64) -> u64 {
        self.transferred = self.transferred.max(ready) + takes;
        self.transferred
    }

    /// Puts bytes into the medium after its queued work, and returns the end.
    fn program(&mut self, offset: u64, length: u64, begin: u64) -> u64 {
        let (write, medium) = (self.write, &mut self.medium);
        let sequential = medium.written_to == offset;
        medium.written_to = offset + length;
        let start = medium.free.max(begin);
        let latency = match &mut medium.heads {
            Some(heads) => heads.reach(offset, start),
            None if sequential => write.sequential_ns,
            None => write.random_ns,
        };
        let stall = medium.layer.as_mut().map_or(0, |layer| layer.write(offset, length));
        medium.free = start + latency + write.bytes(length) + stall;
        medium.free
    }

    fn flush(&mut self, begin: u64) -> u64 {
        let medium = &mut self.medium;
        let stall = medium.layer.as_mut().map_or(0, Layer::flush);
        medium.free = medium.free.max(begin) + stall + self.flush_ns;
        medium.free
    }
}

impl Timing for Times {
    fn end(&mut self, Request { kind, offset, length }: Request, now: u64) -> u64 {
        if kind == RequestKind::Discard {
            if let Some(layer) = &mut self.medium.layer {
                layer.discard(offset, length);
            }
            return now;
        }
        // It waits for a free slot.
        let slot = (0..self.slots.len()).min_by_key(|slot| self.slots[*slot]).unwrap_or_default();
        let begin = now.max(self.slots[slot]);
        let end = match kind {
            RequestKind::Read => self.read(offset, length, begin),
            RequestKind::Write => self.write(offset, length, begin),
            RequestKind::Flush | RequestKind::Discard => self.flush(begin),
        };
        self.slots[slot] = end;
        end
    }
}

#[cfg(test)]
mod tests;
