//! The line protocol
//! (<https://docs.influxdata.com/influxdb/v1.8/write_protocols/line_protocol_reference/>).

use std::io::Write;

use super::NAME;
use crate::series::{FieldValue, Point, TagValue};
use crate::{EngineError, Result};

/// Appends a point as one line. On an error it removes what it appended. Fails when the protocol
/// cannot express a value: a number that is not finite; a tag that is empty, has a line break, or
/// ends with a backslash; or a point without fields.
pub(super) fn append(lines: &mut Vec<u8>, measurement: &str, point: &Point<'_>) -> Result<()> {
    let begin = lines.len();
    let added = add(lines, measurement, point);
    if added.is_err() {
        lines.truncate(begin);
    }
    added
}

fn add(lines: &mut Vec<u8>, measurement: &str, point: &Point<'_>) -> Result<()> {
    lines.extend_from_slice(measurement.as_bytes());
    for (name, value) in point.tags {
        lines.push(b',');
        lines.extend_from_slice(name.as_bytes());
        lines.push(b'=');
        match *value {
            TagValue::Int(value) => number(lines, format_args!("{value}")),
            TagValue::Text(text) => tag(lines, name, text)?,
        }
    }
    if point.fields.is_empty() {
        return Err(EngineError::unsupported(NAME, "a point without a field"));
    }
    let mut before = b' ';
    for (name, value) in point.fields {
        lines.push(before);
        before = b',';
        lines.extend_from_slice(name.as_bytes());
        lines.push(b'=');
        match *value {
            FieldValue::Int(value) => number(lines, format_args!("{value}i")),
            // The shortest digits that read back as the same number, with an exponent where
            // `Display` would write hundreds of digits.
            FieldValue::Float(value) if value.is_finite() => {
                number(lines, format_args!("{value:?}"));
            }
            FieldValue::Float(value) => {
                let what = format!("{value} as a value (field `{name}`)");
                return Err(EngineError::unsupported(NAME, what));
            }
            FieldValue::Text(text) => {
                lines.push(b'"');
                escaped(lines, text, |byte| matches!(byte, b'"' | b'\\'));
                lines.push(b'"');
            }
        }
    }
    number(lines, format_args!(" {}\n", point.time_ns));
    Ok(())
}

fn number(lines: &mut Vec<u8>, digits: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = lines.write_fmt(digits);
}

fn tag(lines: &mut Vec<u8>, name: &str, text: &str) -> Result<()> {
    if text.is_empty() || text.ends_with('\\') || text.contains('\n') {
        let what = format!("the tag `{name}` as {text:?}: empty, with a line break or backslash");
        return Err(EngineError::unsupported(NAME, what));
    }
    escaped(lines, text, |byte| matches!(byte, b',' | b'=' | b' '));
    Ok(())
}

fn escaped(lines: &mut Vec<u8>, text: &str, is_special: impl Fn(u8) -> bool) {
    for byte in text.bytes() {
        if is_special(byte) {
            lines.push(b'\\');
        }
        lines.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tags: &[(&str, TagValue<'_>)], fields: &[(&str, FieldValue<'_>)]) -> Result<String> {
        let mut lines = b"kept".to_vec();
        let added = append(&mut lines, "m", &Point { tags, fields, time_ns: -5 });
        let text = String::from_utf8(lines).unwrap();
        let text = text.strip_prefix("kept").unwrap().to_owned();
        assert!(added.is_ok() || text.is_empty(), "a broken line was left: {text}");
        added.map(|()| text)
    }

    #[test]
    fn every_kind_of_value_is_written_as_the_protocol_says() {
        let tags = [("a", TagValue::Int(-7)), ("b", TagValue::Text(r"x, y=\z"))];
        let fields = [
            ("i", FieldValue::Int(i64::MIN)),
            ("f", FieldValue::Float(0.1)),
            ("g", FieldValue::Float(1e300)),
            ("t", FieldValue::Text("say \"\\\" ü,\n=")),
        ];
        let expected = "m,a=-7,b=x\\,\\ y\\=\\z \
                    i=-9223372036854775808i,f=0.1,g=1e300,t=\"say \\\"\\\\\\\" ü,\n=\" -5\n";
        assert_eq!(line(&tags, &fields).unwrap(), expected);
    }

    #[test]
    fn what_the_protocol_cannot_write_is_refused_and_leaves_nothing() {
        let field = [("f", FieldValue::Int(1))];
        for text in ["", "a\\", "a\nb"] {
            let error = line(&[("t", TagValue::Text(text))], &field).unwrap_err();
            assert!(error.is_unsupported(), "{error}");
        }
        for number in [f64::NAN, f64::INFINITY] {
            assert!(line(&[], &[("f", FieldValue::Float(number))]).is_err());
        }
        assert!(line(&[], &[]).unwrap_err().to_string().contains("without a field"));
    }
}
