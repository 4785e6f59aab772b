//! Facts about the machine, from `/proc`, `/sys` and `/etc`. What cannot be read is absent.

use std::path::{Path, PathBuf};

use embermark_model::result::Machine;
use nix::unistd::{SysconfVar, sysconf};

use crate::cgroup;
use crate::system::{System, read};

impl System {
    /// Describes the machine now, with the file system that holds `data`, an absolute path.
    pub fn machine(&self, data: &Path) -> Machine {
        let cpuinfo = self.text("proc/cpuinfo").unwrap_or_default();
        let mount = self.text("proc/self/mountinfo").and_then(|mounts| mount_of(&mounts, data));
        let (file_system, mount_options, device) = match mount {
            Some(mount) => (Some(mount.file_system), Some(mount.options), Some(mount.device)),
            None => (None, None, None),
        };
        Machine {
            board: self.model(&cpuinfo),
            cpu: cpu_model(&cpuinfo)
                // On ARM the board says more than the kernel's name of the core.
                .or_else(|| self.board()),
            cpus: std::thread::available_parallelism().ok().map(|n| n.get() as u32),
            memory_bytes: self.meminfo("MemTotal"),
            page_bytes: sysconf(SysconfVar::PAGE_SIZE)
                .ok()
                .flatten()
                .and_then(|n| n.try_into().ok()),
            limits: cgroup::limits(self),
            kernel: self
                .text("proc/sys/kernel/ostype")
                .zip(self.text("proc/sys/kernel/osrelease"))
                .map(|(name, release)| format!("{name} {release}")),
            os: self.text("etc/os-release").and_then(|release| os_name(&release)),
            governor: self.governor(),
            load: self.text("proc/loadavg").and_then(|l| l.split(' ').next()?.parse().ok()),
            file_system,
            mount_options,
            journal: device.as_deref().and_then(|device| self.journal(device)),
            device,
            emulates: None,
        }
    }

    /// Returns the frequency governor of the CPUs. They may have different ones.
    fn governor(&self) -> Option<String> {
        let governor = |(_, cpu): (usize, PathBuf)| read(&cpu.join("cpufreq/scaling_governor"));
        let mut governors: Vec<String> = self.cpus().into_iter().filter_map(governor).collect();
        governors.sort();
        governors.dedup();
        (!governors.is_empty()).then(|| governors.join(", "))
    }

    /// Returns the board that the device tree names, on ARM and similar systems.
    pub fn board(&self) -> Option<String> {
        self.text("proc/device-tree/model").map(|model| model.replace('\0', ""))
    }

    /// Returns the firmware's name of the board or machine, and whether it is virtual.
    fn model(&self, cpuinfo: &str) -> Option<String> {
        let firmware = |name: &str| self.text(Path::new("sys/class/dmi/id").join(name));
        let board = self.board().or_else(|| {
            let product = firmware("product_name")?;
            let vendor = firmware("sys_vendor");
            Some(vendor.map_or(product.clone(), |vendor| format!("{vendor} {product}")))
        });
        let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        let is_virtual = flags.split(' ').any(|flag| flag == "hypervisor");
        match (board, is_virtual) {
            (Some(board), true) => Some(format!("{board} (a virtual machine)")),
            (None, true) => Some("a virtual machine".to_owned()),
            (board, false) => board,
        }
    }

    /// Whether the ext4 file system on a device has a journal, which shows as the thread that
    /// writes it (`Documentation/ABI/testing/sysfs-fs-ext4`).
    fn journal(&self, device: &str) -> Option<bool> {
        // A name of the device mapper is a link to the device's own.
        let device = self.path(device);
        let device = device.canonicalize().unwrap_or(device);
        let ext4 = Path::new("sys/fs/ext4").join(device.file_name()?);
        self.text(ext4.join("journal_task")).map(|task| task != "<none>")
    }

    /// Returns the number of bytes of swap in use.
    pub fn swap_used(&self) -> Option<u64> {
        self.meminfo("SwapTotal")?.checked_sub(self.meminfo("SwapFree")?)
    }

    /// Whether the machine's own battery is discharging.
    pub fn discharging(&self) -> bool {
        self.entries("sys/class/power_supply").into_iter().any(|supply| {
            let is = |file, value: &str| read(&supply.join(file)).is_some_and(|text| text == value);
            // A mouse has a battery too, with scope `Device`.
            is("type", "Battery") && !is("scope", "Device") && is("status", "Discharging")
        })
    }

    fn meminfo(&self, name: &str) -> Option<u64> {
        let meminfo = self.text("proc/meminfo")?;
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    }
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    ["model name", "Model", "Hardware", "uarch"].into_iter().find_map(|key| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    })
}

fn os_name(release: &str) -> Option<String> {
    let value = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_owned())
}

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    file_system: String,
    options: String,
    device: String,
}

/// Finds the mount that holds `path` in the lines of `proc_pid_mountinfo(5)`: the deepest mount
/// point above it. Of several mounts on one point it is the last one, which covers the others.
fn mount_of(mountinfo: &str, path: &Path) -> Option<Mount> {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(4);
        let (point, options) = (unescape(mount.next()?), mount.next()?);
        let mut source = source.split(' ');
        let (kind, device, more) = (source.next()?, source.next()?, source.next()?);
        let depth = path.starts_with(&point).then(|| Path::new(&point).components().count())?;
        let mut options = options.to_owned();
        for option in more.split(',') {
            if !options.split(',').any(|known| known == option) {
                options = format!("{options},{option}");
            }
        }
        let (file_system, device) = (kind.to_owned(), unescape(device));
        Some((depth, Mount { file_system, options, device }))
    });
    mounts.max_by_key(|(depth, _)| *depth).map(|(_, mount)| mount)
}

/// Decodes the octal escapes of blanks and backslashes.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::system::tests::tree;

    const MOUNTS: &str = "\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
30 27 0:27 / /mnt rw - ext4 /dev/old rw
31 27 0:27 / /mnt rw,noatime master:2 - tmpfs none rw,size=4k
32 31 8:1 / /mnt/my\\040card rw - vfat /dev/sda1 rw,sync";

    #[test]
    fn a_path_lies_on_the_deepest_and_latest_mount_above_it() {
        let mount = |path| mount_of(MOUNTS, Path::new(path)).unwrap();
        let root = mount("/mntx/y");
        assert_eq!((root.file_system.as_str(), root.device.as_str()), ("ext4", "/dev/vda"));
        assert_eq!(root.options, "rw,relatime,errors=remount-ro");
        assert_eq!(mount("/mnt/other").file_system, "tmpfs");
        assert_eq!(mount("/mnt/my card/db").options, "rw,sync");
    }

    #[test]
    fn an_ext4_says_whether_it_has_a_journal() {
        let mounts = "27 1 254:0 / / rw - ext4 /dev/vda rw\n30 27 253:2 / /data rw - ext4 /dev/mapper/data rw";
        let tree = tree(&[
            ("proc/self/mountinfo", mounts),
            ("sys/fs/ext4/vda/journal_task", "<none>"),
            ("sys/fs/ext4/dm-2/journal_task", "117"),
            ("dev/dm-2", ""),
        ]);
        fs::create_dir(tree.path().join("dev/mapper")).unwrap();
        std::os::unix::fs::symlink("../dm-2", tree.path().join("dev/mapper/data")).unwrap();
        let journal = |path| System::at(tree.path()).machine(Path::new(path)).journal;
        assert_eq!((journal("/srv"), journal("/data")), (Some(false), Some(true)));
    }

    #[test]
    fn the_cpu_is_named_on_intel_and_on_a_raspberry_pi() {
        let intel = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n";
        assert_eq!(cpu_model(intel).as_deref(), Some("AMD EPYC"));
        let pi = "processor\t: 0\nBogoMIPS\t: 38.40\n\nModel\t\t: Raspberry Pi 3 Model B\n";
        assert_eq!(cpu_model(pi).as_deref(), Some("Raspberry Pi 3 Model B"));
        assert_eq!(cpu_model("processor : 0"), None);
    }

    #[test]
    fn the_governors_of_all_cpus_are_told() {
        let governors = |of: [&str; 3]| {
            let [a, b, c] = of;
            let tree = tree(&[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", a),
                ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", b),
                ("sys/devices/system/cpu/cpu12/cpufreq/scaling_governor", c),
            ]);
            System::at(tree.path()).machine(Path::new("/")).governor.unwrap()
        };
        assert_eq!(governors(["performance"; 3]), "performance");
        let mixed = governors(["performance", "performance", "powersave"]);
        assert_eq!(mixed, "performance, powersave");
    }

    #[test]
    fn this_machine_can_be_read() {
        let machine = System::here().machine(Path::new("/proc/self"));
        assert_eq!(machine.file_system.as_deref(), Some("proc"));
        assert!(machine.memory_bytes.is_some_and(|bytes| bytes > 16 << 20));
        assert!(machine.cpus.is_some() && machine.kernel.is_some() && machine.load.is_some());
    }

    #[test]
    fn a_battery_counts_when_it_is_the_machines_own_and_drained() {
        let tree = tempfile::tempdir().unwrap();
        let supply = |name: &str, files: &[(&str, &str)]| {
            let dir = tree.path().join("sys/class/power_supply").join(name);
            fs::create_dir_all(&dir).unwrap();
            files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
        };
        let system = System::at(tree.path());
        assert!(!system.discharging());
        supply(
            "mouse",
            &[("type", "Battery\n"), ("scope", "Device\n"), ("status", "Discharging\n")],
        );
        supply("AC", &[("type", "Mains\n"), ("online", "0\n")]);
        supply("BAT0", &[("type", "Battery\n"), ("status", "Charging\n")]);
        assert!(!system.discharging());
        supply("BAT0", &[("status", "Discharging\n")]);
        assert!(system.discharging());
    }

    #[test]
    fn what_a_machine_does_not_tell_is_absent() {
        let tree = tempfile::tempdir().unwrap();
        let system = System::at(tree.path());
        let machine =
            Machine { cpus: None, page_bytes: None, ..system.machine(Path::new("/data")) };
        assert_eq!(
            serde_json::to_value(machine).unwrap(),
            serde_json::to_value(Machine::default()).unwrap()
        );
        assert_eq!(system.swap_used(), None);
        fs::create_dir(tree.path().join("proc")).unwrap();
        for nonsense in
            ["", "SwapTotal: many kB\nSwapFree: 1 kB\n", "SwapTotal: 1 kB\nSwapFree: 2 kB"]
        {
            fs::write(tree.path().join("proc/meminfo"), nonsense).unwrap();
            assert_eq!(system.swap_used(), None, "{nonsense}");
        }
        fs::write(tree.path().join("proc/meminfo"), "SwapTotal: 9 kB\nSwapFree: 2 kB\n").unwrap();
        assert_eq!(system.swap_used(), Some(7 * 1024));
    }
}
