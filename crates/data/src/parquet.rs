//! Writes Parquet. DuckDB, which also reads files of rows, converts CSV to it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use embermark_libraries::duckdb::connection::Connection;
use embermark_libraries::duckdb::library::LIBRARY;
use embermark_model::table::Literal;
use tempfile::TempDir;

use crate::DataError;

/// Text that represents a missing value in the CSV. No value has this character.
const ABSENT: &str = "\u{1}";
/// Memory limit of DuckDB. 600 columns take half of it, whatever the number of rows.
const MEMORY: u64 = 256 << 20;
/// Bytes of CSV that are read at once, and of the longest row.
const BUFFER: usize = 4 << 20;
/// Values per row group.
const GROUP: usize = 1 << 20;
/// Least rows of a row group: one vector of DuckDB.
const LEAST_ROWS: usize = 2_048;

/// A writer of Parquet, compressed with Snappy. Every column is optional. The rows are CSV beside
/// the output until [`finish`](Self::finish) converts them.
pub struct ParquetWriter {
    folder: TempDir,
    rows: csv::Writer<File>,
    columns: Vec<(String, &'static str)>,
    out: PathBuf,
}

impl ParquetWriter {
    /// Begins a file with these columns, each with its type in DuckDB's SQL, such as `BIGINT`. An
    /// existing file is replaced when the rows are converted.
    ///
    /// # Errors
    /// [`DataError::Export`] if the file of CSV cannot be made.
    pub fn new(columns: Vec<(String, &'static str)>, out: &Path) -> Result<Self, DataError> {
        let folder = folder_beside(out).map_err(failed)?;
        let rows = File::create(folder.path().join("rows.csv")).map_err(failed)?;
        let rows = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(rows);
        Ok(Self { folder, rows, columns, out: out.to_owned() })
    }

    /// Adds a row: a text for each column that DuckDB casts to its type, or `None` for NULL.
    ///
    /// # Errors
    /// [`DataError::Export`] if the file of CSV cannot be written.
    pub fn add<T: AsRef<str>>(
        &mut self,
        row: impl IntoIterator<Item = Option<T>>,
    ) -> Result<(), DataError> {
        for value in row {
            let text = value.as_ref().map_or(ABSENT, AsRef::as_ref);
            self.rows.write_field(text).map_err(failed)?;
        }
        self.rows.write_record(None::<&[u8]>).map_err(failed)
    }

    /// Converts the rows and writes the file.
    ///
    /// # Errors
    /// [`DataError::Export`] if DuckDB is not installed or fails, or if the output cannot be
    /// written.
    pub fn finish(self) -> Result<(), DataError> {
        let Self { folder, rows, columns, out } = self;
        rows.into_inner().map_err(|error| failed(error.into_error()))?;
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let library = LIBRARY.get().map_err(failed)?;
        let settings = [
            ("memory_limit", format!("{}KiB", MEMORY >> 10)),
            ("temp_directory", path("duckdb")),
            // One thread writes the rows in the order in which it reads them. To preserve the order
            // of several, DuckDB would collect rows.
            ("threads", "1".to_owned()),
            ("preserve_insertion_order", "false".to_owned()),
        ];
        let duckdb = Connection::open(&library.api, None, &settings).map_err(failed)?;
        let text = |text: &str| Literal::Text(text.to_owned());
        let types = columns.iter().map(|(name, of)| format!("{}: '{of}'", text(name)));
        let convert = format!(
            "COPY (SELECT * FROM read_csv({}, header = false, auto_detect = false, delim = ',', quote = '\"', \
             escape = '\"', nullstr = {}, buffer_size = {BUFFER}, max_line_size = {BUFFER}, columns = {{{}}})) \
             TO {} (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE {})",
            text(&path("rows.csv")),
            text(ABSENT),
            types.collect::<Vec<_>>().join(", "),
            text(&path("rows.parquet")),
            (GROUP / columns.len().max(1)).max(LEAST_ROWS),
        );
        duckdb.batch(&convert).map_err(failed)?;
        let mut written = File::open(path("rows.parquet")).map_err(failed)?;
        let mut out = File::create(out).map_err(failed)?;
        io::copy(&mut written, &mut out).map(drop).map_err(failed)
    }
}

/// Makes a folder beside an output. The system's temporary folder is in memory on some devices, and
/// is used only if the output is a device or a pipe.
fn folder_beside(out: &Path) -> io::Result<TempDir> {
    let out = out.canonicalize().unwrap_or_else(|_| out.to_owned());
    if out.exists() && !out.is_file() {
        return tempfile::tempdir();
    }
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty());
    tempfile::Builder::new().prefix(".embermark-").tempdir_in(parent.unwrap_or(Path::new(".")))
}

fn failed(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> DataError {
    DataError::Export { format: "Parquet", cause: cause.into() }
}
