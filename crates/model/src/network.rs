//! Network links that can be imitated between a client and its server: their parameters.

use serde::{Deserialize, Serialize};

/// The parameters of a network link. `docs/network.md` explains the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkLink {
    /// Its name.
    pub name: String,
    /// A one-line description.
    pub about: String,
    /// Time that a packet is on its way in µs, in each direction.
    pub delay_us: u32,
    /// Most that is added to it, evenly distributed, in µs. Packets of one direction keep their
    /// order.
    #[serde(default)]
    pub jitter_us: u32,
    /// Rate from client to server in kbit/s (1,000 bits per second). 0: unlimited.
    pub up_kbit_per_s: u32,
    /// Rate from server to client in kbit/s. 0: unlimited.
    pub down_kbit_per_s: u32,
    /// Whether only one side sends at a time, as by radio on one channel.
    #[serde(default)]
    pub half_duplex: bool,
    /// Packets of a million that are lost, independently of each other.
    #[serde(default)]
    pub loss_ppm: u32,
    /// Bytes that wait for the link in each direction, with those being sent. What does not fit is
    /// dropped.
    pub queue_bytes: u32,
}

/// What an imitated link did during a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkUse {
    /// Time from sending one byte to getting one back, as TCP on the idle link took it before the
    /// engine was opened, in ns: the median of several. 0: not measured.
    #[serde(default)]
    pub round_trip_ns: u64,
    /// From client to server.
    pub up: Carried,
    /// From server to client.
    pub down: Carried,
    /// Sum of the delays of packets beyond the time that the model gave them, in ns.
    pub late_ns: u64,
    /// The largest of these delays in ns.
    pub latest_ns: u64,
}

/// Packets of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes, with the headers of IP and TCP or UDP.
    pub bytes: u64,
    /// Packets that were lost on the way.
    pub lost: u64,
    /// Packets that found the queue full.
    pub dropped: u64,
}

impl LinkUse {
    /// Adds another trial's use. The round trip is the larger one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            round_trip_ns: self.round_trip_ns.max(other.round_trip_ns),
            up: self.up.and(other.up),
            down: self.down.and(other.down),
            late_ns: self.late_ns.saturating_add(other.late_ns),
            latest_ns: self.latest_ns.max(other.latest_ns),
        }
    }

    /// Returns the number of packets that were lost on the way.
    pub const fn lost(self) -> u64 {
        self.up.lost.saturating_add(self.down.lost)
    }

    /// Returns the number of packets that found the queue full.
    pub const fn dropped(self) -> u64 {
        self.up.dropped.saturating_add(self.down.dropped)
    }

    /// Returns the number of packets that arrived.
    pub const fn packets(self) -> u64 {
        self.up.packets.saturating_add(self.down.packets)
    }
}

impl Carried {
    #[must_use]
    const fn and(self, other: Self) -> Self {
        Self {
            packets: self.packets.saturating_add(other.packets),
            bytes: self.bytes.saturating_add(other.bytes),
            lost: self.lost.saturating_add(other.lost),
            dropped: self.dropped.saturating_add(other.dropped),
        }
    }
}
