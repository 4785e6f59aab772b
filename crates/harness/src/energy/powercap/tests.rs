use std::fs;

use nix::unistd::{Uid, setfsuid};

use super::*;
use crate::machine::tests::tree;

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
    let files: Vec<(&str, &str)> = files.iter().map(|(f, t)| (f.as_str(), t.as_str())).collect();
    tree(&files)
}

fn named(found: &Found) -> Vec<(&str, usize)> {
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
    assert!(found.absent[0].ends_with("max_energy_range_uj is not there"), "{:?}", found.absent);
}

#[test]
fn who_may_not_read_them_is_told_what_to_do() {
    if !Uid::effective().is_root() {
        embermark_skips::skipped("root", "files that only root may read");
        return;
    }
    let tree = zones(&[("intel-rapl:0", "package-0", "7"), ("intel-rapl:1", "package-1", "7")]);
    // Of two packages one alone is no figure.
    let closed = tree.path().join(format!("{RAPL}:1/energy_uj"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o400);
    fs::set_permissions(&closed, mode).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(tree.path(), open).unwrap();
    let system = System::at(tree.path());
    assert_eq!(named(&find(&system)), [("package", 2)], "root may");
    // Of this thread alone.
    setfsuid(Uid::from_raw(65_534));
    let found = find(&system);
    setfsuid(Uid::effective());
    assert!(found.sources.is_empty(), "{:?}", named(&found));
    let why = &found.absent[0];
    assert!(why.contains("by root alone") && why.contains("sudo chmod a+r"), "{why}");
}
