//! Measures a storage device through a file on it.
//!
//! All requests are direct I/O on one file that was completely written before, so that each is one
//! request to the device: no page cache, no file system journal, no new blocks. Kinds and sizes
//! take turns in several rounds, so that a temporary disturbance of the machine affects them all.

mod test_file;

use std::path::Path;
use std::time::{Duration, Instant};

use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use test_file::MeasureError;
use test_file::{Buffer, MIB, Result, TestFile};

use crate::imitation::keep_awake;

/// Sizes of requests, in bytes.
pub const SIZES: [u64; 6] = [512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// The size of the pages of file systems and most databases, in bytes.
pub const PAGE: u64 = 4 << 10;
/// Numbers of threads that read at the same time.
pub const THREADS: [u32; 3] = [1, 4, 16];
/// Number of writes per group, before its flush.
pub const GROUP: u64 = 16;
/// Bytes per sequential write that fills a cache.
pub const ROW: u64 = 16 << 10;
/// The least number of bytes with which a device can be measured.
pub const LEAST_WRITTEN: u64 = 64 * MIB;

const ROUNDS: u32 = 4;
/// The largest file, in bytes.
const LARGEST: u64 = 256 * MIB;
/// The smallest file, in bytes.
const SMALLEST: u64 = 16 * MIB;
/// Space that is left free on the device, in bytes.
const LEFT: u64 = 16 * MIB;

/// Limits of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Duration of the whole measurement.
    pub lasts: Duration,
    /// Largest number of bytes to write, at least [`LEAST_WRITTEN`].
    pub written: u64,
}

/// Kind of a measured request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A read.
    Read,
    /// A write, without a flush after it.
    Write,
    /// A write and a flush (`fdatasync`).
    FlushedWrite,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::FlushedWrite];

    /// Returns the name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::FlushedWrite => "write and flush",
        }
    }
}

/// Times of requests of one kind, one at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Kind of the requests.
    pub kind: Kind,
    /// Whether each request was at a random offset. Otherwise each begins where the previous one
    /// ended.
    pub random: bool,
    /// Bytes of a request.
    pub bytes: u64,
    /// Times in µs.
    pub us: Vec<f64>,
    /// Times in µs of the writes within flushed writes. Each write finds the device idle.
    pub write_us: Vec<f64>,
}

/// One of the sustained writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sustained {
    /// When it began, in seconds since the first one.
    pub at_s: f64,
    /// Its time in µs.
    pub us: f64,
}

/// Measurements of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Reads, writes and flushed writes by size.
    pub series: Vec<Series>,
    /// Times of flushes with nothing to do, in µs.
    pub empty_flush_us: Vec<f64>,
    /// Times of [`GROUP`] random writes of 4 KiB and a flush after the last, in µs.
    pub group_us: Vec<f64>,
    /// Times of sequential writes of [`ROW`] bytes without a flush, in µs.
    pub row_us: Vec<f64>,
    /// Random reads of 4 KiB per second with each number of [`THREADS`].
    pub reads_per_s: [f64; THREADS.len()],
    /// Random writes of 4 KiB, each with a flush.
    pub sustained: Vec<Sustained>,
    /// Size of the file, in bytes.
    pub file_bytes: u64,
    /// Bytes written, including the file itself.
    pub written_bytes: u64,
    /// Duration of the measurement.
    pub took: Duration,
    /// Whether idle processors were kept awake. Otherwise times include waking them.
    pub awake: bool,
}

impl Measured {
    /// Returns the series of a kind and size. `None` if it has no requests.
    pub fn series(&self, kind: Kind, random: bool, bytes: u64) -> Option<&Series> {
        let mut all = self.series.iter();
        all.find(|s| (s.kind, s.random, s.bytes) == (kind, random, bytes) && !s.us.is_empty())
    }

    /// Returns the time in µs of a sustained write above which it is a stall: ten times the median.
    pub fn stall_us(&self) -> f64 {
        let us: Vec<f64> = self.sustained.iter().map(|one| one.us).collect();
        10.0 * percentile(&us, 0.5)
    }
}

/// Returns the value below which that share of the values is. 0 if there are no values.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((share * last).round() as usize).copied().unwrap_or(0.0)
}

/// Measures the device of a folder with a file that it creates there and removes. Calls `step` with
/// the name of each step when it begins.
///
/// # Errors
/// If the folder cannot be measured: see [`MeasureError`].
pub fn measure(folder: &Path, effort: Effort, step: &mut dyn FnMut(&str)) -> Result<Measured> {
    let begun = Instant::now();
    let limit = effort.written.max(LEAST_WRITTEN);
    let largest = (limit / 4).clamp(SMALLEST, LARGEST) / MIB * MIB;
    let file = TestFile::create(folder, limit, largest + LEFT)?;
    let awake = keep_awake();
    step("writing the file");
    let mut run = Measurement::begin(file, largest, begun + effort.lasts / 10)?;
    step("reads and writes of all sizes");
    let mut measured = run.rounds(effort.lasts * 2 / 5)?;
    step("reads by several threads");
    measured.reads_per_s = run.threads(effort.lasts / 100)?;
    step("sustained writes with flushes");
    let left = effort.lasts.saturating_sub(begun.elapsed());
    measured.sustained = run.sustained(left.min(effort.lasts / 2))?;
    measured.written_bytes = run.file.written;
    measured.took = begun.elapsed();
    measured.awake = awake.is_some();
    Ok(measured)
}

/// A running measurement.
struct Measurement {
    file: TestFile,
    buffer: Buffer,
    rng: Xoshiro256PlusPlus,
    /// Request sizes that the file accepts.
    sizes: Vec<u64>,
}

impl Measurement {
    fn begin(mut file: TestFile, largest: u64, until: Instant) -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut buffer = Buffer::new();
        // A device may compress, or leave out zeros.
        rng.fill_bytes(buffer.all());
        while file.bytes < largest && (file.bytes < SMALLEST || Instant::now() < until) {
            file.grow(&buffer)?;
        }
        file.flush()?;
        let least = file.min_request_bytes(&mut buffer)?;
        let sizes = SIZES.into_iter().filter(|bytes| *bytes >= least).collect();
        Ok(Self { file, buffer, rng, sizes })
    }

    /// Returns a random offset for a request of that size.
    fn random_offset(&mut self, bytes: u64) -> u64 {
        self.rng.random_range(0..self.file.bytes / bytes) * bytes
    }

    fn rounds(&mut self, lasts: Duration) -> Result<Measured> {
        let cells = Kind::ALL.iter().flat_map(|kind| {
            let cell = |random| self.sizes.iter().map(move |bytes| (*kind, random, *bytes));
            cell(true).chain(cell(false))
        });
        let series = cells.map(|(kind, random, bytes)| Series {
            kind,
            random,
            bytes,
            us: Vec::new(),
            write_us: Vec::new(),
        });
        let mut measured = Measured {
            series: series.collect(),
            file_bytes: self.file.bytes,
            ..Measured::default()
        };
        let until = Instant::now() + lasts;
        // The cells of a round, flushes and groups.
        let slice = lasts / ROUNDS / (measured.series.len() as u32 + 4);
        // About a third of what may be written. The rest is for the file and the sustained writes.
        let share = self.file.limit / 3 / u64::from(ROUNDS) / (4 * self.sizes.len() as u64 + 2);
        for round in 0..ROUNDS {
            for series in &mut measured.series {
                self.requests(series, slice, share)?;
            }
            self.flushes(&mut measured, slice, share)?;
            if round == 0 {
                measured.row_us = self.sequential_writes(slice * 4)?;
            }
            if Instant::now() > until {
                break;
            }
        }
        Ok(measured)
    }

    /// Adds requests to a series, at least one.
    fn requests(&mut self, series: &mut Series, slice: Duration, share: u64) -> Result<()> {
        let (begun, bytes) = (Instant::now(), series.bytes);
        let mut offset = self.random_offset(bytes);
        let mut moved = 0;
        // The first of several sequential requests does not follow another.
        let mut first = !series.random;
        loop {
            if series.random || offset + bytes > self.file.bytes {
                offset = self.random_offset(bytes);
                first = !series.random;
            }
            let (at, mut written) = (Instant::now(), 0.0);
            match series.kind {
                Kind::Read => self.file.read(&mut self.buffer, offset, bytes)?,
                Kind::Write => self.file.write(&self.buffer, offset, bytes)?,
                Kind::FlushedWrite => {
                    self.file.write(&self.buffer, offset, bytes)?;
                    written = micros(at);
                    self.file.flush()?;
                }
            }
            let us = micros(at);
            offset += bytes;
            moved += bytes;
            if !std::mem::take(&mut first) {
                series.us.push(us);
                if series.kind == Kind::FlushedWrite {
                    series.write_us.push(written);
                }
                let spent = series.kind != Kind::Read && moved + bytes > share;
                if begun.elapsed() > slice || spent {
                    break;
                }
            }
        }
        // The content of a cache must not disturb the next series.
        if series.kind == Kind::Write {
            self.file.flush()?;
        }
        Ok(())
    }

    /// Measures flushes with nothing to do, and after a group of writes.
    fn flushes(&mut self, measured: &mut Measured, slice: Duration, share: u64) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < slice || measured.empty_flush_us.is_empty() {
            let at = Instant::now();
            self.file.flush()?;
            measured.empty_flush_us.push(micros(at));
        }
        let (begun, mut moved) = (Instant::now(), 0);
        loop {
            let at = Instant::now();
            for _ in 0..GROUP {
                let offset = self.random_offset(PAGE);
                self.file.write(&self.buffer, offset, PAGE)?;
            }
            self.file.flush()?;
            measured.group_us.push(micros(at));
            moved += GROUP * PAGE;
            if begun.elapsed() > slice * 2 || moved + GROUP * PAGE > share {
                return Ok(());
            }
        }
    }

    /// Writes sequentially without a flush, until a cache is full. Returns the times in µs.
    fn sequential_writes(&mut self, slice: Duration) -> Result<Vec<f64>> {
        let (begun, most) = (Instant::now(), self.file.bytes.min(self.file.limit / 10));
        let mut times = Vec::new();
        for number in 0..most / ROW {
            let at = Instant::now();
            self.file.write(&self.buffer, number * ROW, ROW)?;
            times.push(micros(at));
            if begun.elapsed() > slice {
                break;
            }
        }
        self.file.flush()?;
        Ok(times)
    }

    /// Returns random reads per second with each number of [`THREADS`].
    fn threads(&mut self, slice: Duration) -> Result<[f64; THREADS.len()]> {
        let mut rates = [0.0; THREADS.len()];
        for (rate, threads) in rates.iter_mut().zip(THREADS) {
            let seeds: Vec<u64> = (0..threads).map(|_| self.rng.next_u64()).collect();
            let begun = Instant::now();
            let file = &self.file;
            let reads = |seed| -> Result<u32> {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                let (mut buffer, mut reads) = (Buffer::new(), 0);
                while begun.elapsed() < slice || reads == 0 {
                    let offset = rng.random_range(0..file.bytes / PAGE) * PAGE;
                    file.read(&mut buffer, offset, PAGE)?;
                    reads += 1;
                }
                Ok(reads)
            };
            let reads: Result<Vec<u32>> = std::thread::scope(|scope| {
                let all: Vec<_> = seeds.iter().map(|s| scope.spawn(move || reads(*s))).collect();
                let joined = all.into_iter().map(|thread| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                });
                joined.collect()
            });
            *rate = f64::from(reads?.iter().sum::<u32>()) / begun.elapsed().as_secs_f64();
        }
        Ok(rates)
    }

    /// Makes random writes, each with a flush, until the time or the bytes are used up.
    fn sustained(&mut self, lasts: Duration) -> Result<Vec<Sustained>> {
        let begun = Instant::now();
        let mut all = Vec::new();
        while all.is_empty() || begun.elapsed() < lasts {
            if self.file.written + PAGE > self.file.limit {
                break;
            }
            let (at, offset) = (Instant::now(), self.random_offset(PAGE));
            self.file.write(&self.buffer, offset, PAGE)?;
            self.file.flush()?;
            let at_s = at.duration_since(begun).as_secs_f64();
            all.push(Sustained { at_s, us: micros(at) });
        }
        Ok(all)
    }
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64 / 1_000.0
}
