use super::*;

/// What libpq would send of one parameter.
fn encoded(param: Param<'_>, of: Oid) -> Result<Option<Vec<u8>>, String> {
    let (mut values, params) = (Values::new(vec![of]), [param]);
    let values = values.encode(&params)?;
    let pointer = values.pointers()[0].cast::<u8>();
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the value is alive, and has that many bytes or ends with a zero byte.
    let bytes = unsafe {
        if values.formats()[0] == BINARY {
            std::slice::from_raw_parts(pointer, values.lengths()[0].try_into().unwrap())
        } else {
            std::ffi::CStr::from_ptr(pointer.cast()).to_bytes()
        }
    };
    Ok(Some(bytes.to_vec()))
}

#[test]
fn an_integer_takes_the_width_the_statement_expects_or_is_refused() {
    assert_eq!(encoded(Param::Int(-2), types::INT2), Ok(Some(vec![255, 254])));
    assert_eq!(encoded(Param::Int(1), types::INT8), Ok(Some(vec![0, 0, 0, 0, 0, 0, 0, 1])));
    assert_eq!(encoded(Param::Int(2), types::FLOAT8), Ok(Some(2f64.to_be_bytes().to_vec())));
    assert!(encoded(Param::Int(40_000), types::INT2).unwrap_err().contains("int2"));
    assert!(encoded(Param::Int(1 << 31), types::INT4).unwrap_err().contains("int4"));
    assert!(encoded(Param::Text("x"), types::INT8).unwrap_err().contains("int8"));
    assert!(encoded(Param::Float(1.5), types::INT8).is_err());
}

#[test]
fn other_types_are_sent_as_text_for_the_server_to_read() {
    assert_eq!(encoded(Param::Float(1.25), types::NUMERIC), Ok(Some(b"1.25".to_vec())));
    assert_eq!(encoded(Param::Text("{}"), types::JSONB), Ok(Some(b"{}".to_vec())));
    let mut both = Values::new(vec![types::NUMERIC, types::INT8]);
    assert_eq!(both.encode(&[Param::Null; 2]).unwrap().formats(), [0, BINARY]);
    assert!(encoded(Param::Text("{\0}"), types::JSONB).unwrap_err().contains("zero byte"));
}

#[test]
fn values_are_set_anew_each_time_and_their_number_is_checked() {
    let mut values = Values::new(vec![types::TEXT, types::NUMERIC]);
    values.encode(&[Param::Text("long ago"), Param::Int(12_345)]).unwrap();
    let encoded = values.encode(&[Param::Text(""), Param::Null]).unwrap();
    assert_eq!((encoded.lengths()[0], encoded.pointers()[1].is_null()), (0, true));
    assert!(!encoded.pointers()[0].is_null(), "an empty text is no NULL");
    assert_eq!(self::encoded(Param::Null, types::INT8), Ok(None));
    let error = values.encode(&[Param::Null]).err().unwrap();
    assert!(error.contains("1 parameters") && error.contains('2'), "{error}");
}
