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
    emulated: Emulated,
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

    /// The device with the limits as they were read back.
    pub const fn emulated(&self) -> &Emulated {
        &self.emulated
    }

    /// Puts a process into the group; what it starts later begins there.
    ///
    /// # Errors
    /// When the kernel refuses.
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
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const MOUNTS: &str = "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
                          30 27 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

    /// A hierarchy in which this process is in a group of a user's own.
    fn tree(controllers: &str) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file("proc/self/mountinfo", MOUNTS);
        file("proc/self/cgroup", "1:name=systemd:/\n0::/user/run.scope\n");
        file("sys/fs/cgroup/cgroup.controllers", controllers);
        file("sys/fs/cgroup/user/run.scope/cgroup.controllers", controllers);
        tree
    }

    fn asked() -> Emulated {
        let limit = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let limits = [limit("memory.max", "1073741824"), limit("cpu.max", "16000 10000")];
        Emulated { device: "pi3".to_owned(), limits: BTreeMap::from(limits) }
    }

    #[test]
    fn the_superusers_group_lies_below_the_root_and_has_the_limits() {
        let tree = tree("cpuset cpu io memory pids\n");
        let cgroup = Cgroup::create(&System::at(tree.path()), true, "id", &asked()).unwrap();
        let read =
            |file: &str| fs::read_to_string(tree.path().join("sys/fs/cgroup").join(file)).unwrap();
        assert_eq!(read("cgroup.subtree_control"), "+cpu +memory +io");
        assert_eq!(read("embermark-id/memory.max"), "1073741824");
        assert_eq!(read("embermark-id/cpu.max"), "16000 10000");
        assert_eq!(cgroup.emulated(), &asked());
        cgroup.add(4711).unwrap();
        assert_eq!(read("embermark-id/cgroup.procs"), "4711");
    }

    #[test]
    fn a_user_leaves_the_group_that_was_given_to_him_and_comes_back() {
        let tree = tree("cpu memory\n");
        let cgroup = Cgroup::create(&System::at(tree.path()), false, "id", &asked()).unwrap();
        let own = tree.path().join("sys/fs/cgroup/user/run.scope");
        let read = |file: &str| fs::read_to_string(own.join(file)).unwrap();
        let pid = std::process::id().to_string();
        assert_eq!(read("embermark-id-parent/cgroup.procs"), pid);
        assert_eq!(read("cgroup.subtree_control"), "+cpu +memory");
        assert!(own.join("embermark-id/memory.max").exists());
        drop(cgroup);
        assert_eq!(read("cgroup.procs"), pid);
    }

    #[test]
    fn where_limits_cannot_be_set_it_is_refused_with_the_reason_and_the_way_out() {
        let refusal = |tree: &tempfile::TempDir| {
            Cgroup::create(&System::at(tree.path()), true, "id", &asked()).unwrap_err()
        };
        let text = refusal(&tree("hugetlb\n"));
        assert!(text.contains("no controller 'cpu' (it has: hugetlb)"), "{text}");
        assert!(text.contains("run as root, or inside 'systemd-run"), "{text}");
        assert!(refusal(&tree("")).contains("it has: none"));
        let none = tempfile::tempdir().unwrap();
        assert!(refusal(&none).contains("no cgroup v2 file system is mounted"));
        // Files that cannot be written, which a folder of their name stands for.
        let closed = tree("cpu memory\n");
        fs::create_dir(closed.path().join("sys/fs/cgroup/cgroup.subtree_control")).unwrap();
        assert!(refusal(&closed).contains("cgroup.subtree_control refuses '+cpu +memory'"));
    }

    #[test]
    fn a_limit_on_storage_that_the_kernel_does_not_take_is_left_out_and_not_told() {
        let tree = tree("cpu memory\n");
        fs::create_dir_all(tree.path().join("sys/fs/cgroup/embermark-id/io.max")).unwrap();
        let mut asked = asked();
        asked.limits.insert("io.max".to_owned(), "8:0 wbps=1".to_owned());
        let cgroup = Cgroup::create(&System::at(tree.path()), true, "id", &asked).unwrap();
        assert_eq!(cgroup.emulated().limits.len(), 2);
    }
}
