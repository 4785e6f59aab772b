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
fn merged_records_hold_the_samples_of_all() {
    let (a, b) = (summary(&of([10; 50]), 1).unwrap(), summary(&of([1_000; 50]), 3).unwrap());
    let merged = merge([&a, &b]).unwrap();
    assert_eq!((merged.samples, merged.min, merged.sampled_every), (100, 10, 3));
    assert!(merged.max.abs_diff(1_000) <= 1);
    assert_eq!(merge([&Latency { hdr: "not base64!".into(), ..a }]), None);
}
