use super::super::library::library;
use super::super::owned::Owned;
use super::*;

/// One of each kind that BSON has, with a number behind it.
const KINDS: &str = r#"{
    "double": 0.1, "string": "ü", "document": {"a": {"b": 7}, "c": []}, "list": [1, "x", null],
    "binary": {"$binary": {"base64": "AQID", "subType": "00"}},
    "undefined": {"$undefined": true}, "id": {"$oid": "0123456789abcdef01234567"},
    "boolean": true, "date": {"$date": {"$numberLong": "5"}}, "null": null,
    "regex": {"$regularExpression": {"pattern": "a.*", "options": "i"}},
    "pointer": {"$dbPointer": {"$ref": "b", "$id": {"$oid": "0123456789abcdef01234567"}}},
    "code": {"$code": "f()"}, "symbol": {"$symbol": "s"},
    "scoped": {"$code": "f(x)", "$scope": {"x": 1}}, "int32": -5,
    "timestamp": {"$timestamp": {"t": 1, "i": 2}},
    "int64": {"$numberLong": "-9223372036854775808"}, "decimal": {"$numberDecimal": "0.1"},
    "least": {"$minKey": 1}, "greatest": {"$maxKey": 1}, "end": 42
}"#;

#[test]
fn every_kind_of_value_is_read_or_passed_over() {
    let Ok(library) = library() else { return println!("skipped: no libmongoc") };
    let owned = Owned::of_json(library, KINDS).unwrap();
    let whole = owned.document().unwrap();
    assert!(whole.into_iter().all(|element| element.is_ok()));
    assert_eq!(whole.into_iter().count(), 22);
    assert_eq!(whole.get("double"), Some(Value::Double(0.1)));
    assert_eq!(whole.text("string"), Some("ü"));
    assert_eq!(whole.at("document.a.b"), Some(Value::Integer(7)));
    assert_eq!(whole.at("document.a.b.c"), None);
    assert_eq!(whole.get("document").unwrap().to_string(), r#"{ "a": { "b": 7 }, "c": [] }"#);
    assert_eq!(whole.get("list").unwrap().to_string(), r#"[1, "x", null]"#);
    assert_eq!(whole.get("boolean"), Some(Value::Boolean(true)));
    assert_eq!(whole.get("undefined"), Some(Value::Null));
    assert_eq!(whole.get("null"), Some(Value::Null));
    assert_eq!(whole.integer("int32"), Some(-5));
    assert_eq!(whole.integer("int64"), Some(i64::MIN));
    let decimal = whole.get("decimal").unwrap();
    assert_eq!((decimal.as_float(), decimal.kind()), (None, "Decimal128"));
    assert_eq!(whole.integer("end"), Some(42));
    assert_eq!(whole.get("absent"), None);
    assert_eq!(whole.get("binary"), Some(Value::Binary(&[1, 2, 3])));
    assert_eq!(whole.get("date"), Some(Value::Date(5)));
    for other in ["id", "regex", "pointer", "code", "symbol", "scoped"] {
        assert!(matches!(whole.get(other), Some(Value::Other(_))), "{other}");
    }
}

#[test]
fn what_is_cut_off_or_changed_is_an_error_and_no_more() {
    let Ok(library) = library() else { return println!("skipped: no libmongoc") };
    let owned = Owned::of_json(library, KINDS).unwrap();
    let bytes = owned.bytes();
    for length in 0..bytes.len() {
        assert!(Document::new(&bytes[..length]).is_err(), "{length}");
        // A document of that length whose last element is cut off.
        let mut cut = bytes[..length].to_vec();
        cut.push(0);
        if let Some(front) = cut.first_chunk_mut() {
            *front = i32::try_from(length + 1).unwrap().to_le_bytes();
            let read = Document::new(&cut).map(|cut| cut.into_iter().count());
            assert!(read.is_ok_and(|count| count <= 22) || length < 4, "{length}");
        }
    }
    for at in 4..bytes.len() {
        let mut broken = bytes.to_vec();
        broken[at] = !broken[at];
        if let Ok(broken) = Document::new(&broken) {
            assert!(broken.to_string().starts_with('{'));
        }
    }
}

#[test]
fn a_double_is_an_integer_where_it_has_no_fraction_and_is_in_range() {
    let int = |float| Value::Double(float).as_integer();
    assert_eq!((int(-3.0), int(0.5), int(f64::NAN)), (Some(-3), None, None));
    assert_eq!(int(-9_223_372_036_854_775_808.0), Some(i64::MIN));
    assert_eq!(int(9_223_372_036_854_775_808.0), None);
}
