//! The process that carries the packets of a link. It reads each packet from the device, and writes
//! it back when it arrives by the model.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::time::{Duration, Instant};

use embermark_model::network::{LinkUse, NetworkLink};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use serde::{Deserialize, Serialize};

use crate::link::{Direction, Link, ServerPorts};

/// Buffer size in bytes for the largest packet.
const LARGEST: usize = 2_048;

/// Largest number of packets that are read before due packets are written.
const BATCH: usize = 64;

/// A packet on the link, and when it arrives.
struct Packet {
    at_ns: u64,
    bytes: Vec<u8>,
}

/// Packets on the link, and free buffers.
struct Relay {
    link: Link,
    ports: ServerPorts,
    device: File,
    began: Instant,
    /// Packets up and packets down, each in the order of arrival.
    directions: [VecDeque<Packet>; 2],
    /// Buffers of packets that have arrived.
    free_buffers: Vec<Vec<u8>>,
    late_ns: u64,
    latest_ns: u64,
}

/// Task of the process that carries packets.
#[derive(Debug, Serialize, Deserialize)]
pub struct Task {
    /// Number of the device's descriptor, which the process has inherited.
    device: i32,
    link: NetworkLink,
    seed: u64,
}

impl Task {
    /// Makes the task for the next process that is started, which inherits the device's descriptor.
    ///
    /// # Errors
    /// If the descriptor cannot be made inheritable.
    pub fn new(device: &File, link: NetworkLink, seed: u64) -> io::Result<Self> {
        let number = device.as_raw_fd();
        // SAFETY: it takes no pointer.
        match unsafe { libc::fcntl(number, libc::F_SETFD, 0) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(Self { device: number, link, seed }),
        }
    }

    /// Carries packets until `end` can be read or is closed. Returns the traffic of the link.
    ///
    /// # Errors
    /// If the device cannot be read or written.
    pub fn carry(self, end: BorrowedFd<'_>) -> io::Result<LinkUse> {
        // SAFETY: the parent has opened it for this process, which takes it once.
        let device = unsafe { File::from_raw_fd(self.device) };
        set_realtime();
        let mut relay = Relay {
            link: Link::new(&self.link, self.seed),
            ports: ServerPorts::new(),
            device,
            began: Instant::now(),
            directions: Default::default(),
            free_buffers: Vec::new(),
            late_ns: 0,
            latest_ns: 0,
        };
        while !relay.wait(end)? {
            relay.read_packets()?;
            relay.write_due_packets()?;
        }
        let [up, down] = relay.link.carried();
        let Relay { late_ns, latest_ns, .. } = relay;
        Ok(LinkUse { round_trip_ns: 0, up, down, late_ns, latest_ns })
    }
}

/// Makes this thread wake up on time and before other programs. Continues without it if the kernel
/// refuses.
fn set_realtime() {
    // SAFETY: both take numbers and a structure of this function.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        let first = libc::sched_param { sched_priority: 1 };
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &first);
    }
}

impl Relay {
    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Waits until a packet comes or is due. Returns whether the relay has to end.
    fn wait(&self, end: BorrowedFd<'_>) -> io::Result<bool> {
        let next =
            self.directions.iter().filter_map(|direction| Some(direction.front()?.at_ns)).min();
        let wait = next.map(|at_ns| Duration::from_nanos(at_ns.saturating_sub(self.now_ns())));
        let mut polled = [
            PollFd::new(self.device.as_fd(), PollFlags::POLLIN),
            PollFd::new(end, PollFlags::POLLIN),
        ];
        match ppoll(&mut polled, wait.map(TimeSpec::from_duration), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(polled[1].any().unwrap_or_default())
    }

    /// Reads packets, if there are any, and decides when they arrive.
    fn read_packets(&mut self) -> io::Result<()> {
        for _ in 0..BATCH {
            let mut bytes = self.free_buffers.pop().unwrap_or_default();
            bytes.resize(LARGEST, 0);
            match self.device.read(&mut bytes) {
                Ok(read) => bytes.truncate(read),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.free_buffers.push(bytes);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            let direction = self.ports.direction(&bytes);
            match self.link.send(direction, bytes.len() as u64, self.now_ns()) {
                Some(at_ns) => {
                    self.directions[direction as usize].push_back(Packet { at_ns, bytes })
                }
                None => self.free_buffers.push(bytes),
            }
        }
        Ok(())
    }

    /// Writes the packets that are due.
    fn write_due_packets(&mut self) -> io::Result<()> {
        for direction in [Direction::Up, Direction::Down] {
            let now_ns = self.now_ns();
            while let Some(packet) =
                self.directions[direction as usize].pop_front_if(|next| next.at_ns <= now_ns)
            {
                let late_ns = now_ns - packet.at_ns;
                self.late_ns += late_ns;
                self.latest_ns = self.latest_ns.max(late_ns);
                match self.device.write(&packet.bytes) {
                    Ok(_) => {}
                    // A packet that the kernel cannot take now is lost.
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
                self.free_buffers.push(packet.bytes);
            }
        }
        Ok(())
    }
}
