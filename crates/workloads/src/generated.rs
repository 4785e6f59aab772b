//! Rows that a worker makes for itself from the seed: what is staged is how many, and the seed.

use std::fs;
use std::path::Path;

use embermark_data::DataError;
use embermark_model::Scale;
use embermark_model::plan::Dataset;

use crate::{Source, WorkloadError};

/// The rows of a workload that makes its own.
pub(crate) struct GeneratedRows {
    /// What they are, for the manifest.
    pub name: &'static str,
    pub seed: u64,
    /// Rows of the scale `full`: those of the workload's source.
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

/// How many rows to make, and from which seed: what [`GeneratedRows`] staged.
pub(crate) fn read(file: &Path) -> Result<(u64, u64), WorkloadError> {
    let unreadable = |cause| DataError::Unreadable { path: file.to_owned(), cause };
    let text = fs::read_to_string(file).map_err(unreadable)?;
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(rows)), Some(Ok(seed))) => Ok((rows, seed)),
        _ => Err(unreadable(std::io::ErrorKind::InvalidData.into()).into()),
    }
}
