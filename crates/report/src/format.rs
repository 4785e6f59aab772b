//! Formats numbers with three significant digits and a unit. Every number in a table, note or page
//! is formatted here, so that one quantity looks the same everywhere.

/// Text for a figure that was not measured, which is never shown as zero.
pub const NOT_MEASURED: &str = "-";

/// Formats a duration in ns: `3.21 µs`, `842 ms`, `1,230 s`.
pub fn duration(ns: f64) -> String {
    scaled(ns, &["ns", "µs", "ms", "s"])
}

/// Formats a rate per second: `1.23 M/s`, `842 /s`.
pub fn rate(per_second: f64) -> String {
    scaled(per_second, &["/s", "k/s", "M/s", "G/s"])
}

/// Formats a number of bytes with decimal units: `12.3 MB`, `842 B`.
pub fn bytes(count: f64) -> String {
    if count.abs() < 999.5 {
        return if count.is_nan() { NOT_MEASURED.into() } else { format!("{count:.0} B") };
    }
    scaled(count, &["B", "kB", "MB", "GB", "TB"])
}

/// Formats an energy in joules: `12.3 µJ`, `842 J`.
pub fn joules(joules: f64) -> String {
    scaled(joules * 1e9, &["nJ", "µJ", "mJ", "J", "kJ", "MJ"])
}

/// Formats a power in watts: `842 mW`, `3.21 W`.
pub fn watts(watts: f64) -> String {
    scaled(watts * 1e3, &["mW", "W", "kW"])
}

/// Formats a number with three significant digits: `0.0123`, `12.3`, `1,234`.
pub fn number(value: f64) -> String {
    if value.is_finite() { significant(value) } else { NOT_MEASURED.into() }
}

/// Formats a ratio: `1.00x`, `12.3x`, `1,234x`.
pub fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{}x", significant(value)) } else { NOT_MEASURED.into() }
}

/// Formats an interval, with the unit once if both ends have the same: `8.20-8.51 ms`,
/// `1.95-2.10x`.
pub fn between([low, high]: [f64; 2], show: impl Fn(f64) -> String) -> String {
    let (low, high) = (show(low), show(high));
    let unit = |text: &str| {
        text.trim_start_matches(|c: char| c.is_ascii_digit() || ",.".contains(c)).to_owned()
    };
    match low.strip_suffix(&unit(&high)) {
        Some(number) if unit(&low) == unit(&high) => format!("{number}-{high}"),
        _ => format!("{low}-{high}"),
    }
}

/// Rounds a number to five significant digits, for data that a page shows with three.
pub(crate) fn five_digits(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// Formats a share in percent: 0.05 is `5 %`, 0.005 is `0.5 %`.
pub fn percent(share: f64) -> String {
    // Rounded to a thousandth of a percent: further digits of 0.07 * 100 are an artefact of f64.
    format!("{} %", (share * 1e5).round() / 1e3)
}

/// Formats a count with thousands separators: `1,000,000`.
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// Formats a count and its noun, which is singular for one: `1 row`, `2,500 rows`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Formats a part of a whole as two counts: `6/7`.
pub fn part(part: u64, whole: u64) -> String {
    format!("{}/{}", count(part), count(whole))
}

/// Returns `show(value)`, or [`NOT_MEASURED`].
pub fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NOT_MEASURED.to_owned(), show)
}

/// Formats `value` in the largest of `units` that leaves at least one digit before the point. Each
/// unit is a thousand of the one before. The unit is chosen after rounding: 999.9 ns is `1.00 µs`.
fn scaled(value: f64, units: &[&str]) -> String {
    if !value.is_finite() {
        return NOT_MEASURED.into();
    }
    let mut value = value;
    let mut unit = 0;
    while unit + 1 < units.len() && exponent(value) >= 3 {
        value /= 1e3;
        unit += 1;
    }
    format!("{} {}", significant(value), units[unit])
}

/// Returns the decimal exponent of `value` after rounding to three significant digits.
fn exponent(value: f64) -> i32 {
    let text = format!("{value:.2e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// Formats three significant digits, and always all digits before the point.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    // f64 has at most 17 significant digits, which limits what tiny numbers print.
    let decimals = usize::try_from(2 - exponent(value)).unwrap_or(0).min(17);
    grouped(&format!("{value:.decimals$}"))
}

/// Inserts thousands separators into the digits before the point.
fn grouped(number: &str) -> String {
    let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut out = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

#[cfg(test)]
mod tests {
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
        for (value, text) in [
            (1.0, "1.00x"),
            (9.996, "10.0x"),
            (12.34, "12.3x"),
            (1_234.2, "1,234x"),
            (0.5, "0.500x"),
        ] {
            assert_eq!(ratio(value), text);
        }
        assert_eq!((percent(0.07), percent(0.005)), ("7 %".into(), "0.5 %".into()));
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (2_313_682, "2,313,682")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(
            (counted(1, "row"), counted(2_500, "row")),
            ("1 row".into(), "2,500 rows".into())
        );
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
}
