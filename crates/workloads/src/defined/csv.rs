//! Rows of a table as a CSV file, loaded by the engine or by client code.

use std::fs::File;
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder, WriterBuilder};
use embermark_contract::sql::CsvFile;
use embermark_contract::{EngineError, Result};
use embermark_data::DataError;
use embermark_data::table::compare;
use embermark_model::table::{ColumnType, Value};
use tempfile::TempDir;

use super::Rows;

/// Bytes to write and read at once.
const BUFFER: usize = 1 << 16;

/// A file in a temporary folder, removed with this value. It has a line of names and a line per
/// row, with commas and without quotes. Times are integers in their unit since 1970, which every
/// engine's integer column accepts. Absent values are empty fields. Numbers are the shortest that
/// read back as the same double.
pub(super) struct CsvRows {
    file: PathBuf,
    /// Names of its columns.
    columns: Vec<&'static str>,
    _folder: TempDir,
}

impl CsvRows {
    /// Writes the loaded rows of a table to a file next to the `staged` rows.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub(super) fn write(rows: &Rows, staged: &Path) -> std::result::Result<Self, DataError> {
        let beside = staged.parent().unwrap_or(Path::new("."));
        let unwritable = |cause| DataError::Unwritable { path: beside.to_owned(), cause };
        let absolute = beside.canonicalize().map_err(unwritable)?;
        let folder = tempfile::Builder::new().prefix("csv-").tempdir_in(absolute);
        let folder = folder.map_err(unwritable)?;
        let file = folder.path().join(format!("{}.csv", rows.table.name));
        let columns = rows.table.columns.iter().map(|column| &*column.name).collect();
        let new = Self { file, columns, _folder: folder };
        new.fill(rows).map_err(|error| unwritable(error.into()))?;
        Ok(new)
    }

    fn fill(&self, rows: &Rows) -> std::result::Result<(), csv::Error> {
        let file = File::create(&self.file)?;
        let mut writer = WriterBuilder::new().buffer_capacity(BUFFER).from_writer(file);
        writer.write_record(&self.columns)?;
        for place in 0..rows.loaded {
            for value in rows.row(place) {
                match value {
                    Value::Int(value) => writer.write_field(value.to_string())?,
                    Value::Float(value) => writer.write_field(format!("{value:?}"))?,
                    // Texts do not occur.
                    _ => writer.write_field("")?,
                }
            }
            writer.write_record(None::<&[u8]>)?;
        }
        Ok(writer.flush()?)
    }

    /// Returns the file for an engine that loads it.
    pub(super) fn file(&self) -> CsvFile<'_> {
        CsvFile { path: &self.file, columns: &self.columns }
    }

    /// Reads every line for the bulk path of an engine that does not load files. Each line must be
    /// the row at its position.
    ///
    /// # Errors
    /// Fails at the first line that is not.
    pub(super) fn parse(&self, rows: &Rows) -> Result<()> {
        let failed =
            |error: String| EngineError::failed("the workload", "read its CSV file", error);
        let file = File::open(&self.file).map_err(|error| failed(error.to_string()))?;
        let mut reader = ReaderBuilder::new().buffer_capacity(BUFFER).from_reader(file);
        let (mut record, mut place) = (ByteRecord::new(), 0);
        while reader.read_byte_record(&mut record).map_err(|error| failed(error.to_string()))? {
            let same = place < rows.loaded
                && rows.row(place).enumerate().all(|(column, value)| {
                    let read =
                        record.get(column).and_then(|field| read(field, rows.column_type(column)));
                    read.is_some_and(|read| compare(&read, &value).is_eq())
                });
            place += 1;
            if !same {
                return Err(failed(format!("line {} is not row {place}", place + 1)));
            }
        }
        if place != rows.loaded {
            return Err(failed(format!("it has {place} rows of {}", rows.loaded)));
        }
        Ok(())
    }
}

/// Returns a field as a value of its column.
fn read(field: &[u8], of: ColumnType) -> Option<Value<'static>> {
    let text = str::from_utf8(field).ok()?;
    match of {
        _ if text.is_empty() => Some(Value::Null),
        ColumnType::Float => text.parse().ok().map(Value::Float),
        ColumnType::Text | ColumnType::Bytes => None,
        _ => text.parse().ok().map(Value::Int),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use embermark_model::Scale;

    use super::super::keep::tests::cell;
    use super::*;

    const FILE: &str = r#"
        [table.t]
        file = "rows.csv"
        key = ["id"]
        [table.t.columns]
        id = "u16"
        time = { type = "timestamp", unit = "us" }
        n = "f64?"
        [phase.load]
        do = "insert"
        commit = "csv"
        "#;

    #[test]
    fn what_was_written_is_read_back_and_a_line_that_is_no_row_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let rows = "id,time,n\n7,-1,0.30000000000000004\n9,9223372036854775807,\n65535,0,-0.0\n3,4,1e-300\n";
        fs::write(dir.path().join("rows.csv"), rows).unwrap();
        let cell = cell(FILE, Scale::Full, dir.path()).unwrap();
        let rows_of = &cell.tables[0];
        let csv = CsvRows::write(rows_of, &dir.path().join("staged")).unwrap();
        assert_eq!(csv.file().columns, ["id", "time", "n"]);
        assert_eq!(fs::read_to_string(csv.file().path).unwrap(), rows);
        csv.parse(rows_of).unwrap();
        for (wrong, says) in [
            (rows.replace("3,4", "3,5"), "line 5 is not row 4"),
            (rows.replace("3,4,1e-300\n", ""), "it has 3 rows of 4"),
            (rows.replace(",1e-300", ",warm"), "line 5 is not row 4"),
        ] {
            fs::write(csv.file().path, wrong).unwrap();
            let error = csv.parse(rows_of).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
