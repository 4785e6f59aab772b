use super::*;

#[test]
fn durations_have_three_digits_and_the_unit_that_fits() {
    for (ns, text) in [
        (0.0, "0 ns"),
        (0.4871, "0.487 ns"),
        (4.9, "4.90 ns"),
        (999.4, "999 ns"),
        (999.5, "1.00 µs"),
        (3_214.0, "3.21 µs"),
        (9_996.0, "10.0 µs"),
        (841_900_000.0, "842 ms"),
        (999_600_000.0, "1.00 s"),
        (12_345_000_000.0, "12.3 s"),
        (1_234_400_000_000.0, "1,234 s"),
    ] {
        assert_eq!(duration(ns), text, "{ns}");
    }
}

#[test]
fn rates_bytes_ratios_and_counts_read_as_documented() {
    assert_eq!(rate(1_234_567.0), "1.23 M/s");
    assert_eq!(rate(12.34), "12.3 /s");
    assert_eq!(bytes(12_345_678.0), "12.3 MB");
    assert_eq!(bytes(0.0), "0 B");
    assert_eq!(bytes(842.0), "842 B");
    assert_eq!(bytes(999.7), "1.00 kB");
    assert_eq!(bytes(4_096.0), "4.10 kB");
    for (value, text) in
        [(1.0, "1.00x"), (9.996, "10.0x"), (12.34, "12.3x"), (1_234.2, "1,234x"), (0.5, "0.500x")]
    {
        assert_eq!(ratio(value), text);
    }
    assert_eq!((percent(0.07), percent(0.005)), ("7 %".into(), "0.5 %".into()));
    for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (2_313_682, "2,313,682")] {
        assert_eq!(count(number), text);
    }
    assert_eq!((counted(1, "row"), counted(2_500, "row")), ("1 row".into(), "2,500 rows".into()));
}

#[test]
fn a_part_stands_before_its_whole() {
    assert_eq!((part(6, 7), part(0, 1_200)), ("6/7".into(), "0/1,200".into()));
}

#[test]
fn an_interval_names_its_unit_once() {
    assert_eq!(between([8.2e6, 8.51e6], duration), "8.20-8.51 ms");
    assert_eq!(between([998.0, 1_200.0], duration), "998 ns-1.20 µs");
    assert_eq!(between([1.951, 1_234.2], ratio), "1.95-1,234x");
}

#[test]
fn what_was_not_measured_is_a_dash_and_never_a_zero() {
    for text in [duration(f64::NAN), rate(f64::INFINITY), bytes(f64::NAN), ratio(f64::NAN)] {
        assert_eq!(text, NOT_MEASURED);
    }
    assert_eq!(or_dash(None, count), "-");
    assert_eq!(or_dash(Some(0), count), "0");
}
