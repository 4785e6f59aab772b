//! One pair of a comparison of embedded engines, in its own process like a trial.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_engines::{Join, OpenOptions, Opened, Reopener, Store, registry};
use embermark_meter::Meter;
use embermark_model::Durability;
use embermark_model::answer::Answer;
use embermark_report::statistics::median;
use embermark_workloads::Bench;
use serde::{Deserialize, Serialize};

use crate::loops::{self, Bare};
use crate::{Failure, rows};

/// Number of runs of a phase by each side. The first is discarded, as in every trial.
const RUNS: usize = 8;
/// Cache of every engine in bytes, as in `embermark run`.
pub const MEMORY: u64 = 64 << 20;

/// What a process measured: ns per operation of embermark and of the bare loop, medians of the
/// counted runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The phase `load`, per row.
    pub load: [f64; 2],
    /// The phase `read`, per read.
    pub read: [f64; 2],
}

/// Returns the options, with the tier that is compared.
pub fn options(dir: PathBuf) -> OpenOptions {
    OpenOptions::new(dir, Durability::Process, MEMORY)
}

/// Returns the index of the phase with that name.
pub fn phase(bench: &dyn Bench, name: &str) -> Result<usize, Failure> {
    let place = bench.phases().iter().position(|phase| phase.name == name);
    place.ok_or_else(|| format!("the workload has no phase {name}").into())
}

/// Runs a phase once, like a worker. Returns ns per operation.
pub fn timed(
    bench: &mut dyn Bench,
    phase: usize,
    meter: &mut Meter,
) -> Result<(f64, Answer), Failure> {
    bench.ready(phase)?;
    let outcome = bench.run(phase, meter)?;
    let measured = meter.measured();
    bench.check(phase, &outcome, measured)?;
    Ok((measured.elapsed_ns as f64 / measured.ops as f64, outcome.answer))
}

/// Runs both sides alternately on the same staged rows, each on its own database below an empty
/// folder: anything that slows the machine affects both.
pub fn run(engine: &str, staged: &Path, dir: &Path) -> Result<Pair, Failure> {
    let [ours, theirs] = ["ours", "theirs"].map(|side| dir.join(side));
    fs::create_dir(&ours)?;
    fs::create_dir(&theirs)?;
    let prepared = rows::prepare(staged)?;
    let (ours, measured) = (options(ours), registry::find(engine)?);
    let Opened { mut store, server, .. } = measured.open(&ours)?;
    let is_pairs = matches!(store, Store::Kv(_));
    let theirs = match store.lifecycle().join() {
        Join::At(at) if server.is_some() => socket_url(&at)?,
        _ => theirs,
    };
    let mut bench = prepared.open(store, Reopener::for_engine(measured, ours))?;
    let staged = rows::readings(staged)?;
    let drawn = rows::drawn(staged.len());
    let expected = loops::expected(drawn.iter().map(|place| &staged[*place]));
    let keys = drawn.iter().map(|place| staged[*place].key());
    let mut bare = Bare::open(engine, &theirs, MEMORY, &staged, keys)?;

    let (place, mut meter) = (phase(&*bench, "load")?, Meter::new(None));
    let load = turns(RUNS, |side| match side {
        Side::Embermark => timed(&mut *bench, place, &mut meter).map(|(ns, _)| ns),
        Side::Tool => Ok(bare.load()? as f64 / staged.len() as f64),
    })?;
    bare.database.maintain()?;
    let (place, mut meter) = (phase(&*bench, "read")?, Meter::new(None));
    // Each run directly follows another, unmeasured one of its own side. What the other side and
    // the check of an answer left in the CPU's caches thus affects neither. The bare loop reads
    // what is drawn here, and the workload must have drawn the same.
    let answer = Answer::Checksum(rows::checksum(&staged, &drawn, is_pairs));
    let read = turns(RUNS, |side| match side {
        Side::Embermark => {
            bench.ready(place)?;
            bench.run(place, &mut meter)?;
            match timed(&mut *bench, place, &mut meter)? {
                (ns, found) if found == answer => Ok(ns),
                _ => Err("the workload reads other keys than the bare loops do".into()),
            }
        }
        Side::Tool => match bare.read().and_then(|_| bare.read())? {
            (ns, found) if found == expected => Ok(ns as f64 / drawn.len() as f64),
            (_, found) => Err(format!("the loop found {found:?}, and not {expected:?}").into()),
        },
    })?;
    bare.database.close()?;
    bench.finish()?;
    Ok(Pair { load: medians(&load), read: medians(&read) })
}

/// Runs both in turns, each first every other time. Returns the figures of all turns but the first.
pub fn turns(
    turns: usize,
    mut run: impl FnMut(Side) -> Result<f64, Failure>,
) -> Result<Vec<[f64; 2]>, Failure> {
    let mut figures = Vec::new();
    for turn in 0..turns {
        let mut both = [0.0; 2];
        for place in 0..2 {
            let side = [Side::Embermark, Side::Tool][(turn + place) % 2];
            both[side as usize] = run(side)?;
        }
        figures.push(both);
    }
    Ok(figures.split_off(1))
}

/// The side whose turn it is.
#[derive(Clone, Copy)]
pub enum Side {
    Embermark,
    Tool,
}

/// Returns the median of each side.
pub fn medians(figures: &[[f64; 2]]) -> [f64; 2] {
    [0, 1].map(|side| {
        let figures: Vec<f64> = figures.iter().map(|both| both[side]).collect();
        median(&figures).unwrap_or(f64::NAN)
    })
}

/// Returns the URL of the server that an adapter of MongoDB has started, with the adapter's
/// options.
///
/// # Errors
/// If it names no socket.
pub fn socket_url(at: &str) -> Result<PathBuf, Failure> {
    let socket = at.split_once(" unix:").ok_or_else(|| format!("no socket in '{at}'"))?.1;
    let host = socket.replace('/', "%2F");
    let options = "directConnection=true&retryWrites=false&retryReads=false\
                   &heartbeatFrequencyMS=3600000&socketCheckIntervalMS=3600000";
    Ok(format!("mongodb://{host}/?{options}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_take_turns_and_the_first_run_of_each_is_discarded() {
        let mut order = String::new();
        let figures = turns(RUNS, |side| {
            let (name, ns) = match side {
                Side::Embermark => ('o', 3.0),
                Side::Tool => ('t', 2.0),
            };
            let first = !order.contains(name);
            order.push(name);
            Ok(if first { 1e9 } else { ns })
        });
        assert_eq!(medians(&figures.unwrap()), [3.0, 2.0]);
        assert_eq!(order, "ottoottoottootto");
    }
}
