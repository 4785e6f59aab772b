//! Processes of a private server and their open sockets, as reported by the kernel: proc(5).

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Returns every process.
fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the state and the parent of a process.
fn state(pid: u32) -> Option<(String, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name, in brackets, can contain anything.
    let mut words = stat.rsplit_once(") ")?.1.split(' ');
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
}

/// A zombie does not run.
pub fn is_running(pid: u32) -> bool {
    state(pid).is_some_and(|(state, _)| state != "Z" && state != "X")
}

pub fn uid(pid: u32) -> u32 {
    fs::metadata(format!("/proc/{pid}")).unwrap().uid()
}

/// Returns the network that a process sees.
fn network(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

/// Returns the most memory that this process has had, in KiB.
pub fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// What identifies the processes of a private server, including those that it starts later.
pub struct Processes {
    /// The server and the processes it had started.
    known: Vec<u32>,
    /// The folder of its files, which may be its working folder.
    dir: PathBuf,
    /// The network it sees, if that is not this process's.
    network: Option<PathBuf>,
}

impl Processes {
    pub fn of(server: u32, dir: &Path) -> Self {
        let ours = network(std::process::id());
        let network = network(server).filter(|network| Some(network) != ours.as_ref());
        let mut known = vec![server];
        let mut next = 0;
        while let Some(parent) = known.get(next).copied() {
            known
                .extend(all().into_iter().filter(|pid| state(*pid).is_some_and(|s| s.1 == parent)));
            next += 1;
        }
        Self { known, dir: dir.to_owned(), network }
    }

    pub fn running(&self) -> Vec<u32> {
        let works_there = |pid: u32| {
            fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|dir| dir.starts_with(&self.dir))
        };
        let is_of_it = |pid: u32| {
            self.known.contains(&pid)
                || works_there(pid)
                || (self.network.is_some() && network(pid) == self.network)
        };
        all().into_iter().filter(|pid| is_running(*pid) && is_of_it(*pid)).collect()
    }

    /// Whether they are in their own network.
    pub fn are_alone(&self) -> bool {
        self.network.is_some()
    }

    /// Waits until none is left.
    pub fn end(&self) {
        let deadline = Instant::now() + Duration::from_secs(300);
        while !self.running().is_empty() && Instant::now() < deadline {
            sleep(Duration::from_millis(10));
        }
        assert_eq!(self.running(), [] as [u32; 0], "of {}", self.dir.display());
    }
}

/// Returns the sockets that a process has open, by their inodes.
pub fn sockets(pid: u32) -> HashSet<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    files
        .filter_map(|file| fs::read_link(file.path()).ok())
        .filter_map(|to| Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

/// Returns a table of sockets, without its header, by columns.
fn table(process: &str, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{process}/net/{name}")).unwrap_or_default();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split_whitespace().map(str::to_owned).collect()).collect()
}

/// Returns the TCP ports on which such sockets listen in this process's network.
pub fn ports(sockets: &HashSet<String>) -> Vec<u16> {
    let rows = table("self", "tcp").into_iter();
    rows.filter(|row| row[3] == "0A" && sockets.contains(&row[9]))
        .map(|row| u16::from_str_radix(row[1].split_once(':').unwrap().1, 16).unwrap())
        .collect()
}

/// Returns protocols and addresses of such sockets in this process's network, without UDP sockets
/// that are connected to a single peer.
pub fn addresses(sockets: &HashSet<String>) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for name in ["tcp", "tcp6", "udp", "udp6"] {
        // The columns are: number, local address, remote address, …, with the inode as the tenth.
        let rows = table("self", name).into_iter().filter(|row| sockets.contains(&row[9]));
        let rows = rows.filter(|row| name.starts_with("tcp") || row[2].ends_with(":0000"));
        found.extend(rows.map(|row| (name, row[1].split(':').next().unwrap().to_owned())));
    }
    found
}

/// Returns the names of the Unix sockets on which a process listens.
pub fn unix_listeners(pid: u32) -> Vec<String> {
    let sockets = sockets(pid);
    // The columns are: …, flags as the fourth (00010000 means it listens), …, inode as the seventh,
    // path.
    let rows = table(&pid.to_string(), "unix").into_iter();
    rows.filter(|row| row[3] == "00010000" && sockets.contains(&row[6]))
        .map(|row| row.get(7).map_or("unnamed", |path| path.rsplit('/').next().unwrap()).to_owned())
        .collect()
}
