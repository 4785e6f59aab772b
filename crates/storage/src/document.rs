//! Writes a measured storage as TOML, with its measurements in comments.

use std::fmt::Write as _;

use embermark_blockdev::{Request, RequestKind, Timing as _};
use embermark_model::card::Spread;
use embermark_model::storage::{Storage, Transfer};

use crate::measure::{GROUP, Kind, Measured, ROW, THREADS, percentile};
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
    let mut text = format!("about = {}\n", toml::Value::String(storage.about.clone()));
    add_head(&mut text, measured, origin);
    add_parameters(&mut text, storage, measured);
    add_series(&mut text, storage, measured);
    add_flushes(&mut text, measured);
    add_stalls(&mut text, measured);
    text
}

/// Adds a line of comment. Control characters in a device's name must not end the line.
fn add_comment(text: &mut String, line: &str) {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", format!("# {line}").trim_end());
}

fn add_head(text: &mut String, measured: &Measured, origin: &Origin) {
    add_comment(
        text,
        "Measured by 'embermark storage measure'; the figures are at the end (docs/storage.md).",
    );
    let Origin { device, file_system, kernel, date, version } = origin;
    let facts = [
        ("device", device),
        ("file system", file_system),
        ("kernel", kernel),
        ("date", date),
        ("embermark", version),
    ];
    for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
        add_comment(text, &format!("{name:<12} {value}"));
    }
    let (mb, file) = (measured.written_bytes / 1_000_000, measured.file_bytes >> 20);
    let took = measured.took.as_secs();
    add_comment(text, &format!("{:<12} {mb} MB to a file of {file} MiB, in {took} s", "written"));
    let awake = match measured.awake {
        true => "kept awake",
        false => "could sleep, so times include waking them; root can keep them awake",
    };
    add_comment(text, &format!("{:<12} {awake}", "processors"));
    text.push('\n');
}

fn spread(Spread { low, typical, high }: Spread) -> String {
    if low == high { typical.to_string() } else { format!("[{low}, {typical}, {high}]") }
}

fn transfer(Transfer { random_us, sequential_us, kb_per_s }: Transfer) -> String {
    let (random, sequential) = (spread(random_us), spread(sequential_us));
    let rate = f64::from(kb_per_s.typical) / 1_000.0;
    format!("{{ random-us = {random}, sequential-us = {sequential}, mb-per-s = {rate} }}")
}

fn add_parameters(text: &mut String, storage: &Storage, measured: &Measured) {
    add_comment(text, "[10th percentile, median, 90th percentile]; a run uses the median.");
    let _ = writeln!(text, "read = {}", transfer(storage.read));
    let _ = writeln!(text, "write = {}", transfer(storage.write));
    let cached = storage.cache_bytes > 0;
    add_comment(
        text,
        match cached {
            true => {
                "A write and a flush took at least twice as long as a write: it has a write cache."
            }
            false => {
                "A write with a flush took less than twice as long as one without: it has no significant write cache."
            }
        },
    );
    let _ = writeln!(text, "flush-us = {}", spread(storage.flush_us));
    if cached {
        let all = storage.cache_bytes >= measured.row_us.len() as u64 * ROW;
        add_comment(
            text,
            match all {
                true => "A lower bound: this amount was written in a row without slowing down.",
                false => {
                    "Written in a row before writes slowed down, less what the medium had by then."
                }
            },
        );
        let _ = writeln!(text, "cache = \"{} KiB\"", storage.cache_bytes >> 10);
        let _ = writeln!(text, "cached-write-us = {}", spread(storage.cached_write_us));
    } else {
        let _ = writeln!(text, "cache = 0");
    }
    let rates = THREADS.iter().zip(measured.reads_per_s);
    let rates: Vec<String> = rates.map(|(n, rate)| format!("{rate:.0} with {n}")).collect();
    add_comment(
        text,
        &format!("Random reads of 4 KiB per second by threads: {}.", rates.join(", ")),
    );
    let _ = writeln!(text, "queue-depth = {}", storage.queue_depth);
    let _ = writeln!(text, "sector = {}\n", storage.sector_bytes);
}

fn add_series(text: &mut String, storage: &Storage, measured: &Measured) {
    add_comment(
        text,
        "Measured, one request at a time, in µs, and the median by the parameters above:",
    );
    let heads = ["bytes", "p10", "median", "p90", "model", "requests"];
    let [bytes, p10, median, p90, model, count] = heads;
    add_comment(
        text,
        &format!("{:<27}{bytes:>8}{p10:>10}{median:>10}{p90:>10}{model:>10}{count:>9}", ""),
    );
    if storage.cache_bytes > 0 {
        add_comment(text, "(for a write: one that finds the cache empty)");
    }
    for one in &measured.series {
        let [p10, median, p90] = [0.1, 0.5, 0.9].map(|share| percentile(&one.us, share));
        let model = predicted_us(storage, measured.file_bytes, one.kind, one.random, one.bytes);
        let place = if one.random { "random" } else { "in a row" };
        let what = format!("{}, {place}", one.kind.name());
        let (bytes, count) = (one.bytes, one.us.len());
        add_comment(
            text,
            &format!(
                "{what:<27}{bytes:>8}{p10:>10.0}{median:>10.0}{p90:>10.0}{model:>10.0}{count:>9}"
            ),
        );
    }
}

fn add_flushes(text: &mut String, measured: &Measured) {
    for (what, us) in [
        ("flush of nothing".to_owned(), &measured.empty_flush_us),
        (format!("{GROUP} random writes of 4096 bytes and a flush"), &measured.group_us),
        (format!("writes of {ROW} bytes in a row, no flush"), &measured.row_us),
    ] {
        let [p10, median, p90] = [0.1, 0.5, 0.9].map(|share| percentile(us, share));
        add_comment(text, &format!("{what}: {p10:.0}, {median:.0}, {p90:.0}; {} times", us.len()));
    }
}

fn add_stalls(text: &mut String, measured: &Measured) {
    let us: Vec<f64> = measured.sustained.iter().map(|one| one.us).collect();
    let lasted = measured.sustained.last().map_or(0.0, |one| one.at_s + one.us / 1e6);
    let longest = us.iter().copied().fold(0.0, f64::max);
    let limit = measured.stall_us();
    let stalls = us.iter().filter(|us| **us > limit).count();
    let [median, p99] = [0.5, 0.99].map(|share| percentile(&us, share));
    add_comment(
        text,
        &format!(
            "Random writes of 4 KiB, each with a flush, for {lasted:.0} s: {} writes, median {median:.0}, 99th percentile \
             {p99:.0}, longest {longest:.0}.",
            us.len()
        ),
    );
    add_comment(
        text,
        &match stalls {
            0 => format!("No stall: no write took longer than ten times the median ({limit:.0})."),
            1 => format!("One stall: it took longer than ten times the median ({limit:.0})."),
            stalls => {
                format!("Stalls: {stalls} took longer than ten times the median ({limit:.0}).")
            }
        },
    );
    add_comment(
        text,
        "Stalls are not part of the model here: they need a translation layer, '[flash]', and a",
    );
    add_comment(
        text,
        "measurement does not show its parameters. Add one to imitate stalls (docs/storage.md).",
    );
}
