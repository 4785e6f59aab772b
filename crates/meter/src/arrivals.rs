//! Open loops: operations that start on a schedule, whether or not earlier ones have ended.
//!
//! An operation's response time counts from its scheduled start. It thus includes the time that the
//! operation waits for an earlier slow one (G. Tene, *How NOT to Measure Latency*, 2013: leaving
//! that out is "coordinated omission").

use std::ops::Range;
use std::time::Duration;

use nix::sys::prctl;

use crate::clock::Clock;
use crate::latency::{self, Histogram};
use crate::progress::Progress;

/// Time before an operation's start at which the loop stops sleeping and spins on the clock. A
/// sleep ends only when the system wakes the thread.
pub(crate) const SPIN_MARGIN: Duration = Duration::from_micros(30);

/// How much later than requested the kernel may wake a sleeper, in ns: 50,000 by default
/// (<https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html>).
const TIMER_SLACK: u64 = 1;

/// Start times of one client's operations, at even intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivalSchedule {
    /// Time from the start to the first one in ns.
    first_ns: f64,
    /// Time between two of them in ns.
    every_ns: f64,
}

impl ArrivalSchedule {
    /// Makes the schedule of client number `client` of `clients`, which together start `per_second`
    /// operations per second. Each starts its own at even intervals, and the clients are evenly
    /// shifted.
    pub fn new(per_second: f64, clients: u32, client: u32) -> Self {
        let between_ns = 1e9 / per_second.max(1e-9);
        let every_ns = between_ns * f64::from(clients.max(1));
        Self { first_ns: between_ns * f64::from(client), every_ns }
    }
}

/// An open loop and its measurements.
#[derive(Debug)]
pub(crate) struct OpenLoop {
    /// In ticks of the clock.
    first: f64,
    every: f64,
    margin: u64,
    /// Times from an operation's scheduled start to its end in ns.
    pub response: Histogram,
    /// Delays of operations for which the loop was ready on time, in ns.
    pub late: Histogram,
    /// Number of operations started.
    started: u64,
    /// Delay of the last of them in ticks.
    behind: u64,
    pub progress: Progress,
}

impl OpenLoop {
    pub fn new(
        schedule: ArrivalSchedule,
        progress: Progress,
        ticks_of: impl Fn(Duration) -> u64,
    ) -> Self {
        let ticks_of_second = ticks_of(Duration::from_secs(1)) as f64;
        let ticks = |ns: f64| ns * ticks_of_second / 1e9;
        Self {
            first: ticks(schedule.first_ns),
            every: ticks(schedule.every_ns),
            margin: ticks_of(SPIN_MARGIN),
            response: latency::empty(),
            late: latency::empty(),
            started: 0,
            behind: 0,
            progress,
        }
    }

    pub fn reset(&mut self) {
        self.response.reset();
        self.late.reset();
        self.progress.reset();
        (self.started, self.behind) = (0, 0);
    }

    /// Returns the share of its rate that the loop achieved: the time in which its operations were
    /// scheduled to start divided by the time in which they did. `None` if it started none.
    pub fn achieved(&self) -> Option<f64> {
        let planned = self.started as f64 * self.every;
        (self.started > 0).then(|| planned / (planned + self.behind as f64))
    }

    /// Runs `op` for a part of the run's operations, each at its time or, if that is past, at once.
    /// Starts none after `deadline`. Adds service times to `service`. Returns the number of
    /// operations done, and the first error of `op`, which ends the loop.
    pub fn run<E>(
        &mut self,
        clock: &Clock,
        service: &mut Histogram,
        began: u64,
        deadline: u64,
        part: Range<u64>,
        mut op: impl FnMut(usize) -> Result<(), E>,
    ) -> (u64, Result<(), E>) {
        let _timer_slack = TimerSlackGuard::begin();
        let mut at = part.start;
        while at < part.end {
            let due = began + (self.first + at as f64 * self.every) as u64;
            let mut now = clock.ticks();
            if now < due {
                now = clock.wait_until(due.min(deadline), self.margin);
                if now >= due {
                    self.late.saturating_record(clock.nanoseconds(due, now).max(1));
                }
            }
            if now >= deadline && at > 0 {
                break;
            }
            (self.started, self.behind) = (at + 1, now.saturating_sub(due));
            if let Err(error) = op(at as usize) {
                return (at - part.start, Err(error));
            }
            let ended = clock.ticks();
            service.saturating_record(clock.nanoseconds(now, ended).max(1));
            self.response.saturating_record(clock.nanoseconds(due.min(now), ended).max(1));
            at += 1;
            self.progress.note(ended, at);
        }
        (at - part.start, Ok(()))
    }
}

/// Reduces the timer slack of this thread while it lives, so that the kernel wakes it on time.
pub(crate) struct TimerSlackGuard(Option<i32>);

impl TimerSlackGuard {
    pub fn begin() -> Self {
        // If this fails, operations start later, which the figures show.
        let before = prctl::get_timerslack().ok();
        let _ = prctl::set_timerslack(TIMER_SLACK);
        Self(before)
    }
}

impl Drop for TimerSlackGuard {
    fn drop(&mut self) {
        if let Some(before) = self.0.and_then(|before| u64::try_from(before).ok()) {
            let _ = prctl::set_timerslack(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use embermark_model::result::OpenLoopSchedule;

    use super::*;
    use crate::Meter;

    const MS: u64 = 1_000_000;

    /// A loop of operations with this service time, on a simulated clock.
    fn scheduled(rate: f64, ops: u64, service: Duration) -> (Meter, OpenLoopSchedule) {
        let mut meter = Meter::simulated(None);
        meter.set_schedule(Some(ArrivalSchedule::new(rate, 1, 0)));
        meter.start();
        let clock = meter.clock().clone();
        let done = meter.each::<Infallible>(ops, |_| {
            clock.pass(service);
            Ok(())
        });
        meter.stop();
        assert_eq!(done, Ok(ops));
        let schedule = meter.schedule_kept(rate).unwrap();
        (meter, schedule)
    }

    #[test]
    fn a_loop_that_keeps_up_answers_in_its_service_time() {
        let (meter, schedule) = scheduled(100.0, 30, Duration::from_millis(2));
        let (service, response) = (meter.latency().unwrap(), meter.response().unwrap());
        assert!(schedule.kept_up(), "{schedule:?}");
        assert_eq!((service.samples, response.samples, service.sampled_every), (30, 30, 1));
        assert_eq!(response, service);
        assert!(service.p50.abs_diff(2 * MS) < MS / 100, "{service:?}");
        // The last one starts after 290 ms. The first one need not wait.
        assert_eq!(meter.measured().elapsed_ns, 292 * MS);
        assert_eq!(schedule.on_time, 29);
    }

    #[test]
    fn a_loop_below_its_target_rate_falls_behind_and_its_response_times_grow() {
        let (meter, schedule) = scheduled(1_000.0, 50, Duration::from_millis(4));
        let (service, response) = (meter.latency().unwrap(), meter.response().unwrap());
        // The last of 50 was scheduled after 49 ms, and 49 of 4 ms came before it.
        assert!(!schedule.kept_up(), "{schedule:?}");
        let achieved = 50.0 / (50.0 + 147.0) * 1_000.0;
        assert!((schedule.achieved_rate - achieved).abs() < 1e-6, "{schedule:?}");
        assert!(response.max.abs_diff(151 * MS) < MS, "{response:?}");
        assert!(service.max.abs_diff(4 * MS) < MS / 100, "{service:?}");
        assert_eq!(schedule.on_time, 0);
    }

    #[test]
    fn the_cap_ends_an_open_loop_also_while_it_waits() {
        let mut meter = Meter::simulated(Some(Duration::from_millis(55)));
        meter.set_schedule(Some(ArrivalSchedule::new(100.0, 1, 0)));
        meter.start();
        let done = meter.each::<Infallible>(1_000, |_| Ok(()));
        meter.stop();
        assert_eq!(done, Ok(6));
        assert!(meter.measured().capped && meter.measured().elapsed_ns == 55 * MS);
    }

    #[test]
    fn the_real_clock_waits_until_it_is_time() {
        let clock = Clock::default();
        for ms in [1, 5] {
            let due = clock.ticks() + clock.ticks_of(Duration::from_millis(ms));
            assert!(clock.wait_until(due, clock.ticks_of(SPIN_MARGIN)) >= due);
        }
    }

    #[test]
    fn clients_take_turns() {
        assert_eq!(
            ArrivalSchedule::new(1_000.0, 4, 0),
            ArrivalSchedule { first_ns: 0.0, every_ns: 4e6 }
        );
        assert_eq!(
            ArrivalSchedule::new(1_000.0, 4, 3),
            ArrivalSchedule { first_ns: 3e6, every_ns: 4e6 }
        );
    }

    #[test]
    fn parts_of_an_open_loop_keep_to_one_schedule() {
        let mut meter = Meter::simulated(None);
        meter.set_schedule(Some(ArrivalSchedule::new(1_000.0, 1, 0)));
        meter.start();
        for part in [0..10, 10..20, 20..30] {
            assert_eq!(meter.part::<Infallible>(part, |_| Ok(())), Ok(10));
        }
        meter.stop();
        // The last of 30 starts after 29 ms.
        assert_eq!(meter.measured().elapsed_ns, 29 * MS);
        assert_eq!((meter.measured().ops, meter.response().unwrap().samples), (30, 30));
    }
}
