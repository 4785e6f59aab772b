use super::*;

fn column(of: ColumnType) -> Column {
    Column { name: "c".to_owned(), from: None, of, nullable: false, make: None }
}

fn read(of: ColumnType, text: &str) -> Result<Value<'_>, Fault> {
    fit(&column(of), Field::Text(text.as_bytes()), &mut 0)
}

const U16: ColumnType = ColumnType::Int { bits: 16, signed: false };
const I64: ColumnType = ColumnType::Int { bits: 64, signed: true };
const U64: ColumnType = ColumnType::Int { bits: 64, signed: false };

#[test]
fn whole_numbers_are_read_up_to_the_bounds_of_their_type() {
    for (of, text, expected) in [
        (U16, "0", Ok(0)),
        (U16, "65535", Ok(65_535)),
        (U16, " +7 ", Ok(7)),
        (U16, "65536", Err(Fault::OutOfRange)),
        (U16, "-1", Err(Fault::OutOfRange)),
        (U16, "1.0", Err(Fault::NotWhole)),
        (U16, "-", Err(Fault::NotWhole)),
        (U16, "1e3", Err(Fault::NotWhole)),
        (I64, "-9223372036854775808", Ok(i64::MIN)),
        (I64, "9223372036854775808", Err(Fault::OutOfRange)),
        (U64, "9223372036854775807", Ok(i64::MAX)),
        (U64, "18446744073709551615", Err(Fault::OutOfRange)),
        (ColumnType::Int { bits: 8, signed: true }, "-128", Ok(-128)),
        (ColumnType::Int { bits: 8, signed: true }, "-129", Err(Fault::OutOfRange)),
        (ColumnType::Bool, "True", Ok(1)),
        (ColumnType::Bool, "0", Ok(0)),
        (ColumnType::Bool, "yes", Err(Fault::NotABool)),
    ] {
        assert_eq!(read(of, text), expected.map(Value::Int), "{of} {text}");
    }
}

#[test]
fn numbers_are_finite() {
    assert_eq!(read(ColumnType::Float, "-1.5e3"), Ok(Value::Float(-1500.0)));
    assert_eq!(read(ColumnType::Float, " 7"), Ok(Value::Float(7.0)));
    for text in ["NaN", "inf", "-Infinity", "1e400"] {
        assert_eq!(read(ColumnType::Float, text), Err(Fault::NotFinite), "{text}");
    }
    assert_eq!(read(ColumnType::Float, "1,5"), Err(Fault::NotANumber));
}

#[test]
fn times_are_integers_of_the_unit_or_dates() {
    let of = |unit| ColumnType::Timestamp(unit);
    let text = "2004-02-28 00:59:16.02785";
    assert_eq!(read(of(TimeUnit::Seconds), text), Ok(Value::Int(1_077_929_956)));
    assert_eq!(read(of(TimeUnit::Microseconds), text), Ok(Value::Int(1_077_929_956_027_850)));
    assert_eq!(read(of(TimeUnit::Milliseconds), "-5"), Ok(Value::Int(-5)));
    assert_eq!(read(of(TimeUnit::Nanoseconds), "2400-01-01"), Err(Fault::OutOfRange));
    assert_eq!(read(of(TimeUnit::Seconds), "2004-02-30"), Err(Fault::NotATime));
    assert_eq!(read(of(TimeUnit::Seconds), "noon"), Err(Fault::NotATime));
    let mut finer = 0;
    for text in [text, "2004-02-28", "2004-02-28T00:00:00.500"] {
        fit(&column(of(TimeUnit::Seconds)), Field::Text(text.as_bytes()), &mut finer).unwrap();
    }
    assert_eq!(finer, 2);
    // Before 1970, too, what is cut off lies after the value.
    let before = fit(
        &column(of(TimeUnit::Seconds)),
        Field::Time { value: -1_500, per_second: 1_000 },
        &mut finer,
    );
    assert_eq!((before, finer), (Ok(Value::Int(-2)), 3));
}

#[test]
fn texts_are_utf_8_without_nul_and_bytes_are_anything() {
    let odd = b"a\xff\0";
    let of = |of, text| fit(&column(of), Field::Text(text), &mut 0).map(Value::to_owned);
    assert_eq!(of(ColumnType::Text, odd), Err(Fault::NotUtf8));
    assert_eq!(of(ColumnType::Text, b"a\0"), Err(Fault::Nul));
    assert_eq!(of(ColumnType::Bytes, odd), Ok(Value::Bytes(odd).to_owned()));
    assert_eq!(of(ColumnType::Text, b" x "), Ok(Value::Text(" x ").to_owned()));
}

#[test]
fn what_parquet_has_as_numbers_goes_where_nothing_is_lost() {
    let of = |of, field| fit(&column(of), field, &mut 0);
    assert_eq!(of(U16, Field::Float(3.0)), Ok(Value::Int(3)));
    assert_eq!(of(U16, Field::Float(3.5)), Err(Fault::NotWhole));
    assert_eq!(of(I64, Field::Float(1e300)), Err(Fault::OutOfRange));
    assert_eq!(of(I64, Field::Float(f64::NAN)), Err(Fault::NotWhole));
    assert_eq!(of(ColumnType::Float, Field::Int(3)), Ok(Value::Float(3.0)));
    assert_eq!(of(ColumnType::Text, Field::Int(3)), Err(Fault::OtherType));
    assert_eq!(of(U16, Field::Absent), Err(Fault::Absent));
}
