//! Energy counters in `/sys/class/powercap`: RAPL of Intel and AMD, and anything else with zones
//! there (kernel documentation, `power/powercap/powercap` and `ABI/testing/sysfs-class-powercap`).

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::counter::{Zone, microjoules};
use super::source::{EnergySources, Kind, Source};
use crate::system::{System, read};

const FOLDER: &str = "sys/class/powercap";

/// What a zone measures.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ZoneKind {
    /// A CPU package, with its cores and graphics.
    Package,
    /// The whole platform including packages, as the processor's firmware counts it.
    Platform,
    /// Memory, which is not part of any package.
    Memory,
    /// Another zone at the top level.
    Other(String),
}

impl ZoneKind {
    /// Classifies a zone by its name and depth. `None` for a part of another zone that is used.
    fn classify(name: &str, depth: usize) -> Option<Self> {
        match (name, depth) {
            (name, 1) if name.starts_with("package") => Some(Self::Package),
            ("psys", 1) => Some(Self::Platform),
            // The processor counts memory separately from its package, although the zone is below
            // it.
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

/// Finds the readable sources, and why others are not.
pub(super) fn find(system: &System) -> EnergySources {
    let mut zones: BTreeMap<ZoneKind, Vec<(String, Zone)>> = BTreeMap::new();
    let mut refused: Vec<(ZoneKind, String)> = Vec::new();
    let mut entries = system.entries(FOLDER);
    // Registers that are also mapped in memory have the same names.
    entries.sort_by_key(|entry| entry.to_string_lossy().contains("mmio"));
    for entry in entries {
        let number = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let depth = number.matches(':').count();
        let Some(name) = read(&entry.join("name")) else { continue };
        // The name of a part gets its package's name as prefix, because other packages have the
        // same parts.
        let full = match number.rsplit_once(':').filter(|_| depth > 1) {
            Some((parent, _)) => {
                let parent = read(&entry.with_file_name(parent).join("name")).unwrap_or_default();
                format!("{parent} {name}")
            }
            None => name.clone(),
        };
        let Some(of) = ZoneKind::classify(&name, depth) else { continue };
        let mut known = zones.get(&of).into_iter().flatten();
        if depth == 0 || known.any(|(other, _)| *other == full) {
            continue;
        }
        match zone(&entry) {
            Ok(zone) => zones.entry(of).or_default().push((full, zone)),
            Err(why) => refused.push((of, why)),
        }
    }
    // A sum over only some of the packages would be useless.
    let is_whole = |of: &ZoneKind| refused.iter().all(|(other, _)| other != of);
    let whole = zones.iter().filter(|(of, _)| is_whole(of));
    let sources = whole.map(|(of, zones)| of.source(zones)).collect();
    let mut absent: Vec<String> = refused.into_iter().map(|(_, why)| why).collect();
    absent.dedup();
    // The same reason applies to all zones.
    absent.truncate(1);
    if zones.is_empty() && absent.is_empty() {
        absent.push(format!("no zone in /{FOLDER}"));
    }
    EnergySources { sources, absent }
}

/// Opens a zone, or explains why it cannot be read.
fn zone(folder: &Path) -> Result<Zone, String> {
    let path = folder.join("energy_uj");
    microjoules(&path).map_err(|error| unreadable(&path, &error))?;
    let range = folder.join("max_energy_range_uj");
    let range = microjoules(&range).map_err(|error| unreadable(&range, &error))?;
    if range == 0 {
        return Err(format!("{} has no range after which it starts again", folder.display()));
    }
    Ok(Zone { path, range })
}

/// Explains why a file could not be read, and what to do.
fn unreadable(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "only root may read {path}, since Linux 5.10: run as root, or allow it until \
             the next boot (sudo chmod a+r {path})"
        ),
        ErrorKind::NotFound => format!("{path} is not there"),
        _ => format!("{path} cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nix::unistd::{Uid, setfsuid};

    use super::*;
    use crate::system::tests::tree;

    const RAPL: &str = "sys/class/powercap/intel-rapl";

    /// A tree of zones: number, name, microjoules.
    fn zones(zones: &[(&str, &str, &str)]) -> tempfile::TempDir {
        let mut files = Vec::new();
        for (number, name, value) in zones {
            let folder = format!("sys/class/powercap/{number}");
            files.push((format!("{folder}/name"), (*name).to_owned()));
            files.push((format!("{folder}/energy_uj"), format!("{value}\n")));
            files.push((format!("{folder}/max_energy_range_uj"), "262143328850\n".to_owned()));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(f, t)| (f.as_str(), t.as_str())).collect();
        tree(&files)
    }

    fn named(found: &EnergySources) -> Vec<(&str, usize)> {
        let zones = |source: &Source| match &source.kind {
            Kind::Counter(zones) => zones.len(),
            Kind::Power(_) => 0,
        };
        found.sources.iter().map(|source| (source.id.as_str(), zones(source))).collect()
    }

    #[test]
    fn packages_are_added_up_and_what_is_in_them_is_not() {
        let tree = zones(&[
            ("intel-rapl:0", "package-0", "1"),
            ("intel-rapl:0:0", "core", "1"),
            ("intel-rapl:0:1", "uncore", "1"),
            ("intel-rapl:0:2", "dram", "1"),
            ("intel-rapl:1", "package-1", "1"),
            ("intel-rapl:1:0", "core", "1"),
            ("intel-rapl:1:1", "dram", "1"),
            ("intel-rapl:2", "psys", "1"),
            // The same package, by registers in memory.
            ("intel-rapl-mmio:0", "package-0", "1"),
        ]);
        let found = find(&System::at(tree.path()));
        assert_eq!(named(&found), [("package", 2), ("psys", 1), ("dram", 2)]);
        assert_eq!(found.absent, Vec::<String>::new());
        let about = &found.sources[0].about;
        assert!(about.contains("(package-0, package-1)") && about.contains("not in it"), "{about}");
        let Kind::Counter(zones) = &found.sources[0].kind else { panic!("no counter") };
        let paths: Vec<String> = zones.iter().map(|zone| zone.path.display().to_string()).collect();
        assert!(paths.iter().all(|path| path.contains("intel-rapl:")), "{paths:?}");
        assert_eq!(zones[0].range, 262_143_328_850);
    }

    #[test]
    fn a_tree_without_zones_and_one_without_a_range_say_why() {
        let none = tree(&[]);
        assert_eq!(find(&System::at(none.path())).absent, ["no zone in /sys/class/powercap"]);
        let tree = zones(&[("intel-rapl:0", "package-0", "7")]);
        fs::remove_file(tree.path().join(format!("{RAPL}:0/max_energy_range_uj"))).unwrap();
        let found = find(&System::at(tree.path()));
        assert!(found.sources.is_empty());
        assert!(
            found.absent[0].ends_with("max_energy_range_uj is not there"),
            "{:?}",
            found.absent
        );
    }

    #[test]
    fn who_may_not_read_them_is_told_what_to_do() {
        if !Uid::effective().is_root() {
            embermark_skips::skipped("root", "files that only root may read");
            return;
        }
        let tree = zones(&[("intel-rapl:0", "package-0", "7"), ("intel-rapl:1", "package-1", "7")]);
        // Only one of two packages is no figure.
        let closed = tree.path().join(format!("{RAPL}:1/energy_uj"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o400);
        fs::set_permissions(&closed, mode).unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(tree.path(), open).unwrap();
        let system = System::at(tree.path());
        assert_eq!(named(&find(&system)), [("package", 2)], "root may");
        // Only for this thread.
        setfsuid(Uid::from_raw(65_534));
        let found = find(&system);
        setfsuid(Uid::effective());
        assert!(found.sources.is_empty(), "{:?}", named(&found));
        let why = &found.absent[0];
        assert!(why.contains("only root may read") && why.contains("sudo chmod a+r"), "{why}");
    }
}
