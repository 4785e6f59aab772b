//! A network namespace for this process alone, and what passes over its loopback device.
//!
//! Traffic between a client and a server is counted exactly by putting both into a namespace of
//! their own, with nothing in it but a loopback device, and reading that device's counters. See
//! network_namespaces(7).

pub(crate) mod namespace;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use namespace::Identity;

/// The namespace that [`enter`] made, as the kernel names it.
static ENTERED: OnceLock<PathBuf> = OnceLock::new();

/// Puts this process into a network namespace of its own, its loopback device up: as root by
/// unshare(2), as an ordinary user inside a user namespace too. What it starts from here on is in
/// it as well. Unix sockets that have a path work across namespaces.
///
/// # Errors
/// When this process has more than one thread, because a namespace is entered by one thread
/// alone; when the kernel gives none.
pub fn enter() -> io::Result<()> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        let why = format!("a network namespace is entered by one thread, and there are {threads}");
        return Err(io::Error::other(why));
    }
    namespace::enter(&Identity::ours()?)?;
    // A second one replaces none: what was entered first is left for good.
    let _ = ENTERED.set(current()?);
    Ok(())
}

/// Whether this process is in a network namespace that it shares with nobody but its family: one
/// that it has [entered](enter), or one that a parent has, known by having no device but the
/// loopback one and by not being that of process 1. Who may not see the latter, as an ordinary
/// user may not, is told `false`.
pub fn is_own() -> bool {
    let Ok(current) = current() else { return false };
    let alone = || devices().is_ok_and(|text| named(&text).all(|(name, _)| name == "lo"));
    match ENTERED.get() {
        Some(entered) => *entered == current,
        None => fs::read_link("/proc/1/ns/net").is_ok_and(|first| first != current) && alone(),
    }
}

/// What has passed over a loopback device since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes of packets, with the headers of IP and of TCP or UDP; a loopback device has none of
    /// its own.
    pub bytes: u64,
    /// Packets as the device saw them: TCP hands it up to 64 KiB at a time, which a wire would
    /// carry in many.
    pub packets: u64,
}

/// What has passed over the loopback device of this process's namespace, whoever sent it: what was
/// transmitted, and so each byte once, though the device counts it as received too. See
/// proc_net(5), `/proc/net/dev`.
///
/// # Errors
/// When it cannot be read.
pub fn counters() -> io::Result<Counters> {
    transmitted(&devices()?)
}

fn current() -> io::Result<PathBuf> {
    fs::read_link("/proc/self/ns/net")
}

fn devices() -> io::Result<String> {
    fs::read_to_string("/proc/self/net/dev")
}

/// The devices, each with its numbers, behind two lines of headings.
fn named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let devices = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    devices.map(|(name, numbers)| (name.trim(), numbers))
}

/// Eight numbers received, then eight transmitted, of each the first two bytes and packets.
fn transmitted(text: &str) -> io::Result<Counters> {
    let wrong = || io::Error::other("/proc/net/dev tells nothing of a device `lo`");
    let (_, numbers) = named(text).find(|(name, _)| *name == "lo").ok_or_else(wrong)?;
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
        assert_eq!(named(text).map(|(name, _)| name).collect::<Vec<_>>(), ["eth0", "lo"]);
        assert!(transmitted(&text.replace("lo:", "lo0:")).is_err());
    }

    #[test]
    fn a_process_of_several_threads_enters_none() {
        // A test has a thread of its own beside that of its program.
        std::thread::spawn(|| {
            let error = enter().unwrap_err().to_string();
            assert!(error.contains("one thread"), "{error}");
        })
        .join()
        .unwrap();
    }
}
