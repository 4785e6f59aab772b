//! The process that carries the packets of a link: it reads each from the device, and writes it back
//! when the model says that it arrives.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::time::{Duration, Instant};

use embermark_model::network::{LinkUse, NetworkLink};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use serde::{Deserialize, Serialize};

use crate::link::{Link, Ports, Way};

/// Room for the largest packet.
const LARGEST: usize = 2_048;

/// Packets that are read before those that are due are written.
const BATCH: usize = 64;

/// A packet on its way.
struct Packet {
    at_ns: u64,
    bytes: Vec<u8>,
}

/// Packets on their way and room for others.
struct Carrier {
    link: Link,
    ports: Ports,
    device: File,
    began: Instant,
    /// Up and down, each in the order of arrival.
    ways: [VecDeque<Packet>; 2],
    /// Buffers of packets that have arrived.
    spare: Vec<Vec<u8>>,
    late_ns: u64,
    latest_ns: u64,
}

/// What a process is to carry.
#[derive(Debug, Serialize, Deserialize)]
pub struct Task {
    /// Number of the device's descriptor, which the process has inherited.
    device: i32,
    link: NetworkLink,
    seed: u64,
}

impl Task {
    /// Makes the task for a process that is started next: it inherits the device's descriptor.
    ///
    /// # Errors
    /// If the descriptor cannot be given to it.
    pub fn new(device: &File, link: NetworkLink, seed: u64) -> io::Result<Self> {
        let number = device.as_raw_fd();
        // SAFETY: it takes no pointer.
        match unsafe { libc::fcntl(number, libc::F_SETFD, 0) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(Self { device: number, link, seed }),
        }
    }

    /// Carries packets until `end` can be read or is closed. Returns what it carried.
    ///
    /// # Errors
    /// If the device cannot be read or written.
    pub fn carry(self, end: BorrowedFd<'_>) -> io::Result<LinkUse> {
        // SAFETY: the parent has opened it for this process, which takes it once.
        let device = unsafe { File::from_raw_fd(self.device) };
        carry(&self.link, self.seed, device, end)
    }
}

fn carry(link: &NetworkLink, seed: u64, device: File, end: BorrowedFd<'_>) -> io::Result<LinkUse> {
    hurry();
    let mut carrier = Carrier {
        link: Link::new(link, seed),
        ports: Ports::new(),
        device,
        began: Instant::now(),
        ways: Default::default(),
        spare: Vec::new(),
        late_ns: 0,
        latest_ns: 0,
    };
    while !carrier.waits(end)? {
        carrier.takes()?;
        carrier.gives()?;
    }
    let [up, down] = carrier.link.carried();
    let Carrier { late_ns, latest_ns, .. } = carrier;
    Ok(LinkUse { round_trip_ns: 0, up, down, late_ns, latest_ns })
}

/// Wakes up at the time asked for and before other programs, where the kernel lets it.
fn hurry() {
    // SAFETY: both take numbers and a structure of this function.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        let first = libc::sched_param { sched_priority: 1 };
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &first);
    }
}

impl Carrier {
    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Waits until a packet comes or is due. Returns whether the end has come.
    fn waits(&self, end: BorrowedFd<'_>) -> io::Result<bool> {
        let next = self.ways.iter().filter_map(|way| Some(way.front()?.at_ns)).min();
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
    fn takes(&mut self) -> io::Result<()> {
        for _ in 0..BATCH {
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.resize(LARGEST, 0);
            match self.device.read(&mut bytes) {
                Ok(read) => bytes.truncate(read),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.spare.push(bytes);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            let way = self.ports.way(&bytes);
            match self.link.takes(way, bytes.len() as u64, self.now_ns()) {
                Some(at_ns) => self.ways[way as usize].push_back(Packet { at_ns, bytes }),
                None => self.spare.push(bytes),
            }
        }
        Ok(())
    }

    /// Writes the packets that are due.
    fn gives(&mut self) -> io::Result<()> {
        for way in [Way::Up, Way::Down] {
            let now_ns = self.now_ns();
            while let Some(packet) =
                self.ways[way as usize].pop_front_if(|next| next.at_ns <= now_ns)
            {
                let late_ns = now_ns - packet.at_ns;
                self.late_ns += late_ns;
                self.latest_ns = self.latest_ns.max(late_ns);
                match self.device.write(&packet.bytes) {
                    Ok(_) => {}
                    // A packet that the kernel cannot take now is a packet lost.
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
                self.spare.push(packet.bytes);
            }
        }
        Ok(())
    }
}
