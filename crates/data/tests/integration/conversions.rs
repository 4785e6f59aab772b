//! CSV and Parquet read back what was written, with the types they promise.
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use embermark_data::{DataError, ParquetWriter, export, synthetic};
use embermark_model::{Key, Reading};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// Synthetic rows, and unusual ones: NULLs everywhere, before 1970, extreme numbers.
fn rows() -> Vec<Reading> {
    let mut rows = synthetic::generate(5_000, 9).unwrap().readings;
    rows.push(Reading::new(Key { sensor: u16::MAX, ts: -1 }, [None; 4]));
    rows.push(Reading::new(
        Key { sensor: 1, ts: 0 },
        [Some(-0.1), Some(1e-300), Some(1.5e300), Some(1.0 / 3.0)],
    ));
    rows
}

/// Opens what `write` has written to a file.
fn read(write: impl FnOnce(&Path) -> Result<(), DataError>) -> SerializedFileReader<File> {
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.path()).unwrap();
    SerializedFileReader::new(file.into_file()).unwrap()
}

#[test]
fn csv_reads_back_equal() {
    let rows = rows();
    let mut text = Vec::new();
    export::to_csv(&rows, &mut text).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_slice());
    assert_eq!(
        reader.headers().unwrap(),
        vec!["ts", "sensor", "temperature", "humidity", "light", "voltage"]
    );
    let mut back = Vec::new();
    for record in reader.records() {
        let record = record.unwrap();
        assert_eq!(record[0].len(), "2004-02-28T08:00:00.000000Z".len(), "{}", &record[0]);
        let ts = record[0].parse::<jiff::Timestamp>().unwrap().as_microsecond();
        let value = |column: usize| match &record[2 + column] {
            "" => None,
            text => Some(text.parse().unwrap()),
        };
        back.push(Reading::new(
            Key { sensor: record[1].parse().unwrap(), ts },
            std::array::from_fn(value),
        ));
    }
    assert_eq!(back, rows);
}

#[test]
fn csv_is_exactly_what_it_is_said_to_be() {
    let row = Reading::new(
        Key { sensor: 7, ts: 1_077_929_956_027_850 },
        [Some(19.9884), None, Some(45.0), None],
    );
    let mut text = Vec::new();
    export::to_csv(&[row], &mut text).unwrap();
    let expected = "ts,sensor,temperature,humidity,light,voltage\n2004-02-28T00:59:16.027850Z,7,19.9884,,45.0,\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn parquet_reads_back_equal_over_several_row_groups() {
    let mut rows = rows();
    // A group has a million values, of six columns.
    let size = if embermark_skips::is_long() { 1 << 20 } else { 1 << 18 };
    let extra = size - 3_000;
    rows.extend((0..extra).map(|i| {
        Reading::new(Key { sensor: 3, ts: i64::from(i) }, [Some(f64::from(i)), None, None, None])
    }));
    let reader = read(|out| export::to_parquet(&rows, out));
    assert!(reader.num_row_groups() > 1);
    assert_eq!(reader.metadata().file_metadata().num_rows(), rows.len() as i64);
    let value = |field: &Field| match *field {
        Field::Null => None,
        Field::Double(value) => Some(value),
        ref other => panic!("{other:?}"),
    };
    let mut expected = rows.iter();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let fields: Vec<_> = row.get_column_iter().map(|(_, field)| field).collect();
        let (Field::TimestampMicros(ts), Field::Int(sensor)) = (fields[0], fields[1]) else {
            panic!("{row:?}")
        };
        let key = Key { sensor: u16::try_from(*sensor).unwrap(), ts: *ts };
        assert_eq!(
            Some(&Reading::new(key, std::array::from_fn(|i| value(fields[2 + i])))),
            expected.next()
        );
    }
    assert_eq!(expected.next(), None);
}

#[test]
fn parquet_columns_have_the_types_that_other_programs_expect() {
    let reader = read(|out| export::to_parquet(&rows(), out));
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
    assert_eq!(names, ["ts", "sensor", "temperature", "humidity", "light", "voltage"]);
    let types: Vec<_> = columns.iter().map(|column| column.physical_type()).collect();
    assert_eq!(
        types,
        [Type::INT64, Type::INT32, Type::DOUBLE, Type::DOUBLE, Type::DOUBLE, Type::DOUBLE]
    );
    assert_eq!(
        columns[0].logical_type_ref(),
        Some(&LogicalType::timestamp(true, TimeUnit::MICROS))
    );
    for (i, column) in columns.iter().enumerate() {
        assert_eq!(column.self_type().get_basic_info().repetition(), Repetition::OPTIONAL);
        assert_eq!(reader.metadata().row_group(0).column(i).compression(), Compression::SNAPPY);
    }
}

#[test]
fn texts_reach_parquet_as_they_are_and_an_empty_one_is_not_missing() {
    let texts = [Some(""), None, Some("a,\"b\"\nc\r\n"), Some(" #'é "), Some("NULL"), Some("\\N")];
    let columns = vec![("a 'b'".to_owned(), "VARCHAR"), ("n".to_owned(), "BIGINT")];
    let reader = read(|out| {
        let mut writer = ParquetWriter::new(columns, out)?;
        for text in texts {
            writer.add([text, text.map(|_| "-9223372036854775808")])?;
        }
        writer.finish()
    });
    let rows = reader.into_iter();
    let read = rows.map(|row| {
        let row = row.unwrap();
        let fields: Vec<(&String, &Field)> = row.get_column_iter().collect();
        assert_eq!(fields[0].0, "a 'b'");
        (fields[0].1.clone(), fields[1].1.clone())
    });
    let expected = texts.map(|text| match text {
        Some(text) => (Field::Str(text.to_owned()), Field::Long(i64::MIN)),
        None => (Field::Null, Field::Null),
    });
    assert_eq!(read.collect::<Vec<_>>(), expected);
}

#[test]
fn no_rows_make_files_that_are_empty_but_whole() {
    let mut text = Vec::new();
    export::to_csv(&[], &mut text).unwrap();
    assert_eq!(text, b"ts,sensor,temperature,humidity,light,voltage\n");
    let reader = read(|out| export::to_parquet(&[], out));
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn a_full_disk_is_an_error_in_every_format() {
    let (rows, full) = (rows(), Path::new("/dev/full"));
    let csv = BufWriter::new(File::create(full).unwrap());
    for result in [export::to_csv(&rows, csv), export::to_parquet(&rows, full)] {
        let error = result.unwrap_err();
        assert!(matches!(error, DataError::Export { .. }));
        assert!(error.to_string().contains("space"), "{error}");
    }
}

#[test]
fn the_rows_of_a_parquet_file_lie_beside_it_until_they_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("r.parquet");
    std::fs::write(&out, "of before").unwrap();
    let mut writer = ParquetWriter::new(vec![("n".to_owned(), "BIGINT")], &out).unwrap();
    writer.add([Some("1")]).unwrap();
    let names = || {
        let names = std::fs::read_dir(folder.path()).unwrap();
        names.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    assert_eq!(names().len(), 2, "{:?}", names());
    assert_eq!(std::fs::read(&out).unwrap(), b"of before");
    writer.finish().unwrap();
    assert_eq!(names(), ["r.parquet"]);
    assert_eq!(std::fs::read(&out).unwrap()[..4], *b"PAR1");
}
