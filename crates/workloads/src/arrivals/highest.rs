//! Search for the highest rate that a writer can keep up with.

use std::time::Duration;

use embermark_contract::Result;
use embermark_model::result::OpenLoopSchedule;

use super::tally::WriteOutcome;
use crate::PhaseObserver;

/// First rate of the search, in rows per second.
pub(crate) const FIRST: u64 = 1_000;

/// Slowest rate that is tried.
const SLOWEST: u64 = 1;

/// Fastest rate that a sensor can be given, in rows per second.
pub use embermark_language::FASTEST;

/// Most whole windows that confirm the result of a search for the highest rate.
pub const CONFIRMATIONS: u64 = 8;

/// Largest ratio of the lowest rate that failed to the highest that was kept, at the end.
const WITHIN: f64 = 1.05;

/// Share of the rate that a writer must achieve. A sensor that is late by more than the rest of the
/// window is the bottleneck itself.
const KEPT: f64 = OpenLoopSchedule::ENOUGH;

/// Returns how long each rate is tried at first: a share of the window, enough for a few commits of
/// one second each.
fn times(window: Duration) -> (Duration, Duration) {
    let tried = (window / 8).clamp(Duration::from_secs(2), Duration::from_secs(10));
    (tried / 4, tried.min(window.max(Duration::from_millis(500))))
}

/// Why a writer did not keep up with a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// This many rows were lost.
    Lost(u64),
    /// One commit in a hundred ended at least this many ns after it was due, which is above the
    /// bound.
    Late(u64),
    /// The writer achieved only this many rows per second, and the queue was filling.
    Behind(u64),
    /// The sensor itself did not make the rows in time.
    Sensor(u64),
    /// The engine refused the rows.
    Refused(String),
    /// No window can be measured at the rate, for this reason. It can be too short for the commits,
    /// or too long for the times of the rows.
    Unmeasurable(String),
}

/// Result of trying a rate.
pub(super) type Trial = std::result::Result<(), Failure>;

/// Returns whether a writer kept its rate.
pub(super) fn judge(written: &WriteOutcome, bound: Duration) -> Trial {
    if written.lost_ever() > 0 {
        return Err(Failure::Lost(written.lost_ever()));
    }
    // With fewer than a hundred commits none can be late.
    let p99 = written.tally.response.latency().map_or(0, |all| all.p99.unwrap_or(all.max));
    let late = u128::from(p99) > bound.as_nanos();
    let (reached, task) = (written.achieved_rate(), written.tally.task);
    let rate = task.rate as f64;
    let window_ns = task.rows() as f64 / rate * 1e9;
    // A response can be late because its sensor is.
    if (late || reached < KEPT * rate)
        && written.account.latest_ns as f64 > (1.0 - KEPT) * window_ns
    {
        return Err(Failure::Sensor(reached as u64));
    }
    match (late, reached < KEPT * rate) {
        (true, _) => Err(Failure::Late(p99)),
        (_, true) => Err(Failure::Behind(reached as u64)),
        _ => Ok(()),
    }
}

/// How long a rate is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// For this window after this warm-up, in the search.
    Short(Duration, Duration),
    /// For a whole window, to confirm the result of the search.
    Whole,
}

/// Searches for the highest rate with a part of the window for each, and then goes down to a rate
/// that is kept for a whole window. `attempt` writes at a rate. Returns what the last whole window
/// measured.
///
/// # Errors
/// Returns errors of `attempt` from before it writes, and the reason if the first rate cannot be
/// measured. An error while it writes means that the rate was not kept: an engine can refuse a
/// commit with too many rows. A broken engine fails at the start of the next attempt.
pub(crate) fn highest(
    window: Duration,
    bound: Duration,
    mut attempt: impl FnMut(u64, Length) -> Result<Result<WriteOutcome>>,
) -> Result<(Highest, Option<WriteOutcome>)> {
    let (mut kept, mut is_first) = (None, true);
    let mut trial = |rate, length| {
        let was_first = std::mem::take(&mut is_first);
        match attempt(rate, length)? {
            Ok(written) => {
                let trial = judge(&written, bound);
                if let (Ok(()), Length::Whole) = (&trial, length) {
                    kept = Some(written);
                }
                Ok(trial)
            }
            Err(error) if error.is_unsupported() && was_first => Err(error),
            Err(error) if error.is_unsupported() => {
                Ok(Err(Failure::Unmeasurable(error.to_string())))
            }
            Err(error) => Ok(Err(Failure::Refused(error.to_string()))),
        }
    };
    let (warm_up, short) = times(window);
    let mut found =
        search(FIRST, None, u64::MAX, |rate| trial(rate, Length::Short(warm_up, short)))?;
    if found.rate > 0 {
        let Highest { rate, failed } = found;
        found = search(rate, failed, CONFIRMATIONS, |rate| trial(rate, Length::Whole))?;
    }
    Ok((found, kept))
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Highest {
    /// The highest rate that was kept, in samples per second. 0 if none was.
    rate: u64,
    /// The lowest rate that was not kept, with the reason. `None` if the fastest rate was kept.
    failed: Option<(u64, Failure)>,
}

/// Tries rates from `first` on. Doubles until a rate is not kept, which is `failed` if that is
/// known, and then halves the distance. Ends after `most` trials, and at a rate that is too low to
/// be measured.
pub(super) fn search(
    first: u64,
    mut failed: Option<(u64, Failure)>,
    most: u64,
    mut trial: impl FnMut(u64) -> Result<Trial>,
) -> Result<Highest> {
    let (mut kept, mut rate, mut is_below) = (0, first, false);
    for _ in 0..most {
        match trial(rate)? {
            Ok(()) => kept = rate,
            // Below a rate that was measured, the window is too short. It is so for all lower ones.
            Err(Failure::Unmeasurable(_)) if kept == 0 && is_below => break,
            Err(failure) => {
                is_below |= !matches!(failure, Failure::Unmeasurable(_));
                failed = Some((rate, failure));
            }
        }
        rate = match failed.as_ref().map(|(limit, _)| *limit) {
            None if kept >= FASTEST => break,
            None => (kept * 2).min(FASTEST),
            Some(SLOWEST) => break,
            Some(limit) if kept == 0 => limit / 2,
            Some(limit) if limit as f64 <= kept as f64 * WITHIN || limit - kept <= 1 => break,
            Some(limit) => u64::midpoint(kept, limit),
        };
    }
    Ok(Highest { rate: kept, failed })
}

impl Highest {
    /// Reports the result. `rows` is the name of rows in messages.
    pub(crate) fn report(&self, rows: &str, observer: &mut dyn PhaseObserver) {
        observer.remark(&self.remark(rows));
        observer.count("sustained-rate", self.rate);
    }

    /// Returns the reason as a remark. `rows` is the name of rows in messages.
    fn remark(&self, rows: &str) -> String {
        let Some((rate, failure)) = &self.failed else {
            return format!("no rate up to {FASTEST} {rows} per second was too high");
        };
        let what = match failure {
            Failure::Lost(lost) => format!("{lost} were lost"),
            Failure::Late(p99) => format!(
                "one commit in a hundred ended {:.0} ms or more after it was due",
                *p99 as f64 / 1e6
            ),
            Failure::Behind(reached) => {
                format!("the writer reached {reached}, and the queue was filling")
            }
            Failure::Refused(why) => format!("the engine failed: {why}"),
            Failure::Unmeasurable(why) => {
                return format!("{rate} {rows} per second cannot be measured: {why}");
            }
            Failure::Sensor(reached) => {
                return format!(
                    "the sensor itself is the bottleneck: at {rate} {rows} per second it reached {reached}"
                );
            }
        };
        format!("at {rate} {rows} per second {what}")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use embermark_contract::EngineError;

    use super::super::queue::Account;
    use super::super::sensor::Task;
    use super::super::tally::Tally;
    use super::super::tally::tests::taken;
    use super::*;

    /// A search from the beginning of a writer that keeps up to `most`.
    fn found(most: u64) -> (Highest, Vec<u64>) {
        searched(FIRST, None, u64::MAX, most)
    }

    fn searched(
        first: u64,
        failed: Option<(u64, Failure)>,
        trials: u64,
        most: u64,
    ) -> (Highest, Vec<u64>) {
        let mut tried = Vec::new();
        let found = search(first, failed, trials, |rate| {
            tried.push(rate);
            Ok(if rate <= most { Ok(()) } else { Err(Failure::Lost(rate - most)) })
        });
        (found.unwrap(), tried)
    }

    #[test]
    fn the_highest_rate_is_found_to_five_percent() {
        for most in [1, 2, 3, 17, 999, 1_000, 1_001, 1_999, 5_400, 123_456, 999_999] {
            let (highest, tried) = found(most);
            let least = (most as f64 / WITHIN).floor() as u64;
            assert!((least..=most).contains(&highest.rate), "{most}: {highest:?} {tried:?}");
            assert!(tried.len() < 20, "{tried:?}");
        }
    }

    #[test]
    fn the_ends_of_the_search_are_reported() {
        assert_eq!(found(0).0.rate, 0);
        let (highest, tried) = found(u64::MAX);
        assert_eq!((highest.rate, tried.last()), (FASTEST, Some(&FASTEST)));
        assert!(highest.remark("samples").starts_with("no rate up to"));
        let sensor = search(FIRST, None, u64::MAX, |rate| {
            Ok(if rate <= 4_000 { Ok(()) } else { Err(Failure::Sensor(4_100)) })
        });
        assert!(sensor.unwrap().remark("samples").contains("the sensor itself is the bottleneck"));
    }

    #[test]
    fn a_rate_that_does_not_hold_for_a_window_is_gone_down_from() {
        let limit = Some((10_400, Failure::Lost(1)));
        // One that holds is done with.
        let (highest, tried) = searched(10_000, limit.clone(), CONFIRMATIONS, 10_000);
        assert_eq!((highest.rate, tried), (10_000, vec![10_000]));
        assert_eq!(highest.failed, limit);
        // On the filled store it is 6,100.
        let (highest, tried) = searched(10_000, limit.clone(), CONFIRMATIONS, 6_100);
        assert!((5_809..=6_100).contains(&highest.rate), "{highest:?} {tried:?}");
        assert!(tried[..2] == [10_000, 5_000] && tried.len() <= 8, "{tried:?}");
        // No remark is made about a rate that was not kept.
        let (highest, tried) = searched(10_000, limit, CONFIRMATIONS, 0);
        assert_eq!((highest.rate, tried.len()), (0, CONFIRMATIONS as usize));
    }

    /// A second at 1 kHz of a writer whose commits ended so long after they were due.
    fn written(response_ms: fn(u64) -> u64, sensor_late_ms: u64) -> WriteOutcome {
        let mut tally = Tally::new(Task { rate: 1_000, first: 0, end: 1_000 });
        for number in 0..1_000 {
            taken(&mut tally, number, response_ms(number) * 1_000_000);
        }
        let latest_ns = sensor_late_ms * 1_000_000;
        WriteOutcome { tally, account: Account { made: 1_000, latest_ns, ..Account::default() } }
    }

    #[test]
    fn an_error_of_writing_is_a_rate_that_was_not_kept_and_one_before_it_ends_the_search() {
        let (window, bound) = (Duration::from_secs(1), Duration::from_millis(100));
        let failed = || EngineError::failed("the engine", "do anything", "it is full");
        let (found, kept) = highest(window, bound, |_, _| Ok(Err(failed()))).unwrap();
        assert!(found.rate == 0 && kept.is_none());
        assert!(found.remark("rows").contains("the engine failed"), "{found:?}");
        assert!(highest(window, bound, |_, _| Err(failed())).is_err());
    }

    #[test]
    fn a_rate_that_cannot_be_measured_bounds_the_search_and_only_the_first_one_is_an_error() {
        let (window, bound) = (Duration::from_secs(1), Duration::from_millis(100));
        let short = || EngineError::impossible("the window is too short");
        let refused = highest(window, bound, |_, _| Ok(Err(short()))).err().unwrap();
        assert!(refused.is_unsupported(), "{refused}");
        // Going down, it ends the search with the reason for which a measured rate failed.
        let mut tried = Vec::new();
        let (found, kept) = highest(window, bound, |rate, _| {
            tried.push(rate);
            let full = EngineError::failed("the engine", "do anything", "it is full");
            Ok(Err(if rate < 100 { short() } else { full }))
        })
        .unwrap();
        assert!(found.rate == 0 && kept.is_none());
        assert_eq!(tried, [1_000, 500, 250, 125, 62]);
        assert!(matches!(found.failed, Some((125, Failure::Refused(_)))), "{found:?}");
        // Going up, lower ones can be measured.
        let found = search(FIRST, None, u64::MAX, |rate| {
            let long = || Failure::Unmeasurable("its times have no room".to_owned());
            Ok(if rate <= 5_400 { Ok(()) } else { Err(long()) })
        });
        let found = found.unwrap();
        assert!((5_142..=5_400).contains(&found.rate), "{found:?}");
        assert!(found.remark("rows").ends_with("its times have no room"), "{found:?}");
    }

    #[test]
    fn a_rate_is_kept_by_who_loses_nothing_and_is_on_time_from_when_samples_were_due() {
        let bound = Duration::from_millis(100);
        assert_eq!(judge(&written(|_| 1, 0), bound), Ok(()));
        let mut lossy = written(|_| 1, 0);
        lossy.account.made += 3;
        assert_eq!(judge(&lossy, bound), Err(Failure::Lost(3)));
        let Err(Failure::Late(p99)) = judge(&written(|_| 200, 0), bound) else { panic!() };
        assert!(p99.abs_diff(200_000_000) < 1_000_000, "{p99}");
        // One that is held up in the end only is late in ten of a thousand and has not fallen behind.
        assert_eq!(judge(&written(|number| if number < 992 { 1 } else { 200 }, 0), bound), Ok(()));
        let slower: fn(u64) -> u64 = |number| number / 20;
        assert_eq!(judge(&written(slower, 0), bound), Err(Failure::Behind(957)));
        assert_eq!(judge(&written(slower, 60), bound), Err(Failure::Sensor(957)));
    }
}
