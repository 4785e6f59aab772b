//! Runs a plan on every device.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::ansible::{Ansible, Play};
use crate::device::Device;
use crate::error::at;
use crate::files::PLAYBOOK;
use crate::outcome::{self, DeviceOutcome, FOLDER, FleetRun, fetched_status};
use crate::{FleetError, Outcome, Result, packages, plan};

/// How a fleet is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Only the devices that this Ansible pattern names.
    pub limit: Option<String>,
    /// Interval between two checks of the devices.
    pub look_every: Duration,
    /// Variables of the role, `NAME=VALUE`.
    pub variables: Vec<String>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { limit: None, look_every: Duration::from_secs(15), variables: Vec::new() }
    }
}

/// Runs the plan on every device that has no result of it yet, and returns when all have ended.
/// Calls `tell` with a device and a line about it, as it happens.
///
/// # Errors
/// If the folder is not a fleet, Ansible is not installed or fails itself, or a file cannot be
/// written. A failure on a device is its outcome.
pub fn run(
    fleet: &Path,
    options: &RunOptions,
    mut tell: impl FnMut(&str, &str),
) -> Result<FleetRun> {
    let OpenFleet { plan, ansible, names, mut variables, lock: _lock } =
        OpenFleet::open(fleet, options, PLAYBOOK)?;
    variables.insert(1, "embermark_once=true".to_owned());
    let (mut before, mut devices) = (Vec::new(), Vec::new());
    for name in names {
        match fetched_status(fleet, &name, &plan) {
            Some(status) => {
                let outcome = Outcome::DoneBefore { status };
                before.push(DeviceOutcome { device: name, outcome });
            }
            None => devices.push(Device::new(name)),
        }
    }
    if !devices.is_empty() {
        packages::prepare(&fleet.join(packages::FOLDER))?;
    }
    let mut looks = false;
    loop {
        // Interrupted devices begin again. The other devices that have begun are checked.
        let begins = |device: &&Device| device.outcome.is_none() && (!looks || device.cut);
        let watches = |device: &&Device| device.outcome.is_none() && looks && !device.cut;
        for (wanted, look) in
            [(names_of(&devices, begins), false), (names_of(&devices, watches), true)]
        {
            if wanted.is_empty() {
                continue;
            }
            let tags = look.then_some("watch");
            let play = Play { tags, ..Play::new(PLAYBOOK, &wanted, &variables) };
            ansible.play(&play, |event| {
                let Some(device) = devices.iter_mut().find(|one| one.name == event.device) else {
                    return;
                };
                let had_ended = device.outcome.is_some();
                if let Some(says) = device.record(&event) {
                    tell(&device.name, &says);
                }
                if let (Some(outcome), false) = (&device.outcome, had_ended || device.cut) {
                    tell(&device.name, &outcome.to_string());
                }
            })?;
            devices.iter_mut().for_each(Device::resume_if_cut);
        }
        if devices.iter().all(|device| device.outcome.is_some()) {
            break;
        }
        looks = true;
        thread::sleep(options.look_every);
    }
    let ended = devices.into_iter().map(|device| {
        let outcome = device.outcome.unwrap_or(Outcome::Failed { why: String::new() });
        DeviceOutcome { device: device.name, outcome }
    });
    let mut all: Vec<DeviceOutcome> = ended.chain(before).collect();
    all.sort_by(|a, b| a.device.cmp(&b.device));
    let last = FleetRun { plan, devices: all };
    outcome::write(fleet, &last)?;
    Ok(last)
}

/// A fleet that is about to be run. No other process can run it as long as its lock lives.
pub(crate) struct OpenFleet<'a> {
    /// Name of the plan.
    pub plan: String,
    pub ansible: Ansible<'a>,
    /// The requested devices, at least one.
    pub names: Vec<String>,
    /// Variables of the role: the plan's name, and those of the user.
    pub variables: Vec<String>,
    pub lock: File,
}

impl<'a> OpenFleet<'a> {
    /// Opens the fleet in a folder, to play `playbook`.
    pub fn open(fleet: &'a Path, options: &RunOptions, playbook: &'static str) -> Result<Self> {
        let plan = plan::id(fleet)?;
        if !fleet.join(playbook).is_file() {
            return Err(FleetError::NoFleet(fleet.to_owned(), playbook));
        }
        let ansible = Ansible::find(fleet)?;
        let results = fleet.join(FOLDER);
        fs::create_dir_all(&results).map_err(at(&results))?;
        let path = results.join(".lock");
        let lock = File::create(&path).map_err(at(&path))?;
        lock.try_lock().map_err(|_| FleetError::Busy(fleet.to_owned()))?;
        let names = ansible.devices(options.limit.as_deref())?;
        if names.is_empty() {
            let limit = options.limit.as_ref();
            let which = limit.map_or(String::new(), |limit| format!(" as '{limit}'"));
            let inventory = fleet.join("inventory.ini");
            let says = format!("no device{which} in {}", inventory.display());
            return Err(FleetError::NoDevices(says));
        }
        let plan_variable = format!("embermark_plan_id={plan}");
        let variables = [plan_variable].into_iter().chain(options.variables.iter().cloned());
        Ok(Self { plan, ansible, names, variables: variables.collect(), lock })
    }
}

fn names_of(devices: &[Device], wanted: impl Fn(&&Device) -> bool) -> Vec<String> {
    devices.iter().filter(wanted).map(|device| device.name.clone()).collect()
}
