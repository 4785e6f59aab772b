//! Measures how long a query waits for the mirror to catch up. It writes readings at a fixed rate,
//! one per transaction, and queries once per second, without background refresh and with refresh
//! at several intervals.
//!
//! ```text
//! cargo run --release -p embermark-hybrid --example staleness -- FOLDER [SECONDS]
//! ```

#[path = "readings/mod.rs"]
mod readings;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use embermark_contract::kv::Table;
use embermark_contract::{Result, Store};
use embermark_hybrid::Hybrid;
use readings::{Memory, key, open, timed};

/// A cache for DuckDB, and no limit.
const MEMORY: Memory = Memory { cache: 64 << 20, limit: None };

/// Returns the CPU time of this process in seconds: user and system time, in ticks of 10 ms.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = stat.rsplit(") ").next().unwrap_or_default();
    let field = |n: usize| behind.split(' ').nth(n)?.parse::<f64>().ok();
    (field(11).unwrap_or(0.0) + field(12).unwrap_or(0.0)) / 100.0
}

/// Writes at a rate for a time, and queries once per second. Returns how long each query waits for
/// missing changes, and how long it takes itself.
fn run(
    hybrid: &mut Hybrid,
    table: Table,
    rate: u64,
    seconds: u64,
) -> Result<(Vec<f64>, Vec<f64>, f64)> {
    hybrid.refresh()?;
    let (began, cpu_before) = (Instant::now(), cpu());
    let (mut written, mut waits, mut answers) = (0, Vec::new(), Vec::new());
    for second in 1..=seconds {
        while began.elapsed() < Duration::from_secs(second) {
            let due = (began.elapsed().as_secs_f64() * rate as f64) as u64;
            while written < due {
                let bytes = (written as f64).to_le_bytes();
                hybrid.put(table, &key((written % 54) as u16, written as i64), &bytes)?;
                written += 1;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        waits.push(timed(|| hybrid.refresh())?.1);
        let question = "SELECT sensor, COUNT(*), AVG(value) FROM readings GROUP BY sensor";
        answers.push(timed(|| hybrid.query(question, &[], &mut |_| Ok(())))?.1);
    }
    let cpu = (cpu() - cpu_before) / began.elapsed().as_secs_f64();
    Ok((waits, answers, cpu))
}

fn median_and_most(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times.get(times.len() / 2).copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first() else {
        return Err("usage: staleness FOLDER [SECONDS_PER_LINE (10)]".into());
    };
    let seconds: u64 = arguments.get(1).map_or(Ok(10), |text| text.parse())?;
    println!("rate      refresh    waits ms (most)    answer ms (most)    CPU");
    for rate in [1_000, 10_000] {
        for every in [None, Some(100), Some(10)] {
            let name = every.map_or("none".to_owned(), |every| format!("{every} ms"));
            let folder = Path::new(folder).join(format!("{rate}-{}", every.unwrap_or(0)));
            std::fs::create_dir_all(&folder)?;
            let (mut hybrid, table) = open(&folder, MEMORY, every.map(Duration::from_millis))?;
            let (waits, answers, cpu) = run(&mut hybrid, table, rate, seconds)?;
            let ((wait, longest), (answer, slowest)) =
                (median_and_most(waits), median_and_most(answers));
            println!(
                "{rate:>6}/s  {name:>7}  {wait:>8.2} ({longest:.2})  {answer:>10.2} ({slowest:.2})  {:>10.1} %",
                cpu * 100.0
            );
            Store::Kv(Box::new(hybrid)).close()?;
        }
    }
    Ok(())
}
