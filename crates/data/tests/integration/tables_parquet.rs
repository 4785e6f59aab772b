//! Parquet files of every flat type staged as tables.
use crate::common;

use std::sync::Arc;

use crate::common::tables::*;
use embermark_model::table::{ColumnType, OwnedValue, TimeUnit};
use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

/// Writes the next column of a group.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

/// A file with a row group for each call of `fill`.
fn parquet(
    schema: &str,
    compression: Compression,
    groups: usize,
    fill: impl Fn(&mut SerializedRowGroupWriter<'_, Vec<u8>>, usize),
) -> TempDir {
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {schema} }}")).unwrap());
    // Small pages, so that a batch has several.
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_data_page_row_count_limit(700)
        .set_write_batch_size(100);
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    for number in 0..groups {
        let mut group = writer.next_row_group().unwrap();
        fill(&mut group, number);
        group.close().unwrap();
    }
    file("r.parquet", writer.into_inner().unwrap())
}

#[test]
fn row_groups_and_pages_are_read_to_the_end_with_absent_values_in_their_places() {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
    ];
    for codec in codecs {
        let schema = "required int64 id; optional double x; optional binary name (utf8);";
        let folder = parquet(schema, codec, 3, |group, number| {
            let ids: Vec<i64> = (0..5_000).map(|row| row + 5_000 * number as i64).collect();
            put::<Int64Type>(group, &ids, None);
            let levels: Vec<i16> = ids.iter().map(|id| i16::from(id % 3 != 0)).collect();
            let there = || ids.iter().filter(|id| **id % 3 != 0);
            put::<DoubleType>(
                group,
                &there().map(|id| *id as f64 / 2.0).collect::<Vec<_>>(),
                Some(&levels),
            );
            let names: Vec<_> =
                there().map(|id| ByteArray::from(format!("n{id}").as_str())).collect();
            put::<ByteArrayType>(group, &names, Some(&levels));
        });
        let columns = [("name?", TEXT), ("id", U64), ("x?", FLOAT)];
        let (staged, table) = staged(folder.path(), table("r.parquet", &columns, &[1]));
        assert_eq!((staged.rows, staged.dropped.len()), (15_000, 0), "{codec:?}");
        for id in 0..15_000 {
            let expected = match id % 3 {
                0 => vec![NULL, int(id), NULL],
                _ => vec![text(&format!("n{id}")), int(id), float(id as f64 / 2.0)],
            };
            assert_eq!(row(&table, id as usize), expected);
        }
        let limit = staged_with(
            folder.path(),
            common::tables::table("r.parquet", &columns, &[1]),
            Some(7_001),
            0.0,
        );
        assert_eq!(limit.unwrap().0.rows, 7_001);
    }
}

#[test]
fn every_type_goes_where_its_values_fit() {
    let schema = "
        required boolean flag;
        required int32 small (integer(16, true));
        required int32 unsigned (integer(32, false));
        required int64 huge (integer(64, false));
        required int32 day (date);
        required int64 ms (timestamp(millis, true));
        required int64 ns (timestamp(nanos, false));
        required int96 old;
        required float single;
        required int32 price (decimal(9, 2));
        required fixed_len_byte_array(3) wide (decimal(6, 1));
        required binary raw;
        required group deep { required int32 inside; }";
    let folder = parquet(schema, Compression::SNAPPY, 1, |group, _| {
        put::<BoolType>(group, &[true, false], None);
        put::<Int32Type>(group, &[-5, 7], None);
        put::<Int32Type>(group, &[-1, 1], None);
        put::<Int64Type>(group, &[i64::MAX, 1], None);
        put::<Int32Type>(group, &[12_476, -1], None);
        put::<Int64Type>(group, &[1_077_929_956_027, -1], None);
        put::<Int64Type>(group, &[1_077_929_956_027_850_000, 1_000], None);
        let mut old = [Int96::new(), Int96::new()];
        // One second after midnight of 2004-02-28, and of 1970-01-01.
        old[0].set_data(1_000_000_000, 0, 2_453_064);
        old[1].set_data(0, 1, 2_440_588);
        put::<Int96Type>(group, &old, None);
        put::<FloatType>(group, &[1.5, -0.25], None);
        put::<Int32Type>(group, &[1_999, -1], None);
        let wide =
            [[0, 0, 15], [0xff, 0xff, 0xff]].map(|bytes| ByteArray::from(bytes.to_vec()).into());
        put::<FixedLenByteArrayType>(group, &wide, None);
        put::<ByteArrayType>(group, &[vec![0, 255].into(), ByteArray::from("x")], None);
        put::<Int32Type>(group, &[1, 2], None);
    });
    let millis = ColumnType::Timestamp(TimeUnit::Milliseconds);
    let columns = [
        ("flag", BOOL),
        ("small", I64),
        ("unsigned", U64),
        ("huge", U64),
        ("day", SECONDS),
        ("ms", millis),
        ("ns", MICROS),
        ("old", MICROS),
        ("single", FLOAT),
        ("price", FLOAT),
        ("wide", FLOAT),
        ("raw", BYTES),
    ];
    let (staged, rows) = staged(folder.path(), table("r.parquet", &columns, &[]));
    assert!(staged.dropped.is_empty(), "{staged:?}");
    // The column `old`, whose nanoseconds DuckDB cuts off.
    let remark = "times in nanoseconds, of Parquet's INT96 or in UTC, read to the microsecond";
    assert_eq!(staged.remarks, [(remark.to_owned(), 2)].into());
    let bytes = |bytes: &[u8]| OwnedValue::Bytes(bytes.to_vec());
    let first = vec![
        int(1),
        int(-5),
        int(4_294_967_295),
        int(i64::MAX),
        int(12_476 * 86_400),
        int(1_077_929_956_027),
        int(1_077_929_956_027_850),
        int(12_476 * 86_400_000_000 + 1_000_000),
        float(1.5),
        float(19.99),
        float(1.5),
        bytes(&[0, 255]),
    ];
    let second = vec![
        int(0),
        int(7),
        int(1),
        int(1),
        int(-86_400),
        int(-1),
        int(1),
        int(4_294_967),
        float(-0.25),
        float(-0.01),
        float(-0.1),
        bytes(b"x"),
    ];
    assert_eq!((row(&rows, 0), row(&rows, 1)), (first, second));

    // Nested columns are not among the fields, and what does not match is counted by its row.
    let error = staged_with(folder.path(), table("r.parquet", &[("inside", U64)], &[]), None, 1.0);
    assert!(error.unwrap_err().to_string().contains("unknown field 'inside'"));
    let columns = [("raw", TEXT), ("small", U16)];
    let error = staged_with(folder.path(), table("r.parquet", &columns, &[]), None, 0.1);
    let text = error.unwrap_err().to_string();
    assert!(text.contains("the first in row 1: column raw: not UTF-8"), "{text}");
}
