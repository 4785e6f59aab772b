//! The parent's side: powers over time, and what a run came to.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use embermark_model::result::{Energy, EnergyMeasurement, EnergySource, Period, Run};

use super::counter::{Counted, Counter, Window, Zone};
use super::curve::Curve;
use super::source::{Found, Kind, Power, Source};
use super::wall_clock::WallClock;
use crate::clock::monotonic_ns;

/// The shortest run whose energy a counter tells: RAPL's change once a millisecond.
const LEAST_COUNTED: f64 = 0.1;

/// How often the parent reads counters, to know how often they began anew.
const COUNTERS_EVERY: Duration = Duration::from_secs(1);

/// So many periods without a sample are a gap.
const GAP: u32 = 10;

/// Watches the sources of energy of a device.
pub(crate) struct Sampler {
    clock: WallClock,
    watched: RefCell<Vec<Watched>>,
    /// What is known of the sources, those of the figures first.
    pub(super) known: RefCell<EnergyMeasurement>,
}

/// A source and what was read of it.
pub(super) struct Watched {
    pub source: Source,
    pub read: Read,
    /// When it is read again.
    due: f64,
    /// How many readings there were, and how long they took together.
    readings: (u32, Duration),
}

/// What was read.
pub(super) enum Read {
    Power(Curve),
    /// Of each zone its last value, and at times the joules since the first one.
    Counter(Vec<Totals>),
}

/// A counter that does not begin anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    last: Option<u64>,
    joules: f64,
    at: Vec<(f64, f64)>,
}

impl Totals {
    fn take(&mut self, at: f64, zone: &Zone) {
        let Ok(now) = zone.read() else { return };
        if let Some(last) = self.last {
            self.joules += zone.since(last, now) as f64 / 1e6;
        }
        self.last = Some(now);
        self.at.push((at, self.joules));
    }

    /// Joules from one time to another, about: to the nearest readings within it.
    pub fn about(&self, began: f64, ended: f64) -> Option<f64> {
        let mut within = self.at.iter().filter(|(at, _)| (began..=ended).contains(at));
        let first = within.next()?;
        let last = within.next_back().unwrap_or(first);
        Some(last.1 - first.1)
    }
}

impl Watched {
    fn look(&mut self, now: f64) {
        let began = Instant::now();
        match (&self.source.kind, &mut self.read) {
            (Kind::Power(power), Read::Power(curve)) => {
                if let Some(watts) = power.watts() {
                    // It may have taken its time.
                    curve.push(seconds().unwrap_or(now), watts);
                }
                self.due = now + power.period().as_secs_f64();
            }
            (Kind::Counter(zones), Read::Counter(totals)) => {
                totals.iter_mut().zip(zones).for_each(|(totals, zone)| totals.take(now, zone));
                self.due = now + COUNTERS_EVERY.as_secs_f64();
            }
            _ => {}
        }
        self.readings.0 += 1;
        self.readings.1 += began.elapsed();
    }

    /// How long a reading took, in the mean.
    pub fn mean_reading_ns(&self) -> Option<u64> {
        let (count, took) = self.readings;
        (count > 0).then(|| (took / count).as_nanos() as u64)
    }

    /// Joules of a run.
    fn joules(&self, window: &Window) -> Result<f64, String> {
        let (began, ended) = as_seconds(window.between);
        match (&self.source.kind, &self.read) {
            (Kind::Power(power), Read::Power(curve)) => curve.joules(began, ended, gap(power)),
            (Kind::Counter(zones), Read::Counter(totals)) => {
                let counted =
                    window.counted.iter().find(|counted| counted.source == self.source.id);
                let counted = counted.ok_or("its worker did not read it")?;
                joules_counted(zones, totals, counted, (began, ended))
            }
            _ => Err("it was not read".to_owned()),
        }
    }

    /// Forgets what no later run needs.
    fn forget_before(&mut self, at: f64) {
        match &mut self.read {
            Read::Power(curve) => curve.forget_before(at - 1.0),
            Read::Counter(all) => {
                all.iter_mut().for_each(|totals| totals.at.retain(|of| of.0 >= at))
            }
        }
    }
}

/// What was counted around a run, with the whole ranges that the parent saw pass.
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
        let whole =
            totals.about(began, ended).map_or(0.0, |about| ((about - counted) / range).round());
        sum += counted + whole.max(0.0) * range;
    }
    Ok(sum)
}

/// What is a gap between samples of a power, in seconds.
fn gap(power: &Power) -> f64 {
    (power.period() * GAP).as_secs_f64()
}

impl Sampler {
    /// Watches what was found.
    pub fn of(Found { sources, absent }: Found) -> Self {
        let known = sources.iter().map(described).collect();
        let known =
            EnergyMeasurement { sources: known, not_measured: absent, ..Default::default() };
        let watched = sources.into_iter().map(|source| {
            let read = match &source.kind {
                Kind::Power(_) => Read::Power(Curve::default()),
                Kind::Counter(zones) => Read::Counter(vec![Totals::default(); zones.len()]),
            };
            Watched { source, read, due: 0.0, readings: (0, Duration::ZERO) }
        });
        Self {
            clock: WallClock::now(),
            watched: RefCell::new(watched.collect()),
            known: RefCell::new(known),
        }
    }

    /// Whether anything measures.
    pub fn is_empty(&self) -> bool {
        self.watched.borrow().is_empty()
    }

    /// What a worker has to read.
    pub fn counters(&self) -> Vec<Counter> {
        self.watched.borrow().iter().filter_map(|watched| watched.source.counter()).collect()
    }

    /// What is known of the sources.
    pub fn known(&self) -> EnergyMeasurement {
        self.known.borrow().clone()
    }

    /// Takes over what was known before the run was cut off: the idle draw, and which source is the first.
    pub fn go_on(&self, known: EnergyMeasurement) {
        *self.known.borrow_mut() = known;
    }

    /// Reads the sources that are due.
    pub fn look(&self) {
        let Some(now) = seconds() else { return };
        for watched in self.watched.borrow_mut().iter_mut().filter(|watched| watched.due <= now) {
            watched.look(now);
        }
    }

    /// Reads all sources; the time before it, in seconds of the monotonic clock.
    pub(super) fn look_at_all(&self) -> Option<f64> {
        let now = seconds()?;
        self.watched.borrow_mut().iter_mut().for_each(|watched| watched.look(now));
        Some(now)
    }

    /// Reads the counters; the time before it, as above.
    pub(super) fn look_at_counters(&self) -> Option<f64> {
        let now = seconds()?;
        let mut all = self.watched.borrow_mut();
        let counters = all.iter_mut().filter(|of| matches!(of.source.kind, Kind::Counter(_)));
        counters.for_each(|watched| watched.look(now));
        Some(now)
    }

    /// Shows what was read to `look`.
    pub(super) fn with<T>(&self, look: impl FnOnce(&[Watched]) -> T) -> T {
        look(&self.watched.borrow())
    }

    /// The time of day of what began and ended then, in seconds of the monotonic clock.
    pub(super) fn period(&self, began: f64, ended: f64) -> Period {
        self.clock.period(((began * 1e9) as u64, (ended * 1e9) as u64))
    }

    /// Writes into a run when it was, and the energy of that time.
    pub fn of_run(&self, run: &mut Run, window: Option<&Window>) {
        let known = self.known.borrow();
        let Some(window) = window else {
            run.no_energy = known.sources.first().map(|_| "its window was not reported".to_owned());
            return;
        };
        run.period = Some(self.clock.period(window.between));
        let (began, ended) = as_seconds(window.between);
        let mut watched = self.watched.borrow_mut();
        for (place, source) in known.sources.iter().enumerate() {
            let watched = watched.iter().find(|watched| watched.source.id == source.id);
            let joules = match watched {
                Some(watched) => watched.joules(window),
                None => Err("it existed when the run began, and does not any more".to_owned()),
            };
            let energy = joules.map(|joules| Energy::of(source, joules, ended - began));
            match (place, energy) {
                (0, Ok(energy)) => run.energy = Some(energy),
                (0, Err(why)) => run.no_energy = Some(why),
                (_, Ok(energy)) => run.energy_beside.push(energy),
                (_, Err(_)) => {}
            }
        }
        watched.iter_mut().for_each(|watched| watched.forget_before(ended));
    }
}

fn described(source: &Source) -> EnergySource {
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

/// Now, in seconds of the monotonic clock.
pub(super) fn seconds() -> Option<f64> {
    monotonic_ns().map(|ns| ns as f64 / 1e9)
}

fn as_seconds((began, ended): (u64, u64)) -> (f64, f64) {
    (began as f64 / 1e9, ended as f64 / 1e9)
}

#[cfg(test)]
mod tests;
