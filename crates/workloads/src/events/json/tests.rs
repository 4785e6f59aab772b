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
