//! Counters of NVMe and SATA disks, by `smartctl --json` (smartmontools).

use std::path::Path;

use embermark_model::result::{WearCounter, WearUnit};
use serde::Deserialize;

use super::{Counted, counter};
use crate::program;

/// The program of smartmontools.
pub(super) const PROGRAM: &str = "smartctl";

/// Bytes of an NVMe data unit: 1,000 times 512 (NVM Express Base Specification, SMART / Health
/// Information).
const DATA_UNIT: f64 = 512_000.0;

/// The useful part of smartctl's output.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SmartctlOutput {
    smartctl: Smartctl,
    logical_block_size: Option<f64>,
    nvme_smart_health_information_log: Option<NvmeLog>,
    ata_smart_attributes: Option<Attributes>,
    ata_device_statistics: Option<Statistics>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Smartctl {
    messages: Vec<Message>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    string: String,
    severity: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NvmeLog {
    percentage_used: Option<f64>,
    data_units_written: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attributes {
    table: Vec<Attribute>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attribute {
    id: u32,
    name: String,
    value: Option<f64>,
    raw: Raw,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Raw {
    value: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Statistics {
    pages: Vec<Page>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Page {
    table: Vec<Statistic>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Statistic {
    name: String,
    value: Option<f64>,
}

/// Attributes whose normalised value falls from 100 to the remaining life, by number and by a word
/// in their name. Manufacturers give one number several meanings.
const LIFE_LEFT: [(u32, &str); 5] =
    [(177, "Wear_Leveling"), (202, "Life"), (231, "Life"), (232, "Endurance"), (233, "Wearout")];

pub(super) fn counters(program: &Path, device: &str) -> Counted {
    let output = program::output(program, &["--json", "-x", device])
        .map_err(|why| format!("the disk's counters need smartctl (smartmontools): {why}"))?;
    let said: SmartctlOutput = serde_json::from_slice(&output.stdout).map_err(|_| {
        format!("smartctl reported nothing about {device} as JSON, which needs version 7.0")
    })?;
    let counters: Vec<WearCounter> =
        said.nvme().chain(said.statistics()).chain(said.attributes()).collect();
    if !counters.is_empty() {
        return Ok(counters);
    }
    let errors = said.smartctl.messages.iter().filter(|message| message.severity == "error");
    let errors: Vec<&str> = errors.map(|message| message.string.as_str()).collect();
    let why = match errors.join("; ") {
        none if none.is_empty() => "it reports none".to_owned(),
        errors if errors.contains("Permission denied") => format!("{errors}; run as root"),
        errors => errors,
    };
    Err(format!("smartctl reports no wear counters of {device}: {why}"))
}

impl SmartctlOutput {
    fn nvme(&self) -> impl Iterator<Item = WearCounter> {
        let log = self.nvme_smart_health_information_log.as_ref();
        let used = log.and_then(|log| log.percentage_used);
        let written = log.and_then(|log| log.data_units_written);
        let used = used.map(|used| life("percentage_used", used));
        used.into_iter().chain(written.map(|units| bytes("data_units_written", units, DATA_UNIT)))
    }

    /// Returns the counters of a SATA disk with statistics.
    fn statistics(&self) -> impl Iterator<Item = WearCounter> {
        let value = |name: &str| {
            let pages = self.ata_device_statistics.iter().flat_map(|all| &all.pages);
            pages.flat_map(|page| &page.table).find(|of| of.name == name)?.value
        };
        let used =
            value("Percentage Used Endurance Indicator").map(|used| life("Percentage Used", used));
        let block = self.logical_block_size.unwrap_or(512.0);
        let written = value("Logical Sectors Written")
            .map(|sectors| bytes("Logical Sectors Written", sectors, block));
        used.into_iter().chain(written)
    }

    /// Returns the counters of a SATA disk with attributes only, whose meaning the manufacturer
    /// defines.
    fn attributes(&self) -> impl Iterator<Item = WearCounter> {
        let has = |name: &str| {
            let pages = self.ata_device_statistics.iter().flat_map(|all| &all.pages);
            pages.flat_map(|page| &page.table).any(|of| of.name == name && of.value.is_some())
        };
        let table = || self.ata_smart_attributes.iter().flat_map(|all| &all.table);
        let left = table().find_map(|of| {
            let is = |(id, word): &(u32, &str)| of.id == *id && of.name.contains(word);
            let left = of.value.filter(|_| LIFE_LEFT.iter().any(is))?;
            Some(life(&of.name, 100.0 - left))
        });
        let written = table().find(|of| of.id == 241 && of.name.contains("LBAs_Written"));
        let block = self.logical_block_size.unwrap_or(512.0);
        let written = written.and_then(|of| Some(bytes(&of.name, of.raw.value?, block)));
        let left = left.filter(|_| !has("Percentage Used Endurance Indicator"));
        let written = written.filter(|_| !has("Logical Sectors Written"));
        left.into_iter().chain(written)
    }
}

fn life(field: &str, percent: f64) -> WearCounter {
    counter("life used", format!("smartctl {field}"), WearUnit::Percent, 1.0, percent)
}

fn bytes(field: &str, units: f64, of: f64) -> WearCounter {
    counter("bytes written", format!("smartctl {field}"), WearUnit::Bytes, of, units * of)
}
