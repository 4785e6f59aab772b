//! Cells as values of columns.

use embermark_model::table::{Field, Literal};

use super::*;

fn column(of: ColumnType) -> Column {
    Column::new("c", of)
}

fn read(of: ColumnType, text: &str) -> Result<Value<'_>, Fault> {
    CellConverter::default().convert(&column(of), Cell::Text(text.as_bytes()))
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
        (ColumnType::Bool, "yes", Ok(1)),
        (ColumnType::Bool, "maybe", Err(Fault::NotABool)),
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
    let mut converter = CellConverter::default();
    for text in [text, "2004-02-28", "2004-02-28T00:00:00.500"] {
        converter.convert(&column(of(TimeUnit::Seconds)), Cell::Text(text.as_bytes())).unwrap();
    }
    assert_eq!(converter.finer, 2);
    // Before 1970, too, what is cut off comes after the value.
    let before = converter.convert(&column(of(TimeUnit::Seconds)), Cell::Micros(-1_500_000));
    assert_eq!((before, converter.finer), (Ok(Value::Int(-2)), 3));
}

#[test]
fn texts_are_utf_8_without_nul_and_bytes_are_anything() {
    let odd = b"a\xff\0";
    let of = |of, text| {
        CellConverter::default().convert(&column(of), Cell::Text(text)).map(Value::to_owned)
    };
    assert_eq!(of(ColumnType::Text, odd), Err(Fault::NotUtf8));
    assert_eq!(of(ColumnType::Text, b"a\0"), Err(Fault::Nul));
    assert_eq!(of(ColumnType::Bytes, odd), Ok(Value::Bytes(odd).to_owned()));
    assert_eq!(of(ColumnType::Text, b" x "), Ok(Value::Text(" x ").to_owned()));
}

#[test]
fn what_parquet_has_as_numbers_goes_where_nothing_is_lost() {
    let of = |of, cell| CellConverter::default().convert(&column(of), cell);
    assert_eq!(of(U16, Cell::Float(3.0)), Ok(Value::Int(3)));
    assert_eq!(of(U16, Cell::Float(3.5)), Err(Fault::NotWhole));
    assert_eq!(of(I64, Cell::Float(1e300)), Err(Fault::OutOfRange));
    assert_eq!(of(I64, Cell::Float(f64::NAN)), Err(Fault::NotWhole));
    assert_eq!(of(ColumnType::Float, Cell::Int(3)), Ok(Value::Float(3.0)));
    assert_eq!(of(ColumnType::Text, Cell::Int(3)), Err(Fault::OtherType));
    assert_eq!(of(U16, Cell::Null), Err(Fault::Absent));
}

#[test]
fn numbers_of_seconds_with_a_fraction_are_times_to_their_last_digit() {
    let micros = ColumnType::Timestamp(TimeUnit::Microseconds);
    assert_eq!(read(micros, "1717200001.0015838"), Ok(Value::Int(1_717_200_001_001_583)));
    assert_eq!(read(micros, "-0.5"), Ok(Value::Int(-500_000)));
    assert_eq!(read(micros, "1.5e3"), Err(Fault::NotATime));
    let of = |value| CellConverter::default().convert(&column(micros), Cell::Float(value));
    assert_eq!(of(1_717_200_000.25), Ok(Value::Int(1_717_200_000_250_000)));
}

fn converter(rows: &RowsFile) -> CellConverter {
    CellConverter::new(rows, &column(ColumnType::Float), true).unwrap()
}

#[test]
fn words_and_numbers_for_absent_values_count_where_a_value_may_be_absent() {
    let words = ["NA".to_owned(), "-9999".to_owned(), "NaN".to_owned()];
    let mut converter = converter(&RowsFile { absent: words.to_vec(), ..RowsFile::default() });
    let mut column = column(ColumnType::Float);
    assert_eq!(converter.convert(&column, Cell::Text(b"NA")), Err(Fault::NotANumber));
    assert_eq!(converter.convert(&column, Cell::Text(b"-9999")), Ok(Value::Float(-9999.0)));
    column.nullable = true;
    for cell in
        [Cell::Text(b" NA "), Cell::Text(b"-9999.0"), Cell::Float(f64::NAN), Cell::Int(-9999)]
    {
        assert_eq!(converter.convert(&column, cell), Ok(Value::Null), "{cell:?}");
    }
    assert_eq!(converter.convert(&column, Cell::Text(b"5")), Ok(Value::Float(5.0)));
}

#[test]
fn a_columns_own_words_for_absent_values_replace_those_of_the_table() {
    let rows =
        RowsFile { absent: vec!["NA".to_owned(), "-9999".to_owned()], ..RowsFile::default() };
    let own = |words: &[&str]| {
        let absent = Some(words.iter().map(|word| (*word).to_owned()).collect());
        let from = Some(Box::new(Field { absent, ..Field::default() }));
        Column { nullable: true, from, ..column(ColumnType::Text) }
    };
    let country = own(&["-"]);
    let mut converter = CellConverter::new(&rows, &country, true).unwrap();
    for (text, expected) in
        [("NA", Value::Text("NA")), ("-", Value::Null), ("DE", Value::Text("DE"))]
    {
        assert_eq!(converter.convert(&country, Cell::Text(text.as_bytes())), Ok(expected));
    }
    assert_eq!(converter.kept, 1);
    let level = Column { of: ColumnType::Float, ..own(&[]) };
    let mut converter = CellConverter::new(&rows, &level, true).unwrap();
    assert!(!converter.accepts_unchanged(&level, Number::Float, &[]));
    assert_eq!(converter.convert(&level, Cell::Float(-9999.0)), Ok(Value::Float(-9999.0)));
    assert_eq!(converter.kept, 1);
}

#[test]
fn numbers_may_have_a_comma_before_their_fraction() {
    let option = |name: &str, text: &str| (name.to_owned(), Literal::Text(text.to_owned()));
    let read = vec![option("decimal_separator", ","), option("thousands", ".")];
    let mut converter = converter(&RowsFile { read, ..RowsFile::default() });
    let column = column(ColumnType::Float);
    assert_eq!(converter.convert(&column, Cell::Text(b"1.020,13")), Ok(Value::Float(1020.13)));
}

#[test]
fn local_times_are_taken_to_utc_and_an_hour_that_comes_again_goes_on() {
    let rows = RowsFile { zone: Some("Europe/Berlin".to_owned()), ..RowsFile::default() };
    let mut converter = converter(&rows);
    let column = column(ColumnType::Timestamp(TimeUnit::Seconds));
    let midnight = 1_729_987_200;
    for (text, hours) in [
        ("2024-10-27 01:30:00", -0.5),
        ("2024-10-27 02:30:00", 0.5),
        ("2024-10-27 02:50:00", 0.8333),
        ("2024-10-27 02:05:00", 1.0833),
        ("2024-10-27 03:00:00", 2.0),
        ("2024-10-27 03:00:00Z", 3.0),
    ] {
        let expected = midnight + (hours * 3_600.0_f64 / 60.0).round() as i64 * 60;
        let cell = Cell::Text(text.as_bytes());
        assert_eq!(converter.convert(&column, cell), Ok(Value::Int(expected)), "{text}");
    }
    assert_eq!(converter.ambiguous_times(), 3);
    let wrong = RowsFile { zone: Some("Mars/Olympus".to_owned()), ..RowsFile::default() };
    assert!(
        CellConverter::new(&wrong, &column, true).unwrap_err().to_string().contains("Mars/Olympus")
    );
}

/// The minutes from 2024-10-27T00:00Z to local times of Berlin, which repeats 02:00 to 03:00 then.
/// Each is of a series, or of none that is known: 0.
fn minutes(clocks: &[(&str, u64)]) -> Vec<i64> {
    let rows = RowsFile { zone: Some("Europe/Berlin".to_owned()), ..RowsFile::default() };
    let mut converter = converter(&rows);
    let column = column(ColumnType::Timestamp(TimeUnit::Seconds));
    let minute = |&(clock, series): &(&str, u64)| {
        converter.series = (series > 0).then_some(series);
        let text = format!("2024-10-27 {clock}");
        match converter.convert(&column, Cell::Text(text.as_bytes())) {
            Ok(Value::Int(time)) => (time - 1_729_987_200).div_euclid(60),
            other => panic!("{clock}: {other:?}"),
        }
    };
    clocks.iter().map(minute).collect()
}

#[test]
fn the_hour_that_comes_again_is_read_twice_at_every_distance_and_from_either_end() {
    for (step, rows) in [(60, 1), (60, 3), (45, 1), (30, 1), (30, 2), (20, 1), (15, 2), (1, 5)] {
        let times = (0..=240 / step).flat_map(|nth| (0..rows).map(move |_| nth * step - 60));
        let mut times: Vec<i64> = times.collect();
        for first in ["oldest", "newest"] {
            let clocks = times.iter().map(|time| time + if *time < 60 { 120 } else { 60 });
            let clocks = clocks.map(|of| format!("{:02}:{:02}", of / 60, of % 60));
            let clocks: Vec<String> = clocks.collect();
            let clocks: Vec<_> = clocks.iter().map(|clock| (&**clock, 0)).collect();
            assert_eq!(minutes(&clocks), times, "{step} minutes, {rows} rows, the {first} first");
            times.reverse();
        }
    }
}

#[test]
fn rows_that_are_late_or_come_after_a_gap_do_not_begin_the_second_hour() {
    let gap = [("01:00", 0), ("01:15", 0), ("02:15", 0), ("02:30", 0)];
    assert_eq!(minutes(&gap), [-60, -45, 15, 30]);
    let late = [("01:59:00", 0), ("02:00:06", 0), ("02:00:03", 0), ("02:01:06", 0)];
    assert_eq!(minutes(&late), [-1, 0, 0, 1]);
}

#[test]
fn each_series_has_its_own_second_hour() {
    // The second station is ten minutes later, and a third begins in the hour.
    let all = [
        ("00:00", 1, -120),
        ("00:10", 2, -110),
        ("01:00", 1, -60),
        ("01:10", 2, -50),
        ("02:00", 1, 0),
        ("02:00", 3, 0),
        ("02:10", 2, 10),
        ("02:00", 1, 60),
        ("02:10", 2, 70),
        ("03:00", 1, 120),
    ];
    assert_eq!(minutes(&all.map(|(clock, of, _)| (clock, of))), all.map(|(.., minute)| minute));
}

#[test]
fn a_local_time_at_the_end_of_the_year_9999_is_one() {
    let rows = RowsFile { zone: Some("America/Lima".to_owned()), ..RowsFile::default() };
    let column = column(ColumnType::Timestamp(TimeUnit::Seconds));
    let end = converter(&rows).convert(&column, Cell::Text(b"9999-12-31 23:59:59"));
    assert_eq!(end, Ok(Value::Int(253_402_300_799 + 5 * 3_600)));
}
