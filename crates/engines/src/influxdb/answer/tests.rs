use super::*;

/// `{"results": [{"series": [{"columns": ["a"], "values": [[…]]}]}]}` with these bytes of a value.
fn answer(value: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x81\xa7results\x91\x81\xa6series\x91\x82\xa7columns\x91\xa1a".to_vec();
    bytes.extend(b"\xa6values\x91\x91");
    bytes.extend(value);
    bytes
}

/// A value, and its text if it is one.
fn values(bytes: &[u8]) -> Result<Vec<(Value, String)>> {
    let mut all = Vec::new();
    read(bytes, &mut |row, _, _| {
        let text = |value: &Value| match value {
            Value::Text(range) => row.text(range).to_owned(),
            _ => String::new(),
        };
        all.extend(row.values.iter().map(|value| (value.clone(), text(value))));
        Ok(())
    })
    .map(|()| all)
}

fn one(bytes: &[u8]) -> Result<Value> {
    values(&answer(bytes)).map(|mut values| values.remove(0).0)
}

#[test]
fn values_without_a_meaning_are_passed_over_and_an_answer_is_whole_or_an_error() {
    // [{"a": [nil, true]}, an extension of four bytes, 1].
    let other = [0x93, 0x81, 0xa1, b'a', 0x92, 0xc0, 0xc3, 0xd6, 5, 1, 2, 3, 4, 1];
    assert_eq!(one(&other).unwrap(), Value::Other);
    for other in [&other[7..13], &[0xc4, 2, 1, 2]] {
        assert_eq!(one(other).unwrap(), Value::Other);
    }
    assert_eq!(one(&[0xc0]).unwrap(), Value::Null);
    // A chunk after a chunk.
    let two = [answer(&[0xa2, b'b', b'c']), answer(&[0xc3])].concat();
    let expected = [(Value::Text(0..2), "bc".to_owned()), (Value::Bool(true), String::new())];
    assert_eq!(values(&two).unwrap(), expected);
    for end in 1..two.len() {
        assert_eq!(values(&two[..end]).is_ok(), end == two.len() / 2 + 1, "{end}");
    }
    // A row of two values, under one column.
    let wide = [&answer(&[])[..answer(&[]).len() - 1], &[0x92, 1, 2]].concat();
    assert!(values(&wide).unwrap_err().to_string().contains("not as wide as"));
}

#[test]
fn an_error_is_told_wherever_it_stands_and_so_is_a_result_without_its_end() {
    for bytes in [&b"\x81\xa5error\xa3bad"[..], b"\x81\xa7results\x91\x81\xa5error\xa3bad"] {
        let error = values(bytes).unwrap_err().to_string();
        assert_eq!(error, "influxdb could not answer the question: bad");
    }
    let error = values(b"\x81\xa7results\x91\x81\xa7partial\xc3").unwrap_err().to_string();
    assert!(error.contains("max-row-limit"), "{error}");
}
