//! The same limits by cgroup v1, which many devices still boot with: one hierarchy per controller
//! (<https://docs.kernel.org/admin-guide/cgroup-v1/index.html>).
//!
//! Storage is not limited. v1 throttles direct writes but not those from the page cache, which are
//! nearly all writes of a database.

use std::path::PathBuf;

use super::{Hierarchy, Limit, Limits};
use crate::system::System;

/// Opens the place for groups, with one directory per controller.
pub(super) fn open(
    system: &System,
    superuser: bool,
    run_id: &str,
    controllers: &[&'static str],
) -> Result<Hierarchy, String> {
    let mounts = system.text("proc/self/mountinfo").unwrap_or_default();
    let groups = system.text("proc/self/cgroup").unwrap_or_default();
    let base = |controller: &&'static str| {
        let mount = mounted(&mounts, controller)
            .ok_or_else(|| format!("no cgroup v1 hierarchy has the controller '{controller}'"))?;
        let own =
            if superuser { "" } else { current_group(&groups, controller).unwrap_or_default() };
        Ok((*controller, system.path(mount).join(own.trim_start_matches('/'))))
    };
    let bases: Result<Vec<_>, String> = controllers.iter().map(base).collect();
    Ok(Hierarchy { bases: bases?, name: format!("embermark-{run_id}"), files, parked: None })
}

fn files(asked: &Limits) -> Result<Vec<Limit>, String> {
    let mut files = memory(asked);
    files.extend(cpu(asked)?);
    Ok(files)
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

fn cpu(asked: &Limits) -> Result<Vec<Limit>, String> {
    let Some(most) = asked.get("cpu.max") else { return Ok(Vec::new()) };
    let (quota, period) =
        most.split_once(' ').ok_or_else(|| format!("invalid limit of CPU time '{most}'"))?;
    Ok(vec![limit("cpu", "cpu.cfs_period_us", period), limit("cpu", "cpu.cfs_quota_us", quota)])
}

/// Returns where a controller's hierarchy is mounted, from `proc_pid_mountinfo(5)`.
pub(super) fn mounted(mountinfo: &str, controller: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - cgroup ")?;
        let options = source.rsplit(' ').next()?;
        let has = options.split(',').any(|option| option == controller);
        has.then(|| mount.split(' ').nth(4).map(PathBuf::from))?
    })
}

/// Returns the group of this process in a controller's hierarchy (`cgroups(7)`):
/// `4:cpu,cpuacct:/user`.
pub(super) fn current_group<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let has = parts.next()?.split(',').any(|name| name == controller);
        parts.next().filter(|_| has)
    })
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
    fn without_one_of_the_controllers_it_is_refused_by_name() {
        let tree = tree(MOUNTS.lines().take(2).next().unwrap());
        let why = open(&System::at(tree.path()), true, "id", &["memory"]).unwrap_err();
        assert!(why.contains("no cgroup v1 hierarchy has the controller 'memory'"), "{why}");
    }
}
