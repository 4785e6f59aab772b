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
mod tests;
