//! Descriptions of workloads: their phases, variants, and protocols.

use std::time::Duration;

use embermark_model::MemoryLimit;

/// Describes a workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Info {
    /// Its name on the command line and in results.
    pub id: &'static str,
    /// What it represents, in one line.
    pub about: &'static str,
    /// Its phases in the order in which reports show them.
    pub phases: &'static [PhaseInfo],
    /// Its variants.
    pub variants: &'static [VariantInfo],
    /// Protocol when all workloads run: small enough that all of them take minutes.
    pub overview: Protocol,
    /// Protocol when it is asked for by name.
    pub usual: Protocol,
    /// Whether its rows may come from a file.
    pub reads_files: bool,
    /// Whether the default scale is every row of its files, instead of the scales of its protocols.
    pub whole: bool,
    /// Whether its phases last a fixed time and the traffic between client and server is counted.
    pub lasts: bool,
    /// Whether its phases run until they are steady, at most for the window, on a disk of the
    /// trial's own. They take a target rate in rows per second. Such a workload runs only when it
    /// is asked for by name.
    pub until_steady: bool,
    /// Whether phases that read can start with nothing of the database in memory.
    pub cold: bool,
    /// Phases that search for the highest rate. They run only when the plan asks for it, and then
    /// no other phase runs.
    pub searches: &'static [&'static str],
    /// Phases whose rows arrive by themselves: at a rate, or in search of the highest rate when the
    /// plan asks for it.
    pub arrivals: &'static [&'static str],
    /// Phases that run only in the variants that change them. A plan without such a variant does
    /// not run them.
    pub apart: &'static [&'static str],
    /// Phases with a duration of their own, whatever the plan's window is.
    pub timed: &'static [&'static str],
    /// Phases that last for the plan's window.
    pub windowed: &'static [&'static str],
    /// Number of clients its phases have at the same time, where that is more than the plan's.
    pub clients: u32,
    /// Its first phase of reads by key.
    pub gets: Option<&'static str>,
    /// Phases whose operations each concern one row, by variant, the usual variant first. Several
    /// clients can share them, on one machine or on several ([join](crate::Prepared::join)), and
    /// they can have a target rate. No other phase runs then.
    pub points: &'static [(&'static str, &'static [&'static str])],
}

impl Info {
    /// Returns whether a variant has only phases that run in no other variant.
    pub fn is_apart(&self, variant: &VariantInfo) -> bool {
        let is_apart = |phase| self.apart.contains(phase);
        !variant.changes.is_empty() && variant.changes.iter().all(is_apart)
    }
}

/// Cells of a workload that a run has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Protocol {
    /// Numbers of rows.
    pub scales: &'static [u64],
    /// Variants by name. The first one runs every phase.
    pub variants: &'static [&'static str],
    /// How long a timed phase is measured.
    pub window: Duration,
    /// How long it runs before that, unmeasured.
    pub warm_up: Duration,
    /// Memory limit under which the largest scale runs once more.
    pub memory_limit: Option<MemoryLimit>,
    /// Trials of a cell, where they differ from the plan's because one window already takes
    /// minutes.
    pub trials: Option<u32>,
}

impl Protocol {
    /// Creates a protocol of scales and variants whose timed phases last 100 ms.
    pub const fn of(scales: &'static [u64], variants: &'static [&'static str]) -> Self {
        let (window, warm_up) = (Duration::from_millis(100), Duration::ZERO);
        Self { scales, variants, window, warm_up, memory_limit: None, trials: None }
    }
}

/// A phase, as the help text describes it.
#[derive(Clone, Copy, Debug)]
pub struct PhaseInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
}

/// A named way to run phases.
#[derive(Clone, Copy, Debug)]
pub struct VariantInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does differently, in one line.
    pub about: &'static str,
    /// Phases that it changes. It runs only these when another variant runs all phases, or when all
    /// of them are [apart](Info::apart).
    pub changes: &'static [&'static str],
}
