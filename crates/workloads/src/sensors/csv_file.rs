//! The rows as a CSV file, which the variant `csv` loads.

use std::path::{Path, PathBuf};

use embermark_contract::sql::CsvFile;
use embermark_contract::{EngineError, Result};
use embermark_data::{DataError, loadable};
use embermark_model::Reading;
use tempfile::TempDir;

/// A file in a folder of its own, which goes away with this.
pub(super) struct CsvRows {
    file: PathBuf,
    _folder: TempDir,
}

impl CsvRows {
    /// Writes rows to a file beside the `staged` ones.
    pub(super) fn write(rows: &[Reading], staged: &Path) -> std::result::Result<Self, DataError> {
        let beside = staged.parent().unwrap_or(Path::new("."));
        let folder = |beside: &Path| {
            tempfile::Builder::new().prefix("csv-").tempdir_in(beside.canonicalize()?)
        };
        let folder = folder(beside)
            .map_err(|cause| DataError::Unwritable { path: beside.to_owned(), cause })?;
        let file = folder.path().join("readings.csv");
        loadable::write(&file, rows)?;
        Ok(Self { file, _folder: folder })
    }

    /// The file, for an engine that loads it by itself.
    pub(super) fn file(&self) -> CsvFile<'_> {
        CsvFile { path: &self.file, columns: &loadable::COLUMNS }
    }

    /// Every row, parsed, for the bulk path of one that does not.
    pub(super) fn parse(&self) -> Result<Vec<Reading>> {
        let failed = |error| EngineError::failed("the workload", "read its CSV file", error);
        loadable::read(&self.file).map_err(failed)
    }
}
