//! Facts about the machine, from `/proc`, `/sys` and `/etc`. What cannot be read is absent.

use std::fs;
use std::path::Path;
use std::time::Duration;

use embermark_model::result::Machine;

/// The machine as it is now, with the file system that holds `data`, an absolute path.
pub(crate) fn read(data: &Path) -> Machine {
    let cpuinfo = text("/proc/cpuinfo").unwrap_or_default();
    let mount = text("/proc/self/mountinfo").and_then(|mounts| mount_of(&mounts, data));
    let (file_system, mount_options, device) = match mount {
        Some(mount) => (Some(mount.file_system), Some(mount.options), Some(mount.device)),
        None => (None, None, None),
    };
    Machine {
        cpu: cpu_model(&cpuinfo)
            // On ARM the board says more than the kernel's name of the core.
            .or_else(|| text("/proc/device-tree/model").map(|model| model.replace('\0', ""))),
        cpus: std::thread::available_parallelism().ok().map(|n| n.get() as u32),
        memory_bytes: meminfo("MemTotal"),
        kernel: text("/proc/sys/kernel/ostype")
            .zip(text("/proc/sys/kernel/osrelease"))
            .map(|(name, release)| format!("{name} {release}")),
        os: text("/etc/os-release").and_then(|release| os_name(&release)),
        governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load: text("/proc/loadavg").and_then(|load| load.split(' ').next()?.parse().ok()),
        file_system,
        mount_options,
        device,
    }
}

/// Bytes of swap in use.
pub(crate) fn swap_used() -> Option<u64> {
    meminfo("SwapTotal")?.checked_sub(meminfo("SwapFree")?)
}

/// The share of all CPUs that other programs (or the host of a virtual machine) take now, from 0
/// to 1: measured over a moment in which this one sleeps. The load average would still tell of a
/// build that has just ended.
pub(crate) fn busy_share() -> Option<f64> {
    const MOMENT: Duration = Duration::from_millis(250);
    let before = cpu_ticks(&text("/proc/stat")?)?;
    std::thread::sleep(MOMENT);
    let after = cpu_ticks(&text("/proc/stat")?)?;
    let [busy, all] = [after.0.checked_sub(before.0)?, after.1.checked_sub(before.1)?];
    (all > 0).then(|| busy as f64 / all as f64)
}

/// Ticks that were not idle, and all, summed over the CPUs (`proc_stat(5)`).
fn cpu_ticks(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    // user nice system idle iowait irq softirq steal; guest time, after them, is in user's.
    let ticks = line.split_whitespace().take(8).map(str::parse::<u64>);
    let ticks = ticks.collect::<Result<Vec<_>, _>>().ok()?;
    let all: u64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((all - idle, all))
}

/// Whether a battery of the machine's own is being drained.
pub(crate) fn discharging() -> bool {
    let supplies = fs::read_dir("/sys/class/power_supply").into_iter().flatten().flatten();
    supplies.map(|supply| supply.path()).any(|supply| {
        let is = |file, value: &str| text(supply.join(file)).is_some_and(|text| text == value);
        // A mouse has a battery too; its scope is `Device`.
        is("type", "Battery") && !is("scope", "Device") && is("status", "Discharging")
    })
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

fn meminfo(name: &str) -> Option<u64> {
    let meminfo = text("/proc/meminfo")?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
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

/// The mount that holds `path`, from the lines of `proc_pid_mountinfo(5)`: the deepest mount point
/// above it, and of several on one point the last, which covers the others.
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

/// Undoes the octal escapes of blanks and backslashes.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
30 27 0:27 / /mnt rw - ext4 /dev/old rw
31 27 0:27 / /mnt rw,noatime master:2 - tmpfs none rw,size=4k
32 31 8:1 / /mnt/my\\040card rw - vfat /dev/sda1 rw,sync";

    #[test]
    fn waiting_for_the_disk_is_idle_and_time_stolen_by_the_host_is_not() {
        let stat = "cpu  10 20 30 400 50 6 7 8 9 0\ncpu0 1 2 3 4";
        assert_eq!(cpu_ticks(stat), Some((10 + 20 + 30 + 6 + 7 + 8, 531)));
        assert_eq!(cpu_ticks("cpu  1 2 x"), None);
        assert!(busy_share().is_some_and(|share| (0.0..=1.0).contains(&share)));
    }

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
    fn the_cpu_is_named_on_intel_and_on_a_raspberry_pi() {
        let intel = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n";
        assert_eq!(cpu_model(intel).as_deref(), Some("AMD EPYC"));
        let pi = "processor\t: 0\nBogoMIPS\t: 38.40\n\nModel\t\t: Raspberry Pi 3 Model B\n";
        assert_eq!(cpu_model(pi).as_deref(), Some("Raspberry Pi 3 Model B"));
        assert_eq!(cpu_model("processor : 0"), None);
    }

    #[test]
    fn this_machine_can_be_read() {
        let machine = read(Path::new("/proc/self"));
        assert_eq!(machine.file_system.as_deref(), Some("proc"));
        assert!(machine.memory_bytes.is_some_and(|bytes| bytes > 16 << 20));
        assert!(machine.cpus.is_some() && machine.kernel.is_some() && machine.load.is_some());
    }
}
