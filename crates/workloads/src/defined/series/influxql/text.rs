//! How InfluxQL writes names, texts, and numbers.

use std::fmt::Write;

/// One series after the other, each with its tags.
pub(super) const SERIES: &str = " GROUP BY *";

/// A name: no column's has anything to escape.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// A text: <https://docs.influxdata.com/influxdb/v1.8/query_language/spec/#strings>.
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

/// A number without an exponent, which is how `Display` writes it, and with a point: without one it has
/// to fit an integer.
pub(super) fn decimal(number: f64, text: &mut String) {
    let point = if number.fract() == 0.0 { ".0" } else { "" };
    write(text, format_args!("{number}{point}"));
}

/// Writing to a string cannot fail.
pub(super) fn write(to: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(what);
}
