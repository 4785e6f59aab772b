//! Readings as a CSV file that databases load: a line of names, then a line a reading, commas between
//! and no quotes. Times are whole microseconds since 1970, which every engine's integer column takes as
//! it is; NULL is an empty field; numbers are the shortest that read back as the same double.

use std::fs::File;
use std::io;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder, WriterBuilder};
use embermark_model::{Key, Reading};

use crate::DataError;

/// The names of its columns, in the order of the published comparison's table.
pub const COLUMNS: [&str; 6] = ["ts", "sensor", "temperature", "humidity", "light", "voltage"];

/// Bytes that are written and read at once.
const BUFFER: usize = 1 << 16;

/// Writes `readings` to a file, in place of what was there.
///
/// # Errors
/// [`DataError::Unwritable`].
pub fn write(path: &Path, readings: &[Reading]) -> Result<(), DataError> {
    let save = || -> Result<(), csv::Error> {
        let mut writer = WriterBuilder::new()
            .has_headers(false)
            .buffer_capacity(BUFFER)
            .from_writer(File::create(path)?);
        writer.write_record(COLUMNS)?;
        for reading in readings {
            let [a, b, c, d] = std::array::from_fn(|column| reading.get(column));
            writer.serialize((reading.ts, reading.sensor, a, b, c, d))?;
        }
        Ok(writer.flush()?)
    };
    save().map_err(|error| DataError::Unwritable { path: path.to_owned(), cause: error.into() })
}

/// Reads a file that [`write()`] made.
///
/// # Errors
/// [`DataError::Unreadable`], and [`DataError::NotStaged`] of another file.
pub fn read(path: &Path) -> Result<Vec<Reading>, DataError> {
    let unreadable = |cause: io::Error| DataError::Unreadable { path: path.to_owned(), cause };
    let file = File::open(path).map_err(unreadable)?;
    let mut reader = ReaderBuilder::new().buffer_capacity(BUFFER).from_reader(file);
    let (mut record, mut readings) = (ByteRecord::new(), Vec::new());
    while reader.read_byte_record(&mut record).map_err(|error| unreadable(error.into()))? {
        readings.push(reading(&record).ok_or_else(|| {
            let line = record.position().map_or(0, csv::Position::line);
            DataError::NotStaged {
                path: path.to_owned(),
                what: format!("line {line} is no reading"),
            }
        })?);
    }
    Ok(readings)
}

/// The reading in a line; `None` where it is none.
fn reading(record: &ByteRecord) -> Option<Reading> {
    let whole = |column| std::str::from_utf8(record.get(column)?).ok();
    let key = Key { ts: whole(0)?.parse().ok()?, sensor: whole(1)?.parse().ok()? };
    let mut values = [None; 4];
    for (column, value) in (2..).zip(&mut values) {
        let field = record.get(column)?;
        if !field.is_empty() {
            *value = Some(fast_float2::parse(field).ok()?);
        }
    }
    Some(Reading::new(key, values))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_written_is_read_back_bit_by_bit_and_null_is_an_empty_field() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.csv");
        let rows = [
            Reading::new(
                Key { sensor: 7, ts: -1 },
                [Some(0.1 + 0.2), None, Some(1e-300), Some(-0.0)],
            ),
            Reading::new(Key { sensor: 65_535, ts: i64::MAX }, [None; 4]),
            Reading::new(Key { sensor: 0, ts: 0 }, [Some(122.153), Some(40.0), Some(1e300), None]),
        ];
        write(&file, &rows).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("ts,sensor,temperature,humidity,light,voltage"));
        assert_eq!(lines.next(), Some("-1,7,0.30000000000000004,,1e-300,-0.0"));
        assert_eq!(lines.next(), Some("9223372036854775807,65535,,,,"));
        let bits = |row: &Reading| (row.key(), row.present, row.values.map(f64::to_bits));
        assert_eq!(
            read(&file).unwrap().iter().map(bits).collect::<Vec<_>>(),
            rows.each_ref().map(bits)
        );
    }

    #[test]
    fn a_line_that_is_no_reading_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.csv");
        for line in ["1,65536,,,,", "x,1,,,,", "1,1,warm,,,"] {
            fs::write(&file, format!("{}\n1,1,,,,\n{line}\n", COLUMNS.join(","))).unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains("line 3 is no reading"), "{error}");
        }
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("none"));
    }
}
