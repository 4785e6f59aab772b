//! The loop of one client: it inserts rows, lets a step expire, and asks questions in between, on
//! a schedule.

mod rounds;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use embermark_contract::{Background, Result, Scope};
use embermark_language::{Commit, Work};
use embermark_meter::{Clock, Kind, Pacer, Recorder};
use embermark_model::answer::Difference;
use embermark_model::result::SteadyState;

use super::super::port;
use super::super::{Arena, Database, Found, Rows, TimeStep};
use super::{Calendar, KeepOutcome, KeepParameters};
use crate::PhaseObserver;

/// Length of a slice of the timeline, in ns.
const SLICE_NS: u64 = 1_000_000_000;

/// The first period, with which the last rounds are compared, ends with the first full
/// window or after a minute.
const FIRST_NS: u64 = 60 * SLICE_NS;

/// Number of times that the window must be replaced before rounds can be steady.
const TURNOVERS: usize = 2;

/// Most rounds per window of rows.
const ROUNDS_A_WINDOW: usize = 4;

/// Most rounds in the longest time.
const ROUNDS_AT_MOST: u64 = 60;

/// Fewest rows inserted, however short the time. A window of few rows is then replaced, and answers
/// can be checked.
const LEAST: usize = 1_500;

/// Rows laid out at once, outside of the clock. They fit into the processor's caches.
pub const LAID_AT_ONCE: usize = 250;

/// Most answers kept until they are checked.
const MOST_ANSWERS: usize = 1_000;

/// Answer to question `i` of a phase after `came` rows.
struct Answered {
    phase: usize,
    i: usize,
    came: usize,
    found: Found,
}

/// Inserts rows into a database.
pub struct KeepRunner<'a> {
    parameters: KeepParameters<'a>,
    calendar: Calendar<'a>,
    /// Rows per commit. `None`: each row is inserted on its own.
    batch: Option<usize>,
    longest_ns: u64,
    /// Rows in a window.
    kept: usize,
    /// Number of rows whose times have room in their type.
    most: usize,
    /// Encoded next rows, and the position up to which rows are encoded.
    arena: &'a mut Arc<Arena>,
    laid: usize,
    database: &'a mut dyn Database,
    observer: &'a mut dyn PhaseObserver,
    clock: Clock,
    /// Start time, in ticks of the clock.
    began: u64,
    recorder: Recorder,
    found: Found,
    came: usize,
    /// The first row that has not expired.
    oldest: usize,
    asked: u64,
    /// Answers that were not checked yet.
    answers: Vec<Answered>,
    wrong: Option<Difference>,
    /// The engine's background counters as last read, and as read before that.
    background: [Vec<Background>; 2],
    /// Changes of the counters in slices with stalls, with the slices' numbers.
    moved: Vec<(usize, Vec<(&'static str, u64)>)>,
    /// Time that belongs neither to the engine nor to its client, in ns and in ticks. The schedule
    /// pauses during it.
    paused_ns: u64,
    paused: u64,
}

impl<'a> KeepRunner<'a> {
    pub fn new(
        parameters: KeepParameters<'a>,
        database: &'a mut dyn Database,
        observer: &'a mut dyn PhaseObserver,
        recorder: Recorder,
        arena: &'a mut Arc<Arena>,
    ) -> Self {
        let background = [Vec::with_capacity(32), Vec::with_capacity(32)];
        let KeepParameters { cell, keep, longest, .. } = parameters;
        let calendar = Calendar { keep, rows: &cell.tables[keep.table] };
        let batch = match cell.work(keep.insert) {
            Work::Insert { commit: Commit::Batch(rows), .. }
                if cell.commit != Some(Commit::Each) =>
            {
                usize::try_from(*rows).ok()
            }
            _ => None,
        };
        Self {
            parameters,
            calendar,
            batch,
            longest_ns: longest.as_nanos() as u64,
            kept: calendar.window(),
            most: calendar.most(),
            arena,
            laid: 0,
            database,
            observer,
            clock: Clock::default(),
            began: 0,
            recorder,
            found: Found::default(),
            came: 0,
            oldest: 0,
            asked: 0,
            answers: Vec::with_capacity(2 * MOST_ANSWERS),
            wrong: None,
            background,
            moved: Vec::with_capacity(64),
            paused_ns: 0,
            paused: 0,
        }
    }

    /// Inserts until it is steady, or for the longest time.
    pub fn run(mut self) -> Result<KeepOutcome> {
        self.database.lifecycle().background(&mut self.background[1])?;
        let pace = self.parameters.rate.map(|rate| Pacer::new(&self.clock, rate));
        self.observer.sample(Duration::from_nanos(SLICE_NS), self.parameters.longest);
        self.observer.open();
        self.began = self.clock.ticks();
        let steady = self.play_steps(pace.as_ref())?;
        self.observer.close();
        self.observer.end();
        let timeline = self.timeline(steady);
        Ok(KeepOutcome {
            came: self.came as u64,
            asked: self.asked,
            elapsed_ns: self.recorder.slices().iter().map(|slice| slice.elapsed_ns).sum(),
            wrong: self.wrong,
            recorder: self.recorder,
            timeline,
        })
    }

    fn now_ns(&self) -> u64 {
        self.clock.nanoseconds(self.began, self.clock.ticks())
    }

    /// Runs the time steps that have rows. In the others nothing changes, and a clock that was not
    /// set leaves half a million of them between two rows. Returns the state of the last rounds.
    fn play_steps(&mut self, pace: Option<&Pacer>) -> Result<SteadyState> {
        let round_ns = self.longest_ns / ROUNDS_AT_MOST;
        let round_rows = self.kept.div_ceil(ROUNDS_A_WINDOW);
        let (mut round_began, mut round_first) = (0, 0);
        let mut is_first = true;
        loop {
            if self.came >= self.most {
                return Err(self.calendar.rows.out_of_times(self.most, "at-most"));
            }
            let step = self.calendar.step_at(self.calendar.time(self.came));
            if self.came > 0 {
                self.housekeeping(&step)?;
            }
            let whole = self.play_step(&step, pace)?;
            let now_ns = self.now_ns();
            let whole = whole && !self.is_over(now_ns);
            let round = self.came - round_first >= round_rows && now_ns - round_began >= round_ns;
            if !whole || round || self.answers.len() >= MOST_ANSWERS {
                self.check_answers();
            }
            let over = !whole || self.wrong.is_some();
            if is_first && (self.came >= self.kept || now_ns >= FIRST_NS || over) {
                is_first = false;
                self.close_slice()?;
                self.recorder.end_first();
            }
            if over || round {
                // A round that the end of time interrupts does not count, unless it is the only
                // one.
                let counts = round || self.recorder.rounds().is_empty();
                self.close_round(counts)?;
                (round_began, round_first) = (self.now_ns(), self.came);
                let steady = self.steady();
                if over || (steady.reached && self.came >= TURNOVERS * self.kept) {
                    return Ok(SteadyState { reached: steady.reached && !over, ..steady });
                }
            }
        }
    }

    /// Returns whether the longest time has passed, and the fewest rows have come.
    const fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.longest_ns && self.came >= LEAST
    }

    /// Begins a time step with rows: creates its partition, and lets the steps expire that are now
    /// older than the window. If rows come in every step, that is at most one. The time of the
    /// first includes that of the partition.
    fn housekeeping(&mut self, step: &TimeStep) -> Result<()> {
        let keep = self.parameters.keep;
        // Nothing expires in the first window.
        let mut expiring = self.calendar.expiring(self.oldest, step.number);
        let mut from = self.clock.ticks();
        // A table with partitions has at least one, also if all that it had expire.
        self.database.begin(keep, step)?;
        while let Some((oldest, end)) = expiring {
            self.database.expire(keep, &oldest)?;
            self.database.lifecycle().upkeep()?;
            let to = self.clock.ticks();
            self.recorder.rows(0, (end - self.oldest) as u64);
            let ns = self.clock.nanoseconds(from, to);
            let at_ns = self.clock.nanoseconds(self.began, from);
            self.recorder.record(Kind::Expiry, at_ns, ns, ns);
            self.oldest = end;
            self.close_slice_if_over(to)?;
            expiring = self.calendar.expiring(end, step.number);
            from = self.clock.ticks();
        }
        Ok(())
    }

    /// Inserts the rows of a time step. Returns whether it is complete.
    fn play_step(&mut self, step: &TimeStep, pace: Option<&Pacer>) -> Result<bool> {
        let end = self.calendar.first_from(step.to);
        let every = self.parameters.keep.every as usize;
        while self.came < end {
            let next = (self.came + self.batch.unwrap_or(1)).min(end);
            if next > self.laid {
                self.lay_out(next.max(self.came + LAID_AT_ONCE).min(end));
            }
            let asks = !self.parameters.keep.ask.is_empty() && next / every > self.came / every;
            let to = self.commit(self.came..next, pace)?;
            self.came = next;
            self.calendar.rows.there.store(next, Ordering::Relaxed);
            if asks {
                self.question()?;
            }
            self.close_slice_if_over(to)?;
            let now_ns = self.clock.nanoseconds(self.began, to);
            if self.wrong.is_some() || self.is_over(now_ns) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Lays out the next rows, up to a row.
    fn lay_out(&mut self, to: usize) {
        let (from, insert) = (self.clock.ticks(), self.parameters.keep.insert);
        port::lay_out(self.database, self.arena, [(insert, self.came..to)]);
        self.laid = to;
        self.pause(self.clock.nanoseconds(from, self.clock.ticks()));
    }

    /// Inserts rows with one commit when they are due. Returns when it ended, in ticks of the
    /// clock.
    #[inline]
    fn commit(&mut self, places: Range<usize>, pace: Option<&Pacer>) -> Result<u64> {
        // A commit is due with its last row.
        let began = self.began + self.paused;
        let due = pace.map(|pace| pace.wait(&self.clock, began, places.end as u64 - 1));
        let (count, keep) = (places.len() as u64, self.parameters.keep);
        let Self { database, found, .. } = self;
        let from = self.clock.ticks();
        match self.batch {
            Some(_) => {
                database.batch(keep.table, places, Some(keep.insert))?;
            }
            None => database.within(keep.insert, Scope::PerOperation, &mut |one| {
                one.perform(keep.insert, places.start, found)
            })?,
        }
        let to = self.clock.ticks();
        let ns = self.clock.nanoseconds(from, to);
        let latency_ns = due.map_or(ns, |due| self.clock.nanoseconds(due.min(from), to));
        let at_ns = self.clock.nanoseconds(self.began, from);
        self.recorder.record(Kind::Commit, at_ns, ns, latency_ns);
        self.recorder.rows(count, 0);
        Ok(to)
    }
}

/// Returns the mean bytes of the values of a row, at the width of their types.
pub fn row_bytes(rows: &Rows) -> u64 {
    let all = rows.staged.rows();
    (0..all).map(|place| rows.staged.user_bytes(place)).sum::<u64>() / all.max(1) as u64
}
