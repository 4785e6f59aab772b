//! Names, texts, and numbers in InfluxQL.

use std::fmt::Write;

/// Groups by series, each with its tags.
pub(super) const SERIES: &str = " GROUP BY *";

/// Returns a quoted name. No column's name needs escapes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// Writes a text (<https://docs.influxdata.com/influxdb/v1.8/query_language/spec/#strings>).
pub(super) fn string(literal: &str, text: &mut String) {
    text.push('\'');
    for character in literal.chars() {
        match character {
            '\'' | '\\' => text.extend(['\\', character]),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
    text.push('\'');
}

/// Writes a number without an exponent, as `Display` does, and with a point: without one it would
/// have to be an integer.
pub(super) fn decimal(number: f64, text: &mut String) {
    let point = if number.fract() == 0.0 { ".0" } else { "" };
    write(text, format_args!("{number}{point}"));
}

/// Writing to a string cannot fail.
pub(super) fn write(to: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(what);
}
