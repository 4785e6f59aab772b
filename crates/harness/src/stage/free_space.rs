//! Checks that rows fit on the disk and in memory before they are written.

use std::fs;
use std::path::Path;

use embermark_model::Scale;
use embermark_workloads::Source;

use crate::system::System;
use crate::{HarnessError, Result, disk};

/// Scales below this are staged without a check: a full disk is reported then.
const LARGE_SCALE: u64 = 1_000_000;

/// Number of rows of the sample that gives the length of a row.
const SAMPLE_ROWS: u64 = 1_000;

/// Compares the space for the rows of a workload, and at least one database of the largest scale,
/// with the free space on the disk. Also compares the rows of the largest scale, which a trial
/// holds in memory, with this machine's memory. The length of a row comes from a sample.
///
/// # Errors
/// If they do not fit, with both figures.
pub(super) fn check_space(
    source: &dyn Source,
    workload: &str,
    scales: &[Scale],
    dir: &Path,
) -> Result<()> {
    let rows = |scale: &Scale| match scale {
        Scale::Rows(rows) if *rows >= LARGE_SCALE => Some(*rows),
        _ => None,
    };
    let (all, largest) = (scales.iter().filter_map(rows), scales.iter().filter_map(rows).max());
    let Some(largest) = largest else { return Ok(()) };
    let rows: u64 = all.fold(largest, u64::saturating_add);
    // If the sample cannot be staged, the rows cannot either, and that is reported for their scale.
    let Some((sampled, counted)) = sample(source, workload, dir) else { return Ok(()) };
    let bytes = |rows: u64| (u128::from(rows) * u128::from(sampled)) / u128::from(counted);
    let needed = Needed { workload, rows: largest, disk: bytes(rows), memory: bytes(largest) };
    let memory = System::here().machine(dir).memory_bytes;
    needed
        .refusal(disk::free_bytes(dir), memory, dir)
        .map_or(Ok(()), |why| Err(HarnessError::Plan(why)))
}

/// Returns the size in bytes of a sample of a workload's rows, and its number of rows. A workload
/// may stage several files.
fn sample(source: &dyn Source, workload: &str, dir: &Path) -> Option<(u64, u64)> {
    let folder = dir.join(format!("{workload}-sample"));
    // If the folder cannot be created, staging fails.
    let _ = fs::create_dir(&folder);
    let staged = source.stage(Scale::Rows(SAMPLE_ROWS), &folder.join("rows"));
    let files = fs::read_dir(&folder).into_iter().flatten().flatten();
    let bytes = files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum();
    // If the sample cannot be removed, it is removed later with the folder.
    let _ = fs::remove_dir_all(&folder);
    Some((bytes, staged.ok()?.rows.max(1)))
}

/// What the rows of a workload need at its largest scale.
struct Needed<'a> {
    workload: &'a str,
    rows: u64,
    /// Disk space, including a database of the rows.
    disk: u128,
    /// Memory of each trial.
    memory: u128,
}

impl Needed<'_> {
    /// Explains why the rows do not fit. `None` if they do, or if free space and memory are
    /// unknown.
    fn refusal(&self, free: Option<u64>, memory: Option<u64>, dir: &Path) -> Option<String> {
        let Self { workload, rows, .. } = self;
        if let Some(free) = free.filter(|free| self.disk > u128::from(*free)) {
            return Some(format!(
                "{workload}: its rows and a database of {rows} rows take at least {:.1} GB, and {:.1} GB are \
                 free at {}: take a smaller --scale, or name a folder on a larger disk with --out",
                gigabytes(self.disk),
                gigabytes(free.into()),
                dir.display()
            ));
        }
        let memory = memory.filter(|memory| self.memory > u128::from(*memory))?;
        Some(format!(
            "{workload}: {rows} rows take {:.1} GB of memory in each trial, and this machine has {:.1} GB: \
             take a smaller --scale",
            gigabytes(self.memory),
            gigabytes(memory.into())
        ))
    }
}

fn gigabytes(bytes: u128) -> f64 {
    bytes as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_refused_with_both_figures() {
        let needed = Needed {
            workload: "sensors",
            rows: 50_000_000,
            disk: 5_000_000_000,
            memory: 2_400_000_000,
        };
        let of = |free, memory| needed.refusal(free, memory, Path::new("/out"));
        assert_eq!(of(Some(6_000_000_000), Some(3_000_000_000)), None);
        assert_eq!(of(None, None), None);
        let disk = of(Some(1_000_000_000), None).unwrap();
        assert!(disk.contains("at least 5.0 GB, and 1.0 GB are free at /out"), "{disk}");
        let memory = of(Some(6_000_000_000), Some(1_000_000_000)).unwrap();
        let both = "50000000 rows take 2.4 GB of memory in each trial, and this machine has 1.0 GB";
        assert!(memory.contains(both), "{memory}");
    }
}
