//! Writes a measured storage as TOML, with its measurements in comments.

use embermark_blockdev::{Request, RequestKind, Timing as _};
use embermark_model::card::Spread;
use embermark_model::storage::{Storage, Transfer};

use crate::measure::{GROUP, Kind, Measured, ROW, Series, THREADS, percentile};
use crate::times::Times;

/// Where and when a storage was measured. An unknown value is empty.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Kind, model and size of the device.
    pub device: String,
    /// File system and mount options.
    pub file_system: String,
    /// Kernel.
    pub kernel: String,
    /// Date.
    pub date: String,
    /// embermark's version.
    pub version: String,
}

/// A pause in ns before a request, in which caches drain.
const PAUSE: u64 = 10_000_000_000;

/// Returns the time in µs that a request takes by the model of a storage. The device has `device`
/// bytes. NaN if the storage is smaller.
pub fn predicted_us(storage: &Storage, device: u64, kind: Kind, random: bool, bytes: u64) -> f64 {
    let Ok(mut times) = Times::new(storage, device.max(4 * bytes)) else { return f64::NAN };
    let first = match kind {
        Kind::Read => RequestKind::Read,
        Kind::Write | Kind::FlushedWrite => RequestKind::Write,
    };
    let flush = Request { kind: RequestKind::Flush, offset: 0, length: 0 };
    times.end(Request { kind: first, offset: 0, length: bytes }, PAUSE);
    let offset = if random { 2 * bytes } else { bytes };
    let end = times.end(Request { kind: first, offset, length: bytes }, 2 * PAUSE);
    let end = if kind == Kind::FlushedWrite { times.end(flush, end) } else { end };
    (end - 2 * PAUSE) as f64 / 1_000.0
}

/// Returns the TOML of a storage, with the measurements in comments. [`parse`](crate::parse) gives
/// the storage again.
pub fn to_toml(storage: &Storage, measured: &Measured, origin: &Origin) -> String {
    let parts = [
        format!("about = {}\n", toml::Value::String(storage.about.clone())),
        head(measured, origin),
        parameters(storage, measured),
        series(storage, measured),
        flushes(measured),
        stalls(measured),
    ];
    parts.concat()
}

fn head(measured: &Measured, origin: &Origin) -> String {
    let Origin { device, file_system, kernel, date, version } = origin;
    let facts = [
        ("device", device),
        ("file system", file_system),
        ("kernel", kernel),
        ("date", date),
        ("embermark", version),
    ];
    let line = |(name, value): (&str, &String)| {
        // Control characters in a device's name must not end the line.
        let value = value.replace(char::is_control, " ");
        format!("# {name:<12} {}\n", value.trim_end())
    };
    let facts: String =
        facts.into_iter().filter(|(_, value)| !value.is_empty()).map(line).collect();
    let (mb, file) = (measured.written_bytes / 1_000_000, measured.file_bytes >> 20);
    let took = measured.took.as_secs();
    let awake = match measured.awake {
        true => "kept awake",
        false => "could sleep, so times include waking them; root can keep them awake",
    };
    format!(
        "# Measured by 'embermark storage measure'; the figures are at the end (docs/storage.md).\n\
         {facts}\
         # written      {mb} MB to a file of {file} MiB, in {took} s\n\
         # processors   {awake}\n\n"
    )
}

fn spread(Spread { low, typical, high }: Spread) -> String {
    if low == high { typical.to_string() } else { format!("[{low}, {typical}, {high}]") }
}

fn transfer(Transfer { random_us, sequential_us, kb_per_s }: Transfer) -> String {
    let (random, sequential) = (spread(random_us), spread(sequential_us));
    let rate = f64::from(kb_per_s.typical) / 1_000.0;
    format!("{{ random-us = {random}, sequential-us = {sequential}, mb-per-s = {rate} }}")
}

fn parameters(storage: &Storage, measured: &Measured) -> String {
    let (read, write) = (transfer(storage.read), transfer(storage.write));
    let (flush, queue, sector) =
        (spread(storage.flush_us), storage.queue_depth, storage.sector_bytes);
    let (seen, cache) = match storage.cache_bytes {
        0 => (
            "A write with a flush took less than twice as long as one without: it has no significant write cache.",
            "cache = 0".to_owned(),
        ),
        bytes => {
            let bound = match bytes >= measured.row_us.len() as u64 * ROW {
                true => "A lower bound: this amount was written in a row without slowing down.",
                false => {
                    "Written in a row before writes slowed down, less what the medium had by then."
                }
            };
            let (kib, cached) = (bytes >> 10, spread(storage.cached_write_us));
            (
                "A write and a flush took at least twice as long as a write: it has a write cache.",
                format!("# {bound}\ncache = \"{kib} KiB\"\ncached-write-us = {cached}"),
            )
        }
    };
    let rates = THREADS.iter().zip(measured.reads_per_s);
    let rates: Vec<String> = rates.map(|(n, rate)| format!("{rate:.0} with {n}")).collect();
    let rates = rates.join(", ");
    format!(
        "# [10th percentile, median, 90th percentile]; a run uses the median.\n\
         read = {read}\n\
         write = {write}\n\
         # {seen}\n\
         flush-us = {flush}\n\
         {cache}\n\
         # Random reads of 4 KiB per second by threads: {rates}.\n\
         queue-depth = {queue}\n\
         sector = {sector}\n\n"
    )
}

fn series(storage: &Storage, measured: &Measured) -> String {
    let note = match storage.cache_bytes {
        0 => "",
        _ => "# (for a write: one that finds the cache empty)\n",
    };
    let line = |one: &Series| {
        let [p10, median, p90] = [0.1, 0.5, 0.9].map(|share| percentile(&one.us, share));
        let model = predicted_us(storage, measured.file_bytes, one.kind, one.random, one.bytes);
        let place = if one.random { "random" } else { "in a row" };
        let what = format!("{}, {place}", one.kind.name());
        let (bytes, count) = (one.bytes, one.us.len());
        format!(
            "# {what:<27}{bytes:>8}{p10:>10.0}{median:>10.0}{p90:>10.0}{model:>10.0}{count:>9}\n"
        )
    };
    let lines: String = measured.series.iter().map(line).collect();
    format!(
        "# Measured, one request at a time, in µs, and the median by the parameters above:\n\
         #                               bytes       p10    median       p90     model requests\n\
         {note}{lines}"
    )
}

fn flushes(measured: &Measured) -> String {
    let rows = [
        ("flush of nothing".to_owned(), &measured.empty_flush_us),
        (format!("{GROUP} random writes of 4096 bytes and a flush"), &measured.group_us),
        (format!("writes of {ROW} bytes in a row, no flush"), &measured.row_us),
    ];
    let line = |(what, us): (String, &Vec<f64>)| {
        let [p10, median, p90] = [0.1, 0.5, 0.9].map(|share| percentile(us, share));
        format!("# {what}: {p10:.0}, {median:.0}, {p90:.0}; {} times\n", us.len())
    };
    rows.into_iter().map(line).collect()
}

fn stalls(measured: &Measured) -> String {
    let us: Vec<f64> = measured.sustained.iter().map(|one| one.us).collect();
    let lasted = measured.sustained.last().map_or(0.0, |one| one.at_s + one.us / 1e6);
    let longest = us.iter().copied().fold(0.0, f64::max);
    let limit = measured.stall_us();
    let [median, p99] = [0.5, 0.99].map(|share| percentile(&us, share));
    let stalls = match us.iter().filter(|us| **us > limit).count() {
        0 => "No stall: no write".to_owned(),
        1 => "One stall: it".to_owned(),
        stalls => format!("Stalls: {stalls}"),
    };
    format!(
        "# Random writes of 4 KiB, each with a flush, for {lasted:.0} s: {} writes, median {median:.0}, 99th percentile \
         {p99:.0}, longest {longest:.0}.\n\
         # {stalls} took longer than ten times the median ({limit:.0}).\n\
         # Stalls are not part of the model here: they need a translation layer, '[flash]', and a\n\
         # measurement does not show its parameters. Add one to imitate stalls (docs/storage.md).\n",
        us.len()
    )
}
