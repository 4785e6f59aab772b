//! Small devices whose limits this machine can imitate.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use embermark_model::choice::{self, UnknownName};
use embermark_model::result::Emulated;
use embermark_model::{Storage, StorageName};

use crate::HarnessError;
use crate::block_device;
use crate::system::{self, System};

/// A device as its manufacturer or a published comparison describes it. Sources of the figures:
/// `docs/memory.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Name on the command line.
    pub name: &'static str,
    /// Number of CPU cores.
    pub cores: u32,
    /// Clock rate of a core in MHz.
    pub mhz: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

const MIB: u64 = 1 << 20;

/// Every device that can be imitated: Raspberry Pi Zero W, Zero 2 W, 3 Model B, 3 Model B+, 4 Model
/// B with 4 GB, 5 with 8 GB, and Banana Pi M3.
pub static DEVICES: &[Device] = &[
    Device { name: "pi-zero", cores: 1, mhz: 1_000, memory_bytes: 512 * MIB },
    Device { name: "pi-zero2", cores: 4, mhz: 1_000, memory_bytes: 512 * MIB },
    Device { name: "pi3", cores: 4, mhz: 1_200, memory_bytes: 1_024 * MIB },
    Device { name: "pi3b-plus", cores: 4, mhz: 1_400, memory_bytes: 1_024 * MIB },
    Device { name: "pi4", cores: 4, mhz: 1_800, memory_bytes: 4_096 * MIB },
    Device { name: "pi5", cores: 4, mhz: 2_400, memory_bytes: 8_192 * MIB },
    Device { name: "bananapi-m3", cores: 8, mhz: 1_800, memory_bytes: 2_048 * MIB },
];

/// The usual storage of each of these boards, which is imitated if possible.
pub(crate) const STORAGE: &str = "sd-a1";

/// Minimum performance of a memory card of the SD Association's class A1: random reads and writes
/// per second, and sequential bytes per second. It limits this machine's disk if no storage is
/// imitated.
const CARD: &str = "riops=1500 wiops=500 wbps=10000000";

/// Interval in µs at which the kernel renews CPU time: the shortest period in which an engine runs
/// at full speed and then stops.
const PERIOD_US: u64 = 10_000;

/// Finds a device by name.
///
/// # Errors
/// If the name is unknown. The error names the nearest and all valid names.
pub fn find(name: &str) -> Result<&'static Device, UnknownName> {
    let found = DEVICES.iter().find(|device| device.name == name);
    found.ok_or_else(|| choice::unknown("device", name, DEVICES.iter().map(|d| d.name)))
}

impl Device {
    /// Returns the limits that reduce this machine's memory, CPU time and storage to the device's,
    /// by the names of cgroup v2's files. The databases are in `data`. The disk has limits if a
    /// cell of the plan uses it.
    ///
    /// # Errors
    /// If this machine has less than the device, so that it cannot be imitated.
    pub(crate) fn limits(
        &self,
        system: &System,
        data: &Path,
        storages: &[Option<Storage>],
    ) -> Result<Emulated, String> {
        let host = system.machine(data);
        if let Some(memory) = host.memory_bytes.filter(|memory| *memory < self.memory_bytes) {
            return Err(format!(
                "it has {} MB of memory, and this machine {} MB",
                self.memory_bytes / 1_000_000,
                memory / 1_000_000
            ));
        }
        // If the host's clock rate is unknown, only the number of cores can be compared.
        let clock = clock_mhz(system).map_or(1.0, |host| f64::from(self.mhz) / host);
        let cpus = f64::from(self.cores) * clock;
        if let Some(host) = host.cpus.filter(|host| f64::from(*host) < cpus) {
            return Err(format!(
                "its {} cores of {} MHz are {cpus:.1} CPUs of this machine, which has {host}",
                self.cores, self.mhz
            ));
        }
        let mut limits = BTreeMap::from([
            ("memory.max".to_owned(), self.memory_bytes.to_string()),
            ("memory.swap.max".to_owned(), "0".to_owned()),
            (
                "cpu.max".to_owned(),
                format!("{} {PERIOD_US}", (cpus * PERIOD_US as f64).round().max(1_000.0)),
            ),
        ]);
        let on_disk = storages.is_empty() || storages.contains(&None);
        if let Some(disk) = disk_of(system, data, host.device.as_deref()).filter(|_| on_disk) {
            limits.insert("io.max".to_owned(), format!("{disk} {CARD}"));
        }
        let storages = storages.iter().flatten().map(|storage| storage.name).collect();
        Ok(Emulated { device: self.name.to_owned(), limits, storages })
    }
}

/// Makes the error for a device that cannot be imitated here.
pub(crate) fn refused(device: &str, why: String) -> HarnessError {
    HarnessError::Plan(format!("--device {device} cannot be emulated here: {why}"))
}

/// Returns the warning about the limits of an emulation, for readers of its figures.
pub(crate) fn warning(emulated: &Emulated) -> String {
    let limits: Vec<String> =
        emulated.limits.iter().map(|(name, limit)| format!("{name} {limit}")).collect();
    let names: Vec<&str> = emulated.storages.iter().map(StorageName::as_str).collect();
    let imitated = format!("its storage is a model of {}, not a card", names.join(", "));
    let storage = match (names.is_empty(), emulated.limits.contains_key("io.max")) {
        (false, _) => imitated.as_str(),
        (true, true) => "its memory card is a class, not a card",
        (true, false) => "its storage is this machine's",
    };
    format!(
        "an emulation of {}, not the device: engines and servers ran on this machine under limits \
         ({}); a core of it is not slower than this machine's while its share of CPU time lasts, \
         caches and instructions are this machine's, and {storage}; measure on the device itself \
         before you decide",
        emulated.device,
        limits.join(", ")
    )
}

/// Returns the highest clock rate of this machine's CPUs in MHz.
fn clock_mhz(system: &System) -> Option<f64> {
    let most = system.cpus().into_iter().filter_map(|(_, cpu)| {
        let khz: f64 = system::read(&cpu.join("cpufreq/cpuinfo_max_freq"))?.parse().ok()?;
        Some(khz / 1_000.0)
    });
    let most = most.reduce(f64::max);
    let shown = || {
        let cpuinfo = system.text("proc/cpuinfo")?;
        let clocks = cpuinfo.lines().filter_map(|line| line.strip_prefix("cpu MHz"));
        let clocks = clocks.filter_map(|rest| rest.split_once(':')?.1.trim().parse::<f64>().ok());
        clocks.reduce(f64::max)
    };
    most.or_else(shown).filter(|mhz| *mhz > 0.0)
}

/// Returns `MAJOR:MINOR` of the whole disk below `data`, on which limits are set, not on a partition.
/// The file system of `data` was mounted from `source`. `None` if the disk cannot be found.
fn disk_of(system: &System, data: &Path, source: Option<&str>) -> Option<String> {
    let disk = block_device::find_disk(system, data.metadata().ok()?.dev(), source)?;
    system::read(&disk.join("dev"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nix::sys::stat::{major, minor};

    use super::*;

    fn host(mhz: &str, memory_kb: &str) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("proc")).unwrap();
        fs::write(tree.path().join("proc/cpuinfo"), format!("cpu MHz\t\t: {mhz}\n")).unwrap();
        fs::write(tree.path().join("proc/meminfo"), format!("MemTotal: {memory_kb} kB\n")).unwrap();
        tree
    }

    #[test]
    fn limits_are_the_devices_memory_and_its_share_of_this_machines_clock() {
        let tree = host("10000.0", "16000000");
        let limits = find("pi-zero").unwrap().limits(&System::at(tree.path()), Path::new("/"), &[]);
        let limits = limits.unwrap().limits;
        assert_eq!(limits["memory.max"], "536870912");
        assert_eq!(limits["memory.swap.max"], "0");
        // One core of 1,000 MHz on cores of 10,000.
        assert_eq!(limits["cpu.max"], "1000 10000");
        assert_eq!(limits.get("io.max"), None);
    }

    #[test]
    fn a_device_is_compared_with_the_fastest_of_this_machines_cpus() {
        let tree = host("1.0", "16000000");
        for (cpu, khz) in [("cpu0", "5000000"), ("cpu4", "10000000")] {
            let dir = tree.path().join("sys/devices/system/cpu").join(cpu).join("cpufreq");
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("cpuinfo_max_freq"), khz).unwrap();
        }
        assert_eq!(clock_mhz(&System::at(tree.path())), Some(10_000.0));
    }

    #[test]
    fn the_card_limits_the_disk_and_not_its_partition() {
        let tree = host("10000.0", "16000000");
        let data = tree.path().join("proc");
        let dev = data.metadata().unwrap().dev();
        let disk = tree.path().join("sys/devices/sda");
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::write(disk.join("dev"), "8:0\n").unwrap();
        fs::write(disk.join("sda1/dev"), "8:1\n").unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        let blocks = tree.path().join("sys/dev/block");
        fs::create_dir_all(&blocks).unwrap();
        let link = blocks.join(format!("{}:{}", major(dev), minor(dev)));
        std::os::unix::fs::symlink(disk.join("sda1"), link).unwrap();
        let limits = find("pi3").unwrap().limits(&System::at(tree.path()), &data, &[]).unwrap();
        assert_eq!(limits.limits["io.max"], "8:0 riops=1500 wiops=500 wbps=10000000");
        assert!(!warning(&limits).contains("storage is this machine's"));
        let card = [Some(embermark_storage::built_in(STORAGE).unwrap())];
        let limits = |storages: &[_]| {
            find("pi3").unwrap().limits(&System::at(tree.path()), &data, storages).unwrap()
        };
        let imitated = limits(&card);
        assert_eq!(imitated.limits.get("io.max"), None, "the imitated card has times of its own");
        assert!(warning(&imitated).contains("a model of sd-a1, not a card"));
        let [card] = card;
        assert!(limits(&[None, card]).limits.contains_key("io.max"));
    }

    #[test]
    fn a_machine_that_has_less_than_the_device_imitates_nothing() {
        let refusal = |tree: &tempfile::TempDir| {
            find("pi5").unwrap().limits(&System::at(tree.path()), Path::new("/"), &[]).unwrap_err()
        };
        assert!(refusal(&host("5000.0", "1000000")).contains("and this machine 1024 MB"));
        assert!(refusal(&host("1.0", "16000000")).contains("cores of 2400 MHz are"));
        assert!(find("pi33").unwrap_err().to_string().contains("did you mean 'pi3'?"));
    }
}
