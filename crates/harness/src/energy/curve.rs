//! Power over time, and its integral.

use std::collections::VecDeque;
use std::fmt;

/// Smallest number of samples for computing the energy of a period. The time before the first and
/// after the last sample is then at most a fifth of the period.
pub(crate) const MIN_SAMPLES: usize = 10;

/// Largest number of samples that are kept of a run: one day with ten per second.
const MAX_SAMPLES: usize = 864_000;

/// Why a curve has no energy of a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NoEnergy {
    /// It has only this many samples in this many seconds.
    TooFew(usize, f64),
    /// It has no sample for this many seconds.
    Gap(f64),
    /// It has no sample around the period.
    NotRead,
}

impl NoEnergy {
    /// Returns the reason of several periods, without the numbers of one.
    pub fn of_several(self) -> String {
        match self {
            Self::TooFew(..) => {
                format!("too few lines of the meter in the run: {MIN_SAMPLES} are needed")
            }
            Self::Gap(_) => "it was not read for a part of the run".to_owned(),
            Self::NotRead => self.to_string(),
        }
    }
}

impl fmt::Display for NoEnergy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew(samples, lasted) => {
                let plural = if *samples == 1 { "" } else { "s" };
                write!(
                    f,
                    "it was read {samples} time{plural} in {lasted:.3} s, and {MIN_SAMPLES} times are needed"
                )
            }
            Self::Gap(seconds) => write!(f, "it was not read for {seconds:.1} s"),
            Self::NotRead => f.write_str("it was not read"),
        }
    }
}

/// Watts at seconds of some clock, in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curve(VecDeque<(f64, f64)>);

impl FromIterator<(f64, f64)> for Curve {
    fn from_iter<T: IntoIterator<Item = (f64, f64)>>(samples: T) -> Self {
        Self(samples.into_iter().collect())
    }
}

impl Curve {
    pub fn push(&mut self, at: f64, watts: f64) {
        self.0.push_back((at, watts));
        if self.0.len() > MAX_SAMPLES {
            self.0.pop_front();
        }
    }

    /// Removes the samples before `at`, except the last of them.
    pub fn discard_before(&mut self, at: f64) {
        while self.0.get(1).is_some_and(|(next, _)| *next <= at) {
            self.0.pop_front();
        }
    }

    /// Returns the samples within a period.
    pub fn within(&self, began: f64, ended: f64) -> impl Iterator<Item = f64> {
        let (first, end) = (self.first_at(began), self.first_at(ended));
        self.0.range(first..end).map(|(_, watts)| *watts)
    }

    /// Returns the index of the first sample at or after a time.
    fn first_at(&self, at: f64) -> usize {
        self.0.partition_point(|(sampled, _)| *sampled < at)
    }

    /// Returns the joules of a period: the area below straight lines between the samples, including
    /// the last sample before and the first one after it.
    ///
    /// # Errors
    /// If the samples are too few, or have a gap of more than `gap` seconds.
    pub fn joules(&self, began: f64, ended: f64, gap: f64) -> Result<f64, NoEnergy> {
        let samples = self.within(began, ended).count();
        self.check_gaps(began, ended, gap)?;
        if samples < MIN_SAMPLES {
            return Err(NoEnergy::TooFew(samples, ended - began));
        }
        Ok(self.area(began, ended))
    }

    /// Returns the mean watts of a period for any number of samples. `None` if there is a gap.
    pub fn mean(&self, began: f64, ended: f64, gap: f64) -> Option<f64> {
        self.check_gaps(began, ended, gap).ok()?;
        Some(self.area(began, ended) / (ended - began))
    }

    fn check_gaps(&self, began: f64, ended: f64, gap: f64) -> Result<(), NoEnergy> {
        // Includes one sample before and one after, if there are any.
        let first = self.first_at(began).saturating_sub(1);
        let end = (self.first_at(ended) + 1).min(self.0.len());
        let mut at = None;
        for (next, _) in self.0.range(first..end) {
            let from = at.unwrap_or(began);
            if next - from > gap && *next > began {
                return Err(NoEnergy::Gap(next - from));
            }
            at = Some(*next);
        }
        match at {
            Some(last) if ended - last <= gap => Ok(()),
            Some(last) => Err(NoEnergy::Gap(ended - last)),
            None => Err(NoEnergy::NotRead),
        }
    }

    /// Returns the area. Both ends may be beyond the samples.
    fn area(&self, began: f64, ended: f64) -> f64 {
        let inner = self.0.range(self.first_at(began)..self.first_at(ended));
        let points = [(began, self.at(began))].into_iter().chain(inner.copied());
        let points: Vec<(f64, f64)> = points.chain([(ended, self.at(ended))]).collect();
        points.windows(2).map(|two| (two[1].0 - two[0].0) * (two[0].1 + two[1].1) / 2.0).sum()
    }

    /// Returns the watts at a time, interpolated between two samples.
    fn at(&self, at: f64) -> f64 {
        let next = self.first_at(at);
        let after = self.0.get(next).copied();
        let before = next.checked_sub(1).and_then(|place| self.0.get(place)).copied();
        match (before, after) {
            (Some((t0, w0)), Some((t1, w1))) => w0 + (w1 - w0) * (at - t0) / (t1 - t0),
            (Some((_, watts)), None) | (None, Some((_, watts))) => watts,
            (None, None) => 0.0,
        }
    }

    /// Returns all samples: seconds and watts.
    pub fn samples(&self) -> impl Iterator<Item = (f64, f64)> {
        self.0.iter().copied()
    }

    /// Returns the first and the last time. `None` without samples.
    pub fn ends(&self) -> Option<[f64; 2]> {
        Some([self.0.front()?.0, self.0.back()?.0])
    }

    /// Returns the usual time between samples: the median.
    pub fn interval(&self) -> Option<f64> {
        let pairs = self.0.iter().zip(self.0.iter().skip(1));
        let mut steps: Vec<f64> = pairs.map(|((before, _), (after, _))| after - before).collect();
        let middle = steps.len() / 2;
        (!steps.is_empty()).then(|| *steps.select_nth_unstable_by(middle, f64::total_cmp).1)
    }

    /// Returns the same samples at other times.
    pub fn map_times(&self, to: impl Fn(f64) -> f64) -> Self {
        self.samples().map(|(at, watts)| (to(at), watts)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Watts every 100 ms, starting at 0.
    fn every_100_ms(seconds: u32, watts: impl Fn(f64) -> f64) -> Curve {
        (0..=seconds * 10).map(|n| f64::from(n) / 10.0).map(|at| (at, watts(at))).collect()
    }

    fn near(value: f64, wanted: f64) -> bool {
        (value - wanted).abs() < 1e-6
    }

    #[test]
    fn energy_is_the_area_below_the_power() {
        let constant = every_100_ms(20, |_| 5.0);
        assert!(near(constant.joules(2.0, 12.0, 1.0).unwrap(), 50.0));
        // Between samples, too.
        assert!(near(constant.joules(2.03, 12.07, 1.0).unwrap(), 50.2));
        // A ramp of 1 W per second: half the difference of the squares.
        let ramp = every_100_ms(20, |at| at);
        assert!(near(ramp.joules(2.05, 12.0, 1.0).unwrap(), (144.0 - 2.05 * 2.05) / 2.0));
        assert!(near(ramp.mean(4.0, 6.0, 1.0).unwrap(), 5.0));
    }

    #[test]
    fn it_ends_with_the_last_sample_where_none_came_after_it() {
        let curve = every_100_ms(10, |_| 3.0);
        assert!(near(curve.joules(0.0, 10.5, 1.0).unwrap(), 31.5));
        let why = curve.joules(0.0, 12.0, 1.0).unwrap_err();
        assert_eq!(why.to_string(), "it was not read for 2.0 s");
    }

    #[test]
    fn a_gap_and_too_few_samples_are_no_energy() {
        let mut curve = every_100_ms(10, |_| 3.0);
        curve.push(14.0, 3.0);
        for n in 141..=300 {
            curve.push(f64::from(n) / 10.0, 3.0);
        }
        assert_eq!(curve.joules(5.0, 20.0, 1.0), Err(NoEnergy::Gap(4.0)));
        assert_eq!(curve.joules(11.0, 13.0, 1.0), Err(NoEnergy::Gap(4.0)));
        assert!(curve.joules(5.0, 10.0, 1.0).is_ok() && curve.joules(14.0, 20.0, 1.0).is_ok());
        let why = curve.joules(5.0, 5.5, 1.0).unwrap_err().to_string();
        assert!(why.contains("5 times in 0.500 s, and 10 times are needed"), "{why}");
        assert!(Curve::default().joules(0.0, 9.0, 1.0).is_err());
        assert!(curve.joules(40.0, 50.0, 1.0).is_err(), "after everything");
        assert!(every_100_ms(3, |_| 1.0).map_times(|at| at + 10.0).joules(0.0, 13.0, 1.0).is_err());
    }

    #[test]
    fn what_is_forgotten_leaves_the_sample_before() {
        let mut curve = every_100_ms(10, |at| at);
        curve.discard_before(5.05);
        assert_eq!(curve.ends(), Some([5.0, 10.0]));
        assert!(near(curve.interval().unwrap(), 0.1));
    }
}
