//! Opens DuckDB as a reader: in memory, and with access only to the files that it reads.

use std::path::{Path, PathBuf};

use embermark_libraries::duckdb::connection::Connection;
use embermark_libraries::duckdb::library::LIBRARY;

use super::options::list;
use crate::DataError;

/// Memory limit of DuckDB. With its further memory, such as its CSV buffers, the process stays
/// below 256 MiB.
pub(super) const MEMORY: u64 = 128 << 20;
/// Memory limit of DuckDB for JSON. It parses 2,048 objects at once, for which [`MEMORY`] is too
/// little if each has 20 kB. Short ones do not take more than with [`MEMORY`].
pub(super) const MEMORY_OF_JSON: u64 = 512 << 20;
/// Largest number of columns of delimited text. Most engines take fewer.
pub(super) const COLUMNS: u64 = 8_192;
/// Memory per column in bytes, for files with very many columns.
const MEMORY_PER_COLUMN: u64 = 256 << 10;
/// Bytes of CSV that are read at once.
pub(super) const BUFFER: usize = 4 << 20;

/// Number of buffers of a larger size that may be in use at once.
const LARGE_BUFFERS: u64 = 8;

/// Whether this option of a reader of delimited text determines the size of its buffer.
pub(super) fn sets_buffer(option: &str) -> bool {
    matches!(option, "buffer_size" | "max_line_size" | "maximum_line_size")
}

/// Returns how many bytes of memory a buffer of this size takes more than the usual one.
pub(super) fn further_memory(buffer: usize) -> u64 {
    LARGE_BUFFERS * buffer.saturating_sub(BUFFER) as u64
}

/// Returns the memory limit in bytes for delimited text with this beginning. `None` if it has more
/// columns than [`COLUMNS`].
pub(super) fn memory(head: &[u8]) -> Option<u64> {
    let line = head.split(|byte| *byte == b'\n' || *byte == b'\r').next().unwrap_or_default();
    let columns = line.iter().filter(|byte| b",;\t|".contains(byte)).count() as u64;
    (columns < COLUMNS).then(|| MEMORY.max(MEMORY_PER_COLUMN * columns))
}

/// Opens DuckDB. It may read these files and those below this folder, and its temporary files are
/// in `scratch`. It has no network access and loads no extensions
/// (<https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview>).
pub(super) fn open(
    files: &[PathBuf],
    folder: Option<&Path>,
    scratch: &Path,
    memory: u64,
) -> Result<Connection, DataError> {
    let library = LIBRARY.get().map_err(DataError::Reader)?;
    let settings = [
        ("memory_limit", format!("{}KiB", memory >> 10)),
        ("temp_directory", scratch.join("duckdb").to_string_lossy().into_owned()),
        ("autoinstall_known_extensions", "false".to_owned()),
        ("autoload_known_extensions", "false".to_owned()),
        ("allow_community_extensions", "false".to_owned()),
    ];
    let connection = Connection::open(&library.api, None, &settings).map_err(DataError::Reader)?;
    let locked = format!(
        "SET allowed_paths = {}; SET allowed_directories = {}; SET enable_external_access = false; \
         SET lock_configuration = true",
        list(files),
        list(folder.map(Path::to_owned).as_slice()),
    );
    connection.batch(&locked).map_err(DataError::Reader)?;
    Ok(connection)
}
