//! Control groups with limits for workers and servers: cgroup v2
//! (<https://docs.kernel.org/admin-guide/cgroup-v2.html>), or [`v1`] if its controllers are there.

mod current;
mod v1;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::system::{self, System};
pub(crate) use current::limits;

/// Limits, by the names of cgroup v2's files: `memory.max`.
pub(crate) type Limits = BTreeMap<String, String>;

/// Advice if no group can be created.
const REMEDY: &str = "run as root, or inside 'systemd-run --user --scope -p Delegate=yes', on a \
                      system with cgroups and their cpu and memory controllers";

/// Stands for all controllers in cgroup v2, whose hierarchy has no name.
const VERSION_2: &str = "";

/// Time in which the processes of an abandoned group must end.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// A place in the cgroup file system where a run can create groups with limits.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    /// Directories for groups. One per controller with cgroup v1.
    bases: Vec<(&'static str, PathBuf)>,
    /// Prefix of every group's name.
    name: String,
    /// Returns the files to write for limits.
    files: fn(&Limits) -> Vec<Limit>,
    /// If this process had to leave its own group: the group in which it is during the run, and its
    /// own group.
    parked: Option<(PathBuf, PathBuf)>,
}

/// A file of a controller, and the value to write to it.
#[derive(Clone, Debug)]
struct Limit {
    controller: &'static str,
    file: String,
    value: String,
    /// Whether a refusal by the kernel is ignored.
    optional: bool,
}

/// A control group with limits. Dropping it removes it once no process is in it.
#[derive(Debug)]
pub(crate) struct Cgroup {
    /// Its directory. One per controller with cgroup v1.
    pub dirs: Vec<PathBuf>,
    /// The limits that were read back, by the names of the kernel's files.
    pub limits: Limits,
    /// Locks of the directories. They tell other runs that the group is not abandoned.
    locks: Vec<File>,
}

impl Hierarchy {
    /// Opens the place for a run's groups with these controllers. For the superuser it is the root
    /// of the hierarchy. Otherwise it is the group of this process, which then moves to another
    /// group below it: a group with limits for its children must not contain a process.
    ///
    /// # Errors
    /// If that is not possible. The error gives the reason and what to do.
    pub fn open(
        system: &System,
        superuser: bool,
        run_id: &str,
        controllers: &[&'static str],
    ) -> Result<Self, String> {
        let why = match Self::version_2(system, superuser, run_id, controllers) {
            Ok(opened) => return Ok(opened),
            Err(why) => why,
        };
        v1::open(system, superuser, run_id, controllers)
            .map_err(|v1| format!("{why}; {v1}; {REMEDY}"))
    }

    fn version_2(
        system: &System,
        superuser: bool,
        run_id: &str,
        controllers: &[&str],
    ) -> Result<Self, String> {
        let mount = mounted(system, VERSION_2).ok_or("no cgroup v2 file system is mounted")?;
        let own = current_group(system, VERSION_2).ok_or("this process is in no cgroup v2")?;
        let own = mount.join(own);
        let base = if superuser { &mount } else { &own };

        let has = system::read(&base.join("cgroup.controllers")).unwrap_or_default();
        let offered: Vec<&str> = has.split(' ').collect();
        if let Some(missing) = controllers.iter().find(|name| !offered.contains(name)) {
            let offers = if has.is_empty() { "none" } else { &has };
            return Err(format!(
                "{} has no controller '{missing}' (it has: {offers})",
                base.display()
            ));
        }
        let mut this = Self {
            bases: vec![(VERSION_2, base.clone())],
            name: format!("embermark-{run_id}"),
            files: version_2_files,
            parked: None,
        };
        if *base != mount {
            let park = base.join(format!("embermark-{run_id}-parent"));
            make(&park).and_then(|_lock| enter(&park, std::process::id()))?;
            this.parked = Some((park, base.clone()));
        }
        let io = offered.contains(&"io").then_some(&"io");
        let wanted: Vec<String> =
            controllers.iter().chain(io).map(|name| format!("+{name}")).collect();
        write(&base.join("cgroup.subtree_control"), &wanted.join(" "))?;
        Ok(this)
    }

    /// Makes a new group under limits, with nothing charged to it from an earlier group of the same
    /// name. `suffix` ends its name.
    ///
    /// # Errors
    /// If the kernel refuses the group or a limit.
    pub fn group(&self, suffix: &str, asked: &Limits) -> Result<Cgroup, String> {
        let name = format!("{}{suffix}", self.name);
        let mut group = Cgroup { dirs: Vec::new(), limits: Limits::new(), locks: Vec::new() };
        for limit in (self.files)(asked) {
            let of = |(controller, _): &&(&str, _)| *controller == limit.controller;
            let (_, base) = self.bases.iter().find(of).ok_or("this controller does not exist")?;
            let dir = base.join(&name);
            // Two controllers may share a hierarchy.
            if !group.dirs.contains(&dir) {
                remove(&dir)?;
                group.locks.push(make(&dir)?);
                group.dirs.push(dir.clone());
            }
            group.limit(&dir, &limit)?;
        }
        Ok(group)
    }
}

impl Drop for Hierarchy {
    fn drop(&mut self) {
        if let Some((park, own)) = &self.parked {
            let control = own.join("cgroup.subtree_control");
            for controller in ["-cpu", "-memory", "-io"] {
                let _ = write(&control, controller);
            }
            let _ = enter(own, std::process::id());
            let _ = fs::remove_dir(park);
        }
    }
}

/// Storage and swap are limited only if the kernel can. The limits that it accepted are reported.
fn version_2_files(asked: &Limits) -> Vec<Limit> {
    let limit = |(name, value): (&String, &String)| Limit {
        controller: VERSION_2,
        file: name.clone(),
        value: value.clone(),
        optional: !name.starts_with("cpu") && name != "memory.max",
    };
    asked.iter().map(limit).collect()
}

impl Cgroup {
    /// Sets a limit and keeps the value that the kernel accepted.
    fn limit(&mut self, dir: &Path, limit: &Limit) -> Result<(), String> {
        let file = dir.join(&limit.file);
        match write(&file, &limit.value) {
            Ok(()) => {
                let taken = system::read(&file).unwrap_or_else(|| limit.value.clone());
                self.limits.insert(limit.file.clone(), taken);
                Ok(())
            }
            Err(_) if limit.optional => Ok(()),
            refused => refused,
        }
    }

    /// Moves a process into the group. Processes that it starts later begin there, and memory that
    /// it takes later is charged to the group.
    pub fn add(&self, pid: u32) -> io::Result<()> {
        add(&self.dirs, pid)
    }

    /// Returns the peak memory charged to the group in bytes, including the page cache of its
    /// files. `None` if the kernel does not report it.
    pub fn peak_bytes(&self) -> Option<u64> {
        self.counter(["memory.peak", "memory.max_usage_in_bytes"])?.parse().ok()
    }

    /// Returns how many of its processes the kernel has killed because memory ran out.
    pub fn oom_kills(&self) -> u64 {
        let events = self.counter(["memory.events", "memory.oom_control"]).unwrap_or_default();
        let killed = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        killed.and_then(|times| times.trim().parse().ok()).unwrap_or(0)
    }

    /// Reads a file of cgroup v2 or v1.
    fn counter(&self, names: [&str; 2]) -> Option<String> {
        let files = self.dirs.iter().flat_map(|dir| names.map(|name| dir.join(name)));
        files.into_iter().find_map(|file| system::read(&file))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A failure leaves an empty group, which a later run removes.
        for dir in &self.dirs {
            let _ = fs::remove_dir(dir);
        }
    }
}

/// Moves a process into the groups in these directories.
pub(crate) fn add(dirs: &[PathBuf], pid: u32) -> io::Result<()> {
    dirs.iter().try_for_each(|dir| fs::write(dir.join("cgroup.procs"), pid.to_string()))
}

/// Makes a group and locks it.
fn make(dir: &Path) -> Result<File, String> {
    let made = || loop {
        fs::create_dir_all(dir)?;
        match File::open(dir) {
            Ok(lock) => {
                // Without the lock another run may take the group for abandoned while it is empty.
                let _ = lock.lock();
                // It may have done so before this one had the lock.
                if dir.is_dir() {
                    return Ok(lock);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    };
    made().map_err(|error: io::Error| format!("{} cannot be created: {error}", dir.display()))
}

/// Removes the empty groups of runs that were killed. The groups of other active runs are locked.
pub(crate) fn remove_abandoned(system: &System) {
    let places = ["cpu", "memory"].map(|controller| current::groups(system, controller));
    let places: BTreeSet<PathBuf> = places.into_iter().flatten().collect();
    for entry in places.iter().flat_map(fs::read_dir).flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_of_a_run)
            && let Ok(group) = File::open(entry.path())
            && group.try_lock().is_ok()
        {
            // One that has processes or may not be removed stays.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Whether a group's name begins like the id of a run: with a date and a `T`.
fn is_of_a_run(name: &str) -> bool {
    let date = name.strip_prefix("embermark-").and_then(|id| id.split_once('T'));
    date.is_some_and(|(date, _)| date.len() == 8 && date.bytes().all(|c| c.is_ascii_digit()))
}

/// Removes the group of an earlier run that was killed, whose processes are about to end.
fn remove(dir: &Path) -> Result<(), String> {
    let is_busy = |error: &io::Error| error.kind() == io::ErrorKind::ResourceBusy;
    match system::retry(LEAVE_TIMEOUT, is_busy, || fs::remove_dir(dir)) {
        Err(error) if is_busy(&error) => {
            Err(format!("{} still has processes: {error}", dir.display()))
        }
        _ => Ok(()),
    }
}

fn enter(dir: &Path, pid: u32) -> Result<(), String> {
    write(&dir.join("cgroup.procs"), &pid.to_string())
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{} refuses '{text}': {error}", file.display()))
}

/// Returns where the hierarchy of a controller of cgroup v1, or [`VERSION_2`], is mounted, from
/// `proc_pid_mountinfo(5)`.
fn mounted(system: &System, controller: &str) -> Option<PathBuf> {
    let mounts = system.text("proc/self/mountinfo")?;
    let point = mounts.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let (kind, options) = (source.split(' ').next()?, source.rsplit(' ').next()?);
        let has = match controller {
            VERSION_2 => kind == "cgroup2",
            _ => kind == "cgroup" && options.split(',').any(|option| option == controller),
        };
        mount.split(' ').nth(4).filter(|_| has)
    })?;
    Some(system.path(point))
}

/// Returns the group of this process in such a hierarchy, relative to its root, from
/// `/proc/self/cgroup` (`cgroups(7)`): `4:cpu,cpuacct:/user`, or in version 2 `0::/user`.
fn current_group(system: &System, controller: &str) -> Option<String> {
    let groups = system.text("proc/self/cgroup")?;
    let group = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let has = parts.next()?.split(',').any(|name| name == controller);
        parts.next().filter(|_| has)
    })?;
    Some(group.trim_start_matches('/').to_owned())
}

#[cfg(test)]
mod tests;
