//! Facts about the machine, from `/proc`, `/sys` and `/etc`. What cannot be read is absent.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_model::result::Machine;

/// Where facts are read from: this machine, or a made-up tree of its files in a test.
#[derive(Clone, Debug)]
pub(crate) struct System {
    root: PathBuf,
}

impl System {
    /// This machine.
    pub fn here() -> Self {
        Self::at("/")
    }

    /// The machine whose `/proc`, `/sys` and `/etc` lie below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The machine as it is now, with the file system that holds `data`, an absolute path.
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
            kernel: self
                .text("proc/sys/kernel/ostype")
                .zip(self.text("proc/sys/kernel/osrelease"))
                .map(|(name, release)| format!("{name} {release}")),
            os: self.text("etc/os-release").and_then(|release| os_name(&release)),
            governor: self.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            load: self.text("proc/loadavg").and_then(|l| l.split(' ').next()?.parse().ok()),
            file_system,
            mount_options,
            device,
            emulates: None,
        }
    }

    /// The board, as its device tree names it: on ARM and the like.
    pub fn board(&self) -> Option<String> {
        self.text("proc/device-tree/model").map(|model| model.replace('\0', ""))
    }

    /// The board or the machine as its firmware calls it, and whether it is a virtual one.
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

    /// Bytes of swap in use.
    pub fn swap_used(&self) -> Option<u64> {
        self.meminfo("SwapTotal")?.checked_sub(self.meminfo("SwapFree")?)
    }

    /// Whether a battery of the machine's own is being drained.
    pub fn discharging(&self) -> bool {
        self.entries("sys/class/power_supply").into_iter().any(|supply| {
            let is = |file, value: &str| read(&supply.join(file)).is_some_and(|text| text == value);
            // A mouse has a battery too; its scope is `Device`.
            is("type", "Battery") && !is("scope", "Device") && is("status", "Discharging")
        })
    }

    /// The text of a file below the root, without white space at its end; `None` when it cannot be
    /// read or is empty.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        read(&self.path(path))
    }

    /// Where a file lies that this machine has at `path`.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// What a folder holds, in the order of names.
    pub fn entries(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        entries
    }

    fn meminfo(&self, name: &str) -> Option<u64> {
        let meminfo = self.text("proc/meminfo")?;
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    }
}

/// The text of a file, as [`System::text`].
pub(crate) fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
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
pub(crate) mod tests;
