//! Model of a storage: computes when each request ends. It does no I/O and reads no clock.
//!
//! The queue depth is the number of requests that the device handles at the same time. Their
//! latencies pass in parallel. Their bytes are transferred one after the other. Without a write
//! cache, a write ends when it is in the medium. With a cache, it ends when the cache has room for
//! it, and the cache drains into the medium in the background. A flush ends when everything is in
//! the medium. Copies and erases of the translation layer delay the write that causes them.

mod disk;
mod solid;

use embermark_blockdev::{Request, RequestKind, Timing};
use embermark_flash::DeviceTooLarge;
use embermark_model::card::Spread;
use embermark_model::storage::{Platters, Storage, Transfer};

use disk::Disk;
use solid::Solid;

const SECOND: u64 = 1_000_000_000;

/// Computes when requests to a storage end, from the likely values of its parameters. Times are in
/// ns of the caller's clock.
pub struct Times {
    read: Rate,
    /// When each of the parallel requests ends.
    slots: Vec<u64>,
    bus: Bus,
    /// End offset of the last read.
    read_to: u64,
    medium: Medium,
}

/// Work of a translation layer on its flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashWork {
    /// Bytes programmed, including the layer's own copies.
    pub programmed_bytes: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// The medium behind the bus.
enum Medium {
    Solid(Box<Solid>),
    Disk(Disk),
}

/// The connection, which transfers the bytes of one request at a time.
struct Bus {
    rate: Rate,
    /// When the last transfer ends.
    free: u64,
}

impl Bus {
    /// Transfers bytes when the bus is free, from `ready` on at the earliest. Returns when it ends.
    fn transfer(&mut self, length: u64, ready: u64) -> u64 {
        self.free = self.free.max(ready) + self.rate.bytes(length);
        self.free
    }
}

/// [`Transfer`] in ns.
#[derive(Clone, Copy)]
struct Rate {
    random_ns: u64,
    sequential_ns: u64,
    bytes_per_second: u64,
}

impl Rate {
    fn new(Transfer { random_us, sequential_us, kb_per_s }: Transfer) -> Self {
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

impl Times {
    /// Makes the model of a storage. The device is its first `device_bytes` bytes.
    ///
    /// # Errors
    /// If the device is larger than the storage.
    pub fn new(storage: &Storage, device_bytes: u64) -> Result<Self, DeviceTooLarge> {
        let medium = match storage.disk {
            Some(Platters { capacity_bytes, .. }) if device_bytes > capacity_bytes => {
                return Err(DeviceTooLarge { device_bytes, capacity_bytes });
            }
            Some(platters) => Medium::Disk(Disk::new(storage, platters)),
            None => Medium::Solid(Box::new(Solid::new(storage, device_bytes)?)),
        };
        let read = Rate::new(storage.read);
        Ok(Self {
            read,
            slots: vec![0; storage.queue_depth.max(1) as usize],
            bus: Bus { rate: read, free: 0 },
            read_to: u64::MAX,
            medium,
        })
    }

    /// Returns the work of the translation layer so far, if the storage has one.
    pub fn flash(&self) -> Option<FlashWork> {
        match &self.medium {
            Medium::Solid(solid) => solid.flash(),
            Medium::Disk(_) => None,
        }
    }

    fn read(&mut self, offset: u64, length: u64, begin: u64) -> u64 {
        let sequential = self.read_to == offset;
        self.read_to = offset + length;
        let latency = if sequential { self.read.sequential_ns } else { self.read.random_ns };
        let ready = match &mut self.medium {
            // The disk has read ahead.
            Medium::Disk(disk) if !sequential => {
                disk.seek_for_read(offset, length, begin + latency)
            }
            _ => begin + latency,
        };
        self.bus.transfer(length, ready)
    }
}

impl Timing for Times {
    fn end(&mut self, Request { kind, offset, length }: Request, now: u64) -> u64 {
        // A request waits for a free slot.
        let slot = (0..self.slots.len()).min_by_key(|slot| self.slots[*slot]).unwrap_or_default();
        let begin = now.max(self.slots[slot]);
        let end = match (kind, &mut self.medium) {
            (RequestKind::Discard, Medium::Solid(solid)) => {
                solid.discard(offset, length);
                return now;
            }
            (RequestKind::Discard, Medium::Disk(_)) => return now,
            (RequestKind::Read, _) => self.read(offset, length, begin),
            (RequestKind::Write, Medium::Solid(solid)) => {
                solid.write(offset, length, begin, &mut self.bus)
            }
            (RequestKind::Write, Medium::Disk(disk)) => {
                disk.write(offset, length, begin, &mut self.bus)
            }
            (RequestKind::Flush, Medium::Solid(solid)) => solid.flush(begin),
            (RequestKind::Flush, Medium::Disk(disk)) => disk.flush(begin),
        };
        self.slots[slot] = end;
        end
    }
}

#[cfg(test)]
mod tests;
