//! Finds the descendants of processes in `/proc`, and ends them.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::system::read_lossy;

/// The needed fields of `/proc/PID/stat`. Times are in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub parent: u32,
    pub zombie: bool,
    /// User and system time of the process itself.
    pub own_ticks: u64,
    /// User and system time of its children that ended and were waited for.
    pub children_ticks: u64,
    /// Page faults without I/O, of itself and of those children: for whole trees only.
    pub minor_faults: u64,
    /// Page faults that waited for storage, of both too.
    pub major_faults: u64,
}

/// Reads the fields. Fails if the process has ended.
pub(crate) fn stat(pid: u32) -> io::Result<Stat> {
    let text = read_lossy(format!("/proc/{pid}/stat"))?;
    parse(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

fn parse(text: &str) -> Option<Stat> {
    // The name may contain blanks and brackets, so the fields follow the last bracket. Field
    // numbers as in proc_pid_stat(5): 3 state, 4 ppid, 10 minflt, 11 cminflt, 12 majflt, 13
    // cmajflt, 14 utime, 15 stime, 16 cutime, 17 cstime.
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Stat {
        parent: u32::try_from(field(4)?).ok()?,
        zombie: *fields.first()? == "Z",
        own_ticks: field(14)? + field(15)?,
        children_ticks: field(16)? + field(17)?,
        minor_faults: field(10)? + field(11)?,
        major_faults: field(12)? + field(13)?,
    })
}

/// Returns the threads of a process. Empty if it has ended.
pub(crate) fn threads(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns a process and all its descendants, the root first. Empty if it has ended.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut found = false;
    for pid in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = pid.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process may end between listing and reading.
        if let Ok(stat) = stat(pid) {
            found |= pid == root;
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut tree: Vec<u32> = found.then_some(root).into_iter().collect();
    let mut next = 0;
    while let Some(pid) = tree.get(next).copied() {
        tree.extend(children.remove(&pid).unwrap_or_default());
        next += 1;
    }
    tree
}

/// The processes that this one started or adopted, apart from those that it had at the start.
#[derive(Debug)]
pub(crate) struct Family {
    older: Vec<u32>,
}

impl Family {
    /// Makes this process adopt processes whose parents die, instead of init. None can escape: not
    /// the server of a crashed worker, nor a process that becomes a daemon. Existing children are
    /// not part of the family. Where adoption is not available, as in QEMU's user mode, escaped
    /// processes go to init.
    pub(crate) fn begin() -> io::Result<Self> {
        match prctl::set_child_subreaper(true) {
            Ok(()) | Err(Errno::EINVAL) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(Self { older: tree(std::process::id()) })
    }

    /// Returns members that still run, and those that ended but were not waited for.
    fn members(&self) -> Vec<u32> {
        let mut members = tree(std::process::id());
        members.retain(|pid| !self.older.contains(pid));
        members
    }

    /// Ends every member. Sends SIGTERM first, so that a server can release what only it knows
    /// (shared memory, sockets), and kills those that remain after `patience`. Returns whether
    /// there was any member.
    pub(crate) fn end(&self, patience: Duration) -> io::Result<bool> {
        const KILL_TIMEOUT: Duration = Duration::from_secs(10);
        const STEP: Duration = Duration::from_millis(5);
        // Finding members reads a file of every process of the machine.
        const FIND: Duration = Duration::from_millis(200);
        let began = Instant::now();
        let mut asked: Vec<u32> = Vec::new();
        loop {
            let members = self.members();
            members.iter().copied().for_each(reap);
            let alive: Vec<u32> = members.into_iter().filter(|pid| runs(*pid)).collect();
            if alive.is_empty() {
                self.members().into_iter().for_each(reap);
                return Ok(!asked.is_empty());
            }
            let waited = began.elapsed();
            if waited >= patience + KILL_TIMEOUT {
                let text = format!("processes {alive:?} do not end although they were killed");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            for &pid in &alive {
                if waited >= patience {
                    send(pid, Signal::SIGKILL)?;
                } else if !asked.contains(&pid) {
                    asked.push(pid);
                    send(pid, Signal::SIGTERM)?;
                }
            }
            let found = Instant::now();
            while found.elapsed() < FIND && alive.iter().any(|pid| runs(*pid)) {
                std::thread::sleep(STEP);
            }
        }
    }
}

/// Whether a process has not ended.
fn runs(pid: u32) -> bool {
    stat(pid).is_ok_and(|stat| !stat.zombie)
}

fn send(pid: u32, signal: Signal) -> io::Result<()> {
    match kill(Pid::from_raw(pid.cast_signed()), signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Waits for a process that has ended, if it is a child of this one.
fn reap(pid: u32) {
    // If it is not a child or has not ended yet, there is nothing to wait for.
    let _ = waitpid(Pid::from_raw(pid.cast_signed()), Some(WaitPidFlag::WNOHANG));
}

/// Waits for a process to exit, up to `patience`. Then kills it, and returns `None`.
pub(crate) fn wait_or_kill(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(exit)) => return Some(exit),
            Ok(None) if began.elapsed() < patience => std::thread::sleep(Duration::from_millis(1)),
            _ => {
                // It may have ended just now.
                let _ = child.kill().and_then(|()| child.wait());
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_name_with_blanks_and_brackets_does_not_shift_the_fields() {
        let line = "42 (a) b (c) S 7 42 42 0 -1 0 1 2 3 4 11 22 33 44 20 0 1 0 99 0 0";
        let expected = Stat {
            parent: 7,
            zombie: false,
            own_ticks: 33,
            children_ticks: 77,
            minor_faults: 3,
            major_faults: 7,
        };
        assert_eq!(parse(line), Some(expected));
        assert_eq!(parse("42 (cut"), None);
    }

    #[test]
    fn a_name_that_is_cut_inside_a_character_hides_no_process() {
        let dir = tempfile::tempdir().unwrap();
        // Two bytes each, and the kernel keeps 15.
        let program = dir.path().join("сервердатчиков");
        std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
        let mut child = Command::new(&program).arg0("sleep").arg("60").spawn().unwrap();
        // The kernel sets the name at the very end of the start.
        let name = || fs::read(format!("/proc/{}/comm", child.id())).unwrap();
        let is_cut = (0..1_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            String::from_utf8(name()).is_err()
        });
        let (found, bytes) = (tree(child.id()), crate::probe::resident_bytes(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_cut);
        assert_eq!(found, [child.id()]);
        assert!(bytes.is_some());
    }

    #[test]
    fn a_tree_begins_with_its_root_and_a_process_that_is_gone_has_none() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let own = tree(std::process::id());
        assert_eq!(own[0], std::process::id());
        assert!(own.contains(&child.id()));
        assert_eq!(tree(child.id()), [child.id()]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(tree(child.id()), Vec::<u32>::new());
    }
}
