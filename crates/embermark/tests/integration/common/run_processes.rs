//! Finds the processes of a run, and checks that they leave nothing behind. Other processes of the
//! machine are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Sandbox, processes, processes_using, wait_for};

/// Environment variable of the program and of all that it starts: the folder that it runs in.
pub const MARK: &str = "EMBERMARK_TEST_PLACE";

/// Name of the process that samples the disk.
const SAMPLER: &[u8] = b"embermark-disk\0";

/// Returns the running processes that were started in a sandbox. A process that has ended has no
/// environment, even if its parent has not waited for it.
pub fn running_processes(sandbox: &Sandbox) -> Vec<u32> {
    let mut mark = OsString::from(format!("{MARK}="));
    mark.push(sandbox.path("").as_os_str());
    let has_mark = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
    };
    processes().into_iter().filter(has_mark).collect()
}

/// Returns the running sensors and readers of a sandbox.
pub fn companions(sandbox: &Sandbox) -> Vec<u32> {
    let is =
        |command: Vec<u8>| command.ends_with(b"\0companion\0") && !command.starts_with(SAMPLER);
    let command = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    running_processes(sandbox).into_iter().filter(|pid| is(command(pid))).collect()
}

/// Returns the running workers of a sandbox.
pub fn workers(sandbox: &Sandbox) -> Vec<u32> {
    let command = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    running_processes(sandbox)
        .into_iter()
        .filter(|pid| command(pid).ends_with(b"\0worker\0"))
        .collect()
}

/// Sends a signal. Returns whether the process still existed.
pub fn signal(pid: u32, signal: Signal) -> bool {
    match kill(Pid::from_raw(pid.cast_signed()), signal) {
        Ok(()) => true,
        Err(Errno::ESRCH) => false,
        Err(error) => panic!("{signal} to {pid}: {error}"),
    }
}

/// Waits until no process of the sandbox runs, and none has a file below its folder open.
#[track_caller]
pub fn assert_nothing_left(sandbox: &Sandbox) {
    let left = || {
        let running = running_processes(sandbox);
        let holders = processes_using(&sandbox.path(""));
        (running.is_empty() && holders.is_empty()).then_some(())
    };
    wait_for("the last process to go", left);
}

/// Returns the open files of a process, by descriptor.
pub fn open_files(pid: u32) -> BTreeMap<u32, PathBuf> {
    let folder = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let numbered = folder.filter_map(|file| {
        Some((file.file_name().to_str()?.parse().ok()?, fs::read_link(file.path()).ok()?))
    });
    numbered.collect()
}

/// Returns the mapped shared memory of a process that outlives it: files, and ids of System V
/// segments.
pub fn shared_memory(pid: u32) -> BTreeSet<String> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let name = |line: &str| {
        // proc_pid_maps(5): 4 inode, which is the id of such a segment, 5 path.
        let mut fields = line.split_whitespace().skip(4);
        let (id, path) = (fields.next()?, fields.next()?);
        match path {
            _ if path.starts_with("/dev/shm/") => Some(path.to_owned()),
            _ if path.starts_with("/SYSV") => Some(id.to_owned()),
            _ => None,
        }
    };
    maps.lines().filter_map(name).collect()
}

/// Returns all such shared memory of this machine.
pub fn all_shared_memory() -> BTreeSet<String> {
    let files = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    let files = files.map(|file| file.path().display().to_string());
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    // proc_sysvipc(5): 1 shmid.
    let ids = table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1));
    files.chain(ids.map(str::to_owned)).collect()
}

/// Returns the kernel objects that outlive a process: those that it has open or mapped, and the
/// System V message queues and shared memory that it has used since `began` (s).
pub fn lasting_kernel_objects(pid: u32, began: u64) -> Vec<String> {
    let shared = |path: &Path| path.starts_with("/dev/shm") || path.starts_with("/dev/mqueue");
    let open = open_files(pid).into_values().filter(|path| shared(path));
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mapped = maps.lines().filter(|line| {
        let path = Path::new(line.split_whitespace().nth(5).unwrap_or_default());
        shared(path) || line.contains("/SYSV")
    });
    let mut found: Vec<String> = open.map(|path| path.display().to_string()).collect();
    found.extend(mapped.map(str::to_owned));
    for (kind, pairs) in [
        ("msg", &[("lspid", "stime"), ("lrpid", "rtime")][..]),
        ("shm", &[("cpid", "ctime"), ("lpid", "atime")]),
    ] {
        let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        let mut lines = table.lines();
        let names: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
        for line in lines {
            let row: BTreeMap<&str, u64> = names
                .iter()
                .copied()
                .zip(line.split_whitespace().map(|word| word.parse().unwrap_or_default()))
                .collect();
            // A process that ended may have had the same number.
            let used = |(by, at): &(&str, &str)| row[by] == u64::from(pid) && row[at] >= began;
            if pairs.iter().any(used) {
                found.push(format!("{kind}: {line}"));
            }
        }
    }
    found
}
