//! What a workload is: its phases, variants, and protocols.

use std::time::Duration;

use embermark_model::MemoryLimit;

/// What a workload is.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line and in results.
    pub id: &'static str,
    /// What it stands for, in a line.
    pub about: &'static str,
    /// Its phases in the order in which reports show them.
    pub phases: &'static [PhaseInfo],
    /// Its variants.
    pub variants: &'static [VariantInfo],
    /// What runs when every workload does: small, all of them done in minutes.
    pub overview: Protocol,
    /// What runs when it is asked for by name.
    pub usual: Protocol,
    /// Whether its rows may come from a file.
    pub reads_files: bool,
    /// Whether its own scale is every row of its files, in place of those of its protocols.
    pub whole: bool,
    /// Whether its phases last by the clock, with what passes between client and server counted.
    pub lasts: bool,
    /// Whether its phases go on until they are steady, for the window at most, on a disk of the trial's own,
    /// and take a target rate of rows. Such a workload runs where it is asked for by name alone.
    pub until_steady: bool,
    /// Whether phases that read may begin with a database of which nothing is in memory.
    pub cold: bool,
    /// Phases that look for a highest rate: they run when the plan asks for it, and then alone.
    pub searches: &'static [&'static str],
    /// Phases of rows that arrive by themselves: at a rate, or, where the plan asks for the highest, in search of it.
    pub arrivals: &'static [&'static str],
    /// Phases that run in the variants that change them, and in no other: a plan that does not ask for
    /// such a variant does not run them.
    pub apart: &'static [&'static str],
    /// Phases that last for a time of their own, however long others may.
    pub timed: &'static [&'static str],
    /// Phases that go on for the window of the plan.
    pub windowed: &'static [&'static str],
    /// Clients that its phases have at the same time, where that is more than the plan's.
    pub clients: u32,
    /// Its first phase of reads by key.
    pub gets: Option<&'static str>,
    /// Whether its clients may be on several machines: it can be [joined](Prepared::join).
    pub joins: bool,
    /// The phases made of operations on one row each, by variant, the usual variant first: several
    /// clients may share them, and they may start at a target rate. Then no other phase runs.
    pub points: &'static [(&'static str, &'static [&'static str])],
}

impl Info {
    /// Whether a variant does nothing but phases that run in no other.
    pub fn is_apart(&self, variant: &VariantInfo) -> bool {
        let is_apart = |phase| self.apart.contains(phase);
        !variant.changes.is_empty() && variant.changes.iter().all(is_apart)
    }
}

/// Which cells of a workload a run has.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Rows.
    pub scales: &'static [u64],
    /// Variants by name; the first one runs every phase.
    pub variants: &'static [&'static str],
    /// How long a phase goes on that lasts by the clock.
    pub window: Duration,
    /// How long it goes on before that, unmeasured.
    pub warm_up: Duration,
    /// The largest of the scales runs once more within this limit of memory.
    pub memory_limit: Option<MemoryLimit>,
    /// Trials of a cell, where they are not the plan's: one window of minutes is many seconds.
    pub trials: Option<u32>,
}

impl Protocol {
    /// Scales and variants, with closed loops of 100 ms.
    pub const fn of(scales: &'static [u64], variants: &'static [&'static str]) -> Self {
        let (window, warm_up) = (Duration::from_millis(100), Duration::ZERO);
        Self { scales, variants, window, warm_up, memory_limit: None, trials: None }
    }
}

/// A phase, as the help text tells of it.
#[derive(Clone, Copy, Debug)]
pub struct PhaseInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
}

/// A named way of doing phases.
#[derive(Clone, Copy, Debug)]
pub struct VariantInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does differently, in a line.
    pub about: &'static str,
    /// The phases that it changes: those it runs when another variant runs them all, or alone where all
    /// of them are [apart](Info::apart).
    pub changes: &'static [&'static str],
}
