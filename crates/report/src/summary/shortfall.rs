//! Work that a cell did not do although others of its kind did: it lost samples, missed reads, or
//! did not achieve its rate. Such a cell uses less and finishes earlier because of it, so it is not
//! compared.

use std::collections::HashMap;
use std::fmt;

use embermark_model::result::{Cell, Observed, OpenLoopSchedule, Run};

use super::figure::counted;
use crate::{format, text};

/// What one phase failed to do, in its worst trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortfall<'a> {
    /// The phase.
    pub phase: &'a str,
    /// What it failed to do.
    pub what: Lacking,
}

/// Kind and amount of missing work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lacking {
    /// Samples that were never stored, and all samples.
    Samples(u64, u64),
    /// Reads that were skipped because another was still running, and all reads.
    Reads(u64, u64),
    /// Achieved and target rate in operations per second.
    Rate(f64, f64),
    /// No rate was sustained.
    AnyRate,
}

/// Shortfalls of a cell, one per phase that has one.
#[derive(Clone, Debug, Default)]
pub struct Shortfalls<'a>(Vec<Shortfall<'a>>);

impl<'a> Shortfalls<'a> {
    /// Collects the shortfalls of a cell in one pass over its runs.
    pub fn new(cell: &'a Cell) -> Self {
        let mut worst: HashMap<&str, Lacking> = HashMap::new();
        let parts = || cell.trials.iter().flat_map(|trial| &trial.phases);
        for part in parts() {
            let known = worst.get(&*part.phase).copied();
            let all = counted(part).into_iter().filter_map(Lacking::from_run).chain(known);
            let most = all.max_by(|a, b| a.share().total_cmp(&b.share()));
            worst.extend(most.map(|most| (&*part.phase, most)));
        }
        let phases = text::unique(parts().map(|part| &*part.phase));
        let shortfall = |phase| Some(Shortfall { phase, what: *worst.get(phase)? });
        Self(phases.into_iter().filter_map(shortfall).collect())
    }

    /// Returns the shortfall of the given phase, or else of the first phase that has one.
    pub fn at(&self, phase: Option<&str>) -> Option<Shortfall<'a>> {
        let own = self.0.iter().find(|shortfall| Some(shortfall.phase) == phase);
        own.or(self.0.first()).copied()
    }
}

impl<'a> Shortfall<'a> {
    /// Returns the shortfall of a cell in the given phase, or else in the first phase that has one.
    pub fn find(cell: &'a Cell, phase: Option<&str>) -> Option<Self> {
        Shortfalls::new(cell).at(phase)
    }

    /// Formats it next to a figure of a phase. A different phase is named.
    pub fn words(&self, phase: Option<&str>) -> String {
        match Some(self.phase) == phase {
            true => self.what.to_string(),
            false => format!("{} {}", text::plain(self.phase), self.what),
        }
    }
}

impl Lacking {
    fn from_run(run: &Run) -> Option<Self> {
        if let Some(schedule) = run.schedule.filter(|schedule| !schedule.kept_up()) {
            return Some(Self::Rate(schedule.achieved_rate, schedule.target_rate));
        }
        let seen: &Observed = run.observed.as_ref()?;
        let count = |name: &str| seen.counts.get(name).copied();
        // A search continues until samples are lost, so what counts is that some rate was
        // sustained.
        if let Some(rate) = count("sustained-rate") {
            return (rate == 0).then_some(Self::AnyRate);
        }
        let of = |lacking: &str, done: &str| {
            let lacking = count(lacking).filter(|lacking| *lacking > 0)?;
            Some((lacking, lacking.saturating_add(count(done).unwrap_or(0))))
        };
        if let Some((lost, of)) = of("lost", "samples") {
            return Some(Self::Samples(lost, of));
        }
        if let Some((missed, of)) = of("missed-slots", "reads") {
            return Some(Self::Reads(missed, of));
        }
        let (achieved, target) = (count("achieved-rate")? as f64, count("target-rate")? as f64);
        (achieved < OpenLoopSchedule::ENOUGH * target).then_some(Self::Rate(achieved, target))
    }

    /// Formats the missing work briefly.
    pub(crate) fn short(self) -> String {
        match self {
            Self::Samples(lost, _) => format!("lost {}", format::count(lost)),
            Self::Reads(missed, _) => format!("missed {}", format::count(missed)),
            Self::Rate(achieved, _) => format::rate(achieved),
            Self::AnyRate => "no rate".to_owned(),
        }
    }

    /// Returns the share of the work that was not done.
    fn share(self) -> f64 {
        match self {
            Self::Samples(lacking, of) | Self::Reads(lacking, of) => lacking as f64 / of as f64,
            Self::Rate(achieved, target) => 1.0 - achieved / target,
            Self::AnyRate => 1.0,
        }
    }
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: u64, of: u64| format!("{} of {}", format::count(part), format::count(of));
        match *self {
            Self::Samples(lost, of) => write!(f, "lost {}", part(lost, of)),
            Self::Reads(missed, of) => write!(f, "missed {} reads", part(missed, of)),
            Self::Rate(achieved, target) => {
                write!(f, "achieved {} of {}", format::rate(achieved), format::rate(target))
            }
            Self::AnyRate => f.write_str("kept no rate"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_count_of_a_file_is_a_part_of_a_whole() {
        let counts = [("lost".to_owned(), u64::MAX), ("samples".to_owned(), 1)].into();
        let observed = Some(Observed { counts, ..Observed::default() });
        let run = Run { observed, ..Run::default() };
        assert_eq!(Lacking::from_run(&run), Some(Lacking::Samples(u64::MAX, u64::MAX)));
    }
}
