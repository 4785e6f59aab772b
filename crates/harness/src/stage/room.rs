//! Whether rows fit on the disk and in memory, before they are written.

use std::fs;
use std::path::Path;

use embermark_model::Scale;
use embermark_workloads::Source;

use super::failed;
use crate::machine::System;
use crate::{HarnessError, disk};

/// Scales below this are staged without a look at the disk: it says so itself when it is full.
const LARGE: u64 = 1_000_000;

/// Rows of the sample that says how long a row is.
const SAMPLE: u64 = 10_000;

/// Compares what the rows of a workload take, and a database of the largest scale at least, with what
/// is free on the disk, and the rows of the largest scale, which a trial holds in memory, with this
/// machine's. How long a row is a sample says.
///
/// # Errors
/// When it is more: with both figures.
pub(super) fn check(
    source: &dyn Source,
    workload: &str,
    scales: &[Scale],
    dir: &Path,
) -> Result<(), HarnessError> {
    let rows = |scale: &Scale| match scale {
        Scale::Rows(rows) if *rows >= LARGE => Some(*rows),
        _ => None,
    };
    let (all, largest) = (scales.iter().filter_map(rows), scales.iter().filter_map(rows).max());
    let Some(largest) = largest else { return Ok(()) };
    let rows: u64 = all.fold(largest, u64::saturating_add);
    let (file, scale) = (dir.join(format!("{workload}-sample.rows")), Scale::Rows(SAMPLE));
    let staged = source.stage(scale, &file).map_err(|error| failed(workload, scale, error));
    let sampled = file.metadata().map_or(0, |meta| meta.len());
    // Where it stays it goes with the folder.
    let _ = fs::remove_file(&file);
    let counted = staged?.rows.max(1);
    let bytes = |rows: u64| (u128::from(rows) * u128::from(sampled)) / u128::from(counted);
    let needed = bytes(rows);
    if let Some(memory) = System::here().machine(dir).memory_bytes
        && bytes(largest) > u128::from(memory)
    {
        return Err(HarnessError::Plan(too_large(workload, largest, bytes(largest), memory)));
    }
    match disk::free_bytes(dir) {
        Some(free) if needed > u128::from(free) => {
            Err(HarnessError::Plan(refusal(workload, largest, needed, free, dir)))
        }
        _ => Ok(()),
    }
}

fn gigabytes(bytes: u128) -> f64 {
    bytes as f64 / 1e9
}

fn too_large(workload: &str, rows: u64, needed: u128, memory: u64) -> String {
    format!(
        "{workload}: {rows} rows take {:.1} GB of memory in each trial, and this machine has {:.1} GB: take \
         a smaller --scale",
        gigabytes(needed),
        gigabytes(memory.into())
    )
}

fn refusal(workload: &str, rows: u64, needed: u128, free: u64, dir: &Path) -> String {
    format!(
        "{workload}: its rows and a database of {rows} rows take at least {:.1} GB, and {:.1} GB are \
         free at {}: take a smaller --scale, or name a folder on a larger disk with --out",
        gigabytes(needed),
        gigabytes(free.into()),
        dir.display()
    )
}
