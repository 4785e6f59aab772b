//! The kernel's queue of datagrams that the server has not read yet.

use std::fs;
use std::io::{self, Read, Seek};

/// Every UDP socket of this network namespace, with the bytes in its queues and the datagrams it
/// dropped
/// (<https://www.kernel.org/doc/html/latest/filesystems/proc.html#networking-info-in-proc-net>).
const TABLE: &str = "/proc/net/udp";

pub(super) struct Queue {
    table: fs::File,
    text: String,
    inode: u64,
    /// Port on which the socket listens.
    pub port: u16,
}

/// A socket, from a line of the table.
#[derive(Debug)]
pub(super) struct SocketState {
    port: u16,
    inode: u64,
    /// Bytes in its queue including the kernel's overhead, which the kernel compares with the
    /// socket's limit.
    pub bytes: usize,
    /// Datagrams dropped so far because the queue was full.
    pub dropped: u64,
}

impl Queue {
    /// Returns the queue of the only UDP socket of a child process.
    pub fn of_process(pid: u32) -> io::Result<Self> {
        let mut text = String::new();
        let mut table = fs::File::open(TABLE)?;
        table.read_to_string(&mut text)?;
        let sockets = sockets(pid)?;
        let mut its = lines(&text).filter(|line| sockets.contains(&line.inode));
        let SocketState { port, inode, .. } = its.next().ok_or(io::ErrorKind::NotFound)?;
        drop(its);
        Ok(Self { table, text, inode, port })
    }

    pub fn read_state(&mut self) -> io::Result<SocketState> {
        self.text.clear();
        self.table.rewind()?;
        self.table.read_to_string(&mut self.text)?;
        let found = lines(&self.text).find(|line| line.inode == self.inode);
        found.ok_or_else(|| io::Error::other("its UDP socket is gone"))
    }
}

/// Returns the inodes of a process's open sockets.
fn sockets(pid: u32) -> io::Result<Vec<u64>> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
    let links = open.filter_map(|file| fs::read_link(file.path()).ok());
    Ok(links
        .filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok())
        .collect())
}

fn lines(table: &str) -> impl Iterator<Item = SocketState> {
    table.lines().skip(1).filter_map(line)
}

/// `13785: 0100007F:DBE8 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 314100 2 … 0`
fn line(text: &str) -> Option<SocketState> {
    let mut words = text.split_ascii_whitespace().skip(1);
    let (_, port) = words.next()?.split_once(':')?;
    let (_, bytes) = words.nth(2)?.split_once(':')?;
    // In between: the timer, retransmissions, the user, and the time-out. Afterwards: the
    // references to the socket and its address.
    let inode = words.nth(4)?;
    let dropped = words.nth(2)?;
    Some(SocketState {
        port: u16::from_str_radix(port, 16).ok()?,
        inode: inode.parse().ok()?,
        bytes: usize::from_str_radix(bytes, 16).ok()?,
        dropped: dropped.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_the_kernel_holds_for_a_socket_is_seen_and_what_it_drops_is_counted() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        let mut queue = Queue::of_process(std::process::id()).unwrap();
        let port = receiver.local_addr().unwrap().port();
        let table = fs::read_to_string(TABLE).unwrap();
        queue.inode = lines(&table).find(|line| line.port == port).unwrap().inode;
        let none = queue.read_state().unwrap();
        assert_eq!((none.bytes, none.dropped), (0, 0));
        sender.send(&[7; 100]).unwrap();
        let one = queue.read_state().unwrap();
        assert!(one.bytes >= 100 && one.dropped == 0, "{one:?}");
        for _ in 0..20_000 {
            sender.send(&[7; 1000]).unwrap();
        }
        assert!(queue.read_state().unwrap().dropped > 0);
        drop(receiver);
        // A child process that another test starts now has the socket too, until it executes a
        // program.
        let waiting = Instant::now();
        let gone = loop {
            match queue.read_state() {
                Err(error) => break error,
                Ok(_) => assert!(waiting.elapsed() < Duration::from_secs(30), "still there"),
            }
        };
        assert!(gone.to_string().contains("is gone"), "{gone}");
    }
}
