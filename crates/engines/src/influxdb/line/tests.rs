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
