//! Puts this process into its own network namespace, and counts the traffic of its loopback device.
//!
//! Traffic between a client and a server is counted exactly by putting both into a namespace with
//! nothing but a loopback device, and reading that device's counters. See network_namespaces(7).

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::namespace::{self, Identity};

/// Name of the device of an imitated link.
pub(crate) const DEVICE: &str = "link0";

/// The namespace that [`enter`] created, by the kernel's name.
static ENTERED: OnceLock<PathBuf> = OnceLock::new();

/// Puts this process into a new network namespace with its loopback device up: as root with
/// unshare(2), and as an ordinary user within a new user namespace. Everything that it starts later
/// is in it too. Unix sockets with a path work across namespaces.
///
/// # Errors
/// If this process has more than one thread, because only the calling thread enters a namespace, or
/// if the kernel refuses.
pub fn enter() -> io::Result<()> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        let why =
            format!("a process enters a network namespace with one thread, and has {threads}");
        return Err(io::Error::other(why));
    }
    namespace::enter(&Identity::current()?)?;
    // A second call replaces nothing, because the first namespace was left for good.
    let _ = ENTERED.set(current()?);
    Ok(())
}

/// Whether only this process and its relatives use its network namespace: one that it has
/// [entered](enter), or that a parent has entered. Such a namespace has only the loopback device and
/// that of an imitated link, and is not that of process 1. An ordinary user cannot read the latter,
/// so the answer for a parent's namespace is then `false`.
pub fn is_isolated() -> bool {
    let Ok(current) = current() else { return false };
    let ours = |name: &str| matches!(name, "lo" | DEVICE);
    let alone = || devices().is_ok_and(|text| device_lines(&text).all(|(name, _)| ours(name)));
    match ENTERED.get() {
        Some(entered) => *entered == current,
        None => fs::read_link("/proc/1/ns/net").is_ok_and(|first| first != current) && alone(),
    }
}

/// Whether an imitated link is in this process's network namespace, which is private then.
pub fn has_link() -> bool {
    devices().is_ok_and(|text| device_lines(&text).any(|(name, _)| name == DEVICE)) && is_isolated()
}

/// Traffic of a loopback device since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes of packets, including the headers of IP and of TCP or UDP. A loopback device has no
    /// headers of its own.
    pub bytes: u64,
    /// Packets of the device: TCP passes up to 64 KiB at a time, which a wire would carry in many
    /// packets.
    pub packets: u64,
}

/// Returns the traffic of all senders over the loopback device in this process's namespace, or over
/// the imitated link if there is one. It counts transmitted bytes, so each byte once, although the
/// device also counts it as received. A packet that the link loses or drops counts. See
/// proc_net(5), `/proc/net/dev`.
///
/// # Errors
/// If the counters cannot be read.
pub fn counters() -> io::Result<Counters> {
    transmitted(&devices()?)
}

fn current() -> io::Result<PathBuf> {
    fs::read_link("/proc/self/ns/net")
}

fn devices() -> io::Result<String> {
    fs::read_to_string("/proc/self/net/dev")
}

/// Returns the name and the numbers of each device. They follow two lines of headings.
fn device_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let devices = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    devices.map(|(name, numbers)| (name.trim(), numbers))
}

/// Returns the transmitted bytes and packets. A device has eight numbers for received traffic, then
/// eight for transmitted. Bytes and packets come first in each.
fn transmitted(text: &str) -> io::Result<Counters> {
    let wrong = || io::Error::other("/proc/net/dev has no counters of a device `lo`");
    let device = |of: &str| device_lines(text).find(|(name, _)| *name == of);
    let (_, numbers) = device(DEVICE).or_else(|| device("lo")).ok_or_else(wrong)?;
    let mut numbers = numbers.split_ascii_whitespace().skip(8).map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(bytes)), Some(Ok(packets))) => Ok(Counters { bytes, packets }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_transmitted_over_the_loopback_device_is_found_among_devices() {
        let text = "Inter-|   Receive       |  Transmit\n \
                face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n \
                eth0: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n    \
                lo:1000 10 0 0 0 0 0 0 1001 11 0 0 0 0 0 0\n";
        let found = transmitted(text).unwrap();
        assert_eq!(found, Counters { bytes: 1001, packets: 11 });
        assert_eq!(device_lines(text).map(|(name, _)| name).collect::<Vec<_>>(), ["eth0", "lo"]);
        assert!(transmitted(&text.replace("lo:", "lo0:")).is_err());
    }

    #[test]
    fn a_process_of_several_threads_enters_none() {
        // A test has its own thread in addition to the program's.
        std::thread::spawn(|| {
            let error = enter().unwrap_err().to_string();
            assert!(error.contains("one thread"), "{error}");
        })
        .join()
        .unwrap();
    }
}
