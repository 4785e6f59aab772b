//! Power inputs in `/sys/class/hwmon` (kernel documentation, `hwmon/sysfs-interface`): INA2xx and INA3221 of
//! boards, power supplies, graphics cards.

use std::path::{Path, PathBuf};

use super::source::{Found, Kind, Source};
use crate::machine::{System, read};

const FOLDER: &str = "sys/class/hwmon";

/// Where a power is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Microwatts.
    Power(PathBuf),
    /// Milliamperes and millivolts.
    Product(PathBuf, PathBuf),
}

impl Input {
    /// Watts now; `None` where it cannot be read.
    pub fn watts(&self) -> Option<f64> {
        let number = |path: &Path| read(path)?.parse::<f64>().ok();
        Some(match self {
            Self::Power(path) => number(path)? / 1e6,
            Self::Product(current, voltage) => number(current)? * number(voltage)? / 1e6,
        })
    }
}

/// Every input that can be read, each a source of its own: one may be part of another, and the labels
/// are the board maker's.
pub(super) fn find(system: &System) -> Found {
    let mut sources: Vec<Source> = Vec::new();
    for chip in system.entries(FOLDER) {
        let Some(name) = read(&chip.join("name")) else { continue };
        let powers = inputs(&chip, "power", &["_input", "_average"]);
        let is_ina = name.starts_with("ina");
        let own = if powers.is_empty() && is_ina { products(&chip) } else { powers };
        for (label, input) in own.into_iter().filter(|(_, input)| input.watts().is_some()) {
            let mut id = format!("{name} {label}");
            // Two chips of one kind.
            if sources.iter().any(|other| other.id == id) {
                let folder = chip.file_name().unwrap_or_default().to_string_lossy();
                id = format!("{folder} {id}");
            }
            let about = format!("{id} by hwmon");
            sources.push(Source {
                id,
                about,
                kind: Kind::Power(super::source::Power::Hwmon(input)),
            });
        }
    }
    let absent =
        if sources.is_empty() { vec![format!("no power input in /{FOLDER}")] } else { Vec::new() };
    Found { sources, absent }
}

/// The inputs of a kind by their labels, in the order of their numbers; of one with several files the
/// first.
fn inputs(chip: &Path, kind: &str, ends: &[&str]) -> Vec<(String, Input)> {
    let inputs = (1..=16).filter_map(|number| {
        let stem = format!("{kind}{number}");
        let file =
            ends.iter().map(|end| chip.join(format!("{stem}{end}"))).find(|path| path.exists())?;
        Some((read(&chip.join(format!("{stem}_label"))).unwrap_or(stem), Input::Power(file)))
    });
    inputs.collect()
}

/// Currents times the voltages of their channels.
fn products(chip: &Path) -> Vec<(String, Input)> {
    let channels = (1..=8).filter_map(|number| {
        let (current, voltage) =
            (chip.join(format!("curr{number}_input")), chip.join(format!("in{number}_input")));
        let there = current.exists() && voltage.exists();
        let label = [format!("in{number}_label"), format!("curr{number}_label")];
        let label = label.iter().find_map(|file| read(&chip.join(file)));
        there.then(|| {
            (label.unwrap_or_else(|| format!("channel {number}")), Input::Product(current, voltage))
        })
    });
    channels.collect()
}

#[cfg(test)]
mod tests;
