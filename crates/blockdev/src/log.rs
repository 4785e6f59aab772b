//! What reached a device, in order.

use std::sync::Arc;
use std::time::Duration;

use crate::image::Image;

/// One thing that reached a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Bytes written at a place.
    Write {
        /// Where, in bytes from the device's begin.
        offset: u64,
        /// What.
        data: Arc<[u8]>,
    },
    /// A range given up, which reads as 0 from then on.
    Discard {
        /// Where, in bytes from the device's begin.
        offset: u64,
        /// How many bytes.
        length: u64,
    },
    /// Everything before is to be kept before anything after is answered.
    Flush,
    /// A flush that the device answered and did not do.
    Ignored,
}

impl Record {
    /// Does to an image what the record did to the device.
    pub(crate) fn apply(&self, image: &mut Image) {
        match self {
            Self::Write { offset, data } => image.write(*offset, data),
            Self::Discard { offset, length } => image.zero(*offset, *length),
            Self::Flush | Self::Ignored => {}
        }
    }

    /// Whether a device that loses power may have lost it.
    pub(crate) const fn is_change(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Discard { .. })
    }
}

/// What a part of a log amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Writes.
    pub writes: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
}

/// What reached a device since it was made, and what it held before.
#[derive(Clone, Debug)]
pub struct Log {
    /// What it held.
    pub base: Image,
    /// What reached it, in order.
    pub records: Vec<Record>,
    /// When each record did, since the device was mounted.
    pub times: Vec<Duration>,
}

impl Log {
    /// What the records from one place to before another amount to.
    pub fn counted(&self, range: std::ops::Range<usize>) -> Counted {
        let mut counted = Counted::default();
        for record in self.records.get(range).unwrap_or_default() {
            match record {
                Record::Write { data, .. } => {
                    counted.writes += 1;
                    counted.bytes += data.len() as u64;
                }
                Record::Discard { .. } => counted.discards += 1,
                Record::Flush | Record::Ignored => counted.flushes += 1,
            }
        }
        counted
    }

    /// The log of a device that answers a flush and does nothing, as some memory cards do: each of its
    /// flushes is [`Record::Ignored`].
    #[must_use]
    pub fn without_flushes(mut self) -> Self {
        for record in &mut self.records {
            if *record == Record::Flush {
                *record = Record::Ignored;
            }
        }
        self
    }

    /// What the device holds after its first `records`.
    pub fn prefix(&self, records: usize) -> Image {
        let mut image = self.base.clone();
        self.records.iter().take(records).for_each(|record| record.apply(&mut image));
        image
    }
}
