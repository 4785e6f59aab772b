//! Rows that a worker generates from a seed. Only their number and the seed are staged.

use std::fs;
use std::path::Path;

use embermark_data::DataError;
use embermark_model::Scale;
use embermark_model::plan::Dataset;

use crate::{Source, WorkloadError};

/// Rows of a workload that generates them.
pub(crate) struct GeneratedRows {
    /// Name of the rows, for the manifest.
    pub name: &'static str,
    pub seed: u64,
    /// Rows of the scale `full`: as many as the workload's source has.
    pub published: u64,
}

impl Source for GeneratedRows {
    fn stage(&self, scale: Scale, file: &Path) -> Result<Dataset, WorkloadError> {
        let rows = match scale {
            Scale::Rows(rows) => rows,
            Scale::Full => self.published,
        };
        let seed = self.seed;
        fs::write(file, format!("{rows} {seed}\n"))
            .map_err(|cause| DataError::Unwritable { path: file.to_owned(), cause })?;
        Ok(Dataset {
            name: format!("{} (seed {seed})", self.name),
            file: None,
            sha256: None,
            rows,
            sensors: 0,
            dropped: Default::default(),
            remarks: Default::default(),
        })
    }
}

/// Reads what [`GeneratedRows`] staged: the number of rows and the seed.
pub(crate) fn read(file: &Path) -> Result<(u64, u64), WorkloadError> {
    let unreadable = |cause| DataError::Unreadable { path: file.to_owned(), cause };
    let text = fs::read_to_string(file).map_err(unreadable)?;
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(rows)), Some(Ok(seed))) => Ok((rows, seed)),
        _ => Err(unreadable(std::io::ErrorKind::InvalidData.into()).into()),
    }
}
