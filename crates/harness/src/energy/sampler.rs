//! Samples energy sources in the parent process and computes the energy of runs.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use embermark_model::result::{Energy, EnergyMeasurement, EnergySource, Period, Run};

use super::counter::{Counted, Counter, Window, Zone};
use super::curve::Curve;
use super::source::{EnergySources, Kind, Power, Source};
use crate::clock::{WallClock, monotonic_ns};

/// Shortest run whose energy a counter can measure: RAPL updates once per millisecond.
const LEAST_COUNTED: f64 = 0.1;

/// Interval at which the parent reads counters, to know how often they restarted.
const COUNTERS_EVERY: Duration = Duration::from_secs(1);

/// Number of periods without a sample that make a gap.
const GAP: u32 = 10;

/// Samples the energy sources of a device.
pub(crate) struct Sampler {
    clock: WallClock,
    pub(super) watched: RefCell<Vec<SampledSource>>,
    /// Facts about the sources. The first source gives the figures.
    pub(super) known: RefCell<EnergyMeasurement>,
}

/// A source and its readings.
pub(super) struct SampledSource {
    pub source: Source,
    /// Of a power.
    pub curve: Curve,
    /// Of each zone of a counter.
    pub totals: Vec<Totals>,
    /// Time of the next reading in seconds of the monotonic clock.
    due: f64,
    /// Number of readings, and their total duration.
    readings: (u32, Duration),
}

/// A counter that never restarts: the last value of its zone, and the joules since the first value
/// over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    last: Option<u64>,
    joules: f64,
    at: Vec<(f64, f64)>,
}

impl Totals {
    fn update(&mut self, at: f64, zone: &Zone) {
        let Ok(now) = zone.read() else { return };
        if let Some(last) = self.last {
            self.joules += zone.since(last, now) as f64 / 1e6;
        }
        self.last = Some(now);
        self.at.push((at, self.joules));
    }

    /// Returns the approximate joules of a period: between its first and its last reading.
    pub fn approximate_joules(&self, began: f64, ended: f64) -> Option<f64> {
        let mut within = self.at.iter().filter(|(at, _)| (began..=ended).contains(at));
        let first = within.next()?;
        let last = within.next_back().unwrap_or(first);
        Some(last.1 - first.1)
    }
}

impl SampledSource {
    fn sample(&mut self, now: f64) {
        let began = Instant::now();
        match &self.source.kind {
            Kind::Power(power) => {
                if let Some(watts) = power.watts() {
                    // The reading may have taken some time.
                    self.curve.push(seconds().unwrap_or(now), watts);
                }
                self.due = now + power.period().as_secs_f64();
            }
            Kind::Counter(zones) => {
                zones.iter().zip(&mut self.totals).for_each(|(zone, of)| of.update(now, zone));
                self.due = now + COUNTERS_EVERY.as_secs_f64();
            }
        }
        self.readings.0 += 1;
        self.readings.1 += began.elapsed();
    }

    /// Returns the counter that a worker reads, if the source has one.
    fn counter(&self) -> Option<Counter> {
        let Kind::Counter(zones) = &self.source.kind else { return None };
        Some(Counter { source: self.source.id.clone(), zones: zones.clone() })
    }

    /// Returns the mean duration of a reading.
    pub fn mean_reading_ns(&self) -> Option<u64> {
        let (count, took) = self.readings;
        (count > 0).then(|| (took / count).as_nanos() as u64)
    }

    /// Returns the joules of a run.
    fn joules(&self, window: &Window) -> Result<f64, String> {
        let (began, ended) = to_seconds(window.between);
        match &self.source.kind {
            Kind::Power(power) => {
                self.curve.joules(began, ended, gap(power)).map_err(|why| why.to_string())
            }
            Kind::Counter(zones) => {
                let is_own = |counted: &&Counted| counted.source == self.source.id;
                let counted = window.counted.iter().find(is_own);
                let counted = counted.ok_or("its worker did not read it")?;
                joules_counted(zones, &self.totals, counted, (began, ended))
            }
        }
    }

    /// Removes what no later run needs.
    fn discard_before(&mut self, at: f64) {
        self.curve.discard_before(at - 1.0);
        self.totals.iter_mut().for_each(|totals| totals.at.retain(|of| of.0 >= at));
    }
}

/// Returns the joules that the worker counted around a run. Adds the whole ranges of a counter that
/// passed in between, which the parent's readings show.
fn joules_counted(
    zones: &[Zone],
    totals: &[Totals],
    counted: &Counted,
    (began, ended): (f64, f64),
) -> Result<f64, String> {
    if ended - began < LEAST_COUNTED {
        return Err(format!(
            "the run took {:.3} s, and its counter cannot resolve less than {LEAST_COUNTED} s",
            ended - began
        ));
    }
    let mut sum = 0.0;
    for ((zone, totals), counted) in zones.iter().zip(totals).zip(&counted.microjoules) {
        let Some(counted) = counted else {
            return Err(format!("{} could not be read", zone.path.display()));
        };
        let (counted, range) = (*counted as f64 / 1e6, (zone.range as f64 + 1.0) / 1e6);
        let whole = totals
            .approximate_joules(began, ended)
            .map_or(0.0, |about| ((about - counted) / range).round());
        sum += counted + whole.max(0.0) * range;
    }
    Ok(sum)
}

/// Returns the length of a gap between power samples in seconds.
fn gap(power: &Power) -> f64 {
    (power.period() * GAP).as_secs_f64()
}

impl Sampler {
    /// Makes a sampler of these sources.
    pub fn new(EnergySources { sources, absent }: EnergySources) -> Self {
        let known = sources.iter().map(describe_source).collect();
        let known =
            EnergyMeasurement { sources: known, not_measured: absent, ..Default::default() };
        let watched = sources.into_iter().map(|source| {
            let zones = if let Kind::Counter(zones) = &source.kind { zones.len() } else { 0 };
            let (curve, totals) = (Curve::default(), vec![Totals::default(); zones]);
            SampledSource { source, curve, totals, due: 0.0, readings: (0, Duration::ZERO) }
        });
        Self {
            clock: WallClock::now(),
            watched: RefCell::new(watched.collect()),
            known: RefCell::new(known),
        }
    }

    /// Whether there are no sources.
    pub fn is_empty(&self) -> bool {
        self.watched.borrow().is_empty()
    }

    /// Returns the counters that a worker reads.
    pub fn counters(&self) -> Vec<Counter> {
        self.watched.borrow().iter().filter_map(SampledSource::counter).collect()
    }

    /// Returns the facts about the sources.
    pub fn known(&self) -> EnergyMeasurement {
        self.known.borrow().clone()
    }

    /// Restores the facts of an interrupted run: the idle power, and the order of the sources.
    pub fn restore(&self, known: EnergyMeasurement) {
        *self.known.borrow_mut() = known;
    }

    /// Reads the sources that are due.
    pub fn sample(&self) {
        let Some(now) = seconds() else { return };
        for watched in self.watched.borrow_mut().iter_mut().filter(|watched| watched.due <= now) {
            watched.sample(now);
        }
    }

    /// Reads all sources. Returns the time before that, in seconds of the monotonic clock.
    pub(super) fn sample_all(&self) -> Option<f64> {
        let now = seconds()?;
        self.watched.borrow_mut().iter_mut().for_each(|watched| watched.sample(now));
        Some(now)
    }

    /// Reads the counters. Returns the time before that, in seconds of the monotonic clock.
    pub(super) fn sample_counters(&self) -> Option<f64> {
        let now = seconds()?;
        let mut all = self.watched.borrow_mut();
        let counters = all.iter_mut().filter(|of| matches!(of.source.kind, Kind::Counter(_)));
        counters.for_each(|watched| watched.sample(now));
        Some(now)
    }

    /// Converts a period in seconds of the monotonic clock to times of day.
    pub(super) fn period(&self, began: f64, ended: f64) -> Period {
        self.clock.period(((began * 1e9) as u64, (ended * 1e9) as u64))
    }

    /// Writes the period and the energy of a run into its record.
    pub fn record_run(&self, run: &mut Run, window: Option<&Window>) {
        let known = self.known.borrow();
        let Some(window) = window else {
            run.no_energy = known.sources.first().map(|_| "its window was not reported".to_owned());
            return;
        };
        run.period = Some(self.clock.period(window.between));
        let (began, ended) = to_seconds(window.between);
        let mut watched = self.watched.borrow_mut();
        for (place, source) in known.sources.iter().enumerate() {
            let watched = watched.iter().find(|watched| watched.source.id == source.id);
            let joules = match watched {
                Some(watched) => watched.joules(window),
                None => Err("it existed when the run began, and does not any more".to_owned()),
            };
            let energy = joules.map(|joules| Energy::new(source, joules, ended - began));
            match (place, energy) {
                (0, Ok(energy)) => run.energy = Some(energy),
                (0, Err(why)) => run.no_energy = Some(why),
                (_, Ok(energy)) => run.energy_beside.push(energy),
                (_, Err(_)) => {}
            }
        }
        watched.iter_mut().for_each(|watched| watched.discard_before(ended));
    }
}

fn describe_source(source: &Source) -> EnergySource {
    let sampled_every_ns = match &source.kind {
        Kind::Power(power) => Some(power.period().as_nanos() as u64),
        Kind::Counter(_) => None,
    };
    EnergySource {
        id: source.id.clone(),
        about: source.about.clone(),
        sampled_every_ns,
        ..EnergySource::default()
    }
}

/// Returns the current time in seconds of the monotonic clock.
pub(super) fn seconds() -> Option<f64> {
    monotonic_ns().map(|ns| ns as f64 / 1e9)
}

fn to_seconds((began, ended): (u64, u64)) -> (f64, f64) {
    (began as f64 / 1e9, ended as f64 / 1e9)
}

#[cfg(test)]
mod tests;
