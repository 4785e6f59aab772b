//! The devices of a fleet as client machines of one server: each has a process that is given orders.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use embermark_model::result::ClockOffset;
use serde_json::json;

use crate::ansible::{Ansible, Play};
use crate::clock::{self, Probe};
use crate::device::Device;
use crate::error::at;
use crate::event::Status;
use crate::files::CLIENTS;
use crate::outcome::FOLDER;
use crate::run::{RunOptions, lock, names};
use crate::{FleetError, Outcome, Result, packages, plan};

/// How often a clock is asked for.
const PROBES: u32 = 20;

/// With a device's name the variable of Ansible's environment that its message is in, which its user alone may
/// read. One each: a variable has 128 KiB at most.
const ORDER: &str = "EMBERMARK_ORDER_";

/// Client machines that are installed.
pub struct Clients<'a> {
    ansible: Ansible<'a>,
    names: Vec<String>,
    variables: Vec<String>,
    _lock: File,
}

/// What is handed to the process on a device.
#[derive(Clone, Debug)]
pub struct Message {
    /// The word that says what it is to do with it.
    pub command: &'static str,
    /// Its standard input.
    pub input: String,
}

/// What came back from a device.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the process printed, or why there is nothing of it.
    pub said: std::result::Result<String, String>,
    /// How its clock stood right before, where that was asked for and found out.
    pub clock: Option<ClockOffset>,
}

impl<'a> Clients<'a> {
    /// Installs package and plan on every device.
    ///
    /// # Errors
    /// As [`crate::run()`], and when a device cannot be had: every one of them is needed.
    pub fn install(
        fleet: &'a Path,
        options: &RunOptions,
        mut tell: impl FnMut(&str, &str),
    ) -> Result<Self> {
        let plan = plan::id(fleet)?;
        if !fleet.join(CLIENTS).is_file() {
            return Err(FleetError::NoFleet(fleet.to_owned(), CLIENTS));
        }
        let ansible = Ansible::of(fleet)?;
        let results = fleet.join(FOLDER);
        fs::create_dir_all(&results).map_err(at(&results))?;
        let lock = lock(fleet, &results.join(".lock"))?;
        let names = names(&ansible, fleet, options)?;
        packages::prepare(&fleet.join(packages::FOLDER))?;
        let mut variables = vec![format!("embermark_plan_id={plan}")];
        variables.extend(options.variables.iter().cloned());
        let mut devices: Vec<Device> = names.iter().cloned().map(Device::new).collect();
        let play = Play { tags: Some("install"), ..Play::of(CLIENTS, &names, &variables) };
        ansible.play(&play, |event| {
            let device = devices.iter_mut().find(|device| device.name == event.device);
            if let Some(device) = device
                && let Some(says) = device.hears(&event)
            {
                tell(&device.name, &says);
            }
        })?;
        let failed = |device: &Device| {
            let outcome: &Outcome = device.outcome.as_ref()?;
            Some(format!("{}: {outcome}", device.name))
        };
        let failed: Vec<String> = devices.iter().filter_map(failed).collect();
        if !failed.is_empty() {
            return Err(FleetError::Clients(failed.join("; ")));
        }
        Ok(Self { ansible, names, variables, _lock: lock })
    }

    /// The machines, in the inventory's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Hands messages to devices, all at the same time, and waits for their answers. Of each device named the
    /// clock is asked for first where `clocks` is set; one may have no message beside.
    ///
    /// # Errors
    /// When Ansible itself fails. What goes wrong with a device is in its answer.
    pub fn carry(&self, messages: &[(&str, Option<Message>)], clocks: bool) -> Result<Vec<Answer>> {
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
            ..Play::of(CLIENTS, &names, &variables)
        };
        let lost = || Answer { said: Err("it has not answered".to_owned()), clock: None };
        let mut answers: BTreeMap<String, Answer> =
            names.iter().map(|name| (name.clone(), lost())).collect();
        self.ansible.play(&play, |event| {
            let Some(answer) = answers.get_mut(&event.device) else { return };
            let probes: Vec<Probe> = event.probes.iter().copied().map(Probe::from).collect();
            *answer = Answer {
                said: match event.status {
                    Status::Ok => Ok(event.out),
                    Status::Unreachable => Err(format!("not reached: {}", event.message)),
                    Status::Failed | Status::Retry => Err(event.message),
                },
                clock: clock::offset(&probes),
            };
        })?;
        Ok(names.iter().filter_map(|name| answers.remove(name)).collect())
    }
}
