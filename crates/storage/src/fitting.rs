//! Derives the parameters of a storage from measurements of a device.
//!
//! A request takes a latency plus the transfer of its bytes at a rate, so its time is linear in its
//! size. The fitted line minimises the squares of relative errors over the medians. Requests smaller
//! than a page are left out: file systems do not make them, and devices read and write whole pages
//! for them.

use embermark_model::card::Spread;
use embermark_model::storage::{SECTOR, Storage, StorageName, Transfer};

use crate::file::{DEEPEST, LARGEST_CACHE, MOST_MB_PER_S, MOST_US};
use crate::measure::{GROUP, Kind, Measured, PAGE, ROW, percentile};

/// Least ratio of a flushed write's time to a plain write's time that shows a write cache.
const SHOWS_CACHE: f64 = 2.0;
/// Least ratio of a sequential write's time to that of a write into an empty cache that shows that
/// the cache is full.
const SHOWS_FULL: f64 = 2.0;
/// Number of consecutive writes whose median has to reach that ratio.
const SEEN_BY: usize = 8;
/// Largest ratio of the time that a further write of a group adds to that of a cached write at which
/// the medium keeps up with the writes.
const KEEPS_UP: f64 = 1.25;

/// Returns the storage whose model is nearest to the measurements.
///
/// - Reads, and writes of a device without a cache, are linear as they are.
/// - There is a **cache** if a write and a flush take at least twice as long as the write alone.
///   That write then gives the time of a cached write, in addition to its bytes at the rate of
///   reads as in the model. The medium's time follows from groups of 16 writes and a flush: a
///   further write of a group costs the medium's time, and the rest is the flush's. If the medium
///   keeps up with the writes, a flush takes as long as one with nothing to do.
/// - The **queue depth** is the highest rate of reads divided by that of one thread.
/// - Stalls are not fitted: `flash` is absent. Sectors are not measured: they have the smallest size.
pub fn fit_storage(name: StorageName, about: &str, measured: &Measured) -> Storage {
    let read = Line::fit(measured, Kind::Read, 0.0);
    // The 10th percentile, the median and the 90th percentile of requests of a page, less `other` µs
    // each.
    let spread = |kind, random, other: f64| {
        let us = measured.series(kind, random, PAGE).map_or(&[][..], |series| &series.us);
        [0.1, 0.5, 0.9].map(|share| percentile(us, share) - other)
    };
    let page = PAGE as f64;
    let read_bytes = page * read.us_per_byte;
    let pairs = measured.series(Kind::FlushedWrite, true, PAGE);
    let [pair, write] =
        pairs.map_or([0.0; 2], |pairs| [&pairs.us, &pairs.write_us].map(|us| percentile(us, 0.5)));
    let cached = write > 0.0 && pair >= SHOWS_CACHE * write;
    let transfer = |line: &Line, [random_us, sequential_us]: [Spread; 2]| Transfer {
        random_us,
        sequential_us,
        kb_per_s: Spread::exact(line.kb_per_s()),
    };
    let reads = [true, false].map(|random| {
        let line = if random { read.random } else { read.sequential };
        spread_around(line, spread(Kind::Read, random, read_bytes))
    });
    let mut storage = Storage {
        name,
        about: about.to_owned(),
        read: transfer(&read, reads),
        write: transfer(&read, reads),
        flush_us: Spread::exact(0),
        cache_bytes: 0,
        cached_write_us: Spread::exact(0),
        queue_depth: queue_depth(measured),
        sector_bytes: SECTOR,
        flash: None,
        disk: None,
    };
    if !cached {
        let line = Line::fit(measured, Kind::Write, 0.0);
        let bytes = page * line.us_per_byte;
        let writes = [true, false].map(|random| {
            let at = if random { line.random } else { line.sequential };
            spread_around(at, spread(Kind::Write, random, bytes))
        });
        storage.write = transfer(&line, writes);
        storage.flush_us = exact((pair - write).max(0.0));
        return storage;
    }
    // In the model the medium takes bytes while they arrive, so a flush after a write waits for the
    // medium's time beyond the transfer.
    let line = Line::fit(measured, Kind::FlushedWrite, write - read_bytes);
    let group = percentile(&measured.group_us, 0.5);
    // Time that each further write of a group adds, or that of a write itself if the medium is
    // faster.
    let further = ((group - pair) / (GROUP - 1) as f64).clamp(write, pair);
    let mut medium = (further - page * line.us_per_byte).clamp(0.0, line.random);
    if further < KEEPS_UP * write {
        let empty = percentile(&measured.empty_flush_us, 0.5);
        medium = line.random - empty.clamp(line.random - medium, line.random);
    }
    let flush = line.random - medium;
    let in_a_row = (line.sequential - flush).max(0.0);
    storage.write = transfer(&line, [exact(medium), exact(in_a_row)]);
    let before = pair - flush;
    storage.flush_us = spread_around(flush, spread(Kind::FlushedWrite, true, before));
    let writes = measured.series(Kind::FlushedWrite, true, PAGE).map_or(&[][..], |s| &s.write_us);
    let writes = [0.1, 0.5, 0.9].map(|share| percentile(writes, share) - read_bytes);
    storage.cached_write_us = spread_around(write - read_bytes, writes);
    let row = in_a_row + ROW as f64 * line.us_per_byte;
    storage.cache_bytes = cache_bytes(measured, row);
    storage
}

/// Latencies and the time per byte, in µs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    random: f64,
    sequential: f64,
    us_per_byte: f64,
}

impl Line {
    /// Fits the medians of a kind, after subtracting `less` µs. Random and sequential requests have
    /// the same rate.
    fn fit(measured: &Measured, kind: Kind, less: f64) -> Self {
        let points = |random| -> Vec<[f64; 2]> {
            let of_kind = measured.series.iter().filter(move |series| {
                (series.kind, series.random) == (kind, random)
                    && series.bytes >= PAGE
                    && !series.us.is_empty()
            });
            let point = |median: f64, bytes: u64| [bytes as f64, (median - less).max(1.0)];
            of_kind.map(|series| point(percentile(&series.us, 0.5), series.bytes)).collect()
        };
        let groups = [points(true), points(false)];
        let mut through_zero = [false; 2];
        loop {
            let us_per_byte = slope(&groups, through_zero).max(1.0 / MOST_MB_PER_S);
            let latencies = [0, 1].map(|group| {
                let [bytes, us] = center(&groups[group]);
                if through_zero[group] { 0.0 } else { us - us_per_byte * bytes }
            });
            // If no latency is left, the line goes through zero.
            match (0..2).find(|group| latencies[*group] < 0.0 && !through_zero[*group]) {
                Some(group) => through_zero[group] = true,
                None => {
                    let [random, sequential] = latencies.map(|latency| latency.max(0.0));
                    return Self { random, sequential, us_per_byte };
                }
            }
        }
    }

    fn kb_per_s(&self) -> u32 {
        // A byte per µs is a MB per second.
        (1_000.0 / self.us_per_byte).round().clamp(1.0, MOST_MB_PER_S * 1_000.0) as u32
    }
}

/// Returns the weighted mean of points. A point's weight is the square of its inverse time, which
/// makes errors relative.
fn center(points: &[[f64; 2]]) -> [f64; 2] {
    let weight = |us: f64| us.powi(-2);
    let all: f64 = points.iter().map(|[_, us]| weight(*us)).sum();
    let mean =
        |which: usize| points.iter().map(|point| weight(point[1]) * point[which]).sum::<f64>();
    if all > 0.0 { [mean(0) / all, mean(1) / all] } else { [0.0; 2] }
}

/// Returns the slope of parallel lines through groups of points by least squares of relative
/// errors.
fn slope(groups: &[Vec<[f64; 2]>; 2], through_zero: [bool; 2]) -> f64 {
    let (mut up, mut down) = (0.0, 0.0);
    for (points, through_zero) in groups.iter().zip(through_zero) {
        let [bytes_0, us_0] = if through_zero { [0.0; 2] } else { center(points) };
        for [bytes, us] in points {
            let weight = us.powi(-2);
            up += weight * (bytes - bytes_0) * (us - us_0);
            down += weight * (bytes - bytes_0).powi(2);
        }
    }
    if down > 0.0 { up / down } else { 0.0 }
}

/// Returns a spread around the fitted latency that is as wide as the measured one.
fn spread_around(fitted: f64, [low, middle, high]: [f64; 3]) -> Spread {
    let whole = |us: f64| us.round().clamp(0.0, MOST_US) as u32;
    let typical = whole(fitted);
    Spread {
        low: whole(fitted + low - middle).min(typical),
        typical,
        high: whole(fitted + high - middle).max(typical),
    }
}

fn exact(value: f64) -> Spread {
    spread_around(value, [0.0; 3])
}

/// Returns the queue depth: the highest rate of reads divided by that of one thread.
fn queue_depth(measured: &Measured) -> u32 {
    let [one, ..] = measured.reads_per_s;
    let most = measured.reads_per_s.into_iter().fold(one, f64::max);
    if one > 0.0 { (most / one).round().clamp(1.0, DEEPEST.into()) as u32 } else { 1 }
}

/// Returns the size of a cache in bytes: the bytes of sequential writes before they became
/// permanently slow, less those that the medium had taken meanwhile, at `medium` µs per write. If
/// they did not become slow, it is all bytes written.
fn cache_bytes(measured: &Measured, medium: f64) -> u64 {
    let row = &measured.row_us;
    let empty = measured.series(Kind::FlushedWrite, false, ROW);
    let slow = SHOWS_FULL * empty.map_or(0.0, |series| percentile(&series.write_us, 0.5));
    let is_slow = |part: &[f64]| percentile(part, 0.5) >= slow;
    let mut places = 0..row.len().saturating_sub(SEEN_BY);
    let full = places
        .find(|at| row[*at] >= slow && is_slow(&row[*at..*at + SEEN_BY]) && is_slow(&row[*at..]));
    let writes = match full {
        Some(at) => at as f64 - row[..at].iter().sum::<f64>() / medium.max(1.0),
        None => row.len() as f64,
    };
    ((writes.max(1.0) * ROW as f64) as u64 / PAGE * PAGE).min(LARGEST_CACHE)
}

#[cfg(test)]
mod tests;
