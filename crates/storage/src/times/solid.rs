//! Model of a medium without moving parts: its write cache, and its flash with the translation
//! layer.

use std::collections::VecDeque;

use embermark_flash::{Buffer, DeviceTooLarge, Translation, WorkCounts, model_of};
use embermark_model::card::End;
use embermark_model::storage::{Flash, Storage};

use super::{Bus, FlashWork, Rate, ns};

/// A medium that processes writes in the order of their arrival.
pub(super) struct Solid {
    write: Rate,
    flush_ns: u64,
    /// When its queued work ends.
    free: u64,
    /// End offset of the last write.
    written_to: u64,
    layer: Option<TranslationLayer>,
    cache: Option<Cache>,
}

impl Solid {
    pub(super) fn new(storage: &Storage, device_bytes: u64) -> Result<Self, DeviceTooLarge> {
        let write = Rate::new(storage.write);
        let layer =
            |flash: &Flash| TranslationLayer::new(flash, storage.cache_bytes, write, device_bytes);
        let cache = (storage.cache_bytes > 0).then(|| Cache {
            bytes: storage.cache_bytes,
            write_ns: ns(storage.cached_write_us),
            held: VecDeque::new(),
            held_bytes: 0,
        });
        Ok(Self {
            write,
            flush_ns: ns(storage.flush_us),
            free: 0,
            written_to: u64::MAX,
            layer: storage.flash.as_ref().map(layer).transpose()?,
            cache,
        })
    }

    /// Returns the work of the translation layer so far, if there is one.
    pub(super) fn flash(&self) -> Option<FlashWork> {
        let layer = self.layer.as_ref()?;
        let (done, before) = (layer.card.done(), layer.before);
        let programmed_bytes = (done.pages - before.pages) * layer.card.page_bytes();
        Some(FlashWork { programmed_bytes, erases: done.erases - before.erases })
    }

    pub(super) fn discard(&mut self, offset: u64, length: u64) {
        if let Some(layer) = &mut self.layer {
            layer.discard(offset, length);
        }
    }

    pub(super) fn write(&mut self, offset: u64, length: u64, begin: u64, bus: &mut Bus) -> u64 {
        let Some(cache) = &mut self.cache else {
            // Latencies of a deeper queue pass in parallel.
            let ready = begin + self.latency(offset, length);
            self.free = self.free.max(ready) + self.write.bytes(length);
            return self.free;
        };
        let bytes = cache.bytes;
        let ready = cache.wait_for_room(length.min(bytes), begin) + cache.write_ns;
        let taken = bus.transfer(length, ready);
        // Programming begins while the bytes arrive.
        let programmed = self.program(offset, length, ready).max(taken);
        self.free = programmed;
        if let Some(cache) = &mut self.cache {
            cache.held.push_back((programmed, length));
            cache.held_bytes += length;
        }
        // What the cache cannot hold is programmed before the write ends.
        let rest = if length > bytes { self.write.bytes(bytes) } else { u64::MAX };
        taken.max(programmed.saturating_sub(rest))
    }

    /// Programs bytes into the medium after its queued work. Returns when it ends.
    fn program(&mut self, offset: u64, length: u64, begin: u64) -> u64 {
        let latency = self.latency(offset, length);
        self.free = self.free.max(begin) + latency + self.write.bytes(length);
        self.free
    }

    /// Returns the latency of a write, including its stall, in ns.
    fn latency(&mut self, offset: u64, length: u64) -> u64 {
        let sequential = self.written_to == offset;
        self.written_to = offset + length;
        let stall = self.layer.as_mut().map_or(0, |layer| layer.write(offset, length));
        stall + if sequential { self.write.sequential_ns } else { self.write.random_ns }
    }

    pub(super) fn flush(&mut self, begin: u64) -> u64 {
        let stall = self.layer.as_mut().map_or(0, TranslationLayer::flush);
        self.free = self.free.max(begin) + stall + self.flush_ns;
        self.free
    }
}

/// A flash translation layer that processes the writes.
struct TranslationLayer {
    card: Box<dyn Translation>,
    /// Its work before the first request.
    before: WorkCounts,
    buffer: Buffer,
    /// Whether each write is programmed before it ends, as without a cache.
    writes_through: bool,
    erase_ns: u64,
    /// Time to copy a page.
    page_ns: u64,
}

impl TranslationLayer {
    fn new(
        flash: &Flash,
        cache_bytes: u64,
        write: Rate,
        device_bytes: u64,
    ) -> Result<Self, DeviceTooLarge> {
        let mut card = model_of(&flash.card, End::Typical, device_bytes)?;
        let units = u32::try_from(device_bytes.div_ceil(card.unit_bytes())).unwrap_or(u32::MAX);
        if flash.card.filled_permille >= 1_000 {
            // A full card has used its spare space, too: it cleans blocks from now on.
            for unit in (0..units).cycle() {
                if card.done().erases > 0 {
                    break;
                }
                card.program(&[unit]);
            }
        }
        let before = card.done();
        let buffer = Buffer::new(&*card, units, cache_bytes);
        let page_ns = write.bytes(card.page_bytes());
        let (erase_ns, writes_through) = (ns(flash.erase_us), cache_bytes == 0);
        Ok(Self { card, before, buffer, writes_through, erase_ns, page_ns })
    }

    /// Handles a write, and returns its stall in ns: the time of copies and erases.
    fn write(&mut self, offset: u64, length: u64) -> u64 {
        let before = (self.card.done().erases, self.card.copied_pages());
        self.buffer.write_bytes(offset, length, &mut *self.card);
        if self.writes_through {
            self.buffer.flush(&mut *self.card);
        }
        self.stall(before)
    }

    /// Handles a flush, and returns its stall in ns.
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
        self.buffer.discard_bytes(offset, length, &mut *self.card);
    }
}

/// A write cache. `held` has, for each write in it, when the medium will have it, and its bytes.
/// Oldest first.
struct Cache {
    bytes: u64,
    write_ns: u64,
    held: VecDeque<(u64, u64)>,
    held_bytes: u64,
}

impl Cache {
    /// Returns when there is room for `length` more bytes: now, or when enough writes have reached
    /// the medium.
    fn wait_for_room(&mut self, length: u64, now: u64) -> u64 {
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
