//! Adds the energy that an external meter recorded to the runs of a result, by their times.

mod align;
mod record;

use std::path::Path;

use embermark_meter::statistics::mean;
use embermark_model::result::{Energy, EnergySource, Period, ResultFile, Run, SCHEMA};
use jiff::Timestamp;

use super::curve::Curve;
use super::spread;
use crate::{HarnessError, Result};

pub use record::Record;

/// Id of the source.
const ID: &str = "meter";

/// Number of usual line intervals that make a gap.
const GAP: f64 = 5.0;

/// What the user states about a meter in addition to its record.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeterOptions {
    /// Seconds to add to its times for the machine's, instead of deriving them from the load
    /// pattern.
    pub offset: Option<f64>,
    /// Draw of the idle machine in watts, instead of what the meter recorded in the idle time.
    pub idle_watts: Option<f64>,
}

/// Outcome of applying a record.
#[derive(Clone, Debug)]
pub struct Metered {
    /// The meter as the result now describes it.
    pub source: EnergySource,
    /// Number of runs that got their energy from the record.
    pub known: usize,
    /// Reasons why other runs got none, with the number of these runs.
    pub unknown: Vec<(String, usize)>,
}

/// Writes the energy from a meter's record into the runs of a result. The meter becomes the first
/// source. Figures of other sources are kept, and figures of an earlier record are removed.
///
/// # Errors
/// If the runs have no times, or the offset of the meter's clock is unknown.
pub fn apply(
    result: &mut ResultFile,
    record: &Record,
    file: &Path,
    options: MeterOptions,
) -> Result<Metered> {
    let refused = |why: String| HarnessError::unusable(file, why);
    let known = result.manifest.energy.clone().unwrap_or_default();
    if runs(result).all(|run| run.period.is_none()) {
        return Err(refused(
            "the result has no times of its runs: measure again, with this version".to_owned(),
        ));
    }
    let markers: Vec<TimeSpan> = known.markers.iter().filter_map(TimeSpan::from_period).collect();
    let clock = match options.offset {
        Some(offset) => align::with_offset(offset),
        None if markers.is_empty() && record.is_relative => {
            return Err(refused(
                "its times begin at 0, and the run was not made with --metered, whose load pattern shows when that was: give --offset SECONDS, the Unix time of its first line"
                    .to_owned(),
            ));
        }
        None if markers.is_empty() => align::assumed_equal(),
        None => align::by_markers(&record.curve, &markers).map_err(refused)?,
    };
    let curve = record.curve.map_times(|at| clock.day(at));
    let gap = GAP * curve.interval().unwrap_or(f64::INFINITY);
    if let (Some([first, last]), Some([began, ended])) = (curve.ends(), span(result))
        && (last < began || first > ended)
    {
        return Err(refused(format!(
            "it covers {} to {}, and the run {} to {}: is it the record of another run, or is its clock \
             different (--offset)?",
            day(first),
            day(last),
            day(began),
            day(ended)
        )));
    }
    let idle = known.idle.as_ref().and_then(TimeSpan::from_period);
    let mut source = EnergySource {
        id: ID.to_owned(),
        about: format!(
            "external meter ({})",
            file.file_name().unwrap_or_default().to_string_lossy()
        ),
        sampled_every_ns: curve.interval().map(|seconds| (seconds * 1e9) as u64),
        aligned: Some(clock.description.clone()),
        ..EnergySource::default()
    };
    match (options.idle_watts, idle) {
        (Some(watts), _) => source.idle_watts = Some(watts),
        (None, Some(TimeSpan { began, ended })) if curve.mean(began, ended, gap).is_some() => {
            let samples: Vec<f64> = curve.within(began, ended).collect();
            (source.idle_watts, source.idle_spread_watts) = (mean(&samples), spread(&samples));
        }
        _ => {}
    }
    Ok(write(result, &curve, gap, source))
}

/// Writes the energies.
fn write(result: &mut ResultFile, curve: &Curve, gap: f64, source: EnergySource) -> Metered {
    let mut metered = Metered { source: source.clone(), known: 0, unknown: Vec::new() };
    for run in runs_mut(result) {
        let Some(TimeSpan { began, ended }) = run.period.as_ref().and_then(TimeSpan::from_period)
        else {
            continue;
        };
        let before = run.energy.take().into_iter().chain(std::mem::take(&mut run.energy_beside));
        run.energy_beside = before.filter(|energy| energy.source != ID).collect();
        match curve.joules(began, ended, gap) {
            Ok(joules) => {
                run.energy = Some(Energy::new(&source, joules, ended - began));
                run.no_energy = None;
                metered.known += 1;
            }
            Err(why) => {
                let kind = why.of_several();
                match metered.unknown.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, times)) => *times += 1,
                    None => metered.unknown.push((kind, 1)),
                }
                run.no_energy = Some(why.to_string());
            }
        }
    }
    let energy = result.manifest.energy.get_or_insert_default();
    energy.sources.retain(|other| other.id != ID);
    energy.sources.insert(0, source);
    // The result now has the current field names.
    result.schema = SCHEMA;
    metered
}

/// A period in Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimeSpan {
    began: f64,
    ended: f64,
}

impl TimeSpan {
    fn from_period(period: &Period) -> Option<Self> {
        let began = period.began.parse::<Timestamp>().ok()?.as_nanosecond() as f64 / 1e9;
        Some(Self { began, ended: began + period.lasted_ns as f64 / 1e9 })
    }
}

/// Returns the beginning of the first run and the end of the last one.
fn span(result: &ResultFile) -> Option<[f64; 2]> {
    let moments: Vec<TimeSpan> =
        runs(result).filter_map(|run| TimeSpan::from_period(run.period.as_ref()?)).collect();
    let began = moments.iter().map(|of| of.began).reduce(f64::min)?;
    Some([began, moments.iter().map(|of| of.ended).reduce(f64::max)?])
}

fn runs(result: &ResultFile) -> impl Iterator<Item = &Run> {
    let trials = result.cells.iter().flat_map(|cell| &cell.trials);
    trials.flat_map(|trial| &trial.phases).flat_map(|phase| &phase.runs)
}

fn runs_mut(result: &mut ResultFile) -> impl Iterator<Item = &mut Run> {
    let trials = result.cells.iter_mut().flat_map(|cell| &mut cell.trials);
    trials.flat_map(|trial| &mut trial.phases).flat_map(|phase| &mut phase.runs)
}

/// Formats Unix seconds as date and time.
fn day(seconds: f64) -> String {
    let at = Timestamp::from_second(seconds as i64);
    at.map_or_else(|_| format!("{seconds} s"), |at| at.to_string())
}

#[cfg(test)]
mod tests;
