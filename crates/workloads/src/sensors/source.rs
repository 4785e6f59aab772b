//! Rows for every scale of a plan.

use std::path::Path;

use embermark_data::{Log, lab, sample, staged, synthetic};
use embermark_model::plan::{DataSource, Dataset};
use embermark_model::{Reading, Scale};

use crate::{Source, WorkloadError};

/// The rows that a plan asks for.
pub(super) enum Rows {
    /// All rows of a file, of which a scale is a stratified sample.
    File(Log),
    /// Rows for each scale from the seed.
    Synthetic {
        /// The seed.
        seed: u64,
    },
}

impl Rows {
    pub(super) fn open(data: &DataSource, seed: u64) -> Result<Self, WorkloadError> {
        Ok(match data {
            DataSource::File(path) => Self::File(lab::read(path)?),
            DataSource::Synthetic => Self::Synthetic { seed },
        })
    }
}

impl Source for Rows {
    fn stage(&self, scale: Scale, file: &Path) -> Result<Dataset, WorkloadError> {
        match (self, scale) {
            (Self::File(log), Scale::Full) => stage(file, &log.readings, &log.dataset),
            (Self::File(log), Scale::Rows(n)) => {
                let n = usize::try_from(n).unwrap_or(usize::MAX);
                stage(file, &sample::stratified(&log.readings, n)?, &log.dataset)
            }
            (Self::Synthetic { seed }, Scale::Rows(n)) => {
                let log = synthetic::sampled(n, *seed)?;
                stage(file, &log.readings, &log.dataset)
            }
            (Self::Synthetic { .. }, Scale::Full) => Err(WorkloadError::Endless),
        }
    }
}

fn stage(file: &Path, readings: &[Reading], of: &Dataset) -> Result<Dataset, WorkloadError> {
    staged::write(file, readings)?;
    let mut seen = vec![false; usize::from(u16::MAX) + 1];
    for reading in readings {
        seen[usize::from(reading.sensor)] = true;
    }
    let sensors = seen.into_iter().filter(|seen| *seen).count() as u64;
    Ok(Dataset { rows: readings.len() as u64, sensors, ..of.clone() })
}
