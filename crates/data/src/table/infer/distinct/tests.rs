use super::*;

fn count(values: impl Iterator<Item = i64>) -> (u64, bool) {
    let mut distinct = Distinct::default();
    values.for_each(|value| distinct.take(&Value::Int(value)));
    (distinct.count(), distinct.is_exact())
}

#[test]
fn few_are_counted_and_many_are_estimated_to_three_standard_errors() {
    assert_eq!(count([].into_iter()), (0, true));
    assert_eq!(count((0..5_000).map(|n| n % 1_000)), (1_000, true));
    for n in [1_001, 5_000, 20_000, 41_000, 100_000, 3_000_000] {
        let (estimate, exact) = count((0..n).chain(0..n / 2));
        let error = (estimate as f64 - n as f64).abs() / n as f64;
        assert!(!exact && error < 0.024, "{n}: {estimate}");
    }
}

#[test]
fn zero_is_one_value_whatever_its_sign() {
    let mut distinct = Distinct::default();
    for value in [0.0, -0.0, 1.0] {
        distinct.take(&Value::Float(value));
    }
    distinct.take(&Value::Null);
    assert_eq!(distinct.count(), 2);
}
