//! Latency distributions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use embermark_model::result::Latency;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// An HDR histogram of latencies in ns, from 1 ns to one hour, with three significant digits.
pub type Histogram = hdrhistogram::Histogram<u64>;

/// Longest latency that is recorded exactly: one hour. A longer one counts as this.
pub(crate) const LONGEST_NS: u64 = 3_600_000_000_000;

pub(crate) fn empty() -> Histogram {
    // The bounds are constants that the crate accepts, so this cannot fail.
    Histogram::new_with_bounds(1, LONGEST_NS, 3).unwrap_or_else(|error| unreachable!("{error}"))
}

/// Returns the figures of a histogram, or `None` if it is empty. A percentile is given only if the
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
        stalled: Some(stalled(histogram)),
        hdr: BASE64.encode(encoded),
    })
}

/// Adds a share of the samples of a histogram to another, evenly over their values.
pub(crate) fn add(all: &mut Histogram, one: &Histogram, share: f64) {
    if share >= 1.0 {
        // All have the same bounds, so this cannot fail.
        return all.add(one).unwrap_or_else(|error| unreachable!("{error}"));
    }
    let mut carried = 0.5;
    for value in one.iter_recorded() {
        carried += value.count_at_value() as f64 * share;
        if carried >= 1.0 {
            all.saturating_record_n(value.value_iterated_to(), carried as u64);
            carried = carried.fract();
        }
    }
}

/// Returns the share of the operations' time in those that took more than ten times the median.
fn stalled(histogram: &Histogram) -> f64 {
    let most = histogram.value_at_quantile(0.5).saturating_mul(10);
    let time = |from: u64| {
        let values = histogram.iter_recorded().map(|value| (value.value_iterated_to(), value));
        let values = values.filter(|(ns, _)| *ns > from);
        // A sum of no numbers is -0.
        values.map(|(ns, value)| ns as f64 * value.count_at_value() as f64).sum::<f64>() + 0.0
    };
    let all = time(0);
    if all > 0.0 { time(most) / all } else { 0.0 }
}

/// Merges the latencies of several runs or trials. `None` if there are none to merge or one cannot
/// be decoded.
pub fn merge<'a>(latencies: impl IntoIterator<Item = &'a Latency>) -> Option<Latency> {
    // Not generic, so that it is compiled here, and optimised in test builds too.
    fn merge_all(latencies: &mut dyn Iterator<Item = &Latency>) -> Option<Latency> {
        let mut all = empty();
        let mut sampled_every = 1;
        for latency in latencies {
            let bytes = BASE64.decode(&latency.hdr).ok()?;
            let histogram: Histogram =
                Deserializer::new().deserialize(&mut bytes.as_slice()).ok()?;
            all.add(&histogram).ok()?;
            sampled_every = sampled_every.max(latency.sampled_every);
        }
        summary(&all, sampled_every)
    }
    merge_all(&mut latencies.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = empty();
        values.into_iter().for_each(|value| histogram.saturating_record(value));
        histogram
    }

    #[test]
    fn of_nothing_there_is_no_latency_rather_than_one_of_0() {
        assert_eq!(summary(&empty(), 1), None);
        assert_eq!(merge([]), None);
        let garbled = Latency { hdr: "no histogram".into(), ..summary(&of([5]), 1).unwrap() };
        assert_eq!(merge([&garbled]), None);
    }

    #[test]
    fn percentiles_are_right_to_three_digits_and_absent_when_samples_are_too_few() {
        let latency = summary(&of((1..=1_000).map(|i| i * 100)), 7).unwrap();
        assert_eq!((latency.samples, latency.sampled_every), (1_000, 7));
        for (got, expected) in
            [(latency.p50, 50_000), (latency.p99.unwrap(), 99_000), (latency.max, 100_000)]
        {
            assert!(got.abs_diff(expected) <= expected / 1_000 + 1, "{got} for {expected}");
        }
        let few = summary(&of([5, 6, 7]), 1).unwrap();
        assert_eq!((few.p95, few.p99, few.p99_9), (None, None, None));
        assert_eq!(summary(&of([]), 1), None);
    }

    #[test]
    fn pauses_are_what_took_more_than_ten_times_the_median() {
        let stalled = |of: Histogram| summary(&of, 1).unwrap().stalled.unwrap();
        assert_eq!(stalled(of([100; 99])).to_string(), "0", "not -0");
        assert_eq!(stalled(of([[100; 99].as_slice(), &[1_000]].concat())), 0.0);
        let paused = stalled(of([[100; 90].as_slice(), &[1_000; 10]].concat()));
        assert_eq!(paused, 0.0, "ten times is no more than ten times");
        // 9,900 ns of 100 each, and one pause as long as all of them.
        let paused = stalled(of([[100; 99].as_slice(), &[9_900]].concat()));
        assert!((paused - 0.5).abs() < 0.001, "{paused}");
    }

    #[test]
    fn merged_records_hold_the_samples_of_all() {
        let (a, b) = (summary(&of([10; 50]), 1).unwrap(), summary(&of([1_000; 50]), 3).unwrap());
        let merged = merge([&a, &b]).unwrap();
        assert_eq!((merged.samples, merged.min, merged.sampled_every), (100, 10, 3));
        assert!(merged.max.abs_diff(1_000) <= 1);
        assert_eq!(merge([&Latency { hdr: "not base64!".into(), ..a }]), None);
    }
}
