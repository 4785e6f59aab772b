//! Log of the requests that reached a device, in order.

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
    /// A flush: everything before must be durable before it is acknowledged.
    Flush,
    /// A flush that the device acknowledged without doing it.
    IgnoredFlush,
}

impl Record {
    /// Applies the record to an image.
    pub(crate) fn apply(&self, image: &mut Image) {
        match self {
            Self::Write { offset, data } => image.write(*offset, data),
            Self::Discard { offset, length } => image.zero(*offset, *length),
            Self::Flush | Self::IgnoredFlush => {}
        }
    }

    /// Whether a device that loses power may lose the request.
    pub(crate) const fn is_change(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Discard { .. })
    }
}

/// Totals of a part of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes written.
    pub bytes: u64,
    /// Number of flushes.
    pub flushes: u64,
}

/// Log of the requests that reached a device since it was mounted, and its content before.
#[derive(Clone, Debug)]
pub struct Log {
    /// Content before the first record.
    pub base: Image,
    /// Requests that reached the device, in order.
    pub records: Vec<Record>,
    /// Time from the mount of the device to each record.
    pub times: Vec<Duration>,
}

impl Log {
    /// Returns the totals of a range of records.
    pub fn totals(&self, range: std::ops::Range<usize>) -> Totals {
        let mut totals = Totals::default();
        for record in self.records.get(range).unwrap_or_default() {
            match record {
                Record::Write { data, .. } => totals.bytes += data.len() as u64,
                Record::Discard { .. } => {}
                Record::Flush | Record::IgnoredFlush => totals.flushes += 1,
            }
        }
        totals
    }

    /// Returns the log of a device that acknowledges flushes without doing them, like some memory
    /// cards: each flush becomes [`Record::IgnoredFlush`].
    #[must_use]
    pub fn without_flushes(mut self) -> Self {
        for record in &mut self.records {
            if *record == Record::Flush {
                *record = Record::IgnoredFlush;
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
