//! The files of a fleet: Ansible's playbooks, and the plan.

use std::fs;
use std::path::Path;

use crate::error::at;
use crate::{FleetError, Result, packages};

/// Pairs each file of the folder `files` with its text.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../files/", $name)))),*]
    };
}

/// Files that are written once and then belong to the user. `inventory.ini` and `plan/plan.toml`
/// must be edited.
const FILES: &[(&str, &str)] = files![
    "inventory.ini",
    "plan/plan.toml",
    "ansible.cfg",
    "fleet.yml",
    "clients.yml",
    "action_plugins/embermark_command.py",
    "action_plugins/embermark_order.py",
    "action_plugins/embermark_fetch.py",
    "callback_plugins/embermark_events.py",
    "roles/embermark/defaults/main.yml",
    "roles/embermark/vars/main.yml",
    "roles/embermark/tasks/main.yml",
    "roles/embermark/tasks/reach.yml",
    "roles/embermark/tasks/install.yml",
    "roles/embermark/tasks/calm.yml",
    "roles/embermark/tasks/ready.yml",
    "roles/embermark/tasks/order.yml",
    "roles/embermark/files/job.sh",
];

/// The playbook.
pub(crate) const PLAYBOOK: &str = "fleet.yml";

/// The playbook for devices that are clients of one server.
pub(crate) const CLIENTS: &str = "clients.yml";

/// Writes a new fleet into a folder that is empty or does not exist, with the packages of another
/// folder if one is given, in the form that its playbook copies. Returns their number.
///
/// # Errors
/// If the folder is not empty, the given one has no packages, a package cannot be unpacked, or a
/// file cannot be written.
pub fn init(folder: &Path, from: Option<&Path>) -> Result<usize> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(FleetError::Taken(folder.to_owned()));
    }
    let found = from.map(packages::list).transpose()?;
    if let (Some(from), Some([])) = (from, found.as_deref()) {
        return Err(FleetError::NoPackages(from.to_owned()));
    }
    fs::create_dir_all(folder).map_err(|why| FleetError::Uncreatable(folder.to_owned(), why))?;
    for (name, text) in FILES {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(at(parent))?;
        fs::write(&path, text).map_err(at(&path))?;
    }
    let packages = folder.join(packages::FOLDER);
    fs::create_dir_all(&packages).map_err(at(&packages))?;
    let found = found.unwrap_or_default();
    for package in &found {
        let to = packages.join(package.file_name().unwrap_or_default());
        fs::copy(package, &to).map_err(at(&to))?;
    }
    if !found.is_empty() {
        packages::prepare(&packages)?;
    }
    Ok(found.len())
}

#[cfg(test)]
mod tests;
