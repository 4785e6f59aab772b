//! Outcome of a fleet's last run, and where the results are.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::at;
use crate::{FleetError, Outcome, Result, plan};

/// Folder of a fleet's results: `DEVICE/PLAN/result.json`, or `result.json.gz`.
pub(crate) const FOLDER: &str = "results";

/// The last run of a fleet, in `results/last.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetRun {
    /// Name of the plan.
    pub plan: String,
    /// Every device, in the order of names.
    pub devices: Vec<DeviceOutcome>,
}

/// A device and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceOutcome {
    /// Name in the inventory.
    pub device: String,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// A device that has a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredDevice {
    /// Name in the inventory.
    pub device: String,
    /// Path of its result file.
    pub result: PathBuf,
}

/// Returns the file of a device's result, which may have been compressed since. `None` if there is
/// none.
pub(crate) fn result_of(fleet: &Path, device: &str, plan: &str) -> Option<PathBuf> {
    let folder = fleet.join(FOLDER).join(device).join(plan);
    let files = ["result.json", "result.json.gz"].map(|name| folder.join(name));
    files.into_iter().find(|file| file.is_file())
}

/// Records the outcome of a run. Devices that it left out keep their outcome of the same plan.
pub(crate) fn write(fleet: &Path, run: &FleetRun) -> Result<()> {
    let mut all = run.clone();
    let before = last_run(fleet)?.into_iter().flat_map(|last| last.devices);
    all.devices.extend(before.filter(|one| run.devices.iter().all(|new| new.device != one.device)));
    all.devices.sort_by(|a, b| a.device.cmp(&b.device));
    let path = fleet.join(FOLDER).join("last.json");
    // Whole, or not at all: a run that is killed meanwhile leaves the file of the last one.
    let readable = fs::Permissions::from_mode(0o644);
    let new = tempfile::Builder::new().permissions(readable).tempfile_in(fleet.join(FOLDER));
    let mut new = new.map_err(at(&path))?;
    serde_json::to_writer_pretty(&mut new, &all)
        .map_err(|error| FleetError::File(path.clone(), error.into()))?;
    new.persist(&path).map(drop).map_err(|error| at(&path)(error.error))
}

/// Returns the outcome of the last runs. `None` if there was none of this plan.
///
/// # Errors
/// If the plan or the file cannot be read.
pub fn last_run(fleet: &Path) -> Result<Option<FleetRun>> {
    let path = fleet.join(FOLDER).join("last.json");
    let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
    let last: FleetRun = serde_json::from_str(&text)
        .map_err(|error| FleetError::File(path, std::io::Error::other(error)))?;
    Ok((last.plan == plan::id(fleet)?).then_some(last))
}

/// Returns the devices with a result of the fleet's current plan, in the order of names.
///
/// # Errors
/// If the folder is not a fleet, or cannot be read.
pub fn measured_devices(fleet: &Path) -> Result<Vec<MeasuredDevice>> {
    let plan = plan::id(fleet)?;
    let Ok(entries) = fs::read_dir(fleet.join(FOLDER)) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let device = entry.map_err(at(fleet))?.file_name().to_string_lossy().into_owned();
        if let Some(result) = result_of(fleet, &device, &plan) {
            found.push(MeasuredDevice { device, result });
        }
    }
    found.sort_by(|a, b| a.device.cmp(&b.device));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_some_devices_leaves_what_the_others_had_and_another_plan_nothing() {
        let fleet = tempfile::tempdir().unwrap();
        let fleet = fleet.path();
        crate::init(&fleet.join("a"), None).unwrap();
        let fleet = fleet.join("a");
        fs::create_dir_all(fleet.join(FOLDER)).unwrap();
        let failed = |device: &str, why: &str| DeviceOutcome {
            device: device.to_owned(),
            outcome: Outcome::Failed { why: why.to_owned() },
        };
        let run = |devices| FleetRun { plan: plan::id(&fleet).unwrap(), devices };
        assert_eq!(last_run(&fleet).unwrap(), None);
        write(&fleet, &run(vec![failed("attic", "full"), failed("roof", "hot")])).unwrap();
        write(&fleet, &run(vec![failed("attic", "still full")])).unwrap();
        let known = last_run(&fleet).unwrap().unwrap().devices;
        assert_eq!(known, [failed("attic", "still full"), failed("roof", "hot")]);
        fs::write(fleet.join("plan/plan.toml"), "engines = [\"redb\"]\n").unwrap();
        assert_eq!(last_run(&fleet).unwrap(), None);
    }
}
