//! The devices of a fleet as client machines of one server: each has a process that receives
//! orders.

use std::fs::File;
use std::path::Path;

use embermark_model::result::ClockOffset;

use crate::ansible::Play;
use crate::clock;
use crate::device::{Device, Status};
use crate::files::CLIENTS;
use crate::orders::{Answered, Order, OrderPlay};
use crate::run::{OpenFleet, RunOptions};
use crate::{FleetError, Result, packages};

/// Number of times that a clock is read.
const PROBES: u32 = 20;

/// Client machines that are installed and take orders.
pub struct Clients {
    names: Vec<String>,
    orders: OrderPlay,
    _lock: File,
}

/// A message to the process on a device.
#[derive(Clone, Debug)]
pub struct Message {
    /// The subcommand for it.
    pub command: &'static str,
    /// Its standard input.
    pub input: String,
}

/// Answer of a device.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Output of the process, or why there is none.
    pub output: std::result::Result<String, String>,
    /// Offset of its clock right before, if that was requested and measured.
    pub clock: Option<ClockOffset>,
}

impl Clients {
    /// Installs package and plan on every device, and connects to each.
    ///
    /// # Errors
    /// The errors of [`crate::run()`]. Also an error if a device is not available, because every
    /// one is needed.
    pub fn install(
        fleet: &Path,
        options: &RunOptions,
        mut tell: impl FnMut(&str, &str),
    ) -> Result<Self> {
        let OpenFleet { ansible, names, variables, lock, .. } =
            OpenFleet::open(fleet, options, CLIENTS)?;
        packages::prepare(&fleet.join(packages::FOLDER))?;
        let mut devices: Vec<Device> = names.iter().cloned().map(Device::new).collect();
        let play = Play { tags: Some("install"), ..Play::new(CLIENTS, &names, &variables) };
        ansible.play(&play, |event| {
            let device = devices.iter_mut().find(|device| device.name == event.device);
            if let Some(device) = device
                && let Some(says) = device.record(&event)
            {
                tell(&device.name, &says);
            }
        })?;
        let failed = devices.iter().filter_map(|device| {
            let outcome = device.outcome.as_ref()?;
            Some(format!("{}: {outcome}", device.name))
        });
        let failed: Vec<String> = failed.collect();
        if !failed.is_empty() {
            return Err(FleetError::Clients(failed.join("; ")));
        }
        let orders = OrderPlay::begin(&ansible, &names, &variables)?;
        Ok(Self { names, orders, _lock: lock })
    }

    /// Returns the machines, in the inventory's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Sends messages to devices by their places among the [names](Self::names), all at the same
    /// time, and waits for their answers. With `clocks` it first reads the clock of each device. A
    /// device may have no message.
    pub fn send(&mut self, messages: &[(usize, Option<Message>)], clocks: bool) -> Vec<Answer> {
        let probes = if clocks { PROBES } else { 0 };
        let mut orders = Vec::with_capacity(messages.len());
        for (device, message) in messages {
            let command = message.as_ref().map(|message| message.command);
            let input = message.as_ref().map_or("", |message| &message.input);
            orders.push((self.names[*device].as_str(), Order { command, input, probes }));
        }
        self.orders.send(&orders).into_iter().map(Answer::from).collect()
    }
}

impl From<Option<Answered>> for Answer {
    fn from(answered: Option<Answered>) -> Self {
        let Some(Answered { status, message, out, probes }) = answered else {
            return Self { output: Err("it has not answered".to_owned()), clock: None };
        };
        let output = match status {
            Status::Ok => Ok(out),
            Status::Unreachable => Err(format!("not reached: {message}")),
            Status::Failed | Status::Retry => Err(message),
        };
        Self { output, clock: clock::offset(&probes) }
    }
}
