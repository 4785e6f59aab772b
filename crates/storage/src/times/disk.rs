//! Model of a hard disk: heads over platters, and a write cache whose content the disk writes in the
//! order of offsets.

use std::collections::BTreeMap;

use embermark_model::storage::{Platters, Storage};

use super::{Bus, Rate, SECOND, ns};

/// A hard disk. The content of its write cache goes to the platters from the lowest offset to the
/// highest and again from the lowest (C-LOOK), as disks sort queued requests.
pub(super) struct Disk {
    heads: Heads,
    write: Rate,
    flush_ns: u64,
    /// Size of the cache in bytes. 0: no cache.
    cache_bytes: u64,
    cached_write_ns: u64,
    /// Writes in the cache: length in bytes by offset.
    waiting: BTreeMap<u64, u64>,
    waiting_bytes: u64,
    /// When the heads' work so far ends.
    free: u64,
    /// End offset of the last write to the platters.
    written_to: u64,
}

impl Disk {
    pub(super) fn new(storage: &Storage, platters: Platters) -> Self {
        let write = Rate::new(storage.write);
        Self {
            heads: Heads::new(platters, write),
            write,
            flush_ns: ns(storage.flush_us),
            cache_bytes: storage.cache_bytes,
            cached_write_ns: ns(storage.cached_write_us),
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            free: 0,
            written_to: 0,
        }
    }

    /// Writes the next entry of the cache to the platters. Returns whether there was one.
    fn write_next(&mut self) -> bool {
        let next = self.waiting.range(self.written_to..).next().or(self.waiting.iter().next());
        let Some((offset, length)) = next.map(|(offset, length)| (*offset, *length)) else {
            return false;
        };
        self.waiting.remove(&offset);
        self.waiting_bytes -= length;
        self.write_to_platters(offset, length);
        true
    }

    /// Writes bytes to the platters when the heads are free.
    fn write_to_platters(&mut self, offset: u64, length: u64) {
        self.free += self.heads.seek(offset, self.free) + self.write.bytes(length);
        self.heads.record_position(offset + length, self.free);
        self.written_to = offset + length;
    }

    /// Does the background work of the disk until `now`.
    fn catch_up(&mut self, now: u64) {
        while self.free < now && self.write_next() {}
        if self.waiting.is_empty() {
            self.free = self.free.max(now);
        }
    }

    /// Moves the heads to an offset for a read. Returns when the offset is below them. A read has
    /// priority over the content of the cache.
    pub(super) fn seek_for_read(&mut self, offset: u64, length: u64, begin: u64) -> u64 {
        self.catch_up(begin);
        let start = self.free.max(begin);
        let below = start + self.heads.seek(offset, start);
        self.free = below + self.write.bytes(length);
        self.heads.record_position(offset + length, self.free);
        below
    }

    pub(super) fn write(&mut self, offset: u64, length: u64, begin: u64, bus: &mut Bus) -> u64 {
        self.catch_up(begin);
        if self.cache_bytes == 0 {
            self.free = self.free.max(begin);
            self.write_to_platters(offset, length);
            return self.free;
        }
        let mut ready = begin;
        while self.waiting_bytes + length > self.cache_bytes && self.write_next() {
            ready = ready.max(self.free);
        }
        let taken = bus.transfer(length, ready + self.cached_write_ns);
        self.catch_up(taken);
        let before = self.waiting.insert(offset, length).unwrap_or_default();
        self.waiting_bytes = self.waiting_bytes - before + length;
        taken
    }

    pub(super) fn flush(&mut self, begin: u64) -> u64 {
        self.catch_up(begin);
        while self.write_next() {}
        self.free = self.free.max(begin) + self.flush_ns;
        self.free
    }
}

/// Heads over turning platters. A track is the data that passes under the heads in one turn. Seek
/// time grows with the square root of the distance (C. Ruemmler, J. Wilkes, *An introduction to disk
/// drive modeling*, IEEE Computer 27(3), 1994).
struct Heads {
    turn_ns: u64,
    track_bytes: u64,
    tracks: u64,
    track_seek_ns: u64,
    full_seek_ns: u64,
    track: u64,
    /// End offset of the last access, and when it was below the heads.
    passed: (u64, u64),
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
            passed: (0, 0),
        }
    }

    /// Records the end offset of an access, and when it ended.
    const fn record_position(&mut self, offset: u64, at: u64) {
        self.passed = (offset, at);
    }

    /// Moves the heads, and returns the time from `from` until `offset` is below them.
    fn seek(&mut self, offset: u64, from: u64) -> u64 {
        let track = offset / self.track_bytes;
        if self.passed == (offset, from) {
            // The next offset is below the heads, even on the next track: tracks are laid out so.
            self.track = track;
            return 0;
        }
        let distance = track.abs_diff(self.track);
        self.track = track;
        let further = self.full_seek_ns.saturating_sub(self.track_seek_ns) as f64;
        let seek = match distance {
            0 => 0,
            distance => {
                let share = (distance as f64 / self.tracks as f64).min(1.0).sqrt();
                self.track_seek_ns + (further * share) as u64
            }
        };
        // In 128 bits, because it is a product of bytes and ns.
        let within = u128::from(offset % self.track_bytes) * u128::from(self.turn_ns);
        let place = (within / u128::from(self.track_bytes)) as u64;
        let now = (from + seek) % self.turn_ns;
        seek + (place + self.turn_ns - now) % self.turn_ns
    }
}
