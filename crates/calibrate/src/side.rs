//! One side of a comparison of embedded engines: a process of its own, as a trial is one.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_data::staged::StagedRows;
use embermark_engines::{Link, Opened, Site, registry};
use embermark_meter::Meter;
use embermark_model::Durability;
use embermark_model::answer::Answer;
use embermark_workloads::{Bench, Spec, find};
use serde::{Deserialize, Serialize};

use crate::loops::{self, Bare};
use crate::{Failure, rows};

/// Runs of a phase; the first is discarded, as in every trial.
const RUNS: usize = 6;
/// Cache of every engine in bytes: what `embermark run` gives.
pub const MEMORY: u64 = 64 << 20;

/// Whose loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// embermark's: workload, meter, adapter.
    Ours,
    /// The bare loop.
    Theirs,
}

impl Side {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        }
    }
}

/// What a process measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Trial {
    /// ns a row of the phase `load`: the mean over the counted runs.
    pub load: f64,
    /// ns a read of the phase `read`: the mean over the counted runs.
    pub read: f64,
}

/// The tier that is compared.
pub fn site(dir: PathBuf) -> Site {
    Site { dir, durability: Durability::Process, memory: MEMORY, url: None, link: Link::Socket }
}

/// Runs a side on staged rows in an empty directory.
///
/// # Errors
/// Those of the engine, and a wrong answer.
pub fn run(side: Side, engine: &str, staged: &Path, dir: &Path) -> Result<Trial, Failure> {
    match side {
        Side::Ours => ours(engine, staged, dir),
        Side::Theirs => theirs(engine, staged, dir),
    }
}

/// The place of a phase of that name.
///
/// # Errors
/// When there is none.
pub fn phase(bench: &dyn Bench, name: &str) -> Result<usize, Failure> {
    let place = bench.phases().iter().position(|phase| phase.name == name);
    place.ok_or_else(|| format!("sensors has no phase {name}").into())
}

/// Runs a phase once, as a worker does; ns an operation.
///
/// # Errors
/// Those of the engine, and a wrong answer.
pub fn timed(
    bench: &mut dyn Bench,
    phase: usize,
    meter: &mut Meter,
) -> Result<(f64, Answer), Failure> {
    bench.ready(phase)?;
    let answer = bench.run(phase, meter)?;
    let measured = meter.measured();
    bench.check(phase, &answer, measured, true)?;
    Ok((measured.elapsed_ns as f64 / measured.ops as f64, answer))
}

fn ours(engine: &str, staged: &Path, dir: &Path) -> Result<Trial, Failure> {
    let spec = Spec::of(staged.to_owned(), "single", rows::SEED);
    let prepared = find("sensors")?.prepare(&spec)?;
    let Opened { store, .. } = registry::find(engine)?.open(&site(dir.to_owned()))?;
    one_library(engine)?;
    let mut bench = prepared.open(store)?;
    let mut means = Vec::new();
    let mut answer = None;
    for name in ["load", "read"] {
        let place = phase(&*bench, name)?;
        let mut meter = Meter::new(None);
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            let (ns, answered) = timed(&mut *bench, place, &mut meter)?;
            runs.push(ns);
            answer = Some(answered);
        }
        means.push(mean(&runs));
    }
    bench.finish()?;
    // The bare loops read what is drawn here; the workload must have drawn the same.
    let staged = StagedRows::open(staged)?;
    let drawn = Answer::Checksum(rows::checksum(&staged, &rows::drawn(&staged)));
    if answer != Some(drawn) {
        return Err("the workload sensors reads other keys than the bare loops do".into());
    }
    Ok(Trial { load: means[0], read: means[1] })
}

fn theirs(engine: &str, staged: &Path, dir: &Path) -> Result<Trial, Failure> {
    let staged = StagedRows::open(staged)?;
    let drawn = rows::drawn(&staged);
    let there = drawn.iter().filter_map(|(_, place)| place.map(|place| &staged[place]));
    let expected = loops::taken(there);
    let keys = drawn.iter().map(|(key, _)| *key);
    let mut bare = Bare::open(engine, dir, MEMORY, &staged, keys)?;
    let (mut load, mut read) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        load.push(bare.load()? as f64 / staged.len() as f64);
    }
    bare.settle()?;
    for _ in 0..RUNS {
        let (ns, found) = bare.read()?;
        if found != expected {
            return Err(format!("the bare loop found {found:?}, and not {expected:?}").into());
        }
        read.push(ns as f64 / drawn.len() as f64);
    }
    bare.close()?;
    Ok(Trial { load: mean(&load), read: mean(&read) })
}

/// Of all runs but the first.
fn mean(runs: &[f64]) -> f64 {
    runs[1..].iter().sum::<f64>() / (runs.len() - 1) as f64
}

/// An adapter opens RocksDB at run time, the bare loop is linked with it: it must be the same file.
fn one_library(engine: &str) -> Result<(), Failure> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let mut files: Vec<&str> =
        maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).collect();
    files.retain(|file| file.contains(&format!("lib{engine}.so")));
    files.sort_unstable();
    files.dedup();
    if files.len() > 1 {
        let both = files.join(" and ");
        return Err(format!("the adapter and the bare loop use two libraries, {both}").into());
    }
    Ok(())
}
