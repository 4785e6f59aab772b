//! Computes the typical performance of a storage: the times of single requests by the model.

use embermark_blockdev::{Request, RequestKind, Timing as _};
use embermark_model::Storage;

use crate::times::Times;

/// Size of the device in bytes, unless it is a disk.
const DEVICE: u64 = 1 << 30;
/// Number of requests of each kind. Only requests to a disk differ from each other.
const REQUESTS: u64 = 200;
/// Pause between requests in ns, in which caches drain.
const PAUSE: u64 = 1_000_000_000;
/// Spreads the offsets of requests over the device: 2^64 divided by the golden ratio (Knuth, *The
/// Art of Computer Programming* 3, 6.4).
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mean times in ns by the likely values of a storage, while its translation layer does not clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typical {
    /// A read at a random offset.
    pub read: u64,
    /// A write at a random offset, until the device acknowledges it.
    pub write: u64,
    /// A write at a random offset and the flush after it.
    pub flushed_write: u64,
    /// A read that directly follows the last one.
    pub sequential_read: u64,
    /// A write and its flush that directly follow the last ones.
    pub sequential_flushed_write: u64,
}

impl Typical {
    /// Computes the times of requests of `bytes` bytes, one at a time.
    pub fn new(storage: &Storage, bytes: u64) -> Self {
        let device = storage.disk.map_or(DEVICE, |disk| disk.capacity_bytes);
        let storage = Storage { flash: None, ..storage.clone() };
        let mean = |kind, random: bool, flushed: bool| {
            // Without a translation layer every size fits, and a disk holds one of its own size.
            let Ok(mut times) = Times::new(&storage, device) else { return [0, 0] };
            let places = (device / bytes).max(1);
            let (mut now, mut done, mut durable) = (PAUSE, 0, 0);
            for i in 0..REQUESTS {
                let share = u128::from((i + 1).wrapping_mul(STEP)) * u128::from(places);
                let place = if random { (share >> 64) as u64 } else { i };
                let end = times.end(Request { kind, offset: place * bytes, length: bytes }, now);
                done += end - now;
                let flush = Request { kind: RequestKind::Flush, offset: 0, length: 0 };
                let flushed = if flushed { times.end(flush, end) } else { end };
                durable += flushed - now;
                now = flushed + PAUSE;
            }
            [done / REQUESTS, durable / REQUESTS]
        };
        let [read, _] = mean(RequestKind::Read, true, false);
        let [sequential_read, _] = mean(RequestKind::Read, false, false);
        let [write, flushed_write] = mean(RequestKind::Write, true, true);
        let [_, sequential_flushed_write] = mean(RequestKind::Write, false, true);
        Self { read, write, flushed_write, sequential_read, sequential_flushed_write }
    }

    /// Returns the time of a flush when everything is in the medium, in ns.
    pub fn flush(storage: &Storage) -> u64 {
        u64::from(storage.flush_us.typical) * 1_000
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::result::StoragePath;

    use super::*;
    use crate::built_in;

    #[test]
    fn a_commit_costs_its_write_and_its_flush_and_a_disk_the_seek_and_half_a_turn() {
        let a1 = Typical::new(&built_in("sd-a1").unwrap(), 4_096);
        // 430 µs and 4,096 bytes at 40 MB/s; 1,220 µs and as many at 20 MB/s; no cache, no flush.
        assert_eq!(a1.read, 532_400);
        assert_eq!((a1.write, a1.flushed_write), (1_424_800, 1_424_800));
        let emmc = Typical::new(&built_in("emmc").unwrap(), 4_096);
        assert!(emmc.write < emmc.flushed_write && emmc.flushed_write > 1_000_000, "{emmc:?}");
        // 8.5 to 9.5 ms to seek and 4.2 ms for half a turn, according to the manufacturers.
        let disk = Typical::new(&built_in("hdd-7200").unwrap(), 4_096);
        let ms = disk.read as f64 / 1e6;
        assert!((10.0..16.0).contains(&ms), "{ms} ms");
        assert!(disk.sequential_read < disk.read / 2, "{disk:?}");
    }

    #[test]
    fn the_short_formula_of_a_durable_write_is_the_models_time() {
        for name in crate::names() {
            let storage = built_in(name).unwrap();
            let model = Typical::new(&storage, 4_096).sequential_flushed_write as f64;
            let Some(formula) = storage.durable_write_ns() else {
                assert_eq!(name, "hdd-7200");
                continue;
            };
            let ratio = formula as f64 / model;
            assert!((0.9..1.1).contains(&ratio), "{name}: {formula} ns, by the model {model} ns");
            // The path's usual cost is a negligible share of all of them.
            let path = StoragePath { write_ns: 25_000, flush_ns: 30_000, ..StoragePath::default() };
            assert!(path.share(&storage).unwrap() < StoragePath::MOST_SHARE, "{name}");
        }
    }
}
