//! The devices of a fleet as client machines of one server: each has a process that receives
//! orders.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use embermark_model::result::ClockOffset;
use serde_json::json;

use crate::ansible::{Ansible, Play};
use crate::clock;
use crate::device::{Device, Status};
use crate::files::CLIENTS;
use crate::run::{OpenFleet, RunOptions};
use crate::{FleetError, Result, packages};

/// Number of times that a clock is read.
const PROBES: u32 = 20;

/// Prefix of the variable, followed by a device's name, of Ansible's environment that has its
/// message. Only its user may read it. There is one per device, because a variable has at most 128
/// KiB.
const ORDER: &str = "EMBERMARK_ORDER_";

/// Client machines that are installed.
pub struct Clients<'a> {
    ansible: Ansible<'a>,
    names: Vec<String>,
    variables: Vec<String>,
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

impl<'a> Clients<'a> {
    /// Installs package and plan on every device.
    ///
    /// # Errors
    /// The errors of [`crate::run()`]. Also an error if a device is not available, because every
    /// one is needed.
    pub fn install(
        fleet: &'a Path,
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
        Ok(Self { ansible, names, variables, _lock: lock })
    }

    /// Returns the machines, in the inventory's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Sends messages to devices, all at the same time, and waits for their answers. With `clocks`
    /// it first reads the clock of each device. A device may have no message.
    ///
    /// # Errors
    /// If Ansible itself fails. A failure of a device is in its answer.
    pub fn send(&self, messages: &[(&str, Option<Message>)], clocks: bool) -> Result<Vec<Answer>> {
        let variable = |(device, message): &(&str, Option<Message>)| {
            let Message { command, input } = message.as_ref()?;
            let order = json!({ "command": command, "input": input });
            Some((format!("{ORDER}{device}"), order.to_string()))
        };
        let orders: Vec<(String, String)> = messages.iter().filter_map(variable).collect();
        let names: Vec<String> = messages.iter().map(|(name, _)| (*name).to_owned()).collect();
        let mut variables = self.variables.clone();
        variables.push(format!("embermark_probes={}", if clocks { PROBES } else { 0 }));
        let play = Play {
            tags: Some("order"),
            environment: &orders,
            ..Play::new(CLIENTS, &names, &variables)
        };
        let lost = || Answer { output: Err("it has not answered".to_owned()), clock: None };
        let mut answers: BTreeMap<String, Answer> =
            names.iter().map(|name| (name.clone(), lost())).collect();
        self.ansible.play(&play, |event| {
            let Some(answer) = answers.get_mut(&event.device) else { return };
            *answer = Answer {
                output: match event.status {
                    Status::Ok => Ok(event.out),
                    Status::Unreachable => Err(format!("not reached: {}", event.message)),
                    Status::Failed | Status::Retry => Err(event.message),
                },
                clock: clock::offset(&event.probes),
            };
        })?;
        Ok(names.iter().filter_map(|name| answers.remove(name)).collect())
    }
}
