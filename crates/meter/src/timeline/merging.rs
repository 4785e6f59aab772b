//! Slices whose neighbours are merged when there are too many. Their percentiles cover what was
//! recorded in both, because the histograms are kept, in encoded form.

use embermark_model::result::{Slice, SliceLatency};
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use crate::latency::{self, Histogram};

/// A slice and its encoded histograms.
struct EncodedSlice {
    slice: Slice,
    recorded: [Vec<u8>; 3],
}

/// Slices in order of time.
pub(super) struct Slices {
    kept: Vec<EncodedSlice>,
    most: usize,
    /// Number of original slices per kept one.
    each: usize,
    closed: usize,
    /// Encodes histograms.
    serializer: V2Serializer,
}

impl Slices {
    /// Makes an empty list with at most `most` slices.
    pub fn new(most: usize) -> Self {
        let kept = Vec::with_capacity(most + 1);
        Self { kept, most, each: 1, closed: 0, serializer: V2Serializer::new() }
    }

    /// Returns the number of slices added.
    pub const fn closed(&self) -> usize {
        self.closed
    }

    /// Adds the next slice, and what was recorded in it for each kind.
    pub fn push(&mut self, slice: Slice, recorded: &[Histogram; 3]) {
        let joins = !self.closed.is_multiple_of(self.each);
        self.closed += 1;
        let packed = EncodedSlice { slice, recorded: self.encode(recorded) };
        if joins && let Some(last) = self.kept.pop() {
            let joined = self.merge(last, packed);
            self.kept.push(joined);
            return;
        }
        self.kept.push(packed);
        if self.kept.len() > self.most {
            self.halve();
        }
    }

    /// Returns the slices with their percentiles.
    pub fn summaries(&self) -> Vec<Slice> {
        let summary = |EncodedSlice { slice, recorded }: &EncodedSlice| {
            let [commits, questions, expiries] = recorded.each_ref().map(|bytes| summarize(bytes));
            Slice { commits, questions, expiries, ..slice.clone() }
        };
        self.kept.iter().map(summary).collect()
    }

    /// Merges the slices in pairs.
    fn halve(&mut self) {
        let mut all = std::mem::take(&mut self.kept).into_iter();
        let mut kept = Vec::with_capacity(self.most + 1);
        while let Some(first) = all.next() {
            kept.push(match all.next() {
                Some(second) => self.merge(first, second),
                None => first,
            });
        }
        self.kept = kept;
        self.each *= 2;
    }

    fn merge(&mut self, first: EncodedSlice, second: EncodedSlice) -> EncodedSlice {
        let recorded: [Histogram; 3] = std::array::from_fn(|kind| {
            let mut all = decode(&first.recorded[kind]);
            let _ = all.add(decode(&second.recorded[kind]));
            all
        });
        let slice = Slice {
            until_s: second.slice.until_s,
            elapsed_ns: first.slice.elapsed_ns + second.slice.elapsed_ns,
            rows_in: first.slice.rows_in + second.slice.rows_in,
            rows_out: first.slice.rows_out + second.slice.rows_out,
            ..Slice::default()
        };
        EncodedSlice { slice, recorded: self.encode(&recorded) }
    }

    fn encode(&mut self, recorded: &[Histogram; 3]) -> [Vec<u8>; 3] {
        recorded.each_ref().map(|histogram| {
            let mut bytes = Vec::new();
            // Writing to a Vec, far below the format's limits, does not fail.
            if !histogram.is_empty() {
                let _ = self.serializer.serialize(histogram, &mut bytes);
            }
            bytes
        })
    }
}

/// Decodes a histogram. Returns an empty one if nothing was recorded.
fn decode(bytes: &[u8]) -> Histogram {
    let read = (!bytes.is_empty()).then(|| Deserializer::new().deserialize(&mut &*bytes).ok());
    read.flatten().unwrap_or_else(latency::empty)
}

fn summarize(bytes: &[u8]) -> Option<SliceLatency> {
    let histogram = decode(bytes);
    let samples = histogram.len();
    (samples > 0).then(|| SliceLatency {
        samples,
        p50: histogram.value_at_quantile(0.5),
        p99: (samples >= 100).then(|| histogram.value_at_quantile(0.99)),
        max: histogram.max(),
    })
}
