//! Outcome of a fleet's last run, and where the results are.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use embermark_model::result::Cell;
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::error::at;
use crate::{FleetError, Outcome, Result, plan};

/// First bytes of a gzip file (RFC 1952).
const GZIP: &[u8] = &[0x1f, 0x8b];

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

/// Returns the file of a device's result, which may have been compressed since. `None` if there is
/// none.
pub(crate) fn result_of(fleet: &Path, device: &str, plan: &str) -> Option<PathBuf> {
    let folder = fleet.join(FOLDER).join(device).join(plan);
    let files = ["result.json", "result.json.gz"].map(|name| folder.join(name));
    files.into_iter().find(|file| file.is_file())
}

/// Returns the exit status of the run whose result was fetched from a device: 1 if a cell was wrong,
/// failed or timed out, and otherwise 0. It is read from the result, because `last.json` has only
/// one plan, and nothing of a run that was interrupted. `None` if there is no result, or one that
/// cannot be read, such as a part of one: it must be fetched again.
pub(crate) fn fetched_status(fleet: &Path, device: &str, plan: &str) -> Option<u8> {
    #[derive(Deserialize)]
    struct Cells {
        cells: Vec<Cell>,
    }
    let mut text = fs::read(result_of(fleet, device, plan)?).ok()?;
    if text.starts_with(GZIP) {
        let compressed = std::mem::take(&mut text);
        MultiGzDecoder::new(&compressed[..]).read_to_end(&mut text).ok()?;
    }
    let Cells { cells } = serde_json::from_slice(&text).ok()?;
    Some(u8::from(cells.iter().any(Cell::has_failure)))
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

/// Returns the result files of the fleet's current plan, by the device's name in the inventory.
///
/// # Errors
/// If the folder is not a fleet, or cannot be read.
pub fn measured_devices(fleet: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let plan = plan::id(fleet)?;
    let Ok(entries) = fs::read_dir(fleet.join(FOLDER)) else { return Ok(BTreeMap::new()) };
    let mut found = BTreeMap::new();
    for entry in entries {
        let device = entry.map_err(at(fleet))?.file_name().to_string_lossy().into_owned();
        let result = result_of(fleet, &device, &plan);
        found.extend(result.map(|result| (device, result)));
    }
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

    #[test]
    fn the_outcome_of_an_older_version_is_read() {
        let old = r#"{"device": "roof", "outcome": "done-before"}"#;
        let old: DeviceOutcome = serde_json::from_str(old).unwrap();
        assert_eq!(old.outcome, Outcome::DoneBefore { status: 0 });
        let new = DeviceOutcome { outcome: Outcome::DoneBefore { status: 1 }, ..old };
        let text = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<DeviceOutcome>(&text).unwrap(), new);
    }

    #[test]
    fn a_result_says_whether_a_cell_was_wrong_and_a_part_of_one_is_none() {
        let fleet = tempfile::tempdir().unwrap();
        let fleet = fleet.path();
        let folder = fleet.join(FOLDER).join("roof/a");
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(fetched_status(fleet, "roof", "a"), None);
        let result = |statuses: &str| {
            let id = serde_json::json!({
                "workload": "sensors", "scale": "300", "durability": "process",
                "variant": "single", "engine": "sqlite",
            });
            let cell = |status: &str| serde_json::json!({ "id": id, "status": status });
            let cells: Vec<_> = statuses.split(' ').map(cell).collect();
            serde_json::json!({ "schema": 4, "cells": cells }).to_string()
        };
        let file = folder.join("result.json");
        for (statuses, status) in
            [("ok unsupported capped", 0), ("ok wrong", 1), ("failed ok", 1), ("timed-out", 1)]
        {
            fs::write(&file, result(statuses)).unwrap();
            assert_eq!(fetched_status(fleet, "roof", "a"), Some(status), "{statuses}");
        }
        let whole = result("wrong");
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(fetched_status(fleet, "roof", "a"), None);

        // The user has compressed it.
        fs::remove_file(&file).unwrap();
        let gz = fs::File::create(folder.join("result.json.gz")).unwrap();
        let mut gz = flate2::write::GzEncoder::new(gz, flate2::Compression::fast());
        std::io::Write::write_all(&mut gz, whole.as_bytes()).unwrap();
        gz.finish().unwrap();
        assert_eq!(fetched_status(fleet, "roof", "a"), Some(1));
    }
}
