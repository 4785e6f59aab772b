//! Parameters from constructed measurements of devices with known figures.

use std::time::Duration;

use embermark_model::storage::StorageName;

use super::*;
use crate::document::{Origin, to_toml};
use crate::file::parse;
use crate::measure::{SIZES, Series, Sustained, THREADS};

/// A device without noise, in µs.
struct Device {
    read: [f64; 2],
    read_mb: f64,
    write: [f64; 2],
    write_mb: f64,
    /// Time of a cached write and of a flush.
    cache: Option<[f64; 2]>,
}

/// Factors of a time around its median, with an upward tail as devices have.
const NOISE: [f64; 9] = [0.9, 0.95, 0.97, 0.99, 1.0, 1.02, 1.05, 1.2, 4.0];

impl Device {
    fn us(&self, kind: Kind, random: bool, bytes: u64) -> f64 {
        let (which, bytes) = (usize::from(!random), bytes as f64);
        let medium = self.write[which] + bytes / self.write_mb;
        match (kind, self.cache) {
            (Kind::Read, _) => self.read[which] + bytes / self.read_mb,
            (Kind::Write, Some([cached, _])) => cached + bytes / self.read_mb,
            (Kind::FlushedWrite, Some([cached, flush])) => cached + medium + flush,
            (Kind::Write | Kind::FlushedWrite, None) => medium,
        }
    }

    fn measured(&self) -> Measured {
        let noisy = |us: f64| NOISE.iter().map(|factor| factor * us).collect::<Vec<f64>>();
        let cells = Kind::ALL.iter().flat_map(|kind| {
            [true, false].iter().flat_map(move |random| SIZES.map(|bytes| (*kind, *random, bytes)))
        });
        let series = cells.map(|(kind, random, bytes)| {
            // Less than a page takes as long as a page.
            let us = noisy(self.us(kind, random, bytes.max(PAGE)));
            let write_us = match kind {
                Kind::FlushedWrite => noisy(self.us(Kind::Write, random, bytes.max(PAGE))),
                _ => Vec::new(),
            };
            Series { kind, random, bytes, us, write_us }
        });
        let pair = self.us(Kind::FlushedWrite, true, PAGE);
        let medium = self.write[0] + PAGE as f64 / self.write_mb;
        let further = medium.max(self.us(Kind::Write, true, PAGE));
        Measured {
            series: series.collect(),
            empty_flush_us: noisy(self.cache.map_or(0.0, |[_, flush]| flush)),
            group_us: noisy(pair + (GROUP - 1) as f64 * further),
            row_us: vec![self.us(Kind::Write, false, ROW); 4_096],
            reads_per_s: [1.0, 1.0, 1.0],
            sustained: vec![Sustained { at_s: 0.0, us: pair }],
            file_bytes: 256 << 20,
            written_bytes: 1_000_000_000,
            took: Duration::from_secs(120),
            awake: true,
        }
    }

    fn fitted(&self) -> Storage {
        fit_storage(name(), "a device", &self.measured())
    }
}

fn name() -> StorageName {
    StorageName::new("mine").unwrap()
}

const PLAIN: Device = Device {
    read: [400.0, 90.0],
    read_mb: 40.0,
    write: [1_200.0, 500.0],
    write_mb: 18.0,
    cache: None,
};

const CACHED: Device = Device {
    read: [150.0, 60.0],
    read_mb: 160.0,
    write: [400.0, 200.0],
    write_mb: 50.0,
    cache: Some([80.0, 900.0]),
};

#[track_caller]
fn near(fitted: u32, known: f64) {
    let error = (f64::from(fitted) - known).abs() / known;
    assert!(error < 0.05, "{fitted} and not {known}");
}

fn reads_come_back(device: &Device) {
    let read = device.fitted().read;
    near(read.random_us.typical, device.read[0]);
    near(read.sequential_us.typical, device.read[1]);
    near(read.kb_per_s.typical, device.read_mb * 1_000.0);
    assert!(read.random_us.low < read.random_us.typical);
    assert!(read.random_us.typical < read.random_us.high);
}

#[test]
fn latencies_and_rates_of_a_device_without_a_cache_come_back() {
    reads_come_back(&PLAIN);
    let storage = PLAIN.fitted();
    assert_eq!((storage.cache_bytes, storage.flush_us.typical, storage.queue_depth), (0, 0, 1));
    near(storage.write.random_us.typical, PLAIN.write[0]);
    near(storage.write.sequential_us.typical, PLAIN.write[1]);
    near(storage.write.kb_per_s.typical, PLAIN.write_mb * 1_000.0);
}

#[test]
fn a_cache_is_seen_and_the_times_of_the_medium_and_the_flush_are_told_apart() {
    reads_come_back(&CACHED);
    let storage = CACHED.fitted();
    assert_eq!(storage.cache_bytes, 64 << 20);
    near(storage.cached_write_us.typical, 80.0);
    near(storage.flush_us.typical, 900.0);
    near(storage.write.random_us.typical, CACHED.write[0]);
    near(storage.write.sequential_us.typical, CACHED.write[1]);
    near(storage.write.kb_per_s.typical, CACHED.write_mb * 1_000.0);
}

#[test]
fn a_flush_without_a_cache_keeps_its_time() {
    let mut measured = PLAIN.measured();
    for series in measured.series.iter_mut().filter(|s| s.kind == Kind::FlushedWrite) {
        series.us.iter_mut().for_each(|us| *us += 300.0);
    }
    let storage = fit_storage(name(), "a device", &measured);
    assert_eq!(storage.cache_bytes, 0);
    near(storage.flush_us.typical, 300.0);
}

#[test]
fn a_cache_is_as_large_as_what_was_written_before_it_got_slow() {
    let mut measured = CACHED.measured();
    let (fast, medium) = (182.4, 200.0 + ROW as f64 / 50.0);
    measured.row_us = [vec![fast; 100], vec![medium; 400]].concat();
    // A single write that waits is not the end.
    measured.row_us[30] = 9_000.0;
    let taken = (99.0 * fast + 9_000.0) / medium;
    let expected = ((100.0 - taken) * ROW as f64) as u64;
    let cache = fit_storage(name(), "a device", &measured).cache_bytes;
    assert!(cache.abs_diff(expected) < 2 * ROW, "{cache} and not {expected}");
}

#[test]
fn where_the_medium_keeps_up_a_flush_takes_what_one_of_nothing_takes() {
    let fast = Device { write: [20.0, 10.0], write_mb: 2_000.0, ..CACHED };
    let storage = fast.fitted();
    near(storage.flush_us.typical, 900.0);
    near(storage.write.random_us.typical, 20.0);
}

#[test]
fn requests_at_once_are_as_many_as_their_rate_has_grown() {
    let mut measured = CACHED.measured();
    measured.reads_per_s = [5_000.0, 19_000.0, 31_000.0];
    assert_eq!(THREADS[2], 16);
    assert_eq!(fit_storage(name(), "a device", &measured).queue_depth, 6);
}

#[test]
fn a_device_whose_requests_take_no_longer_for_more_bytes_has_the_highest_rate() {
    let mut measured = PLAIN.measured();
    for series in &mut measured.series {
        let us = 100.0 - (series.bytes as f64).log2();
        series.us = vec![us; 9];
    }
    let storage = fit_storage(name(), "a device", &measured);
    assert_eq!(f64::from(storage.read.kb_per_s.typical), MOST_MB_PER_S * 1_000.0);
    // A line is not steeper than the points, and no latency is negative.
    let mut measured = PLAIN.measured();
    measured.series.iter_mut().for_each(|s| s.us = vec![s.bytes as f64; 9]);
    let storage = fit_storage(name(), "a device", &measured);
    assert_eq!(storage.read.random_us.typical, 0);
    near(storage.read.kb_per_s.typical, 1_000.0);
}

#[test]
fn the_file_gives_the_storage_again_and_tells_what_was_measured() {
    for device in [PLAIN, CACHED] {
        let storage = device.fitted();
        let origin = Origin { device: "a card \"X\"\nflush-us = 1".into(), ..Origin::default() };
        let text = to_toml(&storage, &device.measured(), &origin);
        assert_eq!(parse("mine", &text).unwrap(), storage, "{text}");
        for expected in ["# device       a card \"X\" flush-us = 1\n", "1000 MB", "No stall"] {
            assert!(text.contains(expected), "no '{expected}' in:\n{text}");
        }
    }
}
