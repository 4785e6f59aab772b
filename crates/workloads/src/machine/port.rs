//! What the workload needs of a store, in its own words.

use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::machine::{CHANNELS, History, Sample, Stamp};
use embermark_model::result::Execution;
use serde::{Deserialize, Serialize};

/// How samples lie in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Layout {
    /// One by one, each committed.
    Samples,
    /// The samples of a second in one value, committed when the second is over.
    Seconds,
}

/// In which tables or documents samples lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Form {
    /// Ours: found by a key that is their time.
    Own,
    /// As the workload's source has them.
    Published,
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
    pub const ALL: [Self; 4] =
        [Self::FirstAbove, Self::FirstBelow, Self::LastAbove, Self::LastBelow];

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

/// A time as it is kept in a unit of so many ns.
pub(super) const fn in_unit(at: Stamp, unit_ns: i64) -> Stamp {
    Stamp { s: at.s, ns: at.ns - (at.ns as i64 % unit_ns) as i32 }
}

/// Names of the channels where they have some.
pub(super) const FIELDS: [&str; CHANNELS] = ["v0", "v1", "v2", "v3", "v4"];

/// Sums of the channels over a cycle.
pub(super) type Sums = [u64; CHANNELS];

/// Receives samples in the order of their times.
pub(super) type Visit<'a> = dyn FnMut(Sample) + 'a;

/// Which samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// From the first moment up to but without the second.
    Between(Stamp, Stamp),
    /// Of whole seconds, both meant.
    Seconds(i64, i64),
    /// Every one.
    All,
}

impl Span {
    /// From which moment on, and up to but without which.
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

/// Which channels of a sample; the others are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channels {
    All,
    Angle,
    /// All but the angle.
    Others,
}

impl Channels {
    /// Their numbers.
    pub const fn numbers(self) -> std::ops::Range<usize> {
        match self {
            Self::All => 0..CHANNELS,
            Self::Angle => 0..1,
            Self::Others => 1..CHANNELS,
        }
    }

    /// These of a sample.
    pub const fn of(self, mut sample: Sample) -> Sample {
        match self {
            Self::All => {}
            Self::Angle => sample.values = [sample.values[0], 0, 0, 0, 0],
            Self::Others => sample.values[0] = 0,
        }
        sample
    }
}

/// A machine's log in a store. Where a second is one value it is asked for seconds and for all
/// channels alone.
pub(super) trait MachineLog {
    /// The unit of the times that it keeps, in ns: what is finer is lost.
    fn unit_ns(&self) -> i64 {
        1
    }

    /// Who finds a cycle by single questions: the engine, or code of ours over its records; `None`
    /// where a second is one value.
    fn finds(&self) -> Option<Execution>;

    /// Makes the log anew, empty.
    fn clear(&mut self) -> Result<()>;

    /// Opens the log that another process made.
    fn open(&mut self) -> Result<()> {
        Ok(())
    }

    /// Stores a record, committed when it returns: a sample, or those of one second.
    fn write(&mut self, record: &[Sample]) -> Result<()>;

    /// Stores a history in the empty log by the engine's fastest path.
    fn load(&mut self, history: &History) -> Result<()>;

    /// Has what was written be there for every reader: where a write is not acknowledged.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Visits the samples of a span in the order of their times.
    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()>;

    /// The time of the newest sample.
    fn newest(&mut self) -> Result<Option<Stamp>>;

    /// The time of the sample looked for.
    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>>;

    /// The time of the smallest angle between two samples, both not meant; of equal ones the
    /// earliest.
    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        lowest(self, after, before)
    }

    /// The sums of the channels from one moment up to but without another.
    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        sums(self, from, to)
    }

    /// Checkpoints that the engine has begun, where it counts them.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// What every store has.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}

/// The smallest angle, found in the samples.
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

/// The sums, made of the samples.
pub(super) fn sums<L: MachineLog + ?Sized>(log: &mut L, from: Stamp, to: Stamp) -> Result<Sums> {
    let mut sums = [0; CHANNELS];
    log.visit(Span::Between(from, to), Channels::All, &mut |sample| add(&mut sums, &sample))?;
    Ok(sums)
}

/// The sums in the columns of a row, in order.
pub(super) fn sums_in(row: &dyn ResultRow) -> Result<Sums> {
    let mut sums = Sums::default();
    for (number, sum) in sums.iter_mut().enumerate() {
        *sum = row.int(number)?.unwrap_or_default().cast_unsigned();
    }
    Ok(sums)
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
