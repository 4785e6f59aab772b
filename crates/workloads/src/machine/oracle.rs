//! The oracle: the samples that a store must have, and the right answer for each moment.

use std::ops::Range;

use embermark_contract::{EngineError, Result};
use embermark_data::machine::{History, Sample, Signal, Stamp, Values, cycle};

use super::cycles::{QueryResults, ReadMethod, sums_of, window};
use super::machine_log::in_unit;
use super::reader::Answer;

/// Margin before the first moment and after the last, so that no part of a cycle is missing.
const MARGIN_NS: i64 = 1_000_000_000;

/// Lowest rate, in samples per second. One turn then has ten samples, and at least one is below an
/// eighth of the amplitude.
const SLOWEST: u64 = 30;

/// Samples in the order of time.
pub(super) struct Oracle {
    samples: Samples,
    /// Samples per second.
    rate: u64,
    /// Unit of the times that the store keeps, in ns.
    unit_ns: i64,
}

enum Samples {
    History(History),
    WriteOutcome { signal: Signal, times: Vec<Stamp>, runs: Vec<Run> },
}

/// Samples with consecutive numbers.
struct Run {
    /// Position of the first sample.
    place: usize,
    /// Number of the first sample.
    number: u64,
}

impl Oracle {
    /// Creates the oracle of a loaded history.
    pub(super) const fn history(history: History, rate: u64, unit_ns: i64) -> Self {
        Self { samples: Samples::History(history), rate, unit_ns }
    }

    /// Creates the oracle of the samples that a writer stored, from the times read back and the numbers of the
    /// samples as runs: the first number and the count.
    pub(super) fn written(
        signal: Signal,
        rate: u64,
        unit_ns: i64,
        times: Vec<Stamp>,
        numbers: &[(u64, u64)],
    ) -> Self {
        let mut place = 0;
        let runs = numbers.iter().map(|(number, count)| {
            let run = Run { place, number: *number };
            place += *count as usize;
            run
        });
        let runs = runs.collect();
        Self { samples: Samples::WriteOutcome { signal, times, runs }, rate, unit_ns }
    }

    fn len(&self) -> usize {
        match &self.samples {
            Samples::History(history) => history.len as usize,
            Samples::WriteOutcome { times, .. } => times.len(),
        }
    }

    fn at(&self, place: usize) -> Stamp {
        match &self.samples {
            Samples::History(history) => in_unit(history.at(place as u64), self.unit_ns),
            Samples::WriteOutcome { times, .. } => times[place],
        }
    }

    fn values(&self, place: usize) -> Values {
        match &self.samples {
            Samples::History(history) => history.sample(place as u64).values,
            Samples::WriteOutcome { signal, runs, .. } => {
                let run = &runs[runs.partition_point(|run| run.place <= place) - 1];
                signal.values(run.number + (place - run.place) as u64)
            }
        }
    }

    /// Returns the position of the first sample later than a moment.
    fn after(&self, moment: Stamp) -> usize {
        match &self.samples {
            Samples::History(history) => {
                let unit = moment.nanoseconds().div_euclid(self.unit_ns) + 1;
                history.after(Stamp::from_nanoseconds(unit * self.unit_ns - 1)) as usize
            }
            Samples::WriteOutcome { times, .. } => times.partition_point(|at| *at <= moment),
        }
    }

    /// Returns the range that moments can be drawn from, in ns.
    ///
    /// # Errors
    /// Fails when cycles cannot be told apart, or there are fewer than three seconds of them.
    pub(super) fn moments(&self) -> Result<Range<i64>> {
        let period_ns = 1_000_000_000_u64.div_ceil(self.rate.max(1)) as i64;
        let ends = self.len().checked_sub(1).map(|last| [self.at(0), self.at(last)]);
        let [from, to] = ends.unwrap_or_default().map(Stamp::nanoseconds);
        if self.rate < SLOWEST || to - from + period_ns < 3 * MARGIN_NS {
            return Err(self.too_slow());
        }
        Ok(from + MARGIN_NS..to - MARGIN_NS)
    }

    fn too_slow(&self) -> EngineError {
        let (has, remedy) = match self.samples {
            Samples::History(_) => {
                ("a history with too few samples", "a larger --scale or a higher --rate")
            }
            Samples::WriteOutcome { .. } => {
                ("the data that was written", "a longer window or a higher --rate")
            }
        };
        let what = format!(
            "reading cycles: it has {} samples at {} per second, and needs three seconds at {SLOWEST} \
             per second; use {remedy}",
            self.len(),
            self.rate
        );
        EngineError::unsupported(has, what)
    }

    /// Returns the right answer for a moment: from all samples for single questions, from its two
    /// seconds for bulk reads.
    pub(super) fn expected(&self, reader: ReadMethod, moment: Stamp) -> Option<QueryResults> {
        let (begin, end) = match reader {
            ReadMethod::Individual => (0, self.len()),
            ReadMethod::Bulk | ReadMethod::BulkAngles => {
                let (first, last) = window(moment);
                let begin = self.after(Stamp { s: first - 1, ns: 999_999_999 });
                (begin, self.after(Stamp { s: last, ns: 999_999_999 }))
            }
        };
        let at = |place: usize| self.at(begin + place);
        let angle = |place: usize| self.values(begin + place)[0];
        let from = self.after(moment).clamp(begin, end) - begin;
        let found = cycle(end - begin, at, angle, from)?;
        let sample = |place| Sample { at: at(place), values: self.values(begin + place) };
        let samples: Vec<Sample> = found.map(sample).collect();
        QueryResults::from_samples(&samples, sums_of(&samples))
    }

    /// Describes the first wrong answer.
    pub(super) fn wrong(&self, reader: ReadMethod, answers: &[Answer]) -> Option<String> {
        answers.iter().find_map(|(moment_ns, found)| {
            let moment = Stamp::from_nanoseconds(*moment_ns);
            let expected = self.expected(reader, moment);
            (expected != *found).then(|| {
                format!("the cycle around {moment:?} was read as {found:?}, expected {expected:?}")
            })
        })
    }
}

#[cfg(test)]
mod tests;
