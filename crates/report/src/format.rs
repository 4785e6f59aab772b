//! Numbers as people read them: three significant digits and a unit. Every number in a table, a
//! note or a page is written here, so that one quantity looks the same everywhere.

/// What stands where nothing was measured. Never a zero.
pub const NOT_MEASURED: &str = "-";

/// A duration given in ns: `3.21 µs`, `842 ms`, `1,230 s`.
pub fn duration(ns: f64) -> String {
    scaled(ns, &["ns", "µs", "ms", "s"])
}

/// A rate given per second: `1.23 M/s`, `842 /s`.
pub fn rate(per_second: f64) -> String {
    scaled(per_second, &["/s", "k/s", "M/s", "G/s"])
}

/// A number of bytes, decimal: `12.3 MB`, `842 B`.
pub fn bytes(count: f64) -> String {
    if count.abs() < 999.5 {
        return if count.is_nan() { NOT_MEASURED.into() } else { format!("{count:.0} B") };
    }
    scaled(count, &["B", "kB", "MB", "GB", "TB"])
}

/// Energy given in joules: `12.3 µJ`, `842 J`.
pub fn joules(joules: f64) -> String {
    scaled(joules * 1e9, &["nJ", "µJ", "mJ", "J", "kJ", "MJ"])
}

/// Power given in watts: `842 mW`, `3.21 W`.
pub fn watts(watts: f64) -> String {
    scaled(watts * 1e3, &["mW", "W", "kW"])
}

/// A number of three significant digits: `0.0123`, `12.3`, `1,234`.
pub fn number(value: f64) -> String {
    if value.is_finite() { significant(value) } else { NOT_MEASURED.into() }
}

/// A ratio: `1.00x`, `12.3x`, `1,234x`.
pub fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{}x", significant(value)) } else { NOT_MEASURED.into() }
}

/// An interval, its unit once where both ends have the same: `8.20-8.51 ms`, `1.95-2.10x`.
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

/// A share in percent: 0.05 is `5 %`, 0.005 is `0.5 %`.
pub fn percent(share: f64) -> String {
    // To a thousandth of a percent: what 0.07 * 100 has beyond is an artefact.
    format!("{} %", (share * 1e5).round() / 1e3)
}

/// A count with thousands separators: `1,000,000`.
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// A count and its noun, in the singular for one: `1 row`, `2,500 rows`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A part of a whole, both counted: `6/7`.
pub fn part(part: u64, whole: u64) -> String {
    format!("{}/{}", count(part), count(whole))
}

/// `show(value)`, or [`NOT_MEASURED`].
pub fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NOT_MEASURED.to_owned(), show)
}

/// `value` in the largest of `units` (each a thousand of the one before) that leaves at least one
/// digit before the point. The unit is chosen after rounding: 999.9 ns is `1.00 µs`.
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

/// The decimal exponent of `value` once rounded to three significant digits.
fn exponent(value: f64) -> i32 {
    let text = format!("{value:.2e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// Three significant digits, and never fewer than all digits before the point.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    // f64 has no more than 17 digits that mean anything: cap what tiny numbers would print.
    let decimals = usize::try_from(2 - exponent(value)).unwrap_or(0).min(17);
    grouped(&format!("{value:.decimals$}"))
}

/// Thousands separators in the digits before the point.
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
mod tests;
