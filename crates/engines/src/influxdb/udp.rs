//! Sends points over UDP, at the pace at which the server takes them.
//!
//! Datagrams are not acknowledged, and the kernel drops one if the queue of its receiver is full.
//! But sender and receiver share a kernel, which reports how full that queue is and how many
//! datagrams it dropped. The sender waits when half of the queue can be in use, so nothing is lost
//! there. Nothing is lost after the queue either: the server does not read a datagram before it has
//! memory for it, and counts the points that it has written.
//!
//! This holds for a private server without an imitated link. A server given by its URL is sent
//! everything over HTTP.

use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::queue::Queue;
use super::session::Session;
use super::{failed, line};
use crate::Result;
use crate::series::Points;

/// Bytes that the server asks the kernel to use for its queue. It gets less where
/// `net.core.rmem_max` is less.
pub(super) const READ_BUFFER: usize = 8 << 20;

/// Bytes that the kernel grants by default, where it does not report them.
const GRANTED: usize = 212_992;

/// Bytes of a datagram of many points. The limit is 65,507
/// (<https://docs.influxdata.com/influxdb/v1.8/supported_protocols/udp/>).
const DATAGRAM: usize = 32 * 1024;

/// Interval between two checks of a full queue.
const QUEUE_POLL_INTERVAL: Duration = Duration::from_micros(50);

/// Interval between two reads of the server's counters.
const COUNTER_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Maximum time that the server can make no progress with the points that it was sent.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long after its first answer over HTTP a server may take to listen for datagrams.
const LISTENS_WITHIN: Duration = Duration::from_secs(5);

/// Sends points to one server on this machine.
pub(super) struct Sender {
    socket: UdpSocket,
    queue: Queue,
    /// Lines that wait for others to fill a datagram.
    packet: Vec<u8>,
    waiting: i64,
    sent: i64,
    /// Points sent that are known to be written.
    stored: i64,
    /// Most bytes that the queue can hold.
    filled: usize,
    /// Bytes up to which the queue is filled.
    room: usize,
}

impl Sender {
    /// Creates a sender to the server with this process id.
    pub fn connect(pid: u32) -> Result<Self> {
        // The server answers over HTTP before it listens for datagrams.
        let began = Instant::now();
        let (socket, queue) = loop {
            match Queue::of_process(pid).and_then(|queue| Ok((socket(queue.port)?, queue))) {
                Ok(connected) => break connected,
                Err(error)
                    if error.kind() != ErrorKind::NotFound || began.elapsed() > LISTENS_WITHIN =>
                {
                    return Err(failed("find the UDP port of its server", error));
                }
                Err(_) => sleep(Duration::from_millis(5)),
            }
        };
        let packet = Vec::with_capacity(2 * DATAGRAM);
        // The kernel doubles the size it is asked for, for its own overhead. This is half of it.
        let room = granted();
        Ok(Self { socket, queue, packet, waiting: 0, sent: 0, stored: 0, filled: 0, room })
    }

    /// Continues with a new socket. What was sent before is still waited for.
    pub fn reconnect(&mut self) -> Result<()> {
        self.socket =
            socket(self.queue.port).map_err(|error| failed("be reached over UDP again", error))?;
        Ok(())
    }

    pub fn send_line(&mut self, line: &[u8]) -> Result<()> {
        self.wait_for_room(line.len())?;
        send(&self.socket, line)?;
        self.sent += 1;
        Ok(())
    }

    /// Sends points in full datagrams. Returns their number.
    pub fn send_all(&mut self, measurement: &str, points: &mut dyn Points) -> Result<u64> {
        let sent = self.fill_datagrams(measurement, points);
        self.packet.clear();
        self.waiting = 0;
        sent
    }

    fn fill_datagrams(&mut self, measurement: &str, points: &mut dyn Points) -> Result<u64> {
        let mut count = 0;
        while let Some(point) = points.next() {
            let before = self.packet.len();
            line::append(&mut self.packet, measurement, &point)?;
            if self.packet.len() > DATAGRAM && before > 0 {
                self.send_packet(before)?;
            }
            self.waiting += 1;
            count += 1;
        }
        if !self.packet.is_empty() {
            self.send_packet(self.packet.len())?;
        }
        Ok(count)
    }

    fn send_packet(&mut self, bytes: usize) -> Result<()> {
        self.wait_for_room(bytes)?;
        send(&self.socket, &self.packet[..bytes])?;
        self.sent += std::mem::take(&mut self.waiting);
        self.packet.drain(..bytes);
        Ok(())
    }

    fn wait_for_room(&mut self, bytes: usize) -> Result<()> {
        // What the kernel counts for a datagram: its buffer, of up to twice the size, and its
        // bookkeeping.
        let counted = 2 * bytes + 2048;
        self.filled += counted;
        if self.filled <= self.room {
            return Ok(());
        }
        let deadline = Instant::now() + STALL_TIMEOUT;
        loop {
            self.filled = self.queued()? + counted;
            if self.filled <= self.room {
                return Ok(());
            }
            if Instant::now() > deadline {
                let why = format!("{} bytes wait in its queue", self.filled - counted);
                return Err(failed("fetch datagrams", why));
            }
            sleep(QUEUE_POLL_INTERVAL);
        }
    }

    fn queued(&mut self) -> Result<usize> {
        let filling = self.queue.read_state().map_err(|e| failed("receive datagrams", e))?;
        match filling.dropped {
            0 => Ok(filling.bytes),
            dropped => {
                let why = format!("the kernel dropped {dropped} of them: points are lost");
                Err(failed("receive datagrams", why))
            }
        }
    }

    /// Waits until everything sent was written, so that it can be read. Fails when a datagram was
    /// dropped, or the server could not parse one or write a point.
    pub fn flush(&mut self, session: &mut Session) -> Result<()> {
        let mut since = Instant::now();
        while self.stored < self.sent {
            let queued = self.queued()?;
            // https://docs.influxdata.com/platform/monitoring/influxdata-platform/tools/measurements-internal/#udp
            let (mut written, mut not_understood, mut not_written) = (0, 0, 0);
            session.statistics("udp", &mut |name, value| match name {
                "pointsTx" => written += value,
                "pointsParseFail" => not_understood += value,
                "batchesTxFail" => not_written += value,
                _ => {}
            })?;
            if not_understood > 0 || not_written > 0 {
                let why = format!(
                    "it did not understand {not_understood} datagrams and failed to write \
                     {not_written} batches: points are lost"
                );
                return Err(failed("write what it was sent over UDP", why));
            }
            if written != self.stored {
                (self.stored, since) = (written, Instant::now());
            } else if since.elapsed() > STALL_TIMEOUT {
                let why = format!(
                    "of {} points it wrote {}, {queued} bytes wait, and nothing has happened for \
                     {STALL_TIMEOUT:?}",
                    self.sent, self.stored
                );
                return Err(failed("write what it was sent over UDP", why));
            }
            if self.stored < self.sent {
                sleep(COUNTER_POLL_INTERVAL);
            }
        }
        Ok(())
    }
}

/// Returns a socket that sends to a port of this machine.
fn socket(port: u16) -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect((Ipv4Addr::LOCALHOST, port))?;
    Ok(socket)
}

/// Fails when the server no longer listens, or the datagram is too large.
fn send(socket: &UdpSocket, datagram: &[u8]) -> Result<()> {
    socket.send(datagram).map(drop).map_err(|error| {
        let why = format!("{error} (a datagram of {} bytes)", datagram.len());
        failed("be sent points over UDP", why)
    })
}

/// Returns the kernel's limit for a socket, which bounds the queue.
pub(super) fn granted() -> usize {
    let limit = fs::read_to_string("/proc/sys/net/core/rmem_max");
    let limit = limit.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(GRANTED);
    limit.min(READ_BUFFER)
}
