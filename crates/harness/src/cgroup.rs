//! A control group for workers and servers, with the limits of a device: cgroup v2, as
//! <https://docs.kernel.org/admin-guide/cgroup-v2.html> has it, or [`v1`] where its controllers are.

mod v1;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use embermark_model::result::Emulated;

use crate::machine::{self, System};

/// Controllers without which there is no emulation.
const NEEDED: [&str; 2] = ["cpu", "memory"];

/// What to do where it does not work.
const REMEDY: &str = "run as root, or inside 'systemd-run --user --scope -p Delegate=yes', on a \
                      system with cgroups and their cpu and memory controllers";

/// A control group with limits; removed when dropped, when nothing is in it any longer.
#[derive(Debug)]
pub(crate) struct Cgroup {
    /// One, or with cgroup v1 one of each controller.
    dirs: Vec<PathBuf>,
    /// Where this process stays meanwhile, if it had to leave its own group, and that group.
    parked: Option<(PathBuf, PathBuf)>,
    /// The device with the limits as they were read back.
    pub emulated: Emulated,
}

impl Cgroup {
    /// Creates the group of a run with these limits. As the superuser below the root of the
    /// hierarchy, otherwise below the group of this process, which it then leaves for another one
    /// below: a group with limits for its children may hold no process itself.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub fn create(
        system: &System,
        superuser: bool,
        run_id: &str,
        asked: &Emulated,
    ) -> Result<Self, String> {
        let why = match Self::version_2(system, superuser, run_id, asked) {
            Ok(created) => return Ok(created),
            Err(why) => why,
        };
        v1::create(system, superuser, run_id, asked).map_err(|v1| format!("{why}; {v1}; {REMEDY}"))
    }

    fn version_2(
        system: &System,
        superuser: bool,
        run_id: &str,
        asked: &Emulated,
    ) -> Result<Self, String> {
        let mount = system
            .text("proc/self/mountinfo")
            .and_then(|mounts| mounted(&mounts))
            .ok_or("no cgroup v2 file system is mounted")?;
        let mount = system.path(mount);
        let own = system.text("proc/self/cgroup").and_then(|text| own(&text));
        let own = own.ok_or("this process is in no cgroup v2")?;
        let own = mount.join(own.trim_start_matches('/'));
        let base = if superuser { &mount } else { &own };

        let controllers = machine::read(&base.join("cgroup.controllers")).unwrap_or_default();
        let offered: Vec<&str> = controllers.split(' ').collect();
        if let Some(missing) = NEEDED.iter().find(|name| !offered.contains(name)) {
            let offers = if controllers.is_empty() { "none" } else { &controllers };
            return Err(format!(
                "{} has no controller '{missing}' (it has: {offers})",
                base.display()
            ));
        }
        let has_io = offered.contains(&"io");
        let parked = (*base != mount)
            .then(|| (base.join(format!("embermark-{run_id}-parent")), base.clone()));
        let mut this = Self::of(asked);
        if let Some((park, own)) = parked {
            make(&park).and_then(|()| enter(&park, std::process::id()))?;
            this.parked = Some((park, own));
        }
        let wanted = if has_io { "+cpu +memory +io" } else { "+cpu +memory" };
        write(&base.join("cgroup.subtree_control"), wanted)?;
        let dir = base.join(format!("embermark-{run_id}"));
        this.make(&dir)?;
        for (name, limit) in &asked.limits {
            // Storage and swap are limited where the kernel can; what it took is told.
            let optional = !name.starts_with("cpu") && name != "memory.max";
            this.limit(&dir, name, limit, optional)?;
        }
        Ok(this)
    }

    /// No group yet, of a device without limits.
    fn of(asked: &Emulated) -> Self {
        let emulated = Emulated { device: asked.device.clone(), limits: Default::default() };
        Self { dirs: Vec::new(), parked: None, emulated }
    }

    /// Makes a group, which goes with this value.
    fn make(&mut self, dir: &Path) -> Result<(), String> {
        make(dir)?;
        self.dirs.push(dir.to_owned());
        Ok(())
    }

    /// Sets a limit of a group and keeps what the kernel took of it; one that is `optional` may be
    /// refused, and is then not told.
    fn limit(&mut self, dir: &Path, name: &str, limit: &str, optional: bool) -> Result<(), String> {
        let file = dir.join(name);
        match write(&file, limit) {
            Ok(()) => {
                let taken = machine::read(&file).unwrap_or_else(|| limit.to_owned());
                self.emulated.limits.insert(name.to_owned(), taken);
                Ok(())
            }
            Err(_) if optional => Ok(()),
            refused => refused,
        }
    }

    /// Puts a process into the group; what it starts later begins there.
    pub fn add(&self, pid: u32) -> io::Result<()> {
        self.dirs.iter().try_for_each(|dir| fs::write(dir.join("cgroup.procs"), pid.to_string()))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // What is left is an empty group with a name of its own: no harm, and nothing to tell.
        for dir in &self.dirs {
            let _ = fs::remove_dir(dir);
        }
        if let Some((park, own)) = &self.parked {
            let _ = write(&own.join("cgroup.subtree_control"), "-cpu -memory -io")
                .or_else(|_| write(&own.join("cgroup.subtree_control"), "-cpu -memory"));
            let _ = enter(own, std::process::id());
            let _ = fs::remove_dir(park);
        }
    }
}

fn make(dir: &Path) -> Result<(), String> {
    fs::create_dir_all(dir).map_err(|error| format!("{} cannot be made: {error}", dir.display()))
}

fn enter(dir: &Path, pid: u32) -> Result<(), String> {
    write(&dir.join("cgroup.procs"), &pid.to_string())
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{} refuses '{text}': {error}", file.display()))
}

/// Where cgroup v2 is mounted, from `proc_pid_mountinfo(5)`.
fn mounted(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?;
        source.starts_with("cgroup2 ").then(|| PathBuf::from(point))
    })
}

/// The group of this process, from `/proc/self/cgroup` (`cgroups(7)`).
fn own(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
}

#[cfg(test)]
mod tests;
