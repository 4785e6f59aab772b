//! The same limits by cgroup v1, which many devices still boot with: one hierarchy per controller
//! (<https://docs.kernel.org/admin-guide/cgroup-v1/index.html>).
//!
//! Storage is not limited. v1 throttles direct writes but not those from the page cache, which are
//! nearly all writes of a database.

use super::{Hierarchy, Limit, Limits, current_group, mounted};
use crate::system::System;

/// Opens the place for groups, with one directory per controller.
pub(super) fn open(
    system: &System,
    superuser: bool,
    run_id: &str,
    controllers: &[&'static str],
) -> Result<Hierarchy, String> {
    let base = |controller: &&'static str| {
        let mount = mounted(system, controller)
            .ok_or_else(|| format!("no cgroup v1 hierarchy has the controller '{controller}'"))?;
        let own = if superuser { None } else { current_group(system, controller) };
        Ok((*controller, mount.join(own.unwrap_or_default())))
    };
    let bases: Result<Vec<_>, String> = controllers.iter().map(base).collect();
    Ok(Hierarchy { bases: bases?, name: format!("embermark-{run_id}"), files, parked: None })
}

fn files(asked: &Limits) -> Vec<Limit> {
    [memory(asked), cpu(asked)].concat()
}

fn limit(controller: &'static str, file: &str, value: &str) -> Limit {
    // Swap is counted only if the kernel was configured to, and absent if it has none.
    let optional = file.contains("swap") || file.contains("memsw");
    Limit { controller, file: file.to_owned(), value: value.to_owned(), optional }
}

/// In this order: memory with swap must not be less than memory.
fn memory(asked: &Limits) -> Vec<Limit> {
    let Some(most) = asked.get("memory.max") else { return Vec::new() };
    let mut files = vec![limit("memory", "memory.limit_in_bytes", most)];
    if asked.get("memory.swap.max").is_some_and(|swap| swap == "0") {
        files.push(limit("memory", "memory.memsw.limit_in_bytes", most));
        // Where swap is not counted, this alone keeps the group out of it.
        files.push(limit("memory", "memory.swappiness", "0"));
    }
    files
}

fn cpu(asked: &Limits) -> Vec<Limit> {
    let Some(most) = asked.get("cpu.max") else { return Vec::new() };
    // Without a period, cgroup v2 takes this one.
    let (quota, period) = most.split_once(' ').unwrap_or((most.as_str(), "100000"));
    vec![limit("cpu", "cpu.cfs_period_us", period), limit("cpu", "cpu.cfs_quota_us", quota)]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MOUNTS: &str = "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
                      31 27 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      32 27 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    fn tree(mounts: &str) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for dir in ["proc/self", "sys/fs/cgroup/cpu,cpuacct/mine", "sys/fs/cgroup/memory"] {
            fs::create_dir_all(tree.path().join(dir)).unwrap();
        }
        fs::write(tree.path().join("proc/self/mountinfo"), mounts).unwrap();
        fs::write(tree.path().join("proc/self/cgroup"), "4:memory:/\n2:cpu,cpuacct:/mine\n0::/\n")
            .unwrap();
        tree
    }

    fn asked() -> Limits {
        let limits = [("memory.max", "1000"), ("memory.swap.max", "0"), ("cpu.max", "16000 10000")];
        limits.map(|(name, limit)| (name.to_owned(), limit.to_owned())).into()
    }

    #[test]
    fn every_controller_has_a_group_of_its_own_with_its_limits() {
        let tree = tree(MOUNTS);
        let created = open(&System::at(tree.path()), false, "id", &["cpu", "memory"]).unwrap();
        let created = created.group("", &asked()).unwrap();
        let at = |path: &str| tree.path().join("sys/fs/cgroup").join(path);
        assert_eq!(created.dirs, [at("memory/embermark-id"), at("cpu,cpuacct/mine/embermark-id")]);
        let read = |path: &str| fs::read_to_string(at(path)).unwrap();
        assert_eq!(read("memory/embermark-id/memory.limit_in_bytes"), "1000");
        assert_eq!(read("memory/embermark-id/memory.memsw.limit_in_bytes"), "1000");
        assert_eq!(read("memory/embermark-id/memory.swappiness"), "0");
        assert_eq!(read("cpu,cpuacct/mine/embermark-id/cpu.cfs_quota_us"), "16000");
        assert_eq!(read("cpu,cpuacct/mine/embermark-id/cpu.cfs_period_us"), "10000");
        assert_eq!(created.limits.len(), 5);
    }

    #[test]
    fn cpu_time_without_a_period_is_limited_too() {
        let asked = Limits::from([("cpu.max".to_owned(), "50000".to_owned())]);
        let values: Vec<String> = cpu(&asked).into_iter().map(|limit| limit.value).collect();
        assert_eq!(values, ["100000", "50000"]);
    }

    #[test]
    fn without_one_of_the_controllers_it_is_refused_by_name() {
        let tree = tree(MOUNTS.lines().take(2).next().unwrap());
        let why = open(&System::at(tree.path()), true, "id", &["memory"]).unwrap_err();
        assert!(why.contains("no cgroup v1 hierarchy has the controller 'memory'"), "{why}");
    }
}
