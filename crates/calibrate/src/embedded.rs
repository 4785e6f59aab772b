//! Engines with a bare loop: a fresh process for each pair.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::line::Line;
use crate::pair::{MEMORY, Pair};
use crate::{Failure, tools};

/// What the bare loops are called in the table.
const LOOP: &str = "bare C loop";

/// Compares an engine with its bare loop in `count` pairs; RocksDB's reads with `db_bench`
/// too, where that is.
pub fn compare(
    engine: &'static str,
    version: &str,
    staged: &Path,
    rows: usize,
    folder: &Path,
    count: usize,
) -> Result<Vec<Line>, Failure> {
    let work = match engine {
        "mongodb" => ["load, a commit each", "read"],
        _ => ["load, one transaction", "read, one transaction"],
    };
    let [mut load, mut read] = work.map(|work| Line::new(engine, version, work, LOOP));
    let mut own = Line::new(engine, version, "read, one transaction", "db_bench");
    let db_bench = (engine == "rocksdb").then(|| tools::db_bench_of(version).ok()).flatten();
    for _ in 0..count {
        let pair = pair(engine, staged, &fresh(folder)?)?;
        load.push(pair.load);
        read.push(pair.read);
        if let Some(program) = &db_bench {
            let said = tools::said_by(tools::db_bench(program, &fresh(folder)?, MEMORY, rows))?;
            let ns = tools::db_bench_ns(&said).ok_or("db_bench says no time")?;
            own.push([pair.read[0], ns]);
        }
    }
    Ok([load, read, own].into_iter().filter(Line::has_figures).collect())
}

/// An empty directory in place of the last one's.
fn fresh(folder: &Path) -> Result<PathBuf, Failure> {
    let dir = folder.join("database");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir(&dir)?;
    Ok(dir)
}

/// A pair in a process of its own.
fn pair(engine: &str, staged: &Path, dir: &Path) -> Result<Pair, Failure> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["pair", engine]).arg(staged).arg(dir).stderr(Stdio::inherit());
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("the pair of {engine} failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
