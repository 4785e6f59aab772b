//! A prepared cell of the machine workload, and what is staged for it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use embermark_data::DataError;
use embermark_model::Scale;
use embermark_model::plan::Dataset;

use super::machine_log::{Form, Layout};
use crate::{Source, Spec, WorkloadError};

/// Samples of the scale `full`: as many as the workload's source has.
const PUBLISHED: u64 = 1_200_000;

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub spec: Spec,
    pub layout: Layout,
    pub form: Form,
    pub samples: u64,
}

/// Samples that a worker generates from the seed. Only their number is staged.
pub(super) struct GeneratedSamples {
    pub seed: u64,
}

impl Source for GeneratedSamples {
    fn stage(&self, scale: Scale, file: &Path) -> Result<Dataset, WorkloadError> {
        let rows = if let Scale::Rows(rows) = scale { rows } else { PUBLISHED };
        fs::write(file, rows.to_string())
            .map_err(|cause| DataError::Unwritable { path: file.to_owned(), cause })?;
        let name = format!("synthetic machine (seed {})", self.seed);
        Ok(Dataset { name, rows, ..Dataset::default() })
    }
}

/// Reads what [`GeneratedSamples`] staged: the number of samples.
pub(super) fn staged(file: &Path) -> Result<u64, WorkloadError> {
    let unreadable = |cause| DataError::Unreadable { path: file.to_owned(), cause };
    let text = fs::read_to_string(file).map_err(unreadable)?;
    Ok(text.parse::<u64>().map_err(|_| unreadable(ErrorKind::InvalidData.into()))?)
}
