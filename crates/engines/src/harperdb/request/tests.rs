use super::*;

fn written(of: Value<'_>) -> Result<String> {
    let mut out = Vec::new();
    value(&mut out, of).map(|()| String::from_utf8(out).unwrap())
}

#[test]
fn values_read_back_as_they_were() {
    for float in [0.1 + 0.2, 1e-320, f64::MAX, -0.0, 1e22] {
        let text = written(Value::Float(float)).unwrap();
        assert_eq!(text.parse::<f64>().unwrap().to_bits(), float.to_bits(), "{text}");
    }
    let nested = [Value::Null, Value::Text("a\"\\\n\u{1}ü")];
    let fields = [("list", Value::List(&nested)), ("n", Value::Int(-EXACT))];
    let text = written(Value::Fields(&fields)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["list"][1], "a\"\\\n\u{1}ü");
    assert_eq!(json["n"], -EXACT);
}

#[test]
fn what_a_javascript_number_does_not_hold_is_refused() {
    for of in [Value::Int(EXACT + 1), Value::Int(i64::MIN), Value::Float(f64::NAN)] {
        assert!(written(of).unwrap_err().is_unsupported(), "{of:?}");
    }
}
