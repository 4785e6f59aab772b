//! A field of a file to a value of a column.

use embermark_model::table::{Column, ColumnType, TimeUnit, Value};

use super::fault::{Fault, check};
use super::record::Field;
use super::time;

/// The value of a field in a column. `finer` counts the times that are finer than the unit of their
/// column, of which the rest is cut off.
#[inline]
pub(super) fn fit<'a>(
    column: &Column,
    field: Field<'a>,
    finer: &mut u64,
) -> Result<Value<'a>, Fault> {
    let value = match (column.of, field) {
        (_, Field::Absent) => Value::Null,
        (ColumnType::Text, Field::Text(text)) => {
            Value::Text(str::from_utf8(text).map_err(|_| Fault::NotUtf8)?)
        }
        (ColumnType::Bytes, Field::Text(text)) => Value::Bytes(text),
        (ColumnType::Float, Field::Text(text)) => {
            let number = fast_float2::parse(text.trim_ascii());
            Value::Float(number.map_err(|_| Fault::NotANumber)?)
        }
        (ColumnType::Float, Field::Float(value)) => Value::Float(value),
        (ColumnType::Float, Field::Int(value)) => Value::Float(value as f64),
        (ColumnType::Int { .. }, Field::Text(text)) => Value::Int(whole(text)?),
        (ColumnType::Int { .. }, Field::Float(value)) => Value::Int(whole_number(value)?),
        (ColumnType::Int { .. } | ColumnType::Timestamp(_), Field::Int(value)) => Value::Int(value),
        (ColumnType::Int { .. }, Field::Time { value, .. }) => Value::Int(value),
        (ColumnType::Bool, Field::Text(text)) => {
            Value::Int(boolean(text).ok_or(Fault::NotABool)?.into())
        }
        (ColumnType::Bool | ColumnType::Int { .. }, Field::Bool(value)) => Value::Int(value.into()),
        (ColumnType::Bool, Field::Int(value)) => Value::Int(value),
        (ColumnType::Timestamp(unit), Field::Text(text)) => Value::Int(instant(text, unit, finer)?),
        (ColumnType::Timestamp(unit), Field::Time { value, per_second }) => {
            Value::Int(converted(value, per_second, unit, finer)?)
        }
        _ => return Err(Fault::OtherType),
    };
    check(column, &value)?;
    Ok(value)
}

/// The whole number that a text is, with a sign and blanks around it or without.
#[inline]
pub(super) fn whole(text: &[u8]) -> Result<i64, Fault> {
    let (negative, digits) = match text.trim_ascii() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || digits.iter().any(|byte| !byte.is_ascii_digit()) {
        return Err(Fault::NotWhole);
    }
    let mut sum = 0_i64;
    for digit in digits {
        // Counted downwards: the least integer has no positive counterpart.
        let ten = sum.checked_mul(10).ok_or(Fault::OutOfRange)?;
        sum = ten.checked_sub(i64::from(digit - b'0')).ok_or(Fault::OutOfRange)?;
    }
    if negative { Ok(sum) } else { sum.checked_neg().ok_or(Fault::OutOfRange) }
}

/// The whole number that a double is.
fn whole_number(value: f64) -> Result<i64, Fault> {
    // Up to which doubles have every whole number.
    const EXACT: f64 = (1_u64 << 53) as f64;
    match value {
        _ if value.fract() != 0.0 => Err(Fault::NotWhole),
        _ if value.abs() > EXACT => Err(Fault::OutOfRange),
        _ => Ok(value as i64),
    }
}

/// The truth value that a text is.
pub(super) fn boolean(text: &[u8]) -> Option<bool> {
    match text.trim_ascii() {
        b"1" => Some(true),
        b"0" => Some(false),
        text if text.eq_ignore_ascii_case(b"true") => Some(true),
        text if text.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}

/// The time that a text is: an integer of the unit, or a date.
#[inline]
fn instant(text: &[u8], unit: TimeUnit, finer: &mut u64) -> Result<i64, Fault> {
    let text = text.trim_ascii();
    if !matches!(text, [_, _, _, _, b'-', ..]) {
        return whole(text).map_err(|fault| match fault {
            Fault::NotWhole => Fault::NotATime,
            other => other,
        });
    }
    let time = time::parse(text).ok_or(Fault::NotATime)?;
    let nanos_of_unit = 1_000_000_000 / unit.per_second();
    let nanos = i64::from(time.nanos);
    *finer += u64::from(time.cut || nanos % nanos_of_unit != 0);
    time.seconds
        .checked_mul(unit.per_second())
        .and_then(|seconds| seconds.checked_add(nanos / nanos_of_unit))
        .ok_or(Fault::OutOfRange)
}

/// A time in another unit.
fn converted(value: i64, per_second: i64, unit: TimeUnit, finer: &mut u64) -> Result<i64, Fault> {
    let to = unit.per_second();
    // The units are powers of ten: one of the two divides the other.
    if to >= per_second {
        return value.checked_mul(to / per_second).ok_or(Fault::OutOfRange);
    }
    let units = per_second / to;
    *finer += u64::from(value % units != 0);
    Ok(value.div_euclid(units))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(of: ColumnType) -> Column {
        Column::new("c", of)
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
}
