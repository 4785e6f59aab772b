//! The same limits by cgroup v1, which many devices still boot with: one hierarchy for each
//! controller, as <https://docs.kernel.org/admin-guide/cgroup-v1/index.html> has it.
//!
//! Storage is left alone: v1 throttles direct writes and not those that come from the page cache,
//! which is where nearly all of a database's come from.

use std::path::PathBuf;

use embermark_model::result::Emulated;

use super::Cgroup;
use crate::machine::System;

/// A file of a controller, and what is written to it.
type Limit = (&'static str, String);

/// Groups with the limits asked for, one of each controller.
pub(super) fn create(
    system: &System,
    superuser: bool,
    run_id: &str,
    asked: &Emulated,
) -> Result<Cgroup, String> {
    let mounts = system.text("proc/self/mountinfo").unwrap_or_default();
    let groups = system.text("proc/self/cgroup").unwrap_or_default();
    let mut this = Cgroup::of(asked);
    for (controller, limits) in [("memory", memory(asked)), ("cpu", cpu(asked)?)] {
        let mount = mounted(&mounts, controller)
            .ok_or_else(|| format!("no cgroup v1 hierarchy has the controller '{controller}'"))?;
        let own = if superuser { "" } else { own(&groups, controller).unwrap_or_default() };
        let dir = system.path(mount).join(own.trim_start_matches('/'));
        let dir = dir.join(format!("embermark-{run_id}"));
        // Two controllers may share a hierarchy.
        if !this.dirs.contains(&dir) {
            this.make(&dir)?;
        }
        for (name, limit) in limits {
            // Swap is counted only where the kernel was told to.
            this.limit(&dir, name, &limit, name.contains("memsw"))?;
        }
    }
    Ok(this)
}

/// In this order: memory with swap may not be less than memory.
fn memory(asked: &Emulated) -> Vec<Limit> {
    let of = |name: &str| asked.limits.get(name);
    let whole = of("memory.max").map(|limit| ("memory.limit_in_bytes", limit.clone()));
    let swapless = of("memory.swap.max").filter(|limit| *limit == "0");
    let swap = swapless.and(of("memory.max"));
    whole
        .into_iter()
        .chain(swap.map(|limit| ("memory.memsw.limit_in_bytes", limit.clone())))
        .collect()
}

fn cpu(asked: &Emulated) -> Result<Vec<Limit>, String> {
    let Some(limit) = asked.limits.get("cpu.max") else { return Ok(Vec::new()) };
    let (quota, period) =
        limit.split_once(' ').ok_or_else(|| format!("'{limit}' is no limit of CPU time"))?;
    Ok(vec![("cpu.cfs_period_us", period.to_owned()), ("cpu.cfs_quota_us", quota.to_owned())])
}

/// Where a controller's hierarchy is mounted, from `proc_pid_mountinfo(5)`.
fn mounted(mountinfo: &str, controller: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - cgroup ")?;
        let options = source.rsplit(' ').next()?;
        let has = options.split(',').any(|option| option == controller);
        has.then(|| mount.split(' ').nth(4).map(PathBuf::from))?
    })
}

/// The group of this process in a controller's hierarchy (`cgroups(7)`): `4:cpu,cpuacct:/user`.
fn own<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let has = parts.next()?.split(',').any(|name| name == controller);
        parts.next().filter(|_| has)
    })
}

#[cfg(test)]
mod tests;
