//! Slices and rounds of the timeline, whether the last rounds are steady, and the questions between
//! the rows.

use std::sync::atomic::Ordering;
use std::time::Duration;

use embermark_contract::{Result, Scope, changes_between};
use embermark_meter::{Kind, steady};
use embermark_model::answer::Difference;
use embermark_model::result::{Stall, SteadyFigure, SteadyState, Timeline};
use embermark_model::table::Value;

use super::super::KeepParameters;
use super::{Answered, KeepRunner, SLICE_NS, row_bytes};
use crate::defined::oracle::{check_newest, print_of};

impl KeepRunner<'_> {
    /// Excludes a time from the current slice.
    pub(super) fn pause(&mut self, ns: u64) {
        self.stand_still(ns);
        self.recorder.pause(ns);
    }

    fn stand_still(&mut self, ns: u64) {
        self.paused_ns += ns;
        self.paused = self.clock.ticks_of(Duration::from_nanos(self.paused_ns));
    }

    /// Closes the current slice if it is over.
    #[inline]
    pub(super) fn close_slice_if_over(&mut self, at: u64) -> Result<()> {
        let now_ns = self.clock.nanoseconds(self.began, at);
        if now_ns - self.recorder.slice_began_ns().min(now_ns) >= SLICE_NS {
            self.close_slice()?;
        }
        Ok(())
    }

    /// Closes the current slice, and reads the engine's background counters. None of that is the
    /// engine's time.
    pub(super) fn close_slice(&mut self) -> Result<()> {
        let from = self.clock.ticks();
        let now_ns = self.clock.nanoseconds(self.began, from);
        let (slice, stalled) = (self.recorder.closed(), self.recorder.has_stalled());
        self.recorder.close_slice(now_ns);
        self.background.swap(0, 1);
        let [before, after] = &mut self.background;
        after.clear();
        self.database.lifecycle().background(after)?;
        if stalled {
            self.moved.push((slice, changes_between(before, after)));
        }
        let ours = self.clock.nanoseconds(from, self.clock.ticks());
        self.stand_still(ours);
        self.recorder.begin_slice(now_ns + ours);
        Ok(())
    }

    /// Closes the current round with its slice, and counts the rows.
    pub(super) fn close_round(&mut self, counts: bool) -> Result<()> {
        self.close_slice()?;
        let from = self.clock.ticks();
        let now_ns = self.clock.nanoseconds(self.began, from);
        if counts {
            let allocated = self.observer.allocated();
            self.recorder.close_round(now_ns, allocated);
        }
        if self.parameters.checked && self.wrong.is_none() {
            let there = self.calendar.there(self.came).len() as u64;
            let count = self.database.count(self.parameters.keep.table)?;
            self.wrong = count
                .filter(|count| *count != there)
                .map(|count| Difference(format!("{count} rows, expected {there}")));
        }
        let ours = self.clock.nanoseconds(from, self.clock.ticks());
        self.stand_still(ours);
        self.recorder.begin_slice(now_ns + ours);
        Ok(())
    }

    /// Returns the state of the last rounds.
    pub(super) fn steady(&self) -> SteadyState {
        let rounds = self.recorder.rounds();
        let mut state = SteadyState {
            after_s: rounds.last().map_or(0.0, |round| round.until_s),
            turnovers: self.came as f64 / self.kept as f64,
            ..SteadyState::default()
        };
        let values = |of: &dyn Fn(usize) -> Option<f64>| -> Option<SteadyFigure> {
            let all: Option<Vec<f64>> = (0..rounds.len()).map(of).collect();
            steady::assess(&all?)
        };
        let (name, figure) = match self.parameters.rate {
            Some(_) => ("latency", values(&|round| Some(rounds[round].commit_mean_ns))),
            None => ("throughput", values(&|round| Some(rounds[round].throughput()))),
        };
        let space = values(&|round| rounds[round].allocated_bytes.map(|bytes| bytes as f64));
        let named = [(name, figure), ("space", space)];
        state.figures =
            named.into_iter().filter_map(|(of, figure)| Some((of.to_owned(), figure?))).collect();
        state.reached = figure.is_some() && state.figures.values().all(|figure| figure.steady);
        state
    }

    pub(super) fn timeline(&self, steady: SteadyState) -> Timeline {
        let with_cause = |(slice, stall): (usize, Stall)| {
            let all = self.moved.iter().find(|(of, _)| *of == slice).map(|(_, moved)| moved);
            let moved = all.into_iter().flatten();
            let moved = moved.map(|(name, value)| ((*name).to_owned(), *value)).collect();
            Stall { moved, ..stall }
        };
        Timeline {
            window_rows: self.kept as u64,
            row_bytes: row_bytes(self.calendar.rows),
            expiry: self.database.expires_by(self.parameters.keep),
            slices: self.recorder.slices(),
            rounds: self.recorder.rounds().to_vec(),
            steady,
            stalls: self.recorder.stalls().map(with_cause).collect(),
            stalled: self.recorder.stalled(),
            background: self.background[1].iter().map(|told| told.name.to_owned()).collect(),
        }
    }

    /// Asks the next question. Everything written must be readable when the answer begins.
    pub(super) fn question(&mut self) -> Result<()> {
        let before = self.clock.ticks();
        let Self { database, found, parameters: KeepParameters { keep, .. }, .. } = self;
        let kinds = keep.ask.len() as u64;
        let (phase, i) = (keep.ask[(self.asked % kinds) as usize], (self.asked / kinds) as usize);
        database.rebuild_question(phase, i);
        found.empty();
        let from = self.clock.ticks();
        database.flush()?;
        database.within(phase, Scope::PerOperation, &mut |one| one.perform(phase, i, found))?;
        let to = self.clock.ticks();
        let ns = self.clock.nanoseconds(from, to);
        self.recorder.record(Kind::Question, self.clock.nanoseconds(self.began, from), ns, ns);
        self.asked += 1;
        if self.parameters.checked {
            let found = self.found.clone();
            self.answers.push(Answered { phase, i, came: self.came, found });
        }
        let after = self.clock.ticks();
        let ours = self.clock.nanoseconds(before, from) + self.clock.nanoseconds(to, after);
        self.pause(ours);
        Ok(())
    }

    /// Checks many answers at once. Computing the right ones evicts from the processor's caches
    /// what the engine reads next.
    pub(super) fn check_answers(&mut self) {
        let from = self.clock.ticks();
        let (cell, database) = (self.parameters.cell, &*self.database);
        for Answered { phase, i, came, found } in self.answers.drain(..) {
            self.calendar.rows.there.store(came, Ordering::Relaxed);
            let print = |row: &[Value<'_>]| print_of(cell, database, phase, row);
            let there = self.calendar.there(came);
            if let Err(Difference(wrong)) = check_newest(cell, (phase, i), there, &found, &print) {
                let name = &cell.definition.phases[phase].name;
                self.wrong = Some(Difference(format!("{name}, after {came} rows: {wrong}")));
                break;
            }
        }
        self.calendar.rows.there.store(self.came, Ordering::Relaxed);
        self.pause(self.clock.nanoseconds(from, self.clock.ticks()));
    }
}
