//! Engines with a bare loop: a new process for each pair.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

use crate::line::Line;
use crate::pair::{MEMORY, Pair};
use crate::{Failure, tools, ycsb};

/// Name of the bare loops in the table.
const LOOP: &str = "bare C loop";

/// Compares an engine with its bare loop in `count` pairs. RocksDB's reads are also compared with
/// `db_bench`, if it is installed.
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
    let ycsb = ycsb::WORKLOADS.iter().filter(|_| ycsb::is_compiled_in(engine));
    let mut ycsb: Vec<Line> =
        ycsb.map(|(_, work)| Line::new(engine, version, work, LOOP)).collect();
    for _ in 0..count {
        let dir = empty_database_folder(folder)?;
        let pair: Pair =
            child(&["pair".as_ref(), engine.as_ref(), staged.as_os_str(), dir.as_ref()])?;
        load.push(pair.load);
        read.push(pair.read);
        if let Some(program) = &db_bench {
            let said = tools::output_of(tools::db_bench(
                program,
                &empty_database_folder(folder)?,
                MEMORY,
                rows,
            ))?;
            let ns = tools::db_bench_ns(&said).ok_or("db_bench reports no time")?;
            own.push([pair.read[0], ns]);
        }
        for ((workload, _), line) in ycsb::WORKLOADS.iter().zip(&mut ycsb) {
            let dir = empty_database_folder(folder)?;
            line.push(child(&["ycsb".as_ref(), workload.as_ref(), engine.as_ref(), dir.as_ref()])?);
        }
    }
    let lines = [load, read, own].into_iter().chain(ycsb);
    Ok(lines.filter(Line::has_figures).collect())
}

/// Makes an empty folder that replaces the last one.
fn empty_database_folder(folder: &Path) -> Result<PathBuf, Failure> {
    let dir = folder.join("database");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir(&dir)?;
    Ok(dir)
}

/// Returns what this program measures in a separate process with these arguments.
fn child<T: DeserializeOwned>(arguments: &[&OsStr]) -> Result<T, Failure> {
    let mut command = Command::new(env::current_exe()?);
    let output = command.args(arguments).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{arguments:?} failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
