//! Describes this device and what would disturb a measurement on it: `embermark doctor`.

mod clock;
mod power;
mod storage;

use std::path::Path;

use embermark_model::result::{Machine, Wear, WearUnit};
use serde::Serialize;

use crate::system::{System, read};
use crate::warnings::Warnings;
use crate::{disk, energy, manifest, throttle, wear};

/// What was found out about a device.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// Facts about the device, in the order to show them. What it does not report is absent.
    pub facts: Vec<Fact>,
    /// What would disturb a measurement, each with what to do about it, most serious first.
    pub warnings: Vec<String>,
    /// Disturbances that may pass after a while, in a few words: the work of other programs, heat.
    pub passing: Vec<String>,
    /// Sector size of the disk in bytes, as it reports.
    pub sector_bytes: Option<u32>,
}

/// A fact in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Subject of the fact.
    pub name: &'static str,
    /// Value with its unit.
    pub value: String,
}

/// Examines this device, whose databases would be in the directory `data`. Takes a quarter of a
/// second, in which the work of other programs is measured.
pub fn inspect(data: &Path) -> Findings {
    let system = System::here();
    let machine = system.machine(data);
    let disk = storage::disk_below(&system, data, machine.device.as_deref());
    let Warnings { all: mut warnings, passing } = manifest::warnings(&machine, data, 0);
    warnings.extend(disk.as_deref().and_then(storage::warning));
    warnings.extend(clock::warnings(&system));
    warnings.extend(power::warnings(&system));
    let sector = disk.as_deref().map(|disk| disk.join("queue/physical_block_size"));
    let sector_bytes = sector.and_then(|sector| read(&sector)?.parse().ok());
    let facts = facts(&system, &machine, data, disk.as_deref());
    let facts = facts.into_iter().filter_map(|(name, value)| Some(Fact { name, value: value? }));
    Findings { facts: facts.collect(), warnings, passing, sector_bytes }
}

fn facts(
    system: &System,
    machine: &Machine,
    data: &Path,
    disk: Option<&Path>,
) -> [(&'static str, Option<String>); 16] {
    let Machine { file_system, mount_options, journal, governor, .. } = machine;
    let journal = if *journal == Some(false) { " without a journal" } else { "" };
    [
        ("device", machine.board.clone()),
        ("cpu", cpu(machine)),
        ("memory", machine.memory_bytes.map(|bytes| memory(bytes, system.swap_used()))),
        ("pages", machine.page_bytes.map(|bytes| format!("{} KiB", bytes >> 10))),
        ("limits", machine.limits_in_words().map(|limits| format!("{limits} (cgroup)"))),
        ("system", machine.os.clone()),
        ("kernel", machine.kernel.clone()),
        ("storage", disk.map(storage::describe)),
        ("wear", disk.and_then(storage::wear).or_else(|| wear(system, data))),
        (
            "files",
            file_system
                .as_ref()
                .map(|kind| files(&format!("{kind}{journal}"), mount_options.as_deref(), data)),
        ),
        ("governor", governor.clone()),
        ("heat", heat(system)),
        ("clock", clock::describe(system)),
        ("power", power::describe(system)),
        ("energy", Some(energy(system))),
        ("load", machine.load.map(|load| format!("{load} processes, mean of the last minute"))),
    ]
}

/// Returns the wear that a disk other than an eMMC reports, or why it reports none.
fn wear(system: &System, data: &Path) -> Option<String> {
    let Wear { counters, not_counted, .. } = wear::read(system, data);
    let counters = counters.into_iter().map(|of| {
        let value = match of.unit {
            WearUnit::Percent => format!("{} % of its life used", of.before),
            WearUnit::Bytes => format!("{} written", size(of.before as u64)),
            WearUnit::Step => format!("step {} of 3", of.before),
        };
        format!("{value} ({})", of.source)
    });
    let said: Vec<String> = counters.chain(not_counted).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Describes what measures energy, or why nothing does.
fn energy(system: &System) -> String {
    let found = energy::find(system);
    let sources: Vec<String> = found.sources.into_iter().map(|source| source.about).collect();
    match sources.is_empty() {
        true => format!("not measured: {}; a meter's record can be used", found.absent.join("; ")),
        false => sources.join("; "),
    }
}

fn cpu(machine: &Machine) -> Option<String> {
    let arch = std::env::consts::ARCH;
    let cpus = machine.cpus.map_or(String::new(), |cpus| format!(", {cpus} CPUs"));
    Some(format!("{}{cpus}, {arch}", machine.cpu.as_deref()?))
}

fn memory(bytes: u64, swap: Option<u64>) -> String {
    let swap = swap.filter(|used| *used > 0);
    let swap = swap.map_or(String::new(), |used| format!(", {} of swap in use", size(used)));
    format!("{}{swap}", size(bytes))
}

fn files(kind: &str, options: Option<&str>, data: &Path) -> String {
    let options = options.map_or(String::new(), |options| format!(" ({options})"));
    let free = disk::free_bytes(data);
    let free = free.map_or(String::new(), |free| format!(", {} free", size(free)));
    format!("{kind}{options} at {}{free}", data.display())
}

/// Returns the zones that report their temperature.
fn heat(system: &System) -> Option<String> {
    let zones = throttle::temperatures(system).into_iter();
    let zones: Vec<_> = zones.map(|(name, degrees)| format!("{name} {degrees} °C")).collect();
    (!zones.is_empty()).then(|| zones.join(", "))
}

/// Formats a number of bytes.
fn size(bytes: u64) -> String {
    match bytes as f64 / f64::from(1 << 20) {
        mib if mib < 1024.0 => format!("{mib:.0} MiB"),
        mib => format!("{:.1} GiB", mib / 1024.0),
    }
}

#[cfg(test)]
mod tests;
