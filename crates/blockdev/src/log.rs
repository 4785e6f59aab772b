//! What reached a device, in order.

use std::sync::Arc;
use std::time::Duration;

use crate::image::Image;

/// A request that reached a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Bytes written at an offset.
    Write {
        /// Offset on the device in bytes.
        offset: u64,
        /// The bytes.
        data: Arc<[u8]>,
    },
    /// A discarded range, which reads as 0 from then on.
    Discard {
        /// Offset on the device in bytes.
        offset: u64,
        /// Length in bytes.
        length: u64,
    },
    /// Everything before must be durable before it is acknowledged.
    Flush,
    /// A flush that the device acknowledged without doing it.
    Ignored,
}

impl Record {
    /// Applies the record to an image.
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

/// Totals of a part of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Number of writes.
    pub writes: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Number of flushes.
    pub flushes: u64,
    /// Number of discards.
    pub discards: u64,
}

/// What reached a device since it was made, and its content before.
#[derive(Clone, Debug)]
pub struct Log {
    /// Content before.
    pub base: Image,
    /// What reached it, in order.
    pub records: Vec<Record>,
    /// Time of each record since the device was mounted.
    pub times: Vec<Duration>,
}

impl Log {
    /// Returns the totals of a range of records.
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

    /// Returns the log of a device that acknowledges a flush without doing anything, like some
    /// memory cards: each of its flushes is [`Record::Ignored`].
    #[must_use]
    pub fn without_flushes(mut self) -> Self {
        for record in &mut self.records {
            if *record == Record::Flush {
                *record = Record::Ignored;
            }
        }
        self
    }

    /// Returns the content of the device after its first `records`.
    pub fn prefix(&self, records: usize) -> Image {
        let mut image = self.base.clone();
        self.records.iter().take(records).for_each(|record| record.apply(&mut image));
        image
    }
}
