//! Limits for the processes of a run: those of a device, and memory limits.

use embermark_model::MemoryLimit;
use embermark_model::result::Emulated;

use crate::cgroup::{Cgroup, Hierarchy, Limits};
use crate::system::System;
use crate::{Result, cgroup, device};

/// Suffix of the name of the current trial's group.
const TRIAL: &str = "-trial";

/// The groups of a run. Fields are dropped in this order: a group before its place.
#[derive(Debug, Default)]
pub(crate) struct Confinement {
    device: Option<Cgroup>,
    /// The requested limits of the device.
    requested: Limits,
    hierarchy: Option<Hierarchy>,
}

impl Confinement {
    /// Makes a group for processes with a device's limits, if a device is emulated. Removes the
    /// groups that killed runs left.
    ///
    /// # Errors
    /// If its limits cannot be set here.
    pub fn for_device(run_id: &str, device: Option<Emulated>) -> Result<Self> {
        cgroup::remove_abandoned(&System::here());
        let Some(Emulated { device: name, limits: requested, .. }) = device else {
            return Ok(Self::default());
        };
        let refused = |why| device::refused(&name, why);
        let hierarchy = open(run_id, &["cpu", "memory"]).map_err(refused)?;
        let group = hierarchy.group("", &requested).map_err(refused)?;
        Ok(Self { device: Some(group), requested, hierarchy: Some(hierarchy) })
    }

    /// Returns the group in which workers begin, if a device is emulated.
    pub const fn device(&self) -> Option<&Cgroup> {
        self.device.as_ref()
    }

    /// Ensures that trials can have memory limits down to `least`.
    ///
    /// # Errors
    /// If that is not possible. The error gives the reason and what to do.
    pub fn allow_memory_limits(&mut self, run_id: &str, least: MemoryLimit) -> Result<(), String> {
        if self.hierarchy.is_none() {
            self.hierarchy = Some(open(run_id, &["memory"])?);
        }
        // Trying one also removes what a killed run left.
        self.trial(least).map(drop)
    }

    /// Makes a group for one trial with nothing charged to it. It has the device's limits, if any,
    /// and the smaller memory limit.
    ///
    /// # Errors
    /// If the group cannot be made. The error gives the reason.
    pub fn trial(&self, limit: MemoryLimit) -> Result<Cgroup, String> {
        let hierarchy = self.hierarchy.as_ref().ok_or("this run has no control group")?;
        let of_device = self.requested.get("memory.max").and_then(|most| most.parse().ok());
        let most = of_device.map_or(limit.0, |most: u64| most.min(limit.0));
        let mut limits = self.requested.clone();
        limits.insert("memory.max".to_owned(), most.to_string());
        limits.insert("memory.swap.max".to_owned(), "0".to_owned());
        hierarchy.group(TRIAL, &limits)
    }
}

fn open(run_id: &str, controllers: &[&'static str]) -> Result<Hierarchy, String> {
    let superuser = nix::unistd::geteuid().is_root();
    Hierarchy::open(&System::here(), superuser, run_id, controllers)
}
