//! Describes this device and what would disturb a measurement on it: `embermark doctor`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use embermark_model::result::{Machine, Wear, WearUnit};
use serde::Serialize;

use crate::block_device::{self, kind, name};
use crate::system::{System, read};
use crate::warnings::Warnings;
use crate::wear::{life_time, spare_blocks};
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
    let disk = disk_below(&system, data, machine.device.as_deref());
    let Warnings { all: mut warnings, passing } = manifest::warnings(&machine, data, 0);
    warnings.extend(disk.as_deref().and_then(disk_warning));
    warnings.extend(clock_warnings(&system));
    warnings.extend(power_warning(&system));
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
        ("storage", disk.map(describe_disk)),
        ("wear", disk.and_then(emmc_wear).or_else(|| wear(system, data))),
        (
            "files",
            file_system
                .as_ref()
                .map(|kind| files(&format!("{kind}{journal}"), mount_options.as_deref(), data)),
        ),
        ("governor", governor.clone()),
        ("heat", heat(system)),
        ("clock", describe_clock(system)),
        ("power", describe_power(system)),
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

/// Returns the directory in `/sys` of the disk that holds `data`, whose file system was mounted
/// from `source`.
fn disk_below(system: &System, data: &Path, source: Option<&str>) -> Option<PathBuf> {
    block_device::find_disk(system, fs::metadata(data).ok()?.dev(), source)
}

/// Describes a disk: kind, model, size, name and cache.
fn describe_disk(disk: &Path) -> String {
    let text = |file: &str| read(&disk.join(file));
    let mut words = vec![kind(disk).name().to_owned()];
    // For a card, the name that its manufacturer gave it.
    words.extend(text("device/model").or_else(|| text("device/name")));
    let mut said = vec![words.join(" ")];
    // In sectors of 512 bytes, whatever the disk's own (kernel documentation,
    // `ABI/stable/sysfs-block`).
    let sectors = text("size").and_then(|sectors| sectors.parse::<u64>().ok());
    said.extend(sectors.map(|sectors| size(sectors.saturating_mul(512))));
    said.push(format!("/dev/{}", name(disk)));
    said.extend(text("queue/write_cache").map(|cache| format!("its cache: {cache}")));
    said.join(", ")
}

/// Describes the wear that an eMMC reports, in steps of a tenth of its life. `life_time` covers two
/// types of cells, `pre_eol_info` the spare blocks (kernel documentation,
/// `driver-api/mmc/mmc-dev-attrs`; JESD84-B51, 7.4.40 and 7.4.41).
fn emmc_wear(disk: &Path) -> Option<String> {
    let (cells, spare) = (life_time(disk)?, spare_blocks(disk));
    let cells: Vec<_> = cells
        .into_iter()
        .map(|step| match step {
            1..=10 => format!("{} to {} %", (step - 1) * 10, step * 10),
            _ => "more than all".to_owned(),
        })
        .collect();
    let spare = spare.map_or("", |spare| match spare {
        1 => "; it has spare blocks",
        2 => "; four fifths of its spare blocks are used",
        _ => "; nearly all of its spare blocks are used",
    });
    Some(format!("{} of its life used{spare}", cells.join(" and ")))
}

/// Returns the warning about a worn disk.
fn disk_warning(disk: &Path) -> Option<String> {
    let worn = life_time(disk).is_some_and(|steps| steps.iter().any(|step| *step >= 10));
    (worn || spare_blocks(disk).is_some_and(|step| step >= 2)).then(|| {
        format!(
            "the disk is nearly worn out ({}): a worn one is slower, and fails; replace it",
            emmc_wear(disk).unwrap_or_default()
        )
    })
}

/// Clock sources that a program reads without a system call.
const FAST: [&str; 5] =
    ["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource"];

fn clock_source(system: &System) -> Option<String> {
    system.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// Returns the clock source, and whether the time of day is synchronised with another clock.
fn describe_clock(system: &System) -> Option<String> {
    let day = if is_synchronised() { "synchronised" } else { "not synchronised" };
    Some(format!("{}, time of day {day}", clock_source(system)?))
}

fn clock_warnings(system: &System) -> Vec<String> {
    let slow = clock_source(system).filter(|source| !FAST.contains(&source.as_str()));
    let slow = slow.map(|source| {
        format!(
            "the kernel's clock is '{source}', which an engine reads by a slow system call; find \
             out whether the kernel rejected the CPU's counter as unsteady (dmesg | grep \
             clocksource): embermark measures with that counter"
        )
    });
    let wrong = (!is_synchronised()).then(|| {
        "the time of day is not synchronised, so that results of several devices cannot be put in \
         order; start an NTP client (timedatectl set-ntp true). Durations do not depend on it"
            .to_owned()
    });
    slow.into_iter().chain(wrong).collect()
}

/// Reads what an NTP client has told the kernel (`adjtimex(2)`). In a container it is the host's
/// state.
fn is_synchronised() -> bool {
    // SAFETY: it consists of numbers, and all zeros request no change.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: it lives through the call.
    let answer = unsafe { libc::adjtimex(&mut state) };
    answer != libc::TIME_ERROR
}

/// Describes what supplies the machine, if it reports that.
fn describe_power(system: &System) -> Option<String> {
    let supplies = system.entries("sys/class/power_supply").into_iter().filter_map(|supply| {
        let text = |file: &str| read(&supply.join(file));
        // A mouse has a battery too.
        if text("scope").as_deref() == Some("Device") {
            return None;
        }
        match text("type")?.as_str() {
            "Battery" => {
                let charge = text("capacity").map_or(String::new(), |part| format!(" {part} %"));
                let status = text("status").unwrap_or_default().to_lowercase();
                Some(format!("battery{charge}, {status}"))
            }
            "Mains" | "USB" => {
                let supplies = text("online").is_some_and(|online| online != "0");
                Some(if supplies { "plugged in" } else { "not plugged in" }.to_owned())
            }
            _ => None,
        }
    });
    let mut said: Vec<String> = supplies.collect();
    said.dedup();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Returns what a Raspberry Pi's firmware has detected since boot.
fn power_warning(system: &System) -> Option<String> {
    let seen = throttle::since_boot(system)?;
    Some(format!(
        "the firmware reports that since the machine started {seen}: take a stronger power supply, a \
         shorter cable, or cool it"
    ))
}

#[cfg(test)]
mod tests;
