//! What the workload needs of a store, in its own words.

use std::ops::ControlFlow;

use embermark_contract::{EngineError, Result};
use embermark_data::machine::{CHANNELS, History, Sample, Stamp};
use embermark_model::result::Execution;

/// How samples lie in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One by one, each committed.
    Samples,
    /// The samples of a second in one value, committed when the second is over.
    Seconds,
}

/// The nearest sample to a moment, which is not meant itself, whose angle is as wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seek {
    /// The first after it above half the amplitude.
    FirstAbove,
    /// The first after it below an eighth.
    FirstBelow,
    /// The last before it above half.
    LastAbove,
    /// The last before it below an eighth.
    LastBelow,
}

impl Seek {
    /// Whether it looks at later samples.
    pub const fn forward(self) -> bool {
        matches!(self, Self::FirstAbove | Self::FirstBelow)
    }

    /// Whether it looks for a large angle.
    pub const fn above(self) -> bool {
        matches!(self, Self::FirstAbove | Self::LastAbove)
    }

    /// Whether an angle is as wanted.
    pub const fn wants(self, angle: u16) -> bool {
        use embermark_data::machine::{EIGHTH, HALF};
        if self.above() { angle > HALF } else { angle < EIGHTH }
    }
}

/// Sums of the channels over a cycle.
pub(super) type Sums = [u64; CHANNELS];

/// Receives samples in the order of their times; `Break` ends it.
pub(super) type Visit<'a> = dyn FnMut(Sample) -> ControlFlow<()> + 'a;

/// A machine's log in a store. Moments given as a range are from the first up to but without the
/// second; seconds given as a range are both meant.
pub(super) trait MachineLog {
    /// Who finds a cycle by single questions: the engine, or code of ours over its records.
    fn finds(&self) -> Execution;

    /// Makes the log anew, empty.
    fn clear(&mut self) -> Result<()>;

    /// Opens the log that another process made.
    fn open(&mut self) -> Result<()>;

    /// Stores one sample, committed when it returns.
    fn write(&mut self, sample: &Sample) -> Result<()>;

    /// Stores the samples of one second, which are not none, committed when it returns.
    fn write_second(&mut self, samples: &[Sample]) -> Result<()>;

    /// Stores a history in the empty log by the engine's fastest path.
    fn load(&mut self, history: &History) -> Result<()>;

    /// Has what was written be there for every reader: where a write is not acknowledged.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// The time of the sample looked for.
    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>>;

    /// The time of the smallest angle between two samples, both not meant; of equal ones the
    /// earliest.
    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>>;

    /// The samples of a range.
    fn samples(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()>;

    /// The sums of a range.
    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums>;

    /// The samples of some seconds.
    fn seconds(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()>;

    /// The angles alone of some seconds; the other channels are 0.
    fn angles(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()>;

    /// The channels but the angle of a range; the angles are 0.
    fn others(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()>;

    /// The time of the newest sample.
    fn newest(&mut self) -> Result<Option<Stamp>>;

    /// Visits every sample in the order of its time.
    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()>;

    /// Checkpoints that the engine has begun, where it counts them.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Runs the engine's maintenance: its checkpoint or compaction.
    fn maintain(&mut self) -> Result<()>;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}

/// A visitor that keeps what it sees.
pub(super) fn keep(into: &mut Vec<Sample>) -> impl FnMut(Sample) -> ControlFlow<()> {
    |sample| {
        into.push(sample);
        ControlFlow::Continue(())
    }
}

/// Adds the channels of a sample to their sums.
pub(super) fn add(sums: &mut Sums, sample: &Sample) {
    for (sum, value) in sums.iter_mut().zip(sample.values) {
        *sum += u64::from(value);
    }
}

/// What a question is refused with that asks for single samples where a second is one value.
pub(super) fn one_value() -> EngineError {
    EngineError::unsupported(
        "this layout",
        "questions for single samples: a second of them is one value; read_bulk fetches it whole",
    )
}

/// A store gave back what was never put into it.
pub(super) fn broken(what: impl std::fmt::Display) -> EngineError {
    EngineError::failed("the store", "give back samples", what)
}

/// A number that a channel can have.
pub(super) fn channel(value: Option<i64>) -> Result<u16> {
    value
        .and_then(|value| u16::try_from(value).ok())
        .ok_or_else(|| broken(format_args!("{value:?} is no value of a channel")))
}

/// A stamp of two columns.
pub(super) fn stamp(s: Option<i64>, ns: Option<i64>) -> Result<Stamp> {
    let ns = ns.and_then(|ns| i32::try_from(ns).ok());
    match (s, ns) {
        (Some(s), Some(ns)) => Ok(Stamp { s, ns }),
        _ => Err(broken("a time is not there")),
    }
}
