//! The machine that a run was measured on, and the limits it was under.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::StorageName;

/// The machine of a run. What could not be read is absent, never a guess.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The board or the machine's model, as its firmware reports it, or that it is a virtual
    /// machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// CPU model.
    pub cpu: Option<String>,
    /// CPUs this process may run on.
    pub cpus: Option<u32>,
    /// Physical memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Bytes of a page of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<u64>,
    /// Limits of the container or service that this process runs in, by the names and in the units
    /// of cgroup v2: `memory.max`, `cpu.max`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
    /// Kernel name and release.
    pub kernel: Option<String>,
    /// Operating system, as it reports itself.
    pub os: Option<String>,
    /// CPU frequency governor.
    pub governor: Option<String>,
    /// Load average over the minute before the start.
    pub load: Option<f64>,
    /// File system of the data directories.
    pub file_system: Option<String>,
    /// Its mount options.
    pub mount_options: Option<String>,
    /// Whether the file system has a journal. Only ext4 reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<bool>,
    /// The block device under it.
    pub device: Option<String>,
    /// The device that limits on this machine emulate; absent if the figures are the machine's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulates: Option<Emulated>,
}

/// An emulated device: the engines had no more memory and CPU time than it has. The device itself
/// was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emulated {
    /// The name of the device, `pi3`.
    pub device: String,
    /// The limits as read back from the kernel, by the name of the cgroup file.
    pub limits: BTreeMap<String, String>,
    /// The storages that are imitated instead of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storages: Vec<StorageName>,
}

impl Machine {
    /// Returns the limits of the container or service that the run was in, `512 MB of memory, 1.5
    /// CPUs`; `None` if nothing limited it.
    pub fn limits_in_words(&self) -> Option<String> {
        let words = self.limits.iter().map(|(name, value)| match name.as_str() {
            "memory.max" => memory(value),
            "cpu.max" => cpus(value),
            _ => None,
        });
        let words: Option<Vec<String>> = words.collect();
        words.map(|words| words.join(", ")).filter(|words| !words.is_empty())
    }
}

/// With three digits, as reports format bytes.
fn memory(bytes: &str) -> Option<String> {
    let mb = bytes.parse::<u64>().ok()? as f64 / 1e6;
    let (size, unit) = if mb < 999.5 { (mb, "MB") } else { (mb / 1e3, "GB") };
    let decimals = [9.995, 99.95].iter().filter(|limit| size < **limit).count();
    Some(format!("{size:.decimals$} {unit} of memory"))
}

/// The number of CPUs of a quota and a period.
fn cpus(max: &str) -> Option<String> {
    let (quota, period) = max.split_once(' ')?;
    let cpus = quota.parse::<f64>().ok()? / period.parse::<f64>().ok().filter(|of| *of > 0.0)?;
    let cpus = (cpus * 100.0).round() / 100.0;
    Some(format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_formatted_as_words_and_rubbish_is_not() {
        let said = |limits: &[(&str, &str)]| {
            let limits = limits.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            Machine { limits: limits.collect(), ..Machine::default() }.limits_in_words()
        };
        let both = [("memory.max", "512000000"), ("cpu.max", "150000 100000")];
        assert_eq!(said(&both).unwrap(), "1.5 CPUs, 512 MB of memory");
        assert_eq!(said(&[("cpu.max", "100000 100000")]).unwrap(), "1 CPU");
        let memory = |bytes| said(&[("memory.max", bytes)]).unwrap();
        assert_eq!(memory("41943040"), "41.9 MB of memory");
        assert_eq!(memory("8388608"), "8.39 MB of memory");
        assert_eq!(memory("999999999"), "1.00 GB of memory");
        assert_eq!(memory("17179869184"), "17.2 GB of memory");
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[("memory.max", "<script>")]), None);
    }
}
