//! What the processes of a run are confined to: a device's limits, and those of memory.

use embermark_model::MemoryLimit;
use embermark_model::result::Emulated;

use crate::cgroup::{Cgroup, Hierarchy, Limits};
use crate::system::System;
use crate::{HarnessError, device};

/// The end of the name of the group for the trial under way.
const TRIAL: &str = "-trial";

/// The groups of a run. Dropped in this order: a group before the place it lies in.
#[derive(Debug, Default)]
pub(crate) struct Confinement {
    device: Option<Cgroup>,
    /// The device's limits as they were asked for.
    asked: Limits,
    hierarchy: Option<Hierarchy>,
}

impl Confinement {
    /// A group for processes that are to have no more than a device, where one is emulated.
    ///
    /// # Errors
    /// When its limits cannot be set here.
    pub fn of_device(run_id: &str, device: Option<Emulated>) -> Result<Self, HarnessError> {
        let Some(Emulated { device: name, limits: asked, .. }) = device else {
            return Ok(Self::default());
        };
        let refused = |why| device::refused(&name, why);
        let hierarchy = open(run_id, &["cpu", "memory"]).map_err(refused)?;
        let group = hierarchy.group("", &asked).map_err(refused)?;
        Ok(Self { device: Some(group), asked, hierarchy: Some(hierarchy) })
    }

    /// The group that workers begin in, where a device is emulated.
    pub const fn device(&self) -> Option<&Cgroup> {
        self.device.as_ref()
    }

    /// Makes sure that trials can have limits of memory, `least` among them.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub fn allow_memory_limits(&mut self, run_id: &str, least: MemoryLimit) -> Result<(), String> {
        if self.hierarchy.is_none() {
            self.hierarchy = Some(open(run_id, &["memory"])?);
        }
        // One is tried, which also removes what a run that was killed has left.
        self.trial(least).map(drop)
    }

    /// A group for one trial, of which nothing is charged yet: the limits of the device, if any, and
    /// of memory the smaller one.
    ///
    /// # Errors
    /// Why not.
    pub fn trial(&self, limit: MemoryLimit) -> Result<Cgroup, String> {
        let hierarchy = self.hierarchy.as_ref().ok_or("this run has no control group")?;
        let of_device = self.asked.get("memory.max").and_then(|most| most.parse().ok());
        let most = of_device.map_or(limit.0, |most: u64| most.min(limit.0));
        let mut limits = self.asked.clone();
        limits.insert("memory.max".to_owned(), most.to_string());
        limits.insert("memory.swap.max".to_owned(), "0".to_owned());
        hierarchy.group(TRIAL, &limits)
    }
}

fn open(run_id: &str, controllers: &[&'static str]) -> Result<Hierarchy, String> {
    let superuser = nix::unistd::geteuid().is_root();
    Hierarchy::open(&System::here(), superuser, run_id, controllers)
}
