//! The highest rate that a writer keeps up with.

use std::time::Duration;

use embermark_contract::Result;
use embermark_model::result::Latency;

use super::writer::Written;

/// Where the search begins, in samples a second.
const FIRST: u64 = 1_000;

/// No slower machine is looked for.
const SLOWEST: u64 = 1;

/// No faster one.
pub(super) const FASTEST: u64 = 1_000_000;

/// How near the rate that was kept and the one that was not are at the end.
const WITHIN: f64 = 1.05;

/// Of the samples due, how many a sensor may be behind before it is the bottleneck itself.
const BEHIND: f64 = 0.98;

/// How long each rate is tried: a share of the window, enough for a few commits of a second each.
pub(super) fn times(window: Duration) -> (Duration, Duration) {
    let tried = (window / 8).clamp(Duration::from_secs(2), Duration::from_secs(10));
    (tried / 4, tried.min(window.max(Duration::from_millis(500))))
}

/// Why a rate was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Samples were lost.
    Lost(u64),
    /// A commit in a hundred took longer than the bound.
    Late(u64),
    /// The writer came to so many a second, and the queue was filling.
    Behind(u64),
    /// The sensor itself did not make them in time.
    Sensor(u64),
    /// The engine refused them.
    Refused(String),
}

/// Whether a trial kept its rate.
pub(super) fn judge(
    written: &Written,
    commits: Option<&Latency>,
    bound: Duration,
    rate: u64,
) -> std::result::Result<(), Failure> {
    if written.lost_ever > 0 {
        return Err(Failure::Lost(written.lost_ever));
    }
    // Of fewer than a hundred commits none may be late.
    let p99 = commits.map_or(0, |commits| commits.p99.unwrap_or(commits.max));
    if u128::from(p99) > bound.as_nanos() {
        return Err(Failure::Late(p99));
    }
    let seconds = written.window.as_secs_f64();
    let reached = written.samples as f64 / seconds.max(f64::MIN_POSITIVE);
    if seconds > 0.0 && reached < BEHIND * rate as f64 {
        // As slow as its sensor, or with what it did not take yet still in the queue.
        let late = written.account.latest_ns as f64 / 1e9;
        let sensor_is_late = late > (1.0 - BEHIND) * seconds;
        return Err(match sensor_is_late {
            true => Failure::Sensor(reached as u64),
            false => Failure::Behind(reached as u64),
        });
    }
    Ok(())
}

/// What the search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Highest {
    /// The highest rate that was kept, in samples a second; 0 when none was.
    pub rate: u64,
    /// What has to be known of it.
    pub remarks: Vec<String>,
}

/// Doubles the rate until one is not kept, and then halves the distance.
pub(super) fn search(
    mut trial: impl FnMut(u64) -> Result<std::result::Result<(), Failure>>,
) -> Result<Highest> {
    let (mut kept, mut failed) = (0, None);
    let mut rate = FIRST;
    loop {
        match trial(rate)? {
            Ok(()) => kept = rate,
            Err(failure) => failed = Some((rate, failure)),
        }
        let Some((limit, _)) = &failed else {
            if rate >= FASTEST {
                break;
            }
            rate = (rate * 2).min(FASTEST);
            continue;
        };
        if kept == 0 {
            if *limit <= SLOWEST {
                break;
            }
            rate = limit / 2;
            continue;
        }
        if *limit as f64 <= kept as f64 * WITHIN || limit - kept <= 1 {
            break;
        }
        rate = u64::midpoint(kept, *limit);
    }
    let remarks = match failed {
        None => vec![format!("no rate up to {FASTEST} samples a second was too high")],
        Some((rate, Failure::Lost(lost))) => {
            vec![format!("at {rate} samples a second {lost} were lost")]
        }
        Some((rate, Failure::Late(p99))) => vec![format!(
            "at {rate} samples a second a commit in a hundred took {:.0} ms and more",
            p99 as f64 / 1e6
        )],
        Some((rate, Failure::Behind(reached))) => vec![format!(
            "at {rate} samples a second the writer came to {reached}, and the queue was filling"
        )],
        Some((rate, Failure::Refused(why))) => {
            vec![format!("at {rate} samples a second the engine gave up: {why}")]
        }
        Some((rate, Failure::Sensor(reached))) => vec![format!(
            "the sensor itself is the bottleneck: at {rate} samples a second it came to {reached}"
        )],
    };
    Ok(Highest { rate: kept, remarks })
}

#[cfg(test)]
mod tests;
