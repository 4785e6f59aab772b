use super::super::request::EXACT;
use super::*;

static PAIR: CollectionDef =
    CollectionDef { name: "pair", key: &["a", "b"], indexes: &[], fields: &[] };
static ONE: CollectionDef = CollectionDef { name: "one", key: &["a"], indexes: &[], fields: &[] };

fn text(values: &[Value<'_>]) -> String {
    let mut out = Vec::new();
    Key::of(&PAIR).write_from(&mut out, values).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn texts_of_keys_sort_as_their_values() {
    use Value::{Float, Int, Text};
    let sorted = [
        [Int(i64::MIN), Int(i64::MAX)],
        [Int(-EXACT), Int(EXACT)],
        [Int(-5), Int(7)],
        [Int(0), Int(-1)],
        [Int(0), Int(0)],
        [Int(3), Int(EXACT)],
        [Int(40), Int(-EXACT)],
    ];
    assert!(sorted.iter().is_sorted_by(|a, b| text(*a) < text(*b)));
    let floats = [f64::NEG_INFINITY, -1.5, -1e-320, 0.0, 1e-320, 2.0, f64::INFINITY];
    assert!(floats.iter().is_sorted_by(|a, b| text(&[Float(**a)]) < text(&[Float(**b)])));
    assert_eq!(text(&[Float(-0.0)]), text(&[Float(0.0)]));
    let texts = ["", "\0", "\0x", "\n", " ", " a", "!", "!0", "\"", "a", "a b", "ab", "\\", "ü"];
    let mut expected = texts;
    expected.sort_unstable();
    let mut found = texts;
    found.sort_unstable_by_key(|of| text(&[Text(of), Int(1)]));
    assert_eq!(found, expected);
}

#[test]
fn a_beginning_of_keys_is_below_them_and_what_is_above_it_above() {
    let key = Key::of(&PAIR);
    let mut above = Vec::new();
    key.write_above(&mut above, &[Value::Int(4)]).unwrap();
    let above: String = serde_json::from_slice(&above).unwrap();
    let lowest = text(&[Value::Int(4)]);
    for second in [Value::Int(-EXACT), Value::Text("\u{10ffff}"), Value::Float(1.0)] {
        let of = text(&[Value::Int(4), second]);
        assert!(lowest < of && (of < above || second == Value::Text("\u{10ffff}")), "{of}");
    }
    assert!(above < text(&[Value::Int(5)]));
}

#[test]
fn a_key_of_one_field_is_its_value_and_a_wrong_one_is_refused() {
    let key = Key::of(&ONE);
    let mut out = Vec::new();
    key.write(&mut out, &[Value::Int(-7)]).unwrap();
    assert_eq!((key.attribute(), out.as_slice()), ("a", &b"-7"[..]));
    assert!(key.write(&mut out, &[Value::Null]).unwrap_err().is_unsupported());
    assert!(key.write(&mut out, &[Value::Int(EXACT + 1)]).unwrap_err().is_unsupported());
    let error = Key::of(&PAIR).write(&mut out, &[Value::Int(1)]).unwrap_err().to_string();
    assert!(error.contains("1 values, the key 2 fields"), "{error}");
}
