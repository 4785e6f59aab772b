//! The interface between the machine workload and a store.

use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::machine::{CHANNELS, History, Sample, Stamp};
use embermark_model::result::Execution;
use serde::{Deserialize, Serialize};

/// How samples are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Layout {
    /// One by one, each with a commit.
    Samples,
    /// The samples of a second as one value, committed when the second is over.
    Seconds,
}

/// Design of the tables or documents that store samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Form {
    /// Embermark's design, with the time as the key.
    Own,
    /// The published design of the workload's source.
    Published,
}

/// Search for the sample nearest to a moment (exclusive) whose angle meets a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seek {
    /// The first one after the moment that is above half the amplitude.
    FirstAbove,
    /// The first one after it that is below an eighth.
    FirstBelow,
    /// The last one before it that is above half.
    LastAbove,
    /// The last one before it that is below an eighth.
    LastBelow,
}

impl Seek {
    pub const ALL: [Self; 4] =
        [Self::FirstAbove, Self::FirstBelow, Self::LastAbove, Self::LastBelow];

    /// Returns whether this searches later samples.
    pub const fn forward(self) -> bool {
        matches!(self, Self::FirstAbove | Self::FirstBelow)
    }

    /// Returns whether this searches for a large angle.
    pub const fn above(self) -> bool {
        matches!(self, Self::FirstAbove | Self::LastAbove)
    }

    /// Returns whether an angle matches.
    pub const fn wants(self, angle: u16) -> bool {
        use embermark_data::machine::{EIGHTH, HALF};
        if self.above() { angle > HALF } else { angle < EIGHTH }
    }
}

/// Truncates a time to the unit of a store, in ns.
pub(super) const fn in_unit(at: Stamp, unit_ns: i64) -> Stamp {
    Stamp { s: at.s, ns: at.ns - (at.ns as i64 % unit_ns) as i32 }
}

/// Names of the channels, where they have names.
pub(super) const FIELDS: [&str; CHANNELS] = ["v0", "v1", "v2", "v3", "v4"];

/// Sums of the channels over a cycle.
pub(super) type Sums = [u64; CHANNELS];

/// Receives samples in the order of time.
pub(super) type Visit<'a> = dyn FnMut(Sample) + 'a;

/// A selection of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// From the first moment (inclusive) to the second (exclusive).
    Between(Stamp, Stamp),
    /// Whole seconds, both inclusive.
    Seconds(i64, i64),
    /// All samples.
    All,
}

impl Span {
    /// Returns the first moment and the moment after the last.
    pub const fn bounds(self) -> Option<[Stamp; 2]> {
        match self {
            Self::Between(from, to) => Some([from, to]),
            Self::Seconds(first, last) => {
                Some([Stamp { s: first, ns: 0 }, Stamp { s: last + 1, ns: 0 }])
            }
            Self::All => None,
        }
    }
}

/// Channels of a sample to read. The others are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channels {
    All,
    Angle,
    /// All channels except the angle.
    Others,
}

impl Channels {
    /// Returns the numbers of the channels.
    pub const fn numbers(self) -> std::ops::Range<usize> {
        match self {
            Self::All => 0..CHANNELS,
            Self::Angle => 0..1,
            Self::Others => 1..CHANNELS,
        }
    }

    /// Returns a sample with only these channels.
    pub const fn select(self, mut sample: Sample) -> Sample {
        match self {
            Self::All => {}
            Self::Angle => sample.values = [sample.values[0], 0, 0, 0, 0],
            Self::Others => sample.values[0] = 0,
        }
        sample
    }
}

/// A machine's log in a store. If a second is one value, callers request only whole seconds and
/// all channels.
pub(super) trait MachineLog {
    /// Returns the unit of the stored times, in ns. Finer times are truncated.
    fn unit_ns(&self) -> i64 {
        1
    }

    /// Returns whether the engine or client code runs the single queries that find a cycle. `None`
    /// where a second is one value.
    fn search_execution(&self) -> Option<Execution>;

    /// Creates the log, empty. Drops an existing one.
    fn clear(&mut self) -> Result<()>;

    /// Opens a log that another process created.
    fn open(&mut self) -> Result<()> {
        Ok(())
    }

    /// Stores a sample, or the samples of one second. They are committed when it returns.
    fn write(&mut self, record: &[Sample]) -> Result<()>;

    /// Stores a history in the empty log by the engine's fastest path.
    fn load(&mut self, history: &History) -> Result<()>;

    /// Makes everything written visible to every reader, where writes are not acknowledged.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Visits the samples of a span in the order of time.
    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()>;

    /// Returns the time of the newest sample.
    fn newest(&mut self) -> Result<Option<Stamp>>;

    /// Returns the time of the sample that `seek` describes.
    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>>;

    /// Returns the time of the smallest angle between two samples, both exclusive. Of equal angles
    /// it is the earliest.
    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        lowest(self, after, before)
    }

    /// Returns the sums of the channels from one moment (inclusive) to another (exclusive).
    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        sums(self, from, to)
    }

    /// Returns the checkpoints that the engine has begun, if it counts them.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Returns the operations that stores of every family share.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Finds the smallest angle by reading the samples.
pub(super) fn lowest<L: MachineLog + ?Sized>(
    log: &mut L,
    after: Stamp,
    before: Stamp,
) -> Result<Option<Stamp>> {
    let mut lowest: Option<(u16, Stamp)> = None;
    log.visit(Span::Between(after.next(), before), Channels::Angle, &mut |sample| {
        let angle = sample.values[0];
        if lowest.is_none_or(|(least, _)| angle < least) {
            lowest = Some((angle, sample.at));
        }
    })?;
    Ok(lowest.map(|(_, at)| at))
}

/// Computes the sums by reading the samples.
pub(super) fn sums<L: MachineLog + ?Sized>(log: &mut L, from: Stamp, to: Stamp) -> Result<Sums> {
    let mut sums = [0; CHANNELS];
    log.visit(Span::Between(from, to), Channels::All, &mut |sample| add(&mut sums, &sample))?;
    Ok(sums)
}

/// Returns the sums in the columns of a row, in order.
pub(super) fn sums_in(row: &dyn ResultRow) -> Result<Sums> {
    let mut sums = Sums::default();
    for (number, sum) in sums.iter_mut().enumerate() {
        *sum = row.int(number)?.unwrap_or_default().cast_unsigned();
    }
    Ok(sums)
}

/// Adds the channels of a sample to the sums.
pub(super) fn add(sums: &mut Sums, sample: &Sample) {
    for (sum, value) in sums.iter_mut().zip(sample.values) {
        *sum += u64::from(value);
    }
}

/// Returns the error for a query about single samples where a second is one value.
pub(super) fn one_value() -> EngineError {
    EngineError::unsupported(
        "this layout",
        "queries for single samples, because a second is one value. Use read_bulk, which fetches it whole",
    )
}

/// Returns the error for stored data that is not valid.
pub(super) fn broken(what: impl std::fmt::Display) -> EngineError {
    EngineError::failed("the store", "return samples", what)
}

/// Returns a number as the value of a channel.
pub(super) fn channel(value: Option<i64>) -> Result<u16> {
    value
        .and_then(|value| u16::try_from(value).ok())
        .ok_or_else(|| broken(format_args!("{value:?} is not a channel value")))
}

/// Decodes a sample whose channels begin at column `first` of a row.
pub(super) fn sample(
    at: Stamp,
    row: &dyn ResultRow,
    first: usize,
    channels: Channels,
) -> Result<Sample> {
    let mut values = [0; CHANNELS];
    for (place, value) in values[channels.numbers()].iter_mut().enumerate() {
        *value = channel(row.int(first + place)?)?;
    }
    Ok(Sample { at, values })
}

/// Returns the stamp in two columns.
pub(super) fn stamp(s: Option<i64>, ns: Option<i64>) -> Result<Stamp> {
    let ns = ns.and_then(|ns| i32::try_from(ns).ok());
    match (s, ns) {
        (Some(s), Some(ns)) => Ok(Stamp { s, ns }),
        _ => Err(broken("a time is missing")),
    }
}
