//! `calibrate`: compares embermark's figures with those of the engines' own tools, each in one run.
//!
//! Embedded engines and MongoDB are compared with loops in C over the same library (`loops/`), and
//! SQL servers with pgbench and sysbench on the same server process. docs/calibration.md has the
//! results and their explanations.

mod embedded;
mod line;
mod loops;
mod pair;
mod rows;
mod servers;
mod tools;
mod ycsb;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use embermark_engines::{Availability, Engine, Kind, registry};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde::Serialize;

use line::Line;

/// Why a calibration ends.
type Failure = Box<dyn Error>;

/// Number of times of the grid for embedded engines: 54 by 1,852 is 100,008 rows.
const TIMES: u16 = 1_852;
/// Number of rows of that grid.
const ROWS: usize = TIMES as usize * rows::SENSORS as usize;
/// Default number of pairs, which `--pairs` overrides.
const PAIRS: usize = 7;
/// Fewer pairs have no useful interval (docs/statistics.md).
const FEWEST_PAIRS: usize = 5;
/// Engines that are compared by default.
const ENGINES: [&str; 7] =
    ["sqlite", "lmdb", "berkeleydb", "rocksdb", "postgres", "mariadb", "mongodb"];

const USAGE: &str = "usage: calibrate [--pairs N] [ENGINE...]\n\
    engines: sqlite, lmdb, berkeleydb, rocksdb, postgres, mariadb, mongodb; N is 5 or more";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["pair", engine, staged, dir] => {
            pair::run(engine, Path::new(staged), Path::new(dir)).and_then(|pair| print_json(&pair))
        }
        ["ycsb", workload, engine, dir] => {
            ycsb::pair(workload, engine, Path::new(dir), ycsb::RECORDS, ycsb::RUNS)
                .and_then(|pair| print_json(&pair))
        }
        _ => match parse_arguments(&words) {
            Some((pairs, engines)) => calibrate(pairs, &engines),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("calibrate: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the number of pairs and the engines. `None` if the request makes no sense.
fn parse_arguments<'a>(words: &[&'a str]) -> Option<(usize, Vec<&'a str>)> {
    let (pairs, named) = match words {
        ["--pairs", pairs, named @ ..] => (pairs.parse().ok()?, named),
        named => (PAIRS, named),
    };
    let known = named.iter().all(|engine| ENGINES.contains(engine));
    let engines = if named.is_empty() { ENGINES.to_vec() } else { named.to_vec() };
    (pairs >= FEWEST_PAIRS && known).then_some((pairs, engines))
}

/// Prints the measurements of a pair for the process that started this one.
fn print_json(pair: &impl Serialize) -> Result<(), Failure> {
    println!("{}", serde_json::to_string(pair)?);
    Ok(())
}

fn calibrate(pairs: usize, engines: &[&str]) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        eprintln!("calibrate: a debug build: its figures mean nothing");
    }
    stay_on_one_cpu()?;
    let folder = tempfile::tempdir()?;
    let [staged, few] = ["rows", "few"].map(|name| folder.path().join(name));
    rows::stage(&staged, TIMES)?;
    rows::stage(&few, servers::TIMES)?;
    let (mut lines, mut left_out, mut failed) = (Vec::<Line>::new(), Vec::new(), Vec::new());
    for id in engines {
        let engine = registry::find(id)?;
        let version = match installed_version(engine) {
            Ok(version) => version,
            Err(why) => {
                left_out.push(format!("{id}: not calibrated: {why}"));
                continue;
            }
        };
        if *id == "rocksdb"
            && let Err(why) = tools::db_bench_of(&version)
        {
            left_out.push(format!("{id}: not calibrated with db_bench: {why}"));
        }
        eprintln!("{id} {version}: {pairs} pairs");
        let scratch = tempfile::tempdir_in(folder.path())?;
        let (id, is_server) = (engine.info().id, engine.info().kind == Kind::Server);
        let (staged, rows) = if is_server { (&few, servers::ROWS) } else { (&staged, ROWS) };
        let compared = match loops::is_compiled_in(id) {
            true => embedded::compare(id, &version, staged, rows, scratch.path(), pairs),
            false => servers::compare(engine, &version, scratch.path(), pairs),
        };
        match compared {
            Ok(compared) => {
                compared.iter().for_each(|line| eprintln!("{}", line.brief()));
                lines.extend(compared);
            }
            Err(error) => failed.push(format!("{id}: {error}")),
        }
    }
    if !lines.is_empty() {
        println!("{}", line::table(&lines));
        println!("ours, theirs and ratio: medians of {pairs} pairs, an operation; tier process");
    }
    left_out.iter().for_each(|line| println!("{line}"));
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n").into()) }
}

/// Keeps this process, and all that it starts, on the last CPU that it may use. The scheduler would
/// place a client and its server on one CPU or on two, and an idle CPU must be woken for every
/// answer. That costs more than the compared work, and affects one side or the other by chance.
fn stay_on_one_cpu() -> Result<(), Failure> {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this)?;
    let mut one = CpuSet::new();
    if let Some(last) = (0..CpuSet::count()).rev().find(|&cpu| allowed.is_set(cpu).unwrap_or(false))
    {
        one.set(last)?;
        sched_setaffinity(this, &one)?;
    }
    Ok(())
}

/// Returns the version of an engine that can be compared here, or what is missing.
fn installed_version(engine: &dyn Engine) -> Result<String, String> {
    let version = match engine.availability() {
        Availability::Ready { version } => version,
        Availability::Missing { why, remedy } => return Err(format!("{why}; {remedy}")),
    };
    let id = engine.info().id;
    if loops::is_compiled_in(id) {
        return Ok(version);
    }
    if engine.info().kind != Kind::Server {
        let why = "this program was built without its header; run make deps, then make calibrate";
        return Err(why.to_owned());
    }
    servers::missing_tool(id).map_or(Ok(version), |tool| Err(tools::absent(tool)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_those_that_are_named_or_all_and_pairs_are_five_or_more() {
        assert_eq!(parse_arguments(&[]), Some((PAIRS, ENGINES.to_vec())));
        assert_eq!(parse_arguments(&["--pairs", "5", "lmdb"]), Some((5, vec!["lmdb"])));
        assert_eq!(parse_arguments(&["--pairs", "4"]), None);
        assert_eq!(parse_arguments(&["oracle"]), None);
        assert_eq!(parse_arguments(&["--pairs"]), None);
    }
}
