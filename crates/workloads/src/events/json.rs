//! The documents of events, read where a store has no JSON of its own: flat objects of numbers and
//! strings. The whole text is read and has to be such an object; strings with escapes, which no event
//! has, are refused.

/// A value of a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Number(f64),
    Text(&'a str),
}

/// Reads a document and visits its members, in their order; whether it is one.
pub(super) fn members<'a>(text: &'a str, mut visit: impl FnMut(&'a str, Value<'a>)) -> bool {
    read(text, &mut visit).is_some()
}

fn read<'a>(text: &'a str, visit: &mut impl FnMut(&'a str, Value<'a>)) -> Option<()> {
    let mut rest = after(text, '{')?;
    if let Some(end) = after(rest, '}') {
        return end.trim_ascii().is_empty().then_some(());
    }
    loop {
        let (name, tail) = string(after(rest, '"')?)?;
        let tail = after(tail, ':')?.trim_ascii_start();
        let (value, tail) = match after(tail, '"') {
            Some(inside) => {
                let (text, tail) = string(inside)?;
                (Value::Text(text), tail)
            }
            None => number(tail)?,
        };
        visit(name, value);
        if let Some(end) = after(tail, '}') {
            return end.trim_ascii().is_empty().then_some(());
        }
        rest = after(tail, ',')?;
    }
}

/// What follows a mark and the white space before it.
fn after(text: &str, mark: char) -> Option<&str> {
    text.trim_ascii_start().strip_prefix(mark)
}

/// A string up to its closing quote, and what follows that.
fn string(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
    let (string, rest) = text.split_at(end);
    Some((string, rest.strip_prefix('"')?))
}

/// A number, and what follows it.
fn number(text: &str) -> Option<(Value<'_>, &str)> {
    let part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let end = text.bytes().position(|byte| !part(byte)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((Value::Number(digits.parse().ok()?), rest))
}

#[cfg(test)]
mod tests {
    use embermark_data::events::{Payload, generate};

    use super::*;

    fn all(text: &str) -> Option<Vec<(&str, Value<'_>)>> {
        let mut found = Vec::new();
        members(text, |name, value| found.push((name, value))).then_some(found)
    }

    #[test]
    fn every_event_reads_back_as_it_was() {
        for event in generate(3_000, 9) {
            let mut text = String::new();
            event.data.json(&mut text);
            let found = all(&text).unwrap();
            let expected = match &event.data {
                Payload::Location { longitude, latitude } => vec![
                    ("longitude", Value::Number(*longitude)),
                    ("latitude", Value::Number(*latitude)),
                ],
                Payload::Co2 { co2 } => vec![("co2", Value::Number(*co2))],
                Payload::Log(line) => vec![
                    ("span_id", Value::Number(line.span_id as f64)),
                    ("level", Value::Text(line.level())),
                    ("user", Value::Text(&line.user)),
                    ("message", Value::Text(&line.message)),
                    ("endpoint", Value::Text(&line.endpoint)),
                ],
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn white_space_is_passed_over_and_other_texts_are_refused() {
        let found = all(" { \"a\" : -1.5e2 , \"b\":\"x\" } ").unwrap();
        assert_eq!(found, [("a", Value::Number(-150.0)), ("b", Value::Text("x"))]);
        assert_eq!(all("{}"), Some(vec![]));
        let refused = [
            "",
            "{",
            "[]",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1"#,
            r#"{"a":1,}"#,
            r#"{"a":1}x"#,
            r#"{"a":"x\n"}"#,
            r#"{"a":"x}"#,
            r#"{"a":1 2}"#,
            r#"{"a":--1}"#,
        ];
        for text in refused {
            assert_eq!(all(text), None, "{text}");
        }
    }
}
