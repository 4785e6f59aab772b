//! The imitated network link between a worker and its private server.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::Child;
use std::time::Duration;

use embermark_model::NetworkLink;
use embermark_model::network::LinkUse;
use embermark_network::relay::Task;
use embermark_network::{create_tunnel, round_trip};

use crate::companion;

/// Role of the process that carries the packets.
pub(crate) const ROLE: &str = "link";

/// Advice if the kernel does not support the link.
const ADVICE: &str = "run as root, with a kernel that has CONFIG_TUN and CONFIG_IP_MULTIPLE_TABLES \
    (docs/network.md), or leave --network out";

/// A running process that carries the packets of a link.
pub(crate) struct Carrier {
    process: Child,
    round_trip: Duration,
}

impl Carrier {
    /// Puts a link between all processes of this process's network namespace, which must be its
    /// own, and measures its round trip.
    ///
    /// # Errors
    /// If the kernel does not support the device or refuses it. The error says what to do.
    pub fn start(link: &NetworkLink, seed: u64) -> Result<Self, String> {
        let refused = |error: io::Error| {
            format!("a network link cannot be imitated here ({error}): {ADVICE}")
        };
        let device = create_tunnel().map_err(refused)?;
        let task = Task::new(&device, link.clone(), seed).map_err(refused)?;
        let task = serde_json::to_string(&task).map_err(|error| error.to_string())?;
        let process = companion::start(ROLE, &task).map_err(refused)?;
        // No other process inherits the device.
        drop(device);
        let round_trip =
            round_trip().map_err(|error| format!("the imitated network link: {error}"))?;
        Ok(Self { process, round_trip })
    }

    /// Ends it, and returns what it did.
    ///
    /// # Errors
    /// If its process has failed.
    pub fn end(self) -> Result<LinkUse, String> {
        let failed = |why: String| format!("the process of the imitated network link: {why}");
        let ended = self.process.wait_with_output().map_err(|error| failed(error.to_string()))?;
        if !ended.status.success() {
            return Err(failed(format!("it ended with {}", ended.status)));
        }
        let done = serde_json::from_slice(&ended.stdout);
        let done: LinkUse = done.map_err(|error| failed(error.to_string()))?;
        Ok(LinkUse { round_trip_ns: self.round_trip.as_nanos() as u64, ..done })
    }
}

/// Runs the process: carries packets until its standard input ends, and then reports.
pub(crate) fn serve(task: &str, mut out: File) -> Result<(), Box<dyn Error>> {
    let task: Task = serde_json::from_str(task)?;
    let done = task.carry(io::stdin().as_fd())?;
    serde_json::to_writer(&mut out, &done)?;
    Ok(out.flush()?)
}
