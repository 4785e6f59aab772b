//! The processes of a run: who they are, and whether they leave anything behind. What else the
//! machine holds does not matter.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Place, left_in, processes, wait_for};

/// In the environment of the program and of whatever it starts: the folder that it runs in.
pub const MARK: &str = "EMBERMARK_TEST_PLACE";

/// What the process that samples the disk is called.
const SAMPLER: &[u8] = b"embermark-disk\0";

/// The processes that were started in this place and still run; what has ended has no environment,
/// even if nobody has waited for it.
pub fn family(place: &Place) -> Vec<u32> {
    let mut mark = OsString::from(format!("{MARK}="));
    mark.push(place.path("").as_os_str());
    let ours = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
    };
    processes().into_iter().filter(ours).collect()
}

/// The sensors and readers of this place.
pub fn companions(place: &Place) -> Vec<u32> {
    let is =
        |command: Vec<u8>| command.ends_with(b"\0companion\0") && !command.starts_with(SAMPLER);
    let command = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    family(place).into_iter().filter(|pid| is(command(pid))).collect()
}

/// The workers of this place.
pub fn workers(place: &Place) -> Vec<u32> {
    let command = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    family(place).into_iter().filter(|pid| command(pid).ends_with(b"\0worker\0")).collect()
}

/// Sends a signal; whether the process was still there to be sent it.
pub fn signal(pid: u32, signal: Signal) -> bool {
    match kill(Pid::from_raw(pid.cast_signed()), signal) {
        Ok(()) => true,
        Err(Errno::ESRCH) => false,
        Err(error) => panic!("{signal} to {pid}: {error}"),
    }
}

/// Waits until no process of this place runs, and none holds a file below it.
#[track_caller]
pub fn nothing_is_left_behind(place: &Place) {
    let left = || {
        let family = family(place);
        let holders = left_in(&place.path(""));
        (family.is_empty() && holders.is_empty()).then_some(())
    };
    wait_for("the last process to go", left);
}

/// What a process has open, by descriptor.
pub fn files(pid: u32) -> BTreeMap<u32, PathBuf> {
    let folder = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let numbered = folder.filter_map(|file| {
        Some((file.file_name().to_str()?.parse().ok()?, fs::read_link(file.path()).ok()?))
    });
    numbered.collect()
}

/// Shared memory that a process has mapped and that does not end with it: files, and ids of System V's segments.
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

/// All such shared memory of this machine.
pub fn all_shared_memory() -> BTreeSet<String> {
    let files = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    let files = files.map(|file| file.path().display().to_string());
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    // proc_sysvipc(5): 1 shmid.
    let ids = table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1));
    files.chain(ids.map(str::to_owned)).collect()
}

/// What a process has open or mapped that the kernel would keep when it has gone, and what it has
/// used of System V's message queues and shared memory since `began` (s).
pub fn lasting(pid: u32, began: u64) -> Vec<String> {
    let shared = |path: &Path| path.starts_with("/dev/shm") || path.starts_with("/dev/mqueue");
    let open = files(pid).into_values().filter(|path| shared(path));
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
