//! Records a phase over time: slices, rounds, stalls.
//!
//! Operations are recorded into histograms that exist before the clock starts. The caller ends a
//! slice or a round outside of any operation. Percentiles are then computed and the records are
//! added up.

use std::time::Duration;

use embermark_model::result::{Latency, Round, Slice, Stall};

use crate::latency::{self, Histogram, summary};
use crate::steady;

mod merging;

use merging::Slices;

/// An operation that takes longer is a stall.
const STALL: Duration = Duration::from_millis(100);

/// Number of stalls that are kept.
const STALLS: usize = 1_000;

/// Number of slices that are kept. If there are more, neighbours are merged.
pub const MOST_SLICES: usize = 600;

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A commit that inserts rows.
    Commit = 0,
    /// A query.
    Question = 1,
    /// Removal of old rows.
    Expiry = 2,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Commit, Self::Question, Self::Expiry];

    /// Returns its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Question => "question",
            Self::Expiry => "expiry",
        }
    }
}

/// A histogram for each kind.
type Histograms = [Histogram; 3];

/// Makes histograms with allocated memory, so that none is allocated while memory is measured.
fn empty() -> Histograms {
    std::array::from_fn(|_| {
        let mut histogram = latency::empty();
        histogram.reset();
        histogram
    })
}

fn add(all: &mut Histograms, some: &Histograms) {
    for (all, some) in all.iter_mut().zip(some) {
        // They have the same bounds, so this cannot fail.
        let _ = all.add(some);
    }
}

/// Records a phase over time. Times are ns since its beginning.
pub struct Recorder {
    slice: Histograms,
    round: Histograms,
    /// The last rounds, as a ring.
    last_rounds: [Histograms; steady::ROUNDS],
    first: Histograms,
    /// Whether the first period is still active.
    is_first: bool,
    all: Histograms,
    slices: Slices,
    closed_rounds: Vec<Round>,
    stalls: Vec<Stalled>,
    stalled: u64,
    /// For the current slice.
    rows: (u64, u64),
    began_ns: u64,
    /// For the current round.
    round_rows: u64,
    round_elapsed_ns: u64,
    /// Time in the slice that belongs to neither the engine nor its client, in ns.
    paused_ns: u64,
}

/// A recorded stall, without a text.
#[derive(Clone, Copy, Debug)]
struct Stalled {
    at_ns: u64,
    ns: u64,
    kind: Kind,
    /// Number of the slice in which it ended, in the order of closing.
    slice: usize,
}

impl Default for Recorder {
    /// Makes an empty recorder with everything allocated.
    fn default() -> Self {
        Self {
            slice: empty(),
            round: empty(),
            last_rounds: std::array::from_fn(|_| empty()),
            first: empty(),
            is_first: true,
            all: empty(),
            slices: Slices::new(MOST_SLICES),
            closed_rounds: Vec::with_capacity(1_024),
            stalls: Vec::with_capacity(STALLS),
            stalled: 0,
            rows: (0, 0),
            began_ns: 0,
            round_rows: 0,
            round_elapsed_ns: 0,
            paused_ns: 0,
        }
    }
}

impl Recorder {
    /// Records an operation that began at a time and took `ns`. `latency_ns` counts from when it
    /// was due.
    #[inline]
    pub fn record(&mut self, kind: Kind, at_ns: u64, ns: u64, latency_ns: u64) {
        self.slice[kind as usize].saturating_record(latency_ns.max(1));
        if ns > STALL.as_nanos() as u64 {
            self.stalled += 1;
            if self.stalls.len() < STALLS {
                let slice = self.slices.closed();
                self.stalls.push(Stalled { at_ns, ns, kind, slice });
            }
        }
    }

    /// Records rows that were inserted and removed.
    #[inline]
    pub const fn rows(&mut self, came: u64, went: u64) {
        self.rows.0 += came;
        self.rows.1 += went;
    }

    /// Records time that belongs to neither the engine nor its client.
    pub const fn pause(&mut self, ns: u64) {
        self.paused_ns += ns;
    }

    /// Returns when the current slice began.
    pub const fn slice_began_ns(&self) -> u64 {
        self.began_ns
    }

    /// Ends the current slice.
    pub fn close_slice(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.began_ns).saturating_sub(self.paused_ns);
        add(&mut self.round, &self.slice);
        add(&mut self.all, &self.slice);
        if self.is_first {
            add(&mut self.first, &self.slice);
        }
        self.slices.push(
            Slice {
                until_s: seconds(now_ns),
                elapsed_ns,
                rows_in: self.rows.0,
                rows_out: self.rows.1,
                ..Slice::default()
            },
            &self.slice,
        );
        self.round_rows += self.rows.0;
        self.round_elapsed_ns += elapsed_ns;
        self.slice.iter_mut().for_each(Histogram::reset);
        (self.rows, self.began_ns, self.paused_ns) = ((0, 0), now_ns, 0);
    }

    /// Sets the beginning of the current slice to now. The time before belongs to neither the
    /// engine nor its client.
    pub const fn begin_slice(&mut self, now_ns: u64) {
        self.began_ns = now_ns;
    }

    /// Ends the first period, with which the last rounds are compared.
    pub const fn end_first(&mut self) {
        self.is_first = false;
    }

    /// Ends the current round and its last slice, with the size of the data directory in bytes.
    pub fn close_round(&mut self, now_ns: u64, allocated_bytes: Option<u64>) {
        self.closed_rounds.push(Round {
            until_s: seconds(now_ns),
            elapsed_ns: self.round_elapsed_ns,
            rows: self.round_rows,
            commit_mean_ns: self.round[Kind::Commit as usize].mean(),
            allocated_bytes,
        });
        (self.round_rows, self.round_elapsed_ns) = (0, 0);
        let place = (self.closed_rounds.len() - 1) % steady::ROUNDS;
        std::mem::swap(&mut self.last_rounds[place], &mut self.round);
        self.round.iter_mut().for_each(Histogram::reset);
    }

    /// Returns the number of slices closed so far.
    pub const fn closed(&self) -> usize {
        self.slices.closed()
    }

    /// Whether an operation of the current slice was a stall.
    pub fn has_stalled(&self) -> bool {
        self.stalls.last().is_some_and(|stall| stall.slice == self.slices.closed())
    }

    /// Returns the rounds so far.
    pub fn rounds(&self) -> &[Round] {
        &self.closed_rounds
    }

    /// Returns the latency of all operations of a kind.
    pub fn latency(&self, kind: Kind) -> Option<Latency> {
        summary(&self.all[kind as usize], 1)
    }

    /// Returns the latency of the operations of a kind in the first period.
    pub fn first(&self, kind: Kind) -> Option<Latency> {
        summary(&self.first[kind as usize], 1)
    }

    /// Returns the latency of the operations of a kind in the last rounds, at most five.
    pub fn last(&self, kind: Kind) -> Option<Latency> {
        let mut last = latency::empty();
        for round in &self.last_rounds {
            let _ = last.add(&round[kind as usize]);
        }
        summary(&last, 1)
    }

    /// Returns the slices.
    pub fn slices(&self) -> Vec<Slice> {
        self.slices.summaries()
    }

    /// Returns the kept stalls, each with the number of the slice in which it ended. The caller
    /// adds the background figures that changed in that slice.
    pub fn stalls(&self) -> impl Iterator<Item = (usize, Stall)> {
        self.stalls.iter().map(|stall| {
            let summary = Stall {
                at_s: seconds(stall.at_ns),
                ns: stall.ns,
                of: stall.kind.name().to_owned(),
                ..Stall::default()
            };
            (stall.slice, summary)
        })
    }

    /// Returns the total number of stalls.
    pub const fn stalled(&self) -> u64 {
        self.stalled
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::{Kind, MOST_SLICES, Recorder};

    const MS: u64 = 1_000_000;

    /// Closes a slice of 1 ms with a commit of this duration in ns.
    fn slice(recorder: &mut Recorder, number: u64, ns: u64) {
        recorder.record(Kind::Commit, number * MS, ns, ns);
        recorder.rows(1, 0);
        recorder.close_slice((number + 1) * MS);
    }

    #[test]
    fn slices_hold_what_was_recorded_in_them_and_no_time_that_was_ours() {
        let mut recorder = Recorder::default();
        for ns in 1..=200 {
            recorder.record(Kind::Commit, 0, ns * 100, ns * 100);
        }
        recorder.record(Kind::Question, 0, 70, 70);
        recorder.rows(200, 5);
        recorder.pause(MS);
        recorder.close_slice(10 * MS);
        slice(&mut recorder, 10, 5_000);
        let slices = recorder.slices();
        assert_eq!(slices.len(), 2);
        assert_eq!((slices[0].rows_in, slices[0].rows_out, slices[0].elapsed_ns), (200, 5, 9 * MS));
        let commits = slices[0].commits.unwrap();
        assert_eq!((commits.samples, commits.p50, commits.max), (200, 10_007, 20_015));
        assert!((19_800..=19_815).contains(&commits.p99.unwrap()), "{commits:?}");
        assert_eq!(slices[0].questions.unwrap().p99, None, "one sample has no 99th percentile");
        assert_eq!(slices[1].commits.unwrap().samples, 1);
        assert_eq!(slices[1].questions, None);
    }

    #[test]
    fn more_slices_than_are_kept_become_half_as_many_that_hold_the_same() {
        let mut recorder = Recorder::default();
        let all = 3 * MOST_SLICES as u64 + 1;
        for number in 0..all {
            slice(&mut recorder, number, 1_000 + number);
        }
        let slices = recorder.slices();
        assert!(slices.len() <= MOST_SLICES && slices.len() > MOST_SLICES / 4, "{}", slices.len());
        assert_eq!(slices.iter().map(|slice| slice.rows_in).sum::<u64>(), all);
        assert_eq!(slices.iter().map(|slice| slice.elapsed_ns).sum::<u64>(), all * MS);
        let samples = slices.iter().map(|slice| slice.commits.unwrap().samples);
        assert_eq!(samples.sum::<u64>(), all);
        assert!(slices.windows(2).all(|two| two[0].until_s < two[1].until_s));
        assert_eq!(slices.last().unwrap().until_s, (all * MS) as f64 / 1e9);
        // Each but the last covers the same number, one after the other.
        let each = slices[0].rows_in;
        assert!(each == 4 && slices[..slices.len() - 1].iter().all(|slice| slice.rows_in == each));
    }

    #[test]
    fn the_last_rounds_and_the_first_stretch_are_apart() {
        let mut recorder = Recorder::default();
        for round in 0..8 {
            slice(&mut recorder, round, 1_000 * (round + 1));
            if round == 1 {
                recorder.end_first();
            }
            recorder.close_round((round + 1) * MS, Some(round));
        }
        assert_eq!(recorder.first(Kind::Commit).unwrap().samples, 2);
        let last = recorder.last(Kind::Commit).unwrap();
        assert_eq!((last.samples, last.min), (5, 4_000));
        assert_eq!(recorder.latency(Kind::Commit).unwrap().samples, 8);
        let rounds = recorder.rounds();
        assert_eq!((rounds.len(), rounds[7].rows, rounds[7].allocated_bytes), (8, 1, Some(7)));
        assert_eq!(rounds[7].elapsed_ns, MS);
    }

    #[test]
    fn what_takes_longer_than_a_tenth_of_a_second_is_a_stall_of_its_slice() {
        let mut recorder = Recorder::default();
        recorder.record(Kind::Commit, 0, 100 * MS, 100 * MS);
        assert!(!recorder.has_stalled());
        recorder.close_slice(100 * MS);
        // One that was late because it waited is not a stall: the one before it was.
        recorder.record(Kind::Commit, 100 * MS, MS, 500 * MS);
        assert!(!recorder.has_stalled());
        recorder.record(Kind::Expiry, 150 * MS, 250 * MS, 250 * MS);
        assert!(recorder.has_stalled());
        let stalls: Vec<_> = recorder.stalls().collect();
        let [(1, stall)] = &stalls[..] else { panic!("{stalls:?}") };
        assert_eq!((stall.of.as_str(), stall.ns, stall.at_s), ("expiry", 250 * MS, 0.15));
        assert_eq!(recorder.stalled(), 1);
    }
}
