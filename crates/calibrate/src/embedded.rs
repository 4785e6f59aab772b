//! Embedded engines: a fresh process for each side of each pair.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::line::Line;
use crate::side::{MEMORY, Side, Trial};
use crate::{Failure, tools};

/// What the bare loops are called in the table.
const LOOP: &str = "bare C loop";

/// Compares an engine with its bare loop, `count` times in turns; RocksDB's reads with `db_bench`
/// too, where that is.
///
/// # Errors
/// Those of either side.
pub fn compare(
    engine: &'static str,
    version: &str,
    staged: &Path,
    rows: usize,
    folder: &Path,
    count: usize,
) -> Result<Vec<Line>, Failure> {
    let mut load = Line::new(engine, version, "load, one transaction", LOOP);
    let mut read = Line::new(engine, version, "read, one transaction", LOOP);
    let mut own = Line::new(engine, version, "read, one transaction", "db_bench");
    let db_bench = tools::program("db_bench").filter(|_| engine == "rocksdb");
    for turn in 0..count {
        let order = [Side::Ours, Side::Theirs];
        let [mut ours, mut theirs] = [None, None];
        for place in 0..2 {
            let side = order[(place + turn) % 2];
            let trial = Some(trial(side, engine, staged, folder)?);
            match side {
                Side::Ours => ours = trial,
                Side::Theirs => theirs = trial,
            }
        }
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        load.push(ours.load, theirs.load);
        read.push(ours.read, theirs.read);
        if let Some(program) = &db_bench {
            let dir = fresh(folder)?;
            let said = tools::said_by(tools::db_bench(program, &dir, MEMORY, rows))?;
            let ns = tools::db_bench_ns(&said).ok_or("db_bench says no time")?;
            own.push(ours.read, ns);
        }
    }
    Ok([load, read, own].into_iter().filter(Line::has_figures).collect())
}

/// An empty directory in place of the last one's.
fn fresh(folder: &Path) -> Result<std::path::PathBuf, Failure> {
    let dir = folder.join("database");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir(&dir)?;
    Ok(dir)
}

/// One side in a process of its own.
fn trial(side: Side, engine: &str, staged: &Path, folder: &Path) -> Result<Trial, Failure> {
    let dir = fresh(folder)?;
    let mut command = Command::new(env::current_exe()?);
    command.args(["side", side.name(), engine]).arg(staged).arg(dir).stderr(Stdio::inherit());
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{} of {engine} failed: {}", side.name(), output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
