//! Model of a link: computes when a packet arrives, and whether it is lost.

use std::collections::VecDeque;

use embermark_model::network::{Carried, NetworkLink};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From client to server.
    Up,
    /// From server to client.
    Down,
}

/// A link and the packets on it. Times are in ns of a monotonic clock.
pub(crate) struct Link {
    delay_ns: u64,
    jitter_ns: u64,
    loss_ppm: u32,
    queue_bytes: u64,
    half_duplex: bool,
    directions: [DirectionState; 2],
    random: Xoshiro256PlusPlus,
}

/// State of one direction.
struct DirectionState {
    /// Time to send a byte in ns. 0: no limit of the rate.
    ns_per_byte: f64,
    /// When the last packet will be sent.
    free_ns: u64,
    /// Packets that are not sent yet: when each will be sent, and its size in bytes.
    queue: VecDeque<(u64, u64)>,
    queued_bytes: u64,
    /// When the last packet will arrive.
    last_ns: u64,
    carried: Carried,
}

impl Link {
    /// Creates an idle link. The seed determines its random losses and jitter.
    pub fn new(link: &NetworkLink, seed: u64) -> Self {
        let direction = |kbit_per_s: u32| DirectionState {
            ns_per_byte: if kbit_per_s == 0 { 0.0 } else { 8e6 / f64::from(kbit_per_s) },
            free_ns: 0,
            queue: VecDeque::new(),
            queued_bytes: 0,
            last_ns: 0,
            carried: Carried::default(),
        };
        Self {
            delay_ns: u64::from(link.delay_us) * 1_000,
            jitter_ns: u64::from(link.jitter_us) * 1_000,
            loss_ppm: link.loss_ppm,
            queue_bytes: link.queue_bytes.into(),
            half_duplex: link.half_duplex,
            directions: [direction(link.up_kbit_per_s), direction(link.down_kbit_per_s)],
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Sends a packet and returns when it arrives. `None` if it is lost, or dropped because the
    /// queue is full. A packet waits until those before it are sent, in both directions if the link
    /// is half duplex. A lost packet takes its time on the link.
    pub fn send(&mut self, direction: Direction, bytes: u64, now_ns: u64) -> Option<u64> {
        let medium_ns = self.directions.iter().map(|state| state.free_ns).max().unwrap_or_default();
        let state = &mut self.directions[direction as usize];
        let free_ns = if self.half_duplex { medium_ns } else { state.free_ns };
        while let Some((_, sent)) = state.queue.pop_front_if(|(at_ns, _)| *at_ns <= now_ns) {
            state.queued_bytes -= sent;
        }
        if state.queued_bytes + bytes > self.queue_bytes {
            state.carried.dropped += 1;
            return None;
        }
        state.free_ns = free_ns.max(now_ns) + (bytes as f64 * state.ns_per_byte) as u64;
        state.queue.push_back((state.free_ns, bytes));
        state.queued_bytes += bytes;
        if self.random.random_range(0..1_000_000) < self.loss_ppm {
            state.carried.lost += 1;
            return None;
        }
        let jitter_ns = self.random.random_range(0..=self.jitter_ns);
        state.last_ns = state.last_ns.max(state.free_ns + self.delay_ns + jitter_ns);
        state.carried.packets += 1;
        state.carried.bytes += bytes;
        Some(state.last_ns)
    }

    /// Returns the packets carried so far: up and down.
    pub fn carried(&self) -> [Carried; 2] {
        [self.directions[0].carried, self.directions[1].carried]
    }
}

/// Ports of servers, which determine the direction of a packet.
pub(crate) struct ServerPorts {
    /// Whether a port, by its number, is one.
    is_server: Vec<bool>,
    /// Identification and direction of the last packet that was sent in fragments.
    fragmented: Option<(u16, Direction)>,
}

impl ServerPorts {
    pub fn new() -> Self {
        Self { is_server: vec![false; 65_536], fragmented: None }
    }

    /// Returns the direction of an IPv4 packet. The side that opens a TCP connection is the client,
    /// and so is the side that sends the first datagram to a port. Packets of other protocols go up.
    pub fn direction(&mut self, packet: &[u8]) -> Direction {
        const TCP: u8 = 6;
        const UDP: u8 = 17;
        const MORE_FRAGMENTS: u16 = 0x2000;
        const FRAGMENT_OFFSET: u16 = 0x1fff;
        let Some((header, protocol)) = packet.first().zip(packet.get(9)) else {
            return Direction::Up;
        };
        let number = |at: usize| {
            let bytes = packet.get(at..at + 2)?;
            Some(u16::from_be_bytes([bytes[0], bytes[1]]))
        };
        // Only the first fragment has ports. The others have its identification.
        let [identification, fragment] = [4, 6].map(|at| number(at).unwrap_or_default());
        if fragment & FRAGMENT_OFFSET > 0 {
            let first = self.fragmented.filter(|(first, _)| *first == identification);
            return first.map_or(Direction::Up, |(_, direction)| direction);
        }
        let header_bytes = usize::from(header & 15) * 4;
        let port = |at: usize| number(at).map(usize::from);
        let (Some(from), Some(to), TCP | UDP) =
            (port(header_bytes), port(header_bytes + 2), *protocol)
        else {
            return Direction::Up;
        };
        // SYN without ACK.
        let opens = *protocol == TCP
            && packet.get(header_bytes + 13).is_some_and(|flags| flags & 0x12 == 2);
        let first = *protocol == UDP && !self.is_server[from];
        if opens || first {
            self.is_server[to] = true;
        }
        let direction = if self.is_server[to] { Direction::Up } else { Direction::Down };
        if fragment & MORE_FRAGMENTS > 0 {
            self.fragmented = Some((identification, direction));
        }
        direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> NetworkLink {
        NetworkLink {
            name: "own".to_owned(),
            about: String::new(),
            delay_us: 1_000,
            jitter_us: 0,
            up_kbit_per_s: 8_000,
            down_kbit_per_s: 80_000,
            half_duplex: false,
            loss_ppm: 0,
            queue_bytes: 3_000,
        }
    }

    #[test]
    fn a_packet_arrives_after_those_before_it_its_own_bytes_and_the_delay() {
        // 8 Mbit/s are a microsecond a byte.
        let mut link = Link::new(&link(), 1);
        assert_eq!(link.send(Direction::Up, 1_000, 0), Some(2_000_000));
        assert_eq!(link.send(Direction::Up, 1_000, 0), Some(3_000_000));
        assert_eq!(link.send(Direction::Down, 1_000, 0), Some(1_100_000));
        assert_eq!(link.send(Direction::Up, 1_000, 10_000_000), Some(12_000_000));
    }

    #[test]
    fn where_one_side_sends_at_a_time_a_packet_waits_for_both_directions() {
        let mut link = Link::new(&NetworkLink { half_duplex: true, ..link() }, 1);
        assert_eq!(link.send(Direction::Up, 1_000, 0), Some(2_000_000));
        assert_eq!(link.send(Direction::Down, 1_000, 0), Some(2_100_000));
        assert_eq!(link.send(Direction::Up, 1_000, 0), Some(3_100_000));
    }

    #[test]
    fn what_the_queue_does_not_hold_is_dropped_and_counted() {
        let mut link = Link::new(&link(), 1);
        let took = (0..10).filter(|_| link.send(Direction::Up, 1_000, 0).is_some()).count();
        assert_eq!(took, 3);
        assert_eq!(link.carried()[0], Carried { packets: 3, bytes: 3_000, lost: 0, dropped: 7 });
        assert!(link.send(Direction::Up, 1_000, 5_000_000).is_some());
    }

    #[test]
    fn as_many_are_lost_as_the_model_says_and_jitter_keeps_the_order() {
        let model = NetworkLink { loss_ppm: 100_000, jitter_us: 5_000, ..link() };
        let mut link = Link::new(&model, 1);
        let mut last = 0;
        for n in 0..10_000_u64 {
            if let Some(at) = link.send(Direction::Down, 100, n * 100_000) {
                assert!(at >= last && at <= n * 100_000 + 10_000 + 6_000_000, "{n}");
                last = at;
            }
        }
        let carried = link.carried()[1];
        assert_eq!(carried.packets + carried.lost, 10_000);
        assert!((900..1_100).contains(&carried.lost), "{carried:?}");
    }

    #[test]
    fn who_opens_a_connection_is_the_client() {
        let packet = |protocol: u8, from: u16, to: u16, flags: u8| {
            let mut packet = vec![0x45; 40];
            packet[6..8].fill(0);
            packet[9] = protocol;
            packet[20..22].copy_from_slice(&from.to_be_bytes());
            packet[22..24].copy_from_slice(&to.to_be_bytes());
            packet[33] = flags;
            packet
        };
        let mut ports = ServerPorts::new();
        assert_eq!(ports.direction(&packet(6, 40_000, 5_432, 2)), Direction::Up);
        assert_eq!(ports.direction(&packet(6, 5_432, 40_000, 0x12)), Direction::Down);
        assert_eq!(ports.direction(&packet(6, 40_000, 5_432, 0x10)), Direction::Up);
        assert_eq!(ports.direction(&packet(17, 40_001, 8_089, 0)), Direction::Up);
        assert_eq!(ports.direction(&packet(17, 8_089, 40_001, 0)), Direction::Down);
        assert_eq!(ports.direction(&[]), Direction::Up);
    }

    #[test]
    fn all_fragments_of_a_packet_go_in_one_direction() {
        let fragment = |fragment: u16, first_bytes: [u16; 2]| {
            let mut packet = vec![0x45; 40];
            packet[6..8].copy_from_slice(&fragment.to_be_bytes());
            packet[9] = 17;
            packet[20..24].copy_from_slice(&first_bytes.map(u16::to_be_bytes).concat());
            packet
        };
        let mut ports = ServerPorts::new();
        assert_eq!(ports.direction(&fragment(0, [40_001, 8_089])), Direction::Up);
        assert_eq!(ports.direction(&fragment(0x2000, [8_089, 40_001])), Direction::Down);
        // Its content is no ports.
        assert_eq!(ports.direction(&fragment(185, [24_000, 25_000])), Direction::Down);
        assert_eq!(ports.direction(&fragment(0, [25_000, 40_002])), Direction::Up);
    }
}
