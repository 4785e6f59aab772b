//! The loop: rows in, an hour out, questions in between, by the clock of one client.

use std::ops::Range;
use std::time::Duration;

use embermark_contract::{Background, Result, moved};
use embermark_meter::{Clock, Kind, Pacer, Recorder, steady};
use embermark_model::answer::Difference;
use embermark_model::result::{Stall, SteadyFigure, SteadyState, Timeline};

use super::port::{BATCH, Commit, RetentionLog};
use super::questions::{self, Found, Question};
use super::rows::{HOURS, Row, Rows, SENSORS};
use crate::PhaseObserver;

/// A slice of the timeline.
const SLICE_NS: u64 = 1_000_000_000;

/// The first stretch of time, which the last rounds are compared with, ends with the first full window, or
/// after a minute.
const FIRST_NS: u64 = 60 * SLICE_NS;

/// How often the window is replaced before rounds may be steady.
const TURNOVERS: u64 = 2;

/// Rounds a window of rows has at most.
const ROUNDS_A_WINDOW: u64 = 4;

/// Rounds there are at most in the longest time.
const ROUNDS_AT_MOST: u64 = 60;

/// Rows that come in at least, however short the time: a window of few rows is then replaced, and what is
/// right can be looked at.
const LEAST: u64 = 1_500;

/// What is to be played.
#[derive(Clone, Copy)]
pub(super) struct Play {
    pub rows: Rows,
    pub commit: Commit,
    /// The longest time.
    pub longest: Duration,
    /// Rows a second; `None`: as many as it takes.
    pub rate: Option<u64>,
    /// Whether answers are looked at: not those of an engine that gives none.
    pub checked: bool,
}

/// What was played.
pub(super) struct Played {
    /// Rows that came in.
    pub came: u64,
    /// Questions that were asked.
    pub asked: u64,
    /// Time that was the engine's and its client's.
    pub elapsed_ns: u64,
    /// The first wrong answer.
    pub wrong: Option<Difference>,
    pub recorder: Recorder,
    pub timeline: Timeline,
}

/// Plays rows into a store.
pub(super) struct Player<'a> {
    play: Play,
    log: &'a mut dyn RetentionLog,
    observer: &'a mut dyn PhaseObserver,
    clock: Clock,
    /// On the clock.
    began: u64,
    recorder: Recorder,
    found: Found,
    came: u64,
    asked: u64,
    wrong: Option<Difference>,
    /// What the engine told last of its background, and before that.
    background: [Vec<Background>; 2],
    /// What moved in slices with stalls, by their numbers.
    moved: Vec<(usize, Vec<(&'static str, u64)>)>,
    /// Time that was neither the engine's nor its client's, in ns and in ticks: the schedule stands still
    /// meanwhile.
    paused_ns: u64,
    paused: u64,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        play: Play,
        log: &'a mut dyn RetentionLog,
        observer: &'a mut dyn PhaseObserver,
        recorder: Recorder,
    ) -> Self {
        let background = [Vec::with_capacity(32), Vec::with_capacity(32)];
        Self {
            play,
            log,
            observer,
            clock: Clock::default(),
            began: 0,
            recorder,
            found: Found::new(),
            came: 0,
            asked: 0,
            wrong: None,
            background,
            moved: Vec::with_capacity(64),
            paused_ns: 0,
            paused: 0,
        }
    }

    /// Plays until it is steady, or for the longest time.
    pub(super) fn run(mut self) -> Result<Played> {
        self.log.lifecycle().background(&mut self.background[1])?;
        let pace = self.play.rate.map(|rate| Pacer::of(&self.clock, rate));
        self.observer.sample(Duration::from_nanos(SLICE_NS), self.play.longest);
        self.observer.open();
        self.began = self.clock.ticks();
        let steady = self.hours(pace.as_ref())?;
        self.observer.close();
        self.observer.end();
        let timeline = self.timeline(steady);
        Ok(Played {
            came: self.came,
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

    /// Hour after hour; what the last rounds came to.
    fn hours(&mut self, pace: Option<&Pacer>) -> Result<SteadyState> {
        let kept = self.play.rows.kept();
        let longest_ns = self.play.longest.as_nanos() as u64;
        let round_ns = longest_ns / ROUNDS_AT_MOST;
        let round_rows = kept.div_ceil(ROUNDS_A_WINDOW);
        let (mut round_began, mut round_first) = (0, 0);
        let mut is_first = true;
        for hour in 0.. {
            if hour > 0 {
                self.housekeeping(hour)?;
            }
            let whole = self.hour(hour, pace, longest_ns)?;
            let now_ns = self.now_ns();
            let over = !whole || self.wrong.is_some();
            if is_first && (self.came >= kept || now_ns >= FIRST_NS || over) {
                is_first = false;
                self.close_slice()?;
                self.recorder.end_first();
            }
            let round = self.came - round_first >= round_rows && now_ns - round_began >= round_ns;
            if over || round {
                // What was begun when the time was over is no round, but where it is all that there is.
                let counts = round || self.recorder.told().is_empty();
                self.close_round(counts)?;
                (round_began, round_first) = (self.now_ns(), self.came);
                let steady = self.steady();
                if over || (steady.reached && self.came >= TURNOVERS * kept) {
                    return Ok(SteadyState { reached: steady.reached && !over, ..steady });
                }
            }
        }
        Ok(SteadyState::default())
    }

    /// At the begin of an hour: its place is made, and the oldest goes.
    fn housekeeping(&mut self, hour: u64) -> Result<()> {
        let from = self.clock.ticks();
        let oldest = hour.checked_sub(HOURS + 1);
        if let Some(oldest) = oldest {
            self.log.expire(oldest)?;
            self.log.lifecycle().upkeep()?;
            self.recorder.rows(0, self.play.rows.hour());
        }
        self.log.begin(hour)?;
        let to = self.clock.ticks();
        // In the first day nothing goes.
        if oldest.is_some() {
            let ns = self.clock.nanoseconds(from, to);
            self.recorder.record(Kind::Expiry, self.clock.nanoseconds(self.began, from), ns, ns);
        }
        self.look(to)
    }

    /// The rows of an hour; whether it is whole.
    fn hour(&mut self, hour: u64, pace: Option<&Pacer>, longest_ns: u64) -> Result<bool> {
        let end = (hour + 1) * self.play.rows.hour();
        while self.came < end {
            let next = match self.play.commit {
                Commit::Each => self.came + 1,
                Commit::Batch => (self.came + BATCH).min(end),
            };
            let asks = next / questions::EVERY > self.came / questions::EVERY;
            let to = self.commit(self.came..next, pace)?;
            self.came = next;
            if asks {
                self.question()?;
            }
            self.look(to)?;
            let now_ns = self.clock.nanoseconds(self.began, to);
            if self.wrong.is_some() || (now_ns >= longest_ns && self.came >= LEAST) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts rows in by one commit, when they are due; when it had ended, on the clock.
    #[inline]
    fn commit(&mut self, numbers: Range<u64>, pace: Option<&Pacer>) -> Result<u64> {
        // Due is a commit with its last row.
        let began = self.began + self.paused;
        let due = pace.map(|pace| pace.wait(&self.clock, began, numbers.end - 1));
        let count = numbers.end - numbers.start;
        let one: Row = self.play.rows.row(numbers.start);
        let from = self.clock.ticks();
        match self.play.commit {
            Commit::Each => self.log.insert(&one)?,
            Commit::Batch => self.log.insert_all(&self.play.rows, numbers)?,
        }
        let to = self.clock.ticks();
        let ns = self.clock.nanoseconds(from, to);
        let latency_ns = due.map_or(ns, |due| self.clock.nanoseconds(due.min(from), to));
        let at_ns = self.clock.nanoseconds(self.began, from);
        self.recorder.record(Kind::Commit, at_ns, ns, latency_ns);
        self.recorder.rows(count, 0);
        Ok(to)
    }

    /// Asks the next question, and looks at the answer outside of its time.
    fn question(&mut self) -> Result<()> {
        let before = self.clock.ticks();
        let question = Question::number(&self.play.rows, self.asked, self.came);
        self.log.word(&question);
        self.found.clear();
        let from = self.clock.ticks();
        self.log.ask(&question, &mut self.found)?;
        let to = self.clock.ticks();
        let ns = self.clock.nanoseconds(from, to);
        self.recorder.record(Kind::Question, self.clock.nanoseconds(self.began, from), ns, ns);
        self.asked += 1;
        if self.play.checked {
            self.wrong = question.check(&self.play.rows, self.came, &self.found).err();
        }
        let after = self.clock.ticks();
        let ours = self.clock.nanoseconds(before, from) + self.clock.nanoseconds(to, after);
        self.pause(ours);
        Ok(())
    }

    /// Takes a time out of the slice under way.
    fn pause(&mut self, ns: u64) {
        self.stand_still(ns);
        self.recorder.pause(ns);
    }

    fn stand_still(&mut self, ns: u64) {
        self.paused_ns += ns;
        self.paused = self.clock.ticks_of(Duration::from_nanos(self.paused_ns));
    }

    /// Closes the slice under way where it is over.
    #[inline]
    fn look(&mut self, at: u64) -> Result<()> {
        let now_ns = self.clock.nanoseconds(self.began, at);
        if now_ns - self.recorder.slice_began_ns().min(now_ns) >= SLICE_NS {
            self.close_slice()?;
        }
        Ok(())
    }

    /// Closes the slice under way, and asks the engine what it did meanwhile. None of that is its time.
    fn close_slice(&mut self) -> Result<()> {
        let from = self.clock.ticks();
        let now_ns = self.clock.nanoseconds(self.began, from);
        let (slice, stalled) = (self.recorder.closed(), self.recorder.has_stalled());
        self.recorder.close_slice(now_ns);
        self.background.swap(0, 1);
        let [before, after] = &mut self.background;
        after.clear();
        self.log.lifecycle().background(after)?;
        if stalled {
            self.moved.push((slice, moved(before, after)));
        }
        let ours = self.clock.nanoseconds(from, self.clock.ticks());
        self.stand_still(ours);
        self.recorder.begin_slice(now_ns + ours);
        Ok(())
    }

    /// Closes the round under way, with its slice, and counts the rows.
    fn close_round(&mut self, counts: bool) -> Result<()> {
        self.close_slice()?;
        let from = self.clock.ticks();
        let now_ns = self.clock.nanoseconds(self.began, from);
        if counts {
            let allocated = self.observer.allocated();
            self.recorder.close_round(now_ns, allocated);
        }
        if self.play.checked && self.wrong.is_none() {
            let there = self.play.rows.there(self.came);
            let there = there.end - there.start;
            let count = self.log.count()?;
            self.wrong = count
                .filter(|count| *count != there)
                .map(|count| Difference(format!("{count} rows, and there must be {there}")));
        }
        let ours = self.clock.nanoseconds(from, self.clock.ticks());
        self.stand_still(ours);
        self.recorder.begin_slice(now_ns + ours);
        Ok(())
    }

    /// What the last rounds came to.
    fn steady(&self) -> SteadyState {
        let rounds = self.recorder.told();
        let mut state = SteadyState {
            after_s: rounds.last().map_or(0.0, |round| round.until_s),
            turnovers: self.came as f64 / self.play.rows.kept() as f64,
            ..SteadyState::default()
        };
        let values = |of: &dyn Fn(usize) -> Option<f64>| -> Option<SteadyFigure> {
            let all: Option<Vec<f64>> = (0..rounds.len()).map(of).collect();
            steady::of(&all?)
        };
        let name = if self.play.rate.is_some() { "latency" } else { "throughput" };
        let figure = match self.play.rate {
            Some(_) => values(&|round| Some(rounds[round].commit_mean_ns)),
            None => values(&|round| Some(rounds[round].throughput())),
        };
        let space = values(&|round| rounds[round].allocated_bytes.map(|bytes| bytes as f64));
        let named = [(name, figure), ("space", space)];
        state.figures =
            named.into_iter().filter_map(|(of, figure)| Some((of.to_owned(), figure?))).collect();
        state.reached = figure.is_some() && state.figures.values().all(|figure| figure.steady);
        state
    }

    fn timeline(&self, steady: SteadyState) -> Timeline {
        let with_cause = |(slice, stall): (usize, Stall)| {
            let all = self.moved.iter().find(|(of, _)| *of == slice).map(|(_, moved)| moved);
            let moved = all.into_iter().flatten();
            let moved = moved.map(|(name, value)| ((*name).to_owned(), *value)).collect();
            Stall { moved, ..stall }
        };
        Timeline {
            window_rows: self.play.rows.kept(),
            row_bytes: Row::BYTES,
            expiry: self.log.expiry(),
            slices: self.recorder.slices(),
            rounds: self.recorder.told().to_vec(),
            steady,
            stalls: self.recorder.stalls().map(with_cause).collect(),
            stalled: self.recorder.stalled(),
            background: self.background[1].iter().map(|told| told.name.to_owned()).collect(),
        }
    }
}

// A question may span several batches: they are no longer than what lies between two.
const _: () = assert!(BATCH <= questions::EVERY && SENSORS <= questions::EVERY);
