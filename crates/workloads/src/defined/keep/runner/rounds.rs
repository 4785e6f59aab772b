//! Slices and rounds of the timeline, and whether the last rounds are steady.

use std::time::Duration;

use embermark_contract::{Result, changes_between};
use embermark_meter::steady;
use embermark_model::answer::Difference;
use embermark_model::result::{Stall, SteadyFigure, SteadyState, Timeline};

use super::{KeepRunner, SLICE_NS, row_bytes};

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
        let name = if self.parameters.rate.is_some() { "latency" } else { "throughput" };
        let figure = match self.parameters.rate {
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

    pub(super) fn timeline(&self, steady: SteadyState) -> Timeline {
        let with_cause = |(slice, stall): (usize, Stall)| {
            let all = self.moved.iter().find(|(of, _)| *of == slice).map(|(_, moved)| moved);
            let moved = all.into_iter().flatten();
            let moved = moved.map(|(name, value)| ((*name).to_owned(), *value)).collect();
            Stall { moved, ..stall }
        };
        Timeline {
            window_rows: self.kept as u64,
            row_bytes: row_bytes(self.rows()),
            expiry: self.database.expires_by(self.parameters.keep),
            slices: self.recorder.slices(),
            rounds: self.recorder.rounds().to_vec(),
            steady,
            stalls: self.recorder.stalls().map(with_cause).collect(),
            stalled: self.recorder.stalled(),
            background: self.background[1].iter().map(|told| told.name.to_owned()).collect(),
        }
    }
}
