use super::super::library::library;
use super::super::owned::Owned;
use super::*;

#[test]
fn what_is_written_is_what_the_driver_makes_of_the_same_in_json() {
    let Ok(library) = library() else { return println!("skipped: no libmongoc") };
    let mut writer = Writer::new(0);
    writer.text("find", "réadings");
    let list: Vec<_> = (0..12).map(Value::Int).collect();
    let fields = [
        ("none", Value::Null),
        ("min", Value::Int(i64::MIN)),
        ("tenth", Value::Float(0.1)),
        ("list", Value::List(&list)),
        ("in", Value::Fields(&[("", Value::Text("")), ("deep", Value::List(&[]))])),
    ];
    writer.within("filter", |filter| filter.fields(&fields));
    writer.bool("singleBatch", true);
    writer.int32("limit", -1);
    let list: Vec<_> = (0..12).map(|n| format!(r#"{{"$numberLong": "{n}"}}"#)).collect();
    let json = format!(
        r#"{{"find": "réadings", "filter": {{"none": null,
            "min": {{"$numberLong": "-9223372036854775808"}}, "tenth": 0.1, "list": [{}],
            "in": {{"": "", "deep": []}}}}, "singleBatch": true, "limit": -1}}"#,
        list.join(", ")
    );
    let expected = Owned::of_json(library, &json).unwrap();
    assert_eq!(writer.finish().unwrap(), expected.bytes());
}

#[test]
fn a_name_with_an_end_in_it_is_refused() {
    let mut inner = Writer::new(0);
    inner.fields(&[("a\0b", Value::Int(1))]);
    let mut writer = Writer::new(0);
    writer.elements_of(&inner);
    assert!(writer.finish().is_err());
    inner.clear();
    assert!(inner.finish().is_ok());
}
