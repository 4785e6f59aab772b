//! Repeats a run that ends within a millisecond: a counted run for its mean time, the last warm-up
//! run until it is steady. The time of a single short operation depends more on the caches, which
//! the harness has just emptied, than on the engine.

use std::time::{Duration, Instant};

use embermark_meter::{Measured, Meter, steady};
use embermark_model::result::{Latency, Repeated};
use embermark_workloads::{Bench, CheckError, Repeat};

/// Time limit for the repetitions of a counted run, including everything between them.
const COUNTED: Duration = Duration::from_millis(5);

/// Time limit for the repetitions of the last warm-up run.
const WARM_UP: Duration = Duration::from_millis(20);

/// The role of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It counts.
    Counted,
    /// Counted runs follow it.
    LastWarmUp,
    /// Another warm-up run follows it.
    WarmUp,
}

impl Role {
    /// Returns the role of a run by its number and the number of warm-up runs.
    pub(crate) const fn new(run: u32, warm_up_runs: u32) -> Self {
        if run >= warm_up_runs {
            Self::Counted
        } else if run + 1 == warm_up_runs {
            Self::LastWarmUp
        } else {
            Self::WarmUp
        }
    }
}

/// The first time of a run that may be repeated.
pub(crate) struct First {
    pub measured: Measured,
    /// Duration including its preparation and check.
    pub took: Duration,
    pub role: Role,
    /// Time limit for its repetitions.
    pub most: Duration,
}

impl First {
    pub(crate) const fn new(measured: Measured, role: Role) -> Self {
        let most = if matches!(role, Role::Counted) { COUNTED } else { WARM_UP };
        Self { measured, took: Duration::ZERO, role, most }
    }

    /// Whether it should be repeated.
    pub(crate) fn is_short(&self, how: Repeat) -> bool {
        let Measured { elapsed_ns, ops, capped } = self.measured;
        how != Repeat::Never
            && self.role != Role::WarmUp
            && ops > 0
            && !capped
            && elapsed_ns < Repeated::ENOUGH_NS
    }
}

/// Repeats a run of a phase. A counted run is repeated until all times together last a millisecond,
/// a warm-up run until its rounds of a millisecond are [`steady`]. Neither exceeds its time limit,
/// and a run whose restoring would exceed it is not repeated. Adds latencies of counted repetitions
/// to `latencies` if they are kept.
///
/// # Errors
/// The first wrong answer, or the error of the engine.
pub(crate) fn repeat(
    bench: &mut dyn Bench,
    phase: usize,
    meter: &mut Meter,
    first: &First,
    checks: bool,
    mut latencies: Option<&mut Vec<Latency>>,
) -> Result<Repeated, CheckError> {
    let began = Instant::now();
    let warms_up = first.role == Role::LastWarmUp;
    let restores = bench.repeat(phase) == Repeat::Restored;
    let mut repeated = Repeated { times: 1, total_ns: first.measured.elapsed_ns, steady: None };
    let mut took = first.took;
    let mut rounds = Rounds::default();
    while warms_up || repeated.is_short() {
        let spent = began.elapsed();
        if spent >= first.most || (restores && spent + took > first.most) {
            break;
        }
        bench.ready(phase)?;
        let outcome = bench.run(phase, meter)?;
        let measured = meter.measured();
        if checks {
            bench.check(phase, &outcome, measured)?;
        }
        took = began.elapsed().saturating_sub(spent);
        // If the clock does not advance, this repetition has no time.
        if measured.capped || measured.elapsed_ns == 0 {
            break;
        }
        repeated.times += 1;
        repeated.total_ns += measured.elapsed_ns;
        if let Some(latencies) = latencies.as_deref_mut().filter(|_| !warms_up) {
            latencies.extend(meter.latency());
        }
        if warms_up && rounds.add(measured.elapsed_ns) {
            break;
        }
    }
    repeated.steady = steady::assess(&rounds.means);
    Ok(repeated)
}

/// Rounds of a warm-up. The repetitions of each last a millisecond together.
#[derive(Default)]
struct Rounds {
    /// Mean time of a repetition in each complete round.
    means: Vec<f64>,
    ns: u64,
    times: u64,
}

impl Rounds {
    /// Adds a repetition. Returns whether the rounds are steady now.
    fn add(&mut self, ns: u64) -> bool {
        (self.ns, self.times) = (self.ns + ns, self.times + 1);
        if self.ns < Repeated::ENOUGH_NS {
            return false;
        }
        self.means.push(self.ns as f64 / self.times as f64);
        (self.ns, self.times) = (0, 0);
        steady::assess(&self.means).is_some_and(|figure| figure.steady)
    }
}

#[cfg(test)]
mod tests;
