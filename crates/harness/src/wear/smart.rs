//! Counters of NVMe and SATA disks, by `smartctl --json` (smartmontools).

use std::path::Path;

use embermark_model::result::{WearCounter, WearUnit};
use serde_json::Value;

use super::{Counted, counter};
use crate::program;

/// The program of smartmontools.
pub(super) const PROGRAM: &str = "smartctl";

/// Bytes of an NVMe data unit: 1,000 times 512 (NVM Express Base Specification, SMART / Health
/// Information).
const DATA_UNIT: f64 = 512_000.0;

/// Attributes whose normalised value falls from 100 to the remaining life, by number and by a word
/// in their name. Manufacturers give one number several meanings.
const LIFE_LEFT: [(u64, &str); 5] =
    [(177, "Wear_Leveling"), (202, "Life"), (231, "Life"), (232, "Endurance"), (233, "Wearout")];

pub(super) fn counters(program: &Path, device: &str) -> Counted {
    let output = program::output(program, &["--json", "-x", device])
        .map_err(|why| format!("the disk's counters need smartctl (smartmontools): {why}"))?;
    let said: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        format!("smartctl reported nothing about {device} as JSON, which needs version 7.0")
    })?;
    let counters: Vec<WearCounter> = nvme(&said).into_iter().chain(sata(&said)).flatten().collect();
    if !counters.is_empty() {
        return Ok(counters);
    }
    let messages = list(&said["smartctl"]["messages"]);
    let errors = messages.filter(|message| message["severity"] == "error");
    let errors: Vec<&str> = errors.filter_map(|message| message["string"].as_str()).collect();
    let why = match errors.join("; ") {
        none if none.is_empty() => "it reports none".to_owned(),
        errors if errors.contains("Permission denied") => format!("{errors}; run as root"),
        errors => errors,
    };
    Err(format!("smartctl reports no wear counters of {device}: {why}"))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the used life and the written bytes of an NVMe disk.
fn nvme(said: &Value) -> [Option<WearCounter>; 2] {
    let log = &said["nvme_smart_health_information_log"];
    let written = log["data_units_written"].as_f64();
    [
        log["percentage_used"].as_f64().map(|used| life("percentage_used", used)),
        written.map(|units| bytes("data_units_written", units, DATA_UNIT)),
    ]
}

/// Returns the used life and the written bytes of a SATA disk: from its statistics, or else from
/// its attributes, whose meaning the manufacturer defines.
fn sata(said: &Value) -> [Option<WearCounter>; 2] {
    let block = said["logical_block_size"].as_f64().unwrap_or(512.0);
    let statistic = |name: &str| {
        let mut pages = list(&said["ata_device_statistics"]["pages"]);
        pages.find_map(|page| list(&page["table"]).find(|of| of["name"] == name))?["value"].as_f64()
    };
    let attributes = || list(&said["ata_smart_attributes"]["table"]);
    let life_left = || {
        attributes().find_map(|of| {
            let name = of["name"].as_str()?;
            let is = |(id, word): &(u64, &str)| of["id"] == *id && name.contains(word);
            let left = of["value"].as_f64().filter(|_| LIFE_LEFT.iter().any(is))?;
            Some(life(name, 100.0 - left))
        })
    };
    let blocks_written = || {
        let mut of_writes = attributes().filter(|of| of["id"] == 241_u64);
        of_writes.find_map(|of| {
            let name = of["name"].as_str().filter(|name| name.contains("LBAs_Written"))?;
            Some(bytes(name, of["raw"]["value"].as_f64()?, block))
        })
    };
    let used = statistic("Percentage Used Endurance Indicator");
    let written = statistic("Logical Sectors Written");
    [
        used.map(|used| life("Percentage Used", used)).or_else(life_left),
        written
            .map(|sectors| bytes("Logical Sectors Written", sectors, block))
            .or_else(blocks_written),
    ]
}

fn life(field: &str, percent: f64) -> WearCounter {
    counter("life used", format!("smartctl {field}"), WearUnit::Percent, 1.0, percent)
}

fn bytes(field: &str, units: f64, of: f64) -> WearCounter {
    counter("bytes written", format!("smartctl {field}"), WearUnit::Bytes, of, units * of)
}
