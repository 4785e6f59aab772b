//! Simulates months of a sensor logger in minutes. It writes readings with a simulated clock, moves
//! those older than a week into Parquet files, and removes those older than a month. The last line
//! shows the cost.
//!
//! ```text
//! cargo run --release -p embermark-hybrid --example retention -- FOLDER [READINGS] [DAYS]
//! ```
//!
//! Within a memory limit, for example 256 MB: `systemd-run --scope -p MemoryMax=256M …`.

#[path = "readings/mod.rs"]
mod readings;

use std::error::Error;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_contract::kv::Table;
use embermark_contract::sql::Param;
use embermark_contract::{Result, Store};
use embermark_hybrid::{Archive, Hybrid};
use readings::{Memory, key, open, timed};

const SENSORS: u64 = 54;

/// Number of readings per transaction.
const BATCH: u64 = 1_000;

/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

/// Number of days after which readings move to files, and after which they expire.
const WEEK: i64 = 7;
const MONTH: i64 = 30;

/// DuckDB's cache and the memory limit of the process.
const MEMORY: Memory = Memory { cache: 16 << 20, limit: Some(256 << 20) };

/// Writes a day's readings.
fn write(hybrid: &mut Hybrid, table: Table, day: i64, readings: u64) -> Result<()> {
    for first in (0..readings).step_by(BATCH as usize) {
        hybrid.change(|batch| {
            for number in first..readings.min(first + BATCH) {
                let time = day * DAY + (number as i64) * (DAY / readings.max(1) as i64);
                let sensor = (number % SENSORS) as u16;
                batch.put(table, &key(sensor, time), &(number as f64).to_le_bytes())?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Queries the number of readings since a time, and their number of days.
fn ask(hybrid: &mut Hybrid, since: i64) -> Result<(i64, i64)> {
    let question = "SELECT COUNT(*), COUNT(DISTINCT ts // 86400000000) FROM readings WHERE ts >= ?";
    let mut answer = (0, 0);
    hybrid.query(question, &[Param::Int(since)], &mut |row| {
        answer = (row.int(0)?.unwrap_or(0), row.int(1)?.unwrap_or(0));
        Ok(())
    })?;
    Ok(answer)
}

/// Returns the bytes allocated below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.blocks() * 512,
        Err(_) => 0,
    };
    entries.map(of).sum()
}

/// Returns the largest resident memory so far, as the system reports it.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.map_or("-", |line| line.trim_start_matches("VmHWM:").trim()).to_owned()
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first().map(Path::new) else {
        return Err("usage: retention FOLDER [READINGS (10000000)] [DAYS (60)]".into());
    };
    let total: u64 = arguments.get(1).map_or(Ok(10_000_000), |text| text.parse())?;
    let days: i64 = arguments.get(2).map_or(Ok(60), |text| text.parse())?;
    let a_day = total / days.max(1) as u64;
    let (mut hybrid, table) = open(folder, MEMORY, None)?;
    let mut totals = [0.0; 4];
    for day in 0..days {
        let what = Archive::moving("ts", (day + 1 - WEEK) * DAY);
        let oldest = (day + 1 - MONTH) * DAY;
        let ((), writing) = timed(|| write(&mut hybrid, table, day, a_day))?;
        let (archived, archiving) = timed(|| hybrid.archive(table, &what))?;
        let (expired, expiring) = timed(|| hybrid.expire(table, oldest))?;
        let ((count, of_days), asking) = timed(|| ask(&mut hybrid, oldest))?;
        let times = [writing, archiving, expiring, asking];
        totals.iter_mut().zip(times).for_each(|(total, time)| *total += time);
        let kept = (day + 1).min(MONTH);
        if (count, of_days) != (kept * a_day as i64, kept) {
            return Err(format!("day {day}: found {count} readings of {of_days} days").into());
        }
        if (day + 1) % 10 == 0 {
            println!(
                "day {:>3}: {} archived, {} expired, {count} left; {} MB on disk, peak {}",
                day + 1,
                archived.rows,
                expired.rows,
                size(folder) / 1_000_000,
                peak()
            );
        }
    }
    let [writing, archiving, expiring, asking] = totals.map(|milliseconds| milliseconds / 1000.0);
    println!(
        "{} readings: {writing:.1} s writing, {archiving:.1} s archiving, {expiring:.1} s expiring, {:.0} ms per query",
        a_day * days as u64,
        asking * 1000.0 / days as f64
    );
    Ok(Store::Kv(Box::new(hybrid)).close()?)
}
