//! The limits that apply to this process itself: those of a container or a service.

use std::path::{Path, PathBuf};

use super::{Limits, VERSION_2, current_group, mounted};
use crate::system::{System, read};

/// Returns the limits of memory and CPU time: the smallest over the group of this process and all
/// groups above it. Names and units are those of cgroup v2: `memory.max` in bytes, `cpu.max` as
/// quota and period in microseconds. Includes limits of cgroup v1. A limit that is not set is
/// absent.
pub(crate) fn limits(system: &System) -> Limits {
    let memory = least(system, "memory", |group| {
        let max = read(&group.join("memory.max"))
            .or_else(|| read(&group.join("memory.limit_in_bytes")))?;
        let bytes: u64 = max.parse().ok()?;
        // Without a limit v1 reports the greatest multiple of a page.
        (bytes < 1 << 60).then(|| (bytes as f64, bytes.to_string()))
    });
    let cpu = least(system, "cpu", |group| {
        let max = read(&group.join("cpu.max")).or_else(|| {
            let of = |file: &str| read(&group.join(file));
            Some(format!("{} {}", of("cpu.cfs_quota_us")?, of("cpu.cfs_period_us")?))
        })?;
        let (quota, period) = max.split_once(' ')?;
        let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
        // Without a limit v2 reports `max`, and v1 -1.
        (quota > 0.0 && period > 0.0).then(|| (quota / period, max))
    });
    let limits = [("memory.max", memory), ("cpu.max", cpu)];
    limits.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Returns the smallest limit of a controller. `read` reads it from a group's directory.
fn least(
    system: &System,
    controller: &str,
    read: impl Fn(&Path) -> Option<(f64, String)>,
) -> Option<String> {
    let found = groups(system, controller).into_iter().filter_map(|group| read(&group));
    found.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, value)| value)
}

/// Returns the directories of this process's group and of all visible groups above it, of either
/// version.
pub(super) fn groups(system: &System, controller: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for hierarchy in [VERSION_2, controller] {
        let Some(mount) = mounted(system, hierarchy) else { continue };
        let group = mount.join(current_group(system, hierarchy).unwrap_or_default());
        // A container may see only its own group, at the mount itself.
        let group = if group.is_dir() { group } else { mount.clone() };
        folders
            .extend(group.ancestors().take_while(|at| at.starts_with(&mount)).map(PathBuf::from));
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tests::tree;

    const V2: &str = "30 27 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";

    fn limits_of(files: &[(&str, &str)]) -> Vec<(String, String)> {
        limits(&System::at(tree(files).path())).into_iter().collect()
    }

    #[test]
    fn the_least_limit_of_a_group_and_those_above_it_counts() {
        let found = limits_of(&[
            ("proc/self/mountinfo", V2),
            ("proc/self/cgroup", "0::/a/b"),
            ("sys/fs/cgroup/a/memory.max", "536870912"),
            ("sys/fs/cgroup/a/cpu.max", "max 100000"),
            ("sys/fs/cgroup/a/b/memory.max", "max"),
            ("sys/fs/cgroup/a/b/cpu.max", "150000 100000"),
        ]);
        let expected = [("cpu.max", "150000 100000"), ("memory.max", "536870912")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_container_that_sees_its_group_at_the_mount_is_limited_by_it() {
        let found = limits_of(&[
            ("proc/self/mountinfo", V2),
            ("proc/self/cgroup", "0::/docker/0123"),
            ("sys/fs/cgroup/memory.max", "1000000"),
        ]);
        assert_eq!(found, [("memory.max".to_owned(), "1000000".to_owned())]);
    }

    #[test]
    fn limits_of_version_1_are_told_in_the_words_of_version_2() {
        let mounts = "30 27 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      31 27 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct";
        let groups = "4:cpu,cpuacct:/user\n3:memory:/user";
        let of = |memory, quota| {
            limits_of(&[
                ("proc/self/mountinfo", mounts),
                ("proc/self/cgroup", groups),
                ("sys/fs/cgroup/memory/user/memory.limit_in_bytes", memory),
                ("sys/fs/cgroup/cpu/user/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu/user/cpu.cfs_period_us", "100000"),
            ])
        };
        assert_eq!(of("9223372036854771712", "-1"), []);
        let expected = [("cpu.max", "50000 100000"), ("memory.max", "268435456")];
        assert_eq!(
            of("268435456", "50000"),
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn a_machine_without_groups_has_no_limits() {
        assert_eq!(limits_of(&[("proc/self/cgroup", "0::/")]), []);
    }
}
