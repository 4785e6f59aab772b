//! Latency distributions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use embermark_model::result::Latency;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// An HDR histogram of latencies in ns, 1 ns to one hour, three significant digits.
pub type Histogram = hdrhistogram::Histogram<u64>;

/// The longest latency told apart: one hour. A longer one counts as this.
pub(crate) const LONGEST_NS: u64 = 3_600_000_000_000;

pub(crate) fn empty() -> Histogram {
    // The bounds are constants that the crate accepts, so this cannot fail.
    Histogram::new_with_bounds(1, LONGEST_NS, 3).unwrap_or_else(|error| unreachable!("{error}"))
}

/// The figures of a histogram, or `None` when it is empty. A percentile is given only where the
/// samples can support it: the p-th needs 1 / (1 - p) of them.
pub fn summary(histogram: &Histogram, sampled_every: u64) -> Option<Latency> {
    let samples = histogram.len();
    let percentile = |quantile: f64, needed: u64| {
        (samples >= needed).then(|| histogram.value_at_quantile(quantile))
    };
    let mut encoded = Vec::new();
    // Writing to a Vec does not fail, and every histogram here is far below the format's limits.
    V2DeflateSerializer::new().serialize(histogram, &mut encoded).ok()?;
    Some(Latency {
        samples,
        sampled_every,
        min: histogram.min(),
        mean: histogram.mean(),
        p50: percentile(0.5, 1)?,
        p95: percentile(0.95, 20),
        p99: percentile(0.99, 100),
        p99_9: percentile(0.999, 1_000),
        max: histogram.max(),
        hdr: BASE64.encode(encoded),
    })
}

/// Merges latency records of several runs or trials into one; `None` when there is none to merge
/// or one cannot be decoded.
pub fn merge<'a>(latencies: impl IntoIterator<Item = &'a Latency>) -> Option<Latency> {
    let mut all = empty();
    let mut sampled_every = 1;
    for latency in latencies {
        let bytes = BASE64.decode(&latency.hdr).ok()?;
        let histogram: Histogram = Deserializer::new().deserialize(&mut bytes.as_slice()).ok()?;
        all.add(&histogram).ok()?;
        sampled_every = sampled_every.max(latency.sampled_every);
    }
    summary(&all, sampled_every)
}

#[cfg(test)]
mod tests;
