//! One run of one phase inside the clock.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use embermark_model::result::Latency;

use crate::arrivals::{ArrivalSchedule, OpenLoop};
use crate::clients::MergedClients;
use crate::clock::Clock;
use crate::latency::{self, Histogram};
use crate::progress::Progress;

/// Number of operations timed one by one at the start of a phase's first run, to learn their speed.
const CALIBRATION: usize = 64;

/// Largest share of the loop's time that timing may cost.
const TIMING_SHARE: f64 = 0.005;

/// Largest number of operations between two timed ones, whatever they cost.
const SPARSEST: u64 = 4_001;

/// Measures the runs of one phase, one after the other.
#[derive(Debug)]
pub struct Meter {
    pub(crate) clock: Clock,
    pub(crate) cap: Option<Duration>,
    pub(crate) timing_cost: f64,
    pub(crate) every: Option<u64>,
    /// Number of the next operation of the run to time.
    next_timed: u64,
    /// Latencies of the run's operations from which the interval is still to be learned.
    first_ns: Vec<u64>,
    pub(crate) histogram: Histogram,
    pub(crate) started: u64,
    pub(crate) stopped: u64,
    deadline: u64,
    pub(crate) measured: Measured,
    /// The schedule of an open loop, and its measurements.
    pub(crate) open_loop: Option<OpenLoop>,
    /// Measurements of other meters of the same run.
    pub(crate) merged: MergedClients,
    pub(crate) hook: Option<ClockHook>,
    /// Progress of a closed loop. An open one has its own.
    pub(crate) progress: Progress,
    tracer: Option<Tracer>,
}

/// Called after every operation of a loop.
struct Tracer(Box<dyn FnMut() + Send>);

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tracer")
    }
}

/// Called with `true` before a clock starts, and with `false` after it has stopped.
pub type ClockHook = fn(bool);

/// Measurements of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Elapsed time between start and stop in ns.
    pub elapsed_ns: u64,
    /// Number of operations done.
    pub ops: u64,
    /// Whether the loop stopped at the cap.
    pub capped: bool,
}

impl Meter {
    /// Makes a meter for the runs of one phase, each of which stops at `cap`, if any.
    pub fn new(cap: Option<Duration>) -> Self {
        let clock = Clock::default();
        let timing_cost = timing_cost(&clock);
        Self::with(clock, cap, timing_cost)
    }

    pub(crate) fn with(clock: Clock, cap: Option<Duration>, timing_cost: f64) -> Self {
        Self {
            clock,
            cap,
            timing_cost,
            every: None,
            next_timed: 0,
            first_ns: Vec::with_capacity(CALIBRATION),
            histogram: latency::empty(),
            started: 0,
            stopped: 0,
            deadline: u64::MAX,
            measured: Measured::default(),
            open_loop: None,
            merged: MergedClients::default(),
            hook: None,
            progress: Progress::default(),
            tracer: None,
        }
    }

    /// Makes a meter that calls `each` after every operation of its loops and measures nothing, for
    /// a phase that is recorded.
    pub fn tracing(each: impl FnMut() + Send + 'static) -> Self {
        Self { every: Some(1), tracer: Some(Tracer(Box::new(each))), ..Self::new(None) }
    }

    /// Makes every run record its progress over time, for [`done_by`](Self::done_by).
    pub fn note_progress(&mut self) {
        self.progress = Progress::enabled(|time| self.ticks_of(time));
        if let Some(open_loop) = &mut self.open_loop {
            open_loop.progress = self.progress.clone();
        }
    }

    /// Sets a function to call around the clock of each run, and of each of several clients.
    pub const fn set_clock_hook(&mut self, hook: ClockHook) {
        self.hook = Some(hook);
    }

    /// Makes [`each`](Self::each) run its operations in an open loop, at the times of `schedule`.
    /// `None`: in a closed loop, each when the previous one has ended.
    pub fn set_schedule(&mut self, schedule: Option<ArrivalSchedule>) {
        let progress = &self.progress;
        self.open_loop = schedule
            .map(|schedule| OpenLoop::new(schedule, progress.clone(), |time| self.ticks_of(time)));
    }

    /// Starts the clock of a run.
    pub fn start(&mut self) {
        self.measured = Measured::default();
        self.histogram.reset();
        self.first_ns.clear();
        self.progress.reset();
        self.merged = MergedClients::default();
        if let Some(open_loop) = &mut self.open_loop {
            open_loop.reset();
        }
        if let Some(hook) = self.hook {
            hook(true);
        }
        self.started = self.clock.ticks();
        self.deadline =
            self.cap.map_or(u64::MAX, |cap| self.started.saturating_add(self.ticks_of(cap)));
    }

    /// Stops the clock of a run. Later work is not part of the run.
    pub fn stop(&mut self) {
        self.stopped = self.clock.ticks();
        if let Some(hook) = self.hook {
            hook(false);
        }
        self.measured.elapsed_ns = self.clock.nanoseconds(self.started, self.stopped);
        // They were too few to learn the interval from.
        for ns in self.first_ns.drain(..) {
            self.histogram.saturating_record(ns);
        }
    }

    /// Whether operations start at the times of a [schedule](Self::set_schedule).
    pub const fn is_paced(&self) -> bool {
        self.open_loop.is_some()
    }

    /// Returns the longest time of a run, if there is a limit.
    pub const fn cap(&self) -> Option<Duration> {
        self.cap
    }

    /// Sets the longest time of the next runs, if there is a limit.
    pub const fn set_cap(&mut self, cap: Option<Duration>) {
        self.cap = cap;
    }

    /// Sets the measurements of a phase that measures itself, or of a client in another process.
    pub fn set_measured(&mut self, measured: Measured) {
        self.histogram.reset();
        self.measured = measured;
    }

    /// Sets measurements, and the latencies in ns of operations that a client timed one by one.
    pub fn set_timed(&mut self, measured: Measured, latencies: &[u64]) {
        self.set_measured(measured);
        latencies.iter().for_each(|ns| self.histogram.saturating_record((*ns).max(1)));
        let timed = latencies.len() as u64;
        self.every = measured.ops.checked_div(timed);
    }

    /// Marks the run as not capped, because it ended by its own time limit.
    pub const fn clear_capped(&mut self) {
        self.measured.capped = false;
    }

    /// Returns the measurements of the run between the last start and stop. After an error these
    /// include the operations done before the one that failed.
    pub const fn measured(&self) -> Measured {
        self.measured
    }

    /// Returns the latency of the operations of the last run. `None` if none was timed.
    pub fn latency(&self) -> Option<Latency> {
        latency::summary(&self.histogram, self.every.unwrap_or(1))
    }

    /// Runs `op(0)`, `op(1)`, … `op(n - 1)` in a closed loop and times every k-th. With a
    /// [schedule](Self::set_schedule) it is an open loop that times all. Stops before the next
    /// operation once the cap is passed. Returns the number of operations done.
    ///
    /// # Errors
    /// The first error of `op`, which ends the loop.
    #[inline]
    pub fn each<E>(&mut self, n: u64, op: impl FnMut(usize) -> Result<(), E>) -> Result<u64, E> {
        self.part(0..n, op)
    }

    /// Runs [`each`](Self::each) for a part of a run's operations, after all those before it. Each
    /// has the number, the time and the place among the timed ones that it would have in one loop
    /// over all.
    ///
    /// # Errors
    /// The first error of `op`, which ends the loop.
    #[inline]
    pub fn part<E>(
        &mut self,
        part: Range<u64>,
        op: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<u64, E> {
        let n = part.end.saturating_sub(part.start);
        let done = match self.open_loop.take() {
            None => self.until(part, self.deadline, op)?,
            Some(mut open_loop) => {
                let (started, deadline) = (self.started, self.deadline);
                let (done, ended) =
                    open_loop.run(&self.clock, &mut self.histogram, started, deadline, part, op);
                self.open_loop = Some(open_loop);
                self.measured.ops += done;
                ended?;
                done
            }
        };
        self.measured.capped |= done < n;
        Ok(done)
    }

    /// Runs `op(0)`, `op(1)`, … in a closed loop, at least once, until `window` has passed since
    /// the start, and times every k-th. A run that the cap ended earlier is capped, but one that
    /// the window ended is not. Returns the number of operations done.
    ///
    /// # Errors
    /// The first error of `op`, which ends the loop.
    #[inline]
    pub fn for_time<E>(
        &mut self,
        window: Duration,
        op: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<u64, E> {
        let end = self.started.saturating_add(self.ticks_of(window));
        let capped = self.deadline < end;
        let done = self.until(0..u64::MAX, end.min(self.deadline), op)?;
        self.measured.capped |= capped;
        Ok(done)
    }

    /// Runs a part of a run's operations, and stops once the clock reaches `end`.
    #[inline]
    fn until<E>(
        &mut self,
        Range { start, end: n }: Range<u64>,
        end: u64,
        mut op: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut at = start;
        // Sampling continues from the part before.
        let mut next_timed = if start == 0 { 0 } else { self.next_timed };
        loop {
            let next = n.min(next_timed);
            while at < next {
                if let Err(error) = op(at as usize) {
                    self.measured.ops += at - start;
                    return Err(error);
                }
                at += 1;
            }
            if at >= n {
                break;
            }
            let from = self.clock.ticks();
            if let Err(error) = op(at as usize) {
                self.measured.ops += at - start;
                return Err(error);
            }
            let to = self.clock.ticks();
            let ns = self.clock.nanoseconds(from, to).max(1);
            if self.every.is_some() {
                self.histogram.saturating_record(ns);
            } else {
                self.first_ns.push(ns);
            }
            at += 1;
            self.progress.note(to, at);
            if let Some(Tracer(each)) = &mut self.tracer {
                each();
            }
            if to >= end {
                break;
            }
            next_timed = match self.every {
                Some(every) => at + every - 1,
                None if self.first_ns.len() < CALIBRATION => at,
                None => at.next_multiple_of(self.calibrate()),
            };
        }
        self.next_timed = next_timed;
        self.measured.ops += at - start;
        Ok(at - start)
    }

    /// Runs one operation that is the whole phase.
    ///
    /// # Errors
    /// The error of `op`.
    pub fn once<T, E>(&mut self, op: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let answer = op()?;
        self.measured.ops += 1;
        Ok(answer)
    }

    /// Counts operations that a bulk call did by itself.
    pub const fn count(&mut self, ops: u64) {
        self.measured.ops += ops;
    }

    /// Whether the cap is passed. Marks the run as capped if it is. Call it only while work is
    /// left, and not for every operation, because it reads the clock.
    pub fn expired(&mut self) -> bool {
        let expired = self.clock.ticks() >= self.deadline;
        self.measured.capped |= expired;
        expired
    }

    /// Learns the sampling interval from the operations timed so far. It is odd, so that it does
    /// not resonate with a period in the operations. Of these too only every k-th counts: otherwise
    /// the first ones of a cold engine would have k times the weight of the others.
    fn calibrate(&mut self) -> u64 {
        // The median, because the first operations of a cold engine would distort the mean.
        let mut sorted = self.first_ns.clone();
        sorted.sort_unstable();
        let typical = sorted[sorted.len() / 2] as f64 - self.timing_cost;
        let every = (self.timing_cost / (TIMING_SHARE * typical.max(1.0))).ceil() as u64;
        let every = every.clamp(1, SPARSEST) | 1;
        self.every = Some(every);
        for ns in self.first_ns.drain(..).step_by(every as usize) {
            self.histogram.saturating_record(ns);
        }
        every
    }

    pub(crate) fn ticks_of(&self, time: Duration) -> u64 {
        self.clock.ticks_of(time)
    }
}

/// Returns the cost of timing an operation in ns, two clock reads and a record: the smallest mean
/// of several rounds.
fn timing_cost(clock: &Clock) -> f64 {
    const ROUNDS: u32 = 5;
    const TIMINGS: u32 = 200;
    let mut histogram = latency::empty();
    let mut round = || {
        let from = clock.ticks();
        for _ in 0..TIMINGS {
            let (from, to) = (clock.ticks(), clock.ticks());
            histogram.saturating_record(clock.nanoseconds(from, to).max(1));
        }
        clock.nanoseconds(from, clock.ticks()) as f64 / f64::from(TIMINGS)
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
impl Meter {
    /// A meter on its own simulated clock, on which timing costs nothing.
    pub(crate) fn simulated(cap: Option<Duration>) -> Self {
        Self::with(Clock::simulated(), cap, 0.0)
    }
}

#[cfg(test)]
mod tests;
