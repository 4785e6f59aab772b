//! A sensor logger. It writes readings for some seconds. Once per second it runs a query like that
//! of a dashboard, archives readings that are some seconds old into Parquet files, and removes older
//! files. A real logger would do so after days.
//!
//! ```text
//! cargo run --release -p embermark-hybrid --example logger -- FOLDER [SECONDS] [READINGS_PER_SECOND]
//! ```
//!
//! Its table and its engines are in `readings/mod.rs`.

#[path = "readings/mod.rs"]
mod readings;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use embermark_contract::kv::Table;
use embermark_contract::sql::Param;
use embermark_contract::{Result, Store};
use embermark_hybrid::{Archive, Hybrid};
use readings::{Memory, key, open, timed};

/// A cache for DuckDB, and no limit.
const MEMORY: Memory = Memory { cache: 64 << 20, limit: None };

const SENSORS: u16 = 20;

/// Largest number of readings per transaction.
const BATCH: u64 = 100;

/// Age in microseconds after which a reading moves to a file.
const ARCHIVED: i64 = 5_000_000;

/// Age in microseconds after which its file expires.
const EXPIRED: i64 = 10_000_000;

/// Microseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64
}

/// Writes readings up to the given number. Each transaction is complete or absent. `written` is the
/// number that has been written, even after an error.
fn write(hybrid: &mut Hybrid, table: Table, written: &mut u64, to: u64) -> Result<()> {
    while *written < to {
        let last = to.min(*written + BATCH);
        hybrid.change(|batch| {
            for number in *written..last {
                let sensor = (number % u64::from(SENSORS)) as u16;
                let value = f64::from(sensor) + (number as f64 / 1000.0).sin();
                batch.put(table, &key(sensor, now()), &value.to_le_bytes())?;
            }
            Ok(())
        })?;
        *written = last;
    }
    Ok(())
}

/// Queries the mean of each sensor in the last minute, like a dashboard. Returns the number of
/// readings and the highest mean.
fn ask(hybrid: &mut Hybrid) -> Result<(i64, f64)> {
    let question =
        "SELECT sensor, COUNT(*), AVG(value) FROM readings WHERE ts >= ? GROUP BY sensor";
    let (mut readings, mut highest) = (0, f64::MIN);
    hybrid.query(question, &[Param::Int(now() - 60_000_000)], &mut |row| {
        readings += row.int(1)?.unwrap_or(0);
        highest = row.float(2)?.map_or(highest, |mean| highest.max(mean));
        Ok(())
    })?;
    Ok((readings, highest))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first() else {
        return Err("usage: logger FOLDER [SECONDS (20)] [READINGS_PER_SECOND (2000)]".into());
    };
    let seconds: u64 = arguments.get(1).map_or(Ok(20), |text| text.parse())?;
    let rate: u64 = arguments.get(2).map_or(Ok(2000), |text| text.parse())?;
    let (mut hybrid, table) = open(Path::new(folder), MEMORY, Some(Duration::from_millis(200)))?;
    let began = Instant::now();
    let mut written = 0;
    for second in 1..=seconds {
        let mut writing = 0.0;
        while began.elapsed() < Duration::from_secs(second) {
            let due = (began.elapsed().as_secs_f64() * rate as f64) as u64;
            match timed(|| write(&mut hybrid, table, &mut written, due)) {
                Ok(((), took)) => writing += took,
                Err(error) => return Err(format!("after {written} readings: {error}").into()),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let ((readings, highest), asking) = timed(|| ask(&mut hybrid))?;
        let what = Archive::moving("ts", now() - ARCHIVED);
        let (archived, archiving) = timed(|| hybrid.archive(table, &what))?;
        let (expired, expiring) = timed(|| hybrid.expire(table, now() - EXPIRED))?;
        println!(
            "{second:>3} s: {written} written in {writing:.1} ms; {readings} queried, highest mean \
             {highest:.2}, in {asking:.1} ms; {} archived in {archiving:.1} ms; {} expired in {expiring:.1} ms",
            archived.rows, expired.rows
        );
    }
    Store::Kv(Box::new(hybrid)).close()?;
    Ok(())
}
