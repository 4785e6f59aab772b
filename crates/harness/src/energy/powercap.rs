//! Counters of energy in `/sys/class/powercap`: RAPL of Intel and AMD, and whatever else has zones there
//! (kernel documentation, `power/powercap/powercap` and `ABI/testing/sysfs-class-powercap`).

use std::io::{self, ErrorKind};
use std::path::Path;

use super::counter::{Zone, microjoules};
use super::source::{Found, Kind, Source};
use crate::machine::{System, read};

const FOLDER: &str = "sys/class/powercap";

/// What a zone is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    /// A CPU package, with its cores and graphics.
    Package,
    /// The whole platform, as the processor's firmware counts it: packages are in it.
    Platform,
    /// Memory, which is in no package.
    Memory,
    /// Something else at the top.
    Other(String),
}

impl Of {
    /// By the zone's name and how deep it lies; `None` of a part of another zone that is taken.
    fn named(name: &str, depth: usize) -> Option<Self> {
        match (name, depth) {
            (name, 1) if name.starts_with("package") => Some(Self::Package),
            ("psys", 1) => Some(Self::Platform),
            // The processor counts memory apart from its package, though the zone lies below it.
            ("dram", _) => Some(Self::Memory),
            (name, 1) => Some(Self::Other(name.to_owned())),
            _ => None,
        }
    }

    fn source(&self, zones: &[(String, Zone)]) -> Source {
        let names: Vec<&str> = zones.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        let (id, about) = match self {
            Self::Package => (
                "package".to_owned(),
                format!("CPU packages by powercap ({names}); memory, disk and board are not in it"),
            ),
            Self::Platform => (
                "psys".to_owned(),
                format!("platform by powercap ({names}), as its firmware counts"),
            ),
            Self::Memory => ("dram".to_owned(), format!("memory by powercap ({names})")),
            Self::Other(name) => (format!("powercap {name}"), format!("powercap zone {names}")),
        };
        Source {
            id,
            about,
            kind: Kind::Counter(zones.iter().map(|(_, zone)| zone.clone()).collect()),
        }
    }
}

/// The sources that can be read, and why others cannot.
pub(super) fn find(system: &System) -> Found {
    let mut zones: Vec<(Of, String, Zone)> = Vec::new();
    let mut refused: Vec<(Of, String)> = Vec::new();
    let mut entries = system.entries(FOLDER);
    // Registers that are there a second time in memory have the same names.
    entries.sort_by_key(|entry| entry.to_string_lossy().contains("mmio"));
    for entry in entries {
        let number = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let depth = number.matches(':').count();
        let Some(name) = read(&entry.join("name")) else { continue };
        // A part has its package's name before its own, which others have too.
        let full = match number.rsplit_once(':').filter(|_| depth > 1) {
            Some((parent, _)) => {
                let parent = read(&entry.with_file_name(parent).join("name")).unwrap_or_default();
                format!("{parent} {name}")
            }
            None => name.clone(),
        };
        let Some(of) = Of::named(&name, depth) else { continue };
        if depth == 0 || zones.iter().any(|(known, other, _)| *known == of && *other == full) {
            continue;
        }
        match zone(&entry) {
            Ok(zone) => zones.push((of, full, zone)),
            Err(why) => refused.push((of, why)),
        }
    }
    let mut kinds: Vec<&Of> = zones.iter().map(|(of, ..)| of).collect();
    kinds.sort();
    kinds.dedup();
    // Half of the packages are no figure.
    let whole = |of: &&&Of| !refused.iter().any(|(other, _)| other == **of);
    let source = |of: &Of| {
        let own = zones.iter().filter(|(other, ..)| other == of);
        of.source(&own.map(|(_, name, zone)| (name.clone(), zone.clone())).collect::<Vec<_>>())
    };
    let sources = kinds.iter().filter(whole).map(|of| source(of)).collect();
    let mut absent: Vec<String> = refused.into_iter().map(|(_, why)| why).collect();
    absent.dedup();
    // Of many zones one says it.
    absent.truncate(1);
    if zones.is_empty() && absent.is_empty() {
        absent.push(format!("no zone in /{FOLDER}"));
    }
    Found { sources, absent }
}

/// A zone that can be read, or why it cannot.
fn zone(folder: &Path) -> Result<Zone, String> {
    let path = folder.join("energy_uj");
    microjoules(&path).map_err(|error| unreadable(&path, &error))?;
    let range = folder.join("max_energy_range_uj");
    let range = microjoules(&range).map_err(|error| unreadable(&range, &error))?;
    if range == 0 {
        return Err(format!("{} says no range after which it begins anew", folder.display()));
    }
    Ok(Zone { path, range })
}

/// Why a file could not be read, and what to do.
fn unreadable(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "{path} may be read by root alone, as Linux has it since 5.10: run as root, or allow it until \
             the next boot (sudo chmod a+r {path})"
        ),
        ErrorKind::NotFound => format!("{path} is not there"),
        _ => format!("{path} cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests;
